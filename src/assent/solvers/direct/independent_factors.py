"""Structures and tables that share no variable: each one's best vertex is the answer.

With all scores of the variables on the links, what a factor can get alone is what it gets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.core.factor_list import CODE, COUNT, SIZE, TABLE, flat_of, inner_scores
from assent.kernels.core.factor_oracles import make_oracle_work, maximize_all
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.problem import Float, Problem, Scores, split_links
from assent.model.variables import coordinates_of
from assent.solvers.base.one_step import OneStep, OneStepSolution, OneStepState
from assent.solvers.base.protocol import Info
from assent.solvers.direct.tabulated_problem import find_variables
from assent.solvers.messages.star_layout import slots_of_group


def shares_nothing(problem: Problem) -> bool:
    """Whether every coordinate belongs to at most one structure or table, and to no other factor.

    That a categorical variable has one state is no factor of its own where a slot says so.
    """
    tables = problem.tables
    if problem.n_pairs or not len(tables.kind) or len(tables.lits) > problem.n:
        return False
    own = coordinates_of(tables.lits)
    if len(own) and np.bincount(own, minlength=problem.n).max() > 1:
        return False
    if not problem.n_logic:
        return True
    variables = find_variables(problem)
    if not variables.is_block.all():
        return False
    # Every block must be the coordinates of one slot whose states all are coordinates.
    slot = np.full(problem.n, -1)
    slot[own] = _slots(problem)
    count = int(variables.is_block.sum())  # blocks come first among variables
    within = variables.var_of < count
    low, high = np.full(count, problem.n_links), np.full(count, -1)
    np.minimum.at(low, variables.var_of[within], slot[within])
    np.maximum.at(high, variables.var_of[within], slot[within])
    sizes = np.bincount(slot[slot >= 0], minlength=1)
    return bool(((low == high) & (low >= 0)).all() and (sizes[low] == variables.card[:count]).all())


def _slots(problem: Problem) -> np.ndarray:
    """The slot of every link of a table, counted through; -1 where a state has no coordinate."""
    flat = flat_of(problem, "maximize")
    out, count = [], 0
    for row in flat.groups[flat.groups[:, CODE] >= TABLE]:
        size, members = int(row[SIZE]), int(row[COUNT])
        own = np.full(size, -1)
        slots = slots_of_group(flat, row)
        for number, (position, width, closed) in enumerate(slots):
            if closed:
                own[position : position + width] = number
        numbers = own + (count + len(slots) * np.arange(members))[:, None]
        out.append(np.where(own < 0, -1, numbers).ravel())
        count += len(slots) * members
    return np.concatenate(out)


def best_vertices(
    problem: Problem, inner: Float, links: Float, code: int
) -> tuple[Float, Float, Float]:
    """Best vertices of the factors from a ``code`` on: tables and structures, or structures alone.

    By link, ``[n_links]``, with values and inner values ``[factors]``.
    """
    flat = flat_of(problem, "maximize")
    first = int(np.flatnonzero(flat.groups[:, CODE] >= code)[0])
    count = int(flat.groups[first:, COUNT].sum())
    z, value, earned = np.zeros(len(links)), np.zeros(count), np.zeros(count)
    maximize_all(flat, inner, first, links, z, value, earned, make_oracle_work(flat))
    raise_pending()
    return z, value, earned


@dataclass(frozen=True)
class IndependentFactors(OneStep):
    """Maximise every structure and table by itself, in one step.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything

    def advance(
        self, problem: Problem, scores: Scores, workspace: OneStepState, iterations: int = 1
    ) -> Info:
        """Ask every factor for its best vertex, with all scores on its links."""
        lits = problem.tables.lits
        own, negated = coordinates_of(lits), lits < 0
        given = np.where(negated, -1.0, 1.0) * scores.theta[own]
        links = np.concatenate([np.zeros(problem.n_links - len(lits)), given])
        z, value, _ = best_vertices(problem, inner_scores(scores), links, TABLE)
        alone = np.maximum(scores.theta, 0.0)
        alone[own] = 0.0
        worth = scores.constant + value.sum() - given[negated].sum() + alone.sum()
        x = (scores.theta > 0.0).astype(float)
        x[own] = z[len(z) - len(lits) :] != negated
        workspace.solution = OneStepSolution(x, float(worth), split_links(problem, links))
        return Info(1, 0.0, 0.0, finished=True, calls=len(value))
