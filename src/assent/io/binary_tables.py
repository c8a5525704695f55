"""Tables over one or two binary variables as scores, pairs and constraints.

A table ``t`` over two binary variables equals

    t00 + (t10 − t00) x + (t01 − t00) y + (t11 − t10 − t01 + t00) x y.

Entries of −inf are forbidden by a hard constraint, and their value in the formula is arbitrary: it
is chosen so that the last coefficient vanishes and no pair is needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.factors.at_least_one import AtLeastOne
from assent.factors.exactly_one import ExactlyOne
from assent.factors.pair import Pair
from assent.model.graph import FactorGraph
from assent.model.variables import Literals


def add_scores(
    scope: NDArray[np.int64], tables: NDArray[np.float64], scores: NDArray[np.float64]
) -> float:
    """Add the linear terms of tables ``[m, 2]`` or ``[m, 2, 2]`` to ``scores``.

    ``scope[m, 1]`` or ``[m, 2]`` are indices into ``scores``. Returns the constant term.
    """
    if tables.ndim == 2:
        # A forbidden state takes the score of the other, or 0: the variable is fixed elsewhere.
        zero, one = tables.T
        zero = np.where(np.isfinite(zero), zero, np.where(np.isfinite(one), one, 0.0))
        np.add.at(scores, scope[:, 0], np.where(np.isfinite(one), one, zero) - zero)
        return float(zero.sum())
    t = _fill_forbidden(tables)
    np.add.at(scores, scope[:, 0], t[:, 1, 0] - t[:, 0, 0])
    np.add.at(scores, scope[:, 1], t[:, 0, 1] - t[:, 0, 0])
    return float(t[:, 0, 0].sum())


def add_factors(
    graph: FactorGraph, x: Literals, scope: NDArray[np.int64], tables: NDArray[np.float64]
) -> None:
    """Add the other terms of the same tables: pairs, constraints and fixed variables."""
    allowed = np.isfinite(tables)
    if tables.ndim == 2:
        _fix_states(graph, x[scope[:, 0]], allowed)
        return
    i, j = scope.T
    kept = allowed.all(axis=(1, 2))
    if kept.any():
        t = tables[kept]
        coupling = t[:, 1, 1] - t[:, 1, 0] - t[:, 0, 1] + t[:, 0, 0]
        graph.add(Pair(x[i[kept]], x[j[kept]], scores=coupling), name="tables")
    _forbid_entries(graph, x[i], x[j], allowed)


def _fill_forbidden(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tables ``[m, 2, 2]`` with −inf replaced such that the replacement adds no product term."""
    allowed = np.isfinite(tables)
    t = np.where(allowed, tables, 0.0)
    row_mate, column_mate, opposite = t[:, :, ::-1], t[:, ::-1, :], t[:, ::-1, ::-1]
    # One entry missing: continue the plane through the other three.
    plane = row_mate + column_mate - opposite
    # More missing: repeat an entry that is allowed; constraints leave no choice between them.
    copied = np.select(
        [allowed[:, :, ::-1], allowed[:, ::-1, :], allowed[:, ::-1, ::-1]],
        [row_mate, column_mate, opposite],
        0.0,
    )
    one_missing = allowed.sum(axis=(1, 2)) == 3
    return np.where(allowed, t, np.where(one_missing[:, None, None], plane, copied))


def _fix_states(graph: FactorGraph, x: Literals, possible: NDArray[np.bool_]) -> None:
    """Fix the variables ``x[m]`` of which ``possible[m, 2]`` leaves only one state, or none."""
    for state in (0, 1):
        never = np.flatnonzero(~possible[:, state])
        graph.fix(x[never], 1 - state)


def _forbid_entries(
    graph: FactorGraph, x: Literals, y: Literals, allowed: NDArray[np.bool_]
) -> None:
    """Constraints that leave the ``allowed[m, 2, 2]`` states of ``x[m]`` and ``y[m]``."""
    _fix_states(graph, x, allowed[:, :, 0] | allowed[:, :, 1])
    _fix_states(graph, y, allowed[:, 0, :] | allowed[:, 1, :])
    count = allowed.sum(axis=(1, 2))
    # 1. One forbidden entry (a, b): x ≠ a or y ≠ b.
    one, a, b = np.nonzero(~allowed & (count == 3)[:, None, None])
    if len(one):
        clause = [x[one].negate(where=a == 1), y[one].negate(where=b == 1)]
        graph.add(AtLeastOne(clause, axis=0), name="zero")
    # 2. One diagonal forbidden: the variables differ, or agree.
    same = allowed[:, 0, 0] & allowed[:, 1, 1] & (count == 2)
    differ = allowed[:, 0, 1] & allowed[:, 1, 0] & (count == 2)
    two = np.flatnonzero(same | differ)
    if len(two):
        graph.add(ExactlyOne([x[two], y[two].negate(where=same[two])], axis=0), name="zeros")
