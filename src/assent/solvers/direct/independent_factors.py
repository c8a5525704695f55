"""Structures and tables that share no variable: each one's best vertex is the answer.

With all scores of the variables on the links, what a factor can get alone is what it gets.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assent.kernels.core.factor_list import CODE, COUNT, SIZE, TABLE, flat_of, inner_scores
from assent.kernels.core.oracle import raise_pending
from assent.kernels.core.questions import make_questions_work, maximize_all
from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart
from assent.solvers.direct.tabulated_problem import find_variables
from assent.solvers.messages.star_layout import slots_of_group


def shares_nothing(problem: Problem) -> bool:
    """Whether every coordinate belongs to at most one structure or table, and to no other factor.

    That a categorical variable has one state is no factor of its own where a slot says so.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> shares_nothing(make_problem(2, np.array([[0, 1]], np.int32), []))
        False
    """
    tables = problem.tables
    if problem.n_pairs or not len(tables.kind) or len(tables.lits) > problem.n:
        return False
    own = np.where(tables.lits < 0, ~tables.lits, tables.lits)
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


@dataclass
class UnsharedState:
    """The answer, once there is one."""

    x: Float
    links: Float
    value: float = field(default=np.inf)


@dataclass(frozen=True)
class Unshared(IterativeSolver):
    """Maximise every structure and table by itself, in one step.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> UnsharedState:
        """All scores on the links of structures and tables."""
        links = np.zeros(problem.n_links)
        lits = problem.tables.lits
        sign = np.where(lits < 0, -1.0, 1.0)
        links[len(links) - len(lits) :] = sign * scores.theta[np.where(lits < 0, ~lits, lits)]
        return UnsharedState((scores.theta > 0.0).astype(float), links)

    def advance(
        self, problem: Problem, scores: Scores, workspace: UnsharedState, iterations: int = 1
    ) -> Info:
        """Ask every factor for its best vertex."""
        flat = flat_of(problem, "maximize")
        first = int(np.flatnonzero(flat.groups[:, CODE] >= TABLE)[0])
        factors = int(flat.groups[first:, COUNT].sum())
        z, value, earned = np.zeros(problem.n_links), np.zeros(factors), np.zeros(factors)
        maximize_all(
            flat, inner_scores(scores), first, workspace.links, z, value, earned,
            make_questions_work(flat),
        )  # fmt: skip
        raise_pending()
        lits = problem.tables.lits
        truth = z[len(z) - len(lits) :]
        workspace.x[np.where(lits < 0, ~lits, lits)] = np.where(lits < 0, 1.0 - truth, truth)
        return Info(1, 0.0, 0.0, finished=True, calls=factors)

    def bound(self, problem: Problem, scores: Scores, workspace: UnsharedState) -> float:
        """What all factors can get alone."""
        from assent.solvers.base.dual_bound import bound_at

        workspace.value = bound_at(problem, scores, split_links(problem, workspace.links))
        return workspace.value

    def dual_point(self, problem: Problem, scores: Scores, workspace: UnsharedState) -> DualPoint:
        """The variables' scores."""
        return split_links(problem, workspace.links)

    def marginals(self, workspace: UnsharedState) -> Float:
        """The answer."""
        return workspace.x

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: UnsharedState) -> float:
        """What the answer is worth: what all factors get."""
        return workspace.value
