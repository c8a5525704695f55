"""The linear relaxation as one sparse program to minimise, and link scores of its multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.programs.relaxation_rows import relaxation_rows
from assent.solvers.programs.row_builder import ProgramRows

if TYPE_CHECKING:
    from scipy import sparse

# HiGHS has absolute tolerances of 1e-7 on costs: their largest is brought into this range by a
# power of two, which loses no digits.
LARGEST_COST = (1.0, 1024.0)


@dataclass(frozen=True)
class CompactLP:
    """A relaxation to *minimise*: coordinates first, then the further columns of ``rows``.

    ``offset - scale * minimum`` is the optimum of the relaxation.
    """

    matrix: sparse.csc_matrix
    cost: Float
    column_upper: Float
    row_lower: Float
    row_upper: Float
    offset: float
    scale: float
    rows: ProgramRows


@dataclass(frozen=True)
class LpSolution:
    """What HiGHS found.

    Attributes:
        status: "optimal", "infeasible", "time limit", "interrupted" or another reason to stop.
        value: optimum of the relaxation; -inf if infeasible, nan if unknown.
        x: ``[n]`` the relaxed answer (one half everywhere if there is none).
        relaxed_value: objective at the relaxed answer; nan if there is none.
        row_dual: multipliers of the rows of :func:`build_lp`, non-negative for inequalities.
        dual: link scores; their bound equals ``value`` at an optimum and is valid always.
        ray: if infeasible and a proof was found: link scores whose bound for the zero objective
            is negative.
        seconds: time spent in HiGHS, building not included.
        iterations: simplex plus interior-point iterations.
    """

    status: str
    value: float
    x: Float
    relaxed_value: float
    row_dual: Float
    dual: DualPoint
    ray: DualPoint | None
    seconds: float
    iterations: int


def build_lp(problem: Problem, scores: Scores, integer: bool = False) -> CompactLP:
    """The compact relaxation of a problem as sparse arrays, or rows for an ``integer`` program."""
    from scipy import sparse

    n, rows = problem.n, relaxation_rows(problem, scores, integer)
    lits = problem.all_lits
    coordinate, negated = np.where(lits < 0, ~lits, lits), lits < 0
    sign = np.where(negated, -1.0, 1.0)
    entry = np.concatenate([sign[rows.link] * rows.entry, rows.column_entry])
    place = (
        np.concatenate([rows.row, rows.column_row]),
        np.concatenate([coordinate[rows.link], n + rows.column]),
    )
    shape = (len(rows.upper), n + len(rows.cost))
    matrix = sparse.csc_matrix((entry, place), shape)  # adds up x and ~x of one factor
    matrix.eliminate_zeros()
    # A negated literal 1 - x leaves its entry on the right-hand side, its score in the constant.
    moved = np.bincount(rows.row, rows.entry * negated[rows.link], minlength=len(rows.upper))
    earned = np.bincount(
        coordinate[rows.earned_link], sign[rows.earned_link] * rows.earned, minlength=n
    )
    cost = np.concatenate([-(scores.theta + earned), rows.cost])
    scale = cost_scale(cost)
    return CompactLP(
        matrix=matrix,
        cost=cost / scale,
        column_upper=np.concatenate([np.ones(n), np.full(len(rows.cost), np.inf)]),
        row_lower=rows.lower - moved,
        row_upper=rows.upper - moved,
        offset=scores.constant + rows.constant + float(rows.earned @ negated[rows.earned_link]),
        scale=scale,
        rows=rows,
    )


def cost_scale(cost: Float) -> float:
    """Power of two that brings the largest cost into HiGHS's comfortable range."""
    largest = float(np.abs(cost).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    nearest = min(max(largest, LARGEST_COST[0]), LARGEST_COST[1])
    return float(2.0 ** np.round(np.log2(largest / nearest)))


def link_scores(problem: Problem, rows: ProgramRows, row_dual: Float) -> DualPoint:
    """Link scores that row multipliers stand for."""
    dual = np.minimum(row_dual, rows.limit)
    links = row_scores(problem, rows, dual)
    np.subtract.at(links, rows.earned_link, rows.earned)
    return split_links(problem, links)


def row_scores(problem: Problem, rows: ProgramRows, row_dual: Float) -> Float:
    """One score per link: the multipliers of its rows times their entries."""
    # (an empty bincount would be integer)
    weights = rows.entry * row_dual[rows.row]
    return np.bincount(rows.link, weights, minlength=problem.n_links).astype(float)
