"""Many problems of structures that share no variable: the best of each, in compiled rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.batch.unshared_rows import maximize_rows
from assent.kernels.core.factor_list import CODE, COUNT, TABLE, flat_of, inner_scores
from assent.kernels.core.questions import make_questions_work
from assent.kernels.problem import STRUCTURE, Float, Problem, Scores
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
    problem: Problem, scores: Sequence[Scores], threads: int, deadline: float
) -> UnsharedAnswers:
    """The best vertices of all structures of a problem under each of many scores.

    ``deadline`` is a time of ``time.perf_counter``.
    """
    rows = max(1, CALL_LINKS // max(problem.n_links, 1))
    chunks = [
        same[i : i + rows]
        for _, group in groupby(scores, key=lambda own: (id(own.pair), id(own.table)))
        for same in [list(group)]
        for i in range(0, len(same), rows)
    ]
    values, found = [], []
    with ThreadPoolExecutor(threads) as pool:
        for begin in range(0, len(chunks), threads):
            now = chunks[begin : begin + threads]
            for value, x in pool.map(lambda chunk: _solve_chunk(problem, chunk), now):
                values.append(value)
                found.append(x)
            if time.perf_counter() > deadline:
                break
    return UnsharedAnswers(np.concatenate(values), np.concatenate(found))


def largest_of(scores: Sequence[Scores]) -> tuple[Float, Float, Float]:
    """Scores of variables, pairs and tables that are at least as large in size as those of all.

    Example:
        >>> rows = [Scores(np.array(row), np.zeros(0)) for row in ([1.0, -3.0], [-2.0, 0.5])]
        >>> largest_of(rows)[0].tolist()
        [2.0, 3.0]
    """
    columns = zip(*((row.theta, row.pair, row.table) for row in scores), strict=True)
    different = ({id(array): array for array in column}.values() for column in columns)
    theta, pair, table = (np.abs(np.stack(list(arrays))).max(axis=0) for arrays in different)
    return theta, pair, table


def _solve_chunk(problem: Problem, scores: list[Scores]) -> tuple[Float, NDArray[np.int8]]:
    """Values ``[B]`` and assignments ``[B, n]`` of problems that differ in their variables."""
    flat = flat_of(problem, "maximize")
    first = int(np.flatnonzero(flat.groups[:, CODE] >= TABLE)[0])
    factors = int(flat.groups[first:, COUNT].sum())
    lits = problem.tables.lits
    own = np.where(lits < 0, ~lits, lits)
    theta = np.stack([row.theta for row in scores])
    links = np.zeros((len(scores), problem.n_links))
    links[:, problem.n_links - len(lits) :] = np.where(lits < 0, -theta[:, own], theta[:, own])
    z, value = np.zeros(links.shape), np.zeros((len(scores), factors))
    maximize_rows(
        flat, inner_scores(scores[0]), first, links, z, value, np.empty_like(value),
        make_questions_work(flat),
    )  # fmt: skip
    x = (theta > 0.0).astype(np.int8)
    linked = np.zeros(problem.n, bool)
    linked[own] = True
    alone = np.maximum(theta[:, ~linked], 0.0).sum(axis=1)
    # The score of a negated literal's variable is earned where the literal is false.
    truth = z[:, problem.n_links - len(lits) :] > 0.5
    x[:, own] = truth ^ (lits < 0)
    false = theta[:, own][:, lits < 0].sum(axis=1)
    constant = np.array([row.constant for row in scores])
    return value.sum(axis=1) + alone + false + constant, x
