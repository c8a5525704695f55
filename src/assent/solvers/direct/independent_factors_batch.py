"""Many problems of structures that share no variable: the best of each, in compiled rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.score_rows import FlatRows
from assent.kernels.batch.independent_factor_rows import RowBuffers, maximize_rows
from assent.kernels.core.factor_list import CODE, COUNT, TABLE, flat_of, inner_scores
from assent.kernels.core.factor_oracles import make_oracle_work
from assent.kernels.core.memo import remembered
from assent.kernels.problem import STRUCTURE, Float, Problem, Scores
from assent.proof.rounding_error import is_never_rounded
from assent.solvers.direct.independent_factors import shares_nothing

# Links of the rows in one compiled call: some milliseconds, so that limits are kept, and more than
# it costs to hand over all arrays (0.3 ms).
CALL_LINKS = 500_000


class IndependentAnswers(NamedTuple):
    """Optima of the first problems of a list: all of them, unless time was up.

    ``values[B]`` are ``-inf`` where nothing is allowed, ``x[B, n]`` the assignments.
    """

    values: Float
    x: NDArray[np.int8]


@remembered
def takes_rows(problem: Problem) -> bool:
    """Whether compiled rows have the answer: structures that share nothing, none in Python."""
    if not problem.models or not shares_nothing(problem):
        return False
    return all(model.structure.kind_code == STRUCTURE for model in problem.models)


def solve_independent(
    problem: Problem, rows: FlatRows, threads: int, deadline: float
) -> IndependentAnswers:
    """The best vertices of all structures of a problem under each of many scores.

    ``deadline`` is a time of ``time.perf_counter``.
    """
    count = len(rows.theta)
    answers = IndependentAnswers(np.empty(count), np.empty(rows.theta.shape, np.int8))
    step = max(1, CALL_LINKS // max(problem.n_links, 1))
    parts = [slice(b, b + step) for b in range(0, count, step)]
    solvers = [_RowSolver(problem, rows) for _ in range(min(threads, len(parts)))]
    done = 0
    with ThreadPoolExecutor(len(solvers)) as pool:
        spread = map if len(solvers) == 1 else pool.map
        for i in range(0, len(parts), len(solvers)):
            now = parts[i : i + len(solvers)]
            list(spread(lambda solver, part: solver.solve(rows, part, answers), solvers, now))
            done = min(count, now[-1].stop)
            if time.perf_counter() > deadline:
                break
    alone = np.setdiff1d(
        np.arange(problem.n), np.maximum(problem.tables.lits, ~problem.tables.lits)
    )
    answers.x[:, alone] = rows.theta[:, alone] > 0.0
    answers.values[:] += rows.constant + np.maximum(rows.theta[:, alone], 0.0).sum(axis=1)
    return IndependentAnswers(answers.values[:done], answers.x[:done])


class _RowSolver:
    """Solves rows in one thread."""

    def __init__(self, problem: Problem, rows: FlatRows) -> None:
        flat = flat_of(problem, "maximize")
        first = int(np.flatnonzero(flat.groups[:, CODE] >= TABLE)[0])
        factors = int(flat.groups[first:, COUNT].sum())
        nothing = np.zeros(0)
        inner = inner_scores(Scores(nothing, rows.pair, 0.0, rows.table))
        self._problem = flat, inner, first, problem.tables.lits
        links, z = np.zeros((2, problem.n_links))
        value, earned = np.empty((2, factors))
        self._buffers = RowBuffers(links, z, value, earned, make_oracle_work(flat))

    def solve(self, rows: FlatRows, part: slice, out: IndependentAnswers) -> None:
        """Values and assignments of some rows, but for variables in no structure."""
        maximize_rows(
            *self._problem, rows.theta[part], self._buffers, out.x[part], out.values[part]
        )


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
    """
    theta = np.maximum(rows.theta.max(axis=0), -rows.theta.min(axis=0))
    constant = np.abs(rows.constant).max(keepdims=True)
    parts = theta, constant, rows.pair, rows.table
    return is_never_rounded(least, *(part[part > -np.inf] for part in parts))
