"""Constraints projected onto some of their literals; imports no solver.

A region of a graph (`assent.proof.regions`) mentions a few coordinates.  A constraint over these
and others projects onto them: values that some values of the others complete are possible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.compile.logic_placement import origin
from assent.factors.base import Logic
from assent.factors.pair import Pair
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, Float, Int32, Int64


class ProjectedConstraint(NamedTuple):
    """A constraint in normal form, with the coordinates of it that a region mentions.

    Attributes:
        form: its form, ``k``: its right-hand side.
        lits: ``[size]`` its literals.
        weights: ``[size]`` and ``capacity``: of a KNAPSACK.
        mentioned: coordinates among its literals.
    """

    form: int
    k: int
    lits: Int32
    weights: Float | None
    capacity: float
    mentioned: frozenset[int]


def possible(
    form: int,
    k: int,
    truth: NDArray[np.bool_],
    free: NDArray[np.bool_],
    weights: Float | None = None,
    capacity: float = 0.0,
) -> NDArray[np.bool_]:
    """Which rows of ``truth[S, size]`` some values of the ``free[size]`` literals complete.

    Example:
        >>> from assent.kernels.problem import SUM
        >>> truth = np.array([[True, False, False], [True, True, False]])
        >>> possible(SUM, 1, truth, np.array([False, False, True])).tolist()
        [True, False]
    """
    fixed = truth & ~free
    if form == KNAPSACK:
        assert weights is not None
        return np.asarray(fixed @ weights <= capacity)
    if form == PARITY:
        return (fixed.sum(axis=1) % 2 == 0) | bool(free.any())
    if form == ANYOF:
        certain = fixed[:, :-1].any(axis=1)
        fits = np.where(truth[:, -1], certain | bool(free[:-1].any()), ~certain)
        return fits | bool(free[-1])
    count = fixed.sum(axis=1)
    return (count <= k) & ((form == CAP) | (count + int(free.sum()) >= k))


def region_rules(
    compiled: Compiled, scores: GraphScores, entries: Int64
) -> dict[int, tuple[ProjectedConstraint, ...]]:
    """The rules of every region that has some, from ``entries[Q, 3]``.

    An entry is a region, the number of a logic factor of the flat problem and one of its
    coordinates there; rules come back in the terms of the graph as written.
    """
    by_rule: dict[tuple[int, int], list[int]] = {}
    coordinates = compiled.free[entries[:, 2]].tolist()
    for (region, number), mentioned in zip(entries[:, :2].tolist(), coordinates, strict=True):
        by_rule.setdefault((region, number), []).append(mentioned)
    written: dict[int, ProjectedConstraint | None] = {}
    found: dict[int, list[ProjectedConstraint]] = {}
    for (region, number), own in by_rule.items():
        if number not in written:
            written[number] = _as_written(compiled, scores, number)
        rule = written[number]
        if rule is not None:
            found.setdefault(region, []).append(rule._replace(mentioned=frozenset(own)))
    return {region: tuple(rules) for region, rules in found.items()}


def _as_written(compiled: Compiled, scores: GraphScores, number: int) -> ProjectedConstraint | None:
    """The constraint that a flat logic factor came from; a forbidden pair is an at-most-one.

    None if there is no such factor, or it forbids nothing.
    """
    if not 0 <= number < compiled.problem.n_logic:
        return None
    block, row = origin(compiled.problem, compiled.placed, number)
    factor = compiled.blocks[block].factor
    if isinstance(factor, Pair):
        if scores.factors[block][row] > -np.inf:
            return None
        return ProjectedConstraint(CAP, 1, factor.codes[row], None, 0.0, frozenset())
    assert isinstance(factor, Logic)
    form = factor.normal_form()
    weights = None if form.weights is None else form.weights[row]
    capacity = 0.0 if form.capacity is None else float(form.capacity[row])
    lits = form.literals(factor.codes[row])
    return ProjectedConstraint(form.form, int(form.k[row]), lits, weights, capacity, frozenset())
