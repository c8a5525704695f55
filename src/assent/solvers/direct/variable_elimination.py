"""Elimination: the optimum of graphs of bounded width, one variable after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled
from assent.errors import ModelError
from assent.kernels.core.memo import remembered
from assent.kernels.direct import eliminate as kernel
from assent.kernels.direct.elimination_order import find_order
from assent.kernels.problem import Int32, Problem, Scores, split_links
from assent.proof.elimination_proof import EliminationOrder
from assent.solvers.base.one_step import OneStep, OneStepSolution, OneStepState
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_time_limit
from assent.solvers.base.stop_reasons import TIME_LIMIT
from assent.solvers.direct.tabulated_problem import Tabulation, tabulation

# The largest clique, as a power of two; entries looked at in all (about ten seconds' worth); memory
# for messages (entries) and for choices (bytes), a quarter of a gigabyte each.
LARGEST_CLIQUE = 25
MOST_WORK = 1 << 33
MOST_WAITING = 1 << 25
MOST_CHOICES = 1 << 28

# Pairs of variables looked at while an order is sought, per variable and link of the graph.
EFFORT = 10_000

# With no more work than this no other order is tried.
LITTLE_WORK = 1 << 18

# Entries between two looks at the clock.
CHUNK = 1 << 26


@dataclass(frozen=True)
class EliminationPlan:
    """How to eliminate the variables of a problem, and what it takes."""

    tabulation: Tabulation
    plan: kernel.Plan
    waiting: int  # entries of messages at once
    work: int  # entries looked at

    @property
    def width(self) -> int:
        """The most variables that one message is over."""
        return int(np.diff(self.plan.near_start).max(initial=0))

    @property
    def is_affordable(self) -> bool:
        """Whether messages and choices fit into memory."""
        return self.waiting <= MOST_WAITING and int(self.plan.choice[-1]) <= MOST_CHOICES


def find_elimination(
    problem: Problem, effort: int = EFFORT, most: int = MOST_WORK
) -> EliminationPlan | str:
    """An order of elimination within the limits, or why there is none, in words.

    ``effort`` limits the search for it, ``most`` the entries looked at when it is followed.
    """
    tables = tabulation(problem)
    if isinstance(tables, str):
        return tables
    if tables.entries > most:
        return "its factors as tables would take too much work"
    shape = tables.shape
    found = None
    for rank in ranks(shape, thorough=effort >= EFFORT):
        plan = _plan(shape, effort, most, rank)
        if plan is None:
            continue
        own = EliminationPlan(tables, *plan)
        if own.is_affordable and own.work <= most and (found is None or own.work < found.work):
            found = own
        if found is not None and found.work <= LITTLE_WORK:
            break
    return found or "the graph is too wide: cliques of its elimination would have too many states"


@remembered
def _plans(problem: Problem) -> dict[tuple[int, int], EliminationPlan | str]:
    """What was found, by effort and most work."""
    return {}


def elimination_for(
    problem: Problem, effort: int = EFFORT, most: int = MOST_WORK
) -> EliminationPlan | str:
    """The same, remembered: an order that was found once serves all scores."""
    known = _plans(problem)
    for elimination in known.values():
        if isinstance(elimination, EliminationPlan) and elimination.work <= most:
            return elimination
    if (effort, most) not in known:
        known[effort, most] = find_elimination(problem, effort, most)
    return known[effort, most]


def _plan(
    shape: kernel.EliminationModel, effort: int, most: int, rank: Int32
) -> tuple[kernel.Plan, int, int] | None:
    pairs, clique = len(shape.card) + len(shape.scope), float(min(LARGEST_CLIQUE, np.log2(most)))
    order, near_start, near = find_order(
        shape.card, shape.start, shape.scope, clique, float(most), effort * pairs, rank
    )
    if len(order) < len(shape.card):
        return None
    return kernel.make_plan(shape, order, near_start, near)


def ranks(shape: kernel.EliminationModel, thorough: bool) -> Iterator[Int32]:
    """Orders worth a try: few new links (no ranks); to be thorough, as written and by breadth."""
    yield np.zeros(0, np.int32)
    if not thorough:
        return
    n = len(shape.card)
    yield np.arange(n, dtype=np.int32)
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    table = np.repeat(np.arange(len(shape.start) - 1), np.diff(shape.start))
    member = coo_matrix((np.ones(len(table), np.int8), (shape.scope, table))).tocsr()
    order = reverse_cuthill_mckee((member @ member.T).tocsr(), symmetric_mode=True)
    rank = np.empty(n, np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    yield rank


@dataclass
class EliminationState(OneStepState):
    """The plan, and the answer once there is one."""

    elimination: EliminationPlan = field(kw_only=True)


@dataclass(frozen=True)
class Elimination(OneStep):
    """Eliminate one variable after the other: the optimum, whatever the scores, of narrow graphs.

    Chains, trees, thin grids and anything else whose *width* is small (some twenty binary
    variables, fewer with more states).  Factors are tabulated; larger constraints and
    structures are refused.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
        time_limit: seconds after which elimination is given up, or None.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> at.decode(g, at.AD3()).status.name, at.decode(g, at.Elimination()).status.name
        ('RELAXED', 'OPTIMAL')
    """

    gap_tolerance: float = 1e-6
    time_limit: float | None = None
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything
    takes_time_limit = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time_limit(self.time_limit)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> EliminationState:
        """The order of elimination; a graph that is too wide is refused here."""
        elimination = elimination_for(problem)
        if isinstance(elimination, str):
            raise ModelError(
                f"Elimination cannot solve this graph: {elimination}; decode with AD3()"
            )
        return EliminationState(problem.n, elimination=elimination)

    def advance(
        self, problem: Problem, scores: Scores, workspace: EliminationState, iterations: int = 1
    ) -> Info:
        """Eliminate all variables, then read the answer backwards."""
        until = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        found = eliminate(workspace.elimination, scores, until)
        if found is None:
            return Info(1, np.inf, np.inf, reason=TIME_LIMIT)
        value, x = found
        nothing = split_links(problem, np.zeros(problem.n_links))
        workspace.solution = OneStepSolution(x.astype(float), value, nothing)
        return Info(1, 0.0, 0.0, finished=True, calls=workspace.elimination.work)

    def bound(self, problem: Problem, scores: Scores, workspace: EliminationState) -> float:
        """The optimum; infinite before the solve."""
        return np.inf if workspace.solution is None else workspace.solution.relaxed_value

    def proof(self, compiled: Compiled, workspace: EliminationState) -> EliminationOrder | None:
        """The order: eliminating again, from the graph as written, gives the bound again."""
        if workspace.solution is None:
            return None
        members = workspace.elimination.tabulation.variables.members()
        free = compiled.free
        return EliminationOrder.of(
            compiled, [free[members[v]] for v in workspace.elimination.plan.order]
        )


def eliminate(
    elimination: EliminationPlan, scores: Scores, until: float = np.inf
) -> tuple[float, NDArray[np.int8]] | None:
    """The optimum and an assignment ``[n]`` that has it; None if the clock strikes ``until``."""
    model, plan = elimination.tabulation.model(scores), elimination.plan
    stack = np.empty(max(elimination.waiting, 1))
    waiting = np.full((2, len(plan.order) + 1), -1, np.int64)
    choice = np.zeros(int(plan.choice[-1]), np.uint8)
    work = np.cumsum(plan.size * model.card[plan.order])
    begin, top = 0, 0
    while begin < len(plan.order):
        done = int(work[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(work, done + CHUNK, side="right")))
        top = kernel.eliminate(model, plan, begin, end, stack, top, waiting, choice)
        begin = end
        if begin < len(plan.order) and time.perf_counter() > until:
            return None
    roots = waiting[0, waiting[1] >= 0]
    states = np.zeros(len(model.card), np.int64)
    kernel.read_choices(model, plan, choice, states)
    total = scores.constant + float(stack[roots].sum())
    return total, elimination.tabulation.variables.assignment(states)
