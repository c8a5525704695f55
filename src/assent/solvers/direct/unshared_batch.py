"""Many problems of structures that share no variable: the best of each, in compiled rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.score_rows import FlatRows
from assent.kernels.batch.unshared_rows import maximize_rows
from assent.kernels.core.factor_list import CODE, COUNT, TABLE, flat_of, inner_scores
from assent.kernels.core.questions import make_questions_work
from assent.kernels.problem import STRUCTURE, Float, Problem, Scores
from assent.proof.rounding_error import is_never_rounded
from assent.solvers.direct.independent_factors import shares_nothing

# Links of the rows in one compiled call: about a millisecond, so that limits are kept.
CALL_LINKS = 100_000


class UnsharedAnswers(NamedTuple):
    """Optima of the first problems of a list: all of them, unless time was up.

    ``values[B]`` are ``-inf`` where nothing is allowed, ``x[B, n]`` the assignments.
    """

    values: Float
    x: NDArray[np.int8]


def takes_rows(problem: Problem) -> bool:
    """Whether compiled rows have the answer: structures that share nothing, none in Python.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> takes_rows(make_problem(2, np.array([[0, 1]], np.int32), []))
        False
    """
    if not problem.models or not shares_nothing(problem):
        return False
    return all(model.structure.kind_code == STRUCTURE for model in problem.models)


def solve_unshared(
    problem: Problem, rows: FlatRows, threads: int, deadline: float
) -> UnsharedAnswers:
    """The best vertices of all structures of a problem under each of many scores.

    ``deadline`` is a time of ``time.perf_counter``.
    """
    layout = _layout(problem)
    step = max(1, CALL_LINKS // max(problem.n_links, 1))
    begins = range(0, len(rows.theta), step)
    values, found = [], []
    with ThreadPoolExecutor(threads) as pool:
        for i in range(0, len(begins), threads):
            now = [slice(b, b + step) for b in begins[i : i + threads]]
            for value, x in pool.map(lambda part: _solve_chunk(layout, rows, part), now):
                values.append(value)
                found.append(x)
            if time.perf_counter() > deadline:
                break
    return UnsharedAnswers(np.concatenate(values), np.concatenate(found))


def stack_rows(scores: Sequence[Scores]) -> list[FlatRows]:
    """Scores one after the other as rows, as many together as share pairs and tables."""
    return [
        FlatRows(
            np.stack([own.theta for own in same]), np.array([own.constant for own in same]),
            same[0].pair, same[0].table,
        )
        for _, group in groupby(scores, key=lambda own: (id(own.pair), id(own.table)))
        for same in [list(group)]
    ]  # fmt: skip


def is_clear(rows: FlatRows, least: float) -> bool:
    """Whether rounding matters to no row, by a quick look at all scores.

    ``least`` is no more than a row's scale and the size of its value come to.

    Example:
        >>> own, nothing = np.array([[1.0, -3.0], [-2.0, 0.5]]), np.zeros(0)
        >>> rows = FlatRows(own, np.zeros(2), nothing, np.array([-np.inf, 1.0]))
        >>> is_clear(rows, 1.0), is_clear(rows, 1e-9)
        (True, False)
    """
    theta = np.maximum(rows.theta.max(axis=0), -rows.theta.min(axis=0))
    constant = np.abs(rows.constant).max(keepdims=True)
    parts = theta, constant, rows.pair, rows.table
    return is_never_rounded(least, *(part[part > -np.inf] for part in parts))


class _Layout(NamedTuple):
    """Where the variables of a problem stand among its links."""

    problem: Problem
    flat: Any
    first: int  # group of structures, the first of them
    factors: int
    own: NDArray[np.int64] | slice  # coordinate of each link of a structure
    negated: NDArray[np.bool_] | None
    alone: NDArray[np.int64]  # coordinates without a structure


def _layout(problem: Problem) -> _Layout:
    flat = flat_of(problem, "maximize")
    first = int(np.flatnonzero(flat.groups[:, CODE] >= TABLE)[0])
    lits = problem.tables.lits
    own: Any = np.where(lits < 0, ~lits, lits).astype(np.int64)
    alone = np.setdiff1d(np.arange(problem.n), own)
    if len(own) == problem.n and (np.diff(own) == 1).all():
        own = slice(None)  # no need to gather
    negated = lits < 0 if (lits < 0).any() else None
    return _Layout(problem, flat, first, int(flat.groups[first:, COUNT].sum()), own, negated, alone)


def _solve_chunk(layout: _Layout, rows: FlatRows, part: slice) -> tuple[Float, NDArray[np.int8]]:
    """Values ``[b]`` and assignments ``[b, n]`` of some rows."""
    problem, own, negated = layout.problem, layout.own, layout.negated
    theta = rows.theta[part]
    earns = theta[:, own]
    links = np.empty((len(theta), problem.n_links))
    inside = links[:, problem.n_links - earns.shape[1] :]
    inside[:] = earns if negated is None else np.where(negated, -earns, earns)
    z, value = np.empty(links.shape), np.empty((len(theta), layout.factors))
    maximize_rows(
        layout.flat, inner_scores(Scores(theta[0], rows.pair, 0.0, rows.table)), layout.first,
        links, z, value, np.empty_like(value), make_questions_work(layout.flat),
    )  # fmt: skip
    truth = z[:, problem.n_links - earns.shape[1] :] > 0.5
    total = value.sum(axis=1) + rows.constant[part]
    if negated is not None:
        # The score of a negated literal's variable is earned where the literal is false.
        truth ^= negated
        total += earns[:, negated].sum(axis=1)
    if isinstance(own, slice):
        return total, truth.view(np.int8)
    x = np.empty(theta.shape, np.int8)
    x[:, own] = truth
    x[:, layout.alone] = theta[:, layout.alone] > 0.0
    return total + np.maximum(theta[:, layout.alone], 0.0).sum(axis=1), x
