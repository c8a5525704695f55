"""Tightened: the linear relaxation, with rows added where it contradicts itself.

Round after round (1) HiGHS solves the relaxation from where it was, (2) cycles are sought along
which the relaxed answer contradicts itself, (3) a row for each is added.  Where no cycle is left,
local cuts of a few coordinates are sought; then tables that merely score common states
are tabulated in full, which shows more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from assent.compile.compiled import Compiled
from assent.compile.potts_as_dense import TabulatedPotts, fractional_potts, tabulate_potts
from assent.errors import ModelError
from assent.kernels.problem import POTTS, DualPoint, Float, Problem, Scores, split_links
from assent.proof.regions import Regions
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart
from assent.solvers.base.settings import check_time_limit
from assent.solvers.cutting_planes.cutting_plane_program import (
    CutProof,
    GrowingProgram,
    plain_bound,
)
from assent.solvers.programs.compact_lp import build_lp
from assent.solvers.programs.highs import find_ray, why_it_stopped

NO_CYCLE = "No more rows are found. decode(graph, exact=True) goes on from there."

# Variables nearer to 0 or 1 count as decided.
DECIDED = 1e-6


@dataclass
class TightenedState:
    """The problem with some tables tabulated, its program, and what proves the best bound."""

    outer: TabulatedPotts
    program: GrowingProgram
    best: Regions
    bound: float
    deadline: float
    ray: DualPoint | None = None
    rounds: int = 0
    solved: bool = False
    allowed: float = np.inf  # work of the next solve before it is paused

    def can_tabulate(self) -> bool:
        """Whether some tables of common states are not tabulated yet."""
        problem = self.outer.problem
        return bool((problem.tables.kind == POTTS).any())


@dataclass(frozen=True)
class Tightened(IterativeSolver):
    """The linear relaxation, tightened by cutting planes until it is exact or none is left.

    For graphs with pairs and tables, with any constraints beside them: on grids, labels under
    rules and the like it often ends with the proven optimum.  Needs the linear program in memory,
    so tables of many millions of entries are too large.

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        residual_tolerance: not used: a relaxation is solved or not.
        max_iterations: the most rounds.
        time_limit: seconds after which the rounds end, or None.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 1.1, 1.2], name="x")
        >>> frustrated = g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
        >>> relaxed, tightened = at.decode(g, at.LinearProgram()), at.decode(g, at.Tightened())
        >>> round(relaxed.bound, 3), round(tightened.bound, 3), tightened.status.name
        (1.65, 1.2, 'OPTIMAL')
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1000
    time_limit: float | None = None
    takes_time_limit = True
    long_iterations = True
    finds_rays = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time_limit(self.time_limit)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> TightenedState:
        """The plain relaxation; structures without rows are refused."""
        deadline = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        outer = tabulate_potts(problem, scores, np.zeros(int(problem.tables.factor[-1]), bool))
        program = _program(outer)
        none = split_links(problem, np.zeros(problem.n_links))
        first = plain_bound(problem, scores, none if warm_start is None else warm_start.dual)
        return TightenedState(outer, program, restate(problem, outer, first), first.bound, deadline)

    def advance(
        self, problem: Problem, scores: Scores, workspace: TightenedState, iterations: int = 1
    ) -> Info:
        """One round: add the rows that the last answer violates, and solve."""
        w = workspace
        if w.solved and not w.program.tighten() and not self._tabulate(problem, scores, w):
            return Info(w.rounds, 0.0, 0.0, finished=True, reason=NO_CYCLE, work=w.program.work)
        status = w.program.solve(w.deadline, w.allowed)
        w.solved = status == "optimal"
        if status == "iteration limit":
            return Info(w.rounds, np.inf, np.inf, work=w.program.work)
        w.rounds += 1
        if status == "interrupted":
            raise KeyboardInterrupt
        if status == "infeasible":
            self._refute(problem, scores, w)
        proven = w.program.proven()
        if proven is not None and proven.bound < w.bound:
            w.best, w.bound = restate(problem, w.outer, proven), proven.bound
        return Info(
            w.rounds, np.inf, np.inf, finished=not w.solved,
            reason=why_it_stopped(status), work=w.program.work,
        )  # fmt: skip

    def _refute(self, problem: Problem, scores: Scores, w: TightenedState) -> None:
        """Nothing is possible: link scores show it, or the rows that were found."""
        w.ray = find_ray(problem, build_lp(problem, scores), w.deadline)
        proven = None if w.ray is not None else w.program.refutation()
        if proven is not None:
            w.best, w.bound = replace(restate(problem, w.outer, proven), is_ray=True), -np.inf

    def _tabulate(self, problem: Problem, scores: Scores, w: TightenedState) -> bool:
        """Start again with tables of fractional variables tabulated, if there are any left."""
        chosen = fractional_potts(problem, w.program.x, DECIDED) | w.outer.chosen
        if (chosen == w.outer.chosen).all():
            return False
        w.outer, done = tabulate_potts(problem, scores, chosen), w.program.work
        w.program = _program(w.outer)
        w.program.work = done
        return True

    def pause_after(self, workspace: TightenedState, work: float) -> None:
        """Its work is that of its linear programs, as `run_until` has it."""
        workspace.allowed = work

    def bound(self, problem: Problem, scores: Scores, workspace: TightenedState) -> float:
        """The best bound so far."""
        return workspace.bound

    def dual_point(self, problem: Problem, scores: Scores, workspace: TightenedState) -> DualPoint:
        """Link scores of the best bound; they belong to the reparametrised scores."""
        return workspace.best.dual

    def proof(self, compiled: Compiled, workspace: TightenedState) -> Regions:
        """What proves the best bound."""
        return workspace.best

    def ray(self, workspace: TightenedState) -> DualPoint | None:
        """Link scores that prove infeasibility, if HiGHS found such a proof."""
        return workspace.ray

    def marginals(self, workspace: TightenedState) -> Float:
        """The relaxed answer ``[n]``."""
        return workspace.program.x

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: TightenedState) -> float:
        """Objective of the tightened relaxation at its answer; before one, rows may be broken."""
        return workspace.program.value if workspace.solved else np.nan


def _program(outer: TabulatedPotts) -> GrowingProgram:
    lp = build_lp(outer.problem, outer.scores)
    if lp.rows.priced:
        kind = outer.problem.models[0].structure.kind
        raise ModelError(
            f"cuts need a linear program with rows for every factor, and {kind} has none: decode "
            "with AD3(), LinearProgram() or exact=True"
        )
    return GrowingProgram(outer.problem, outer.scores, lp)


def restate(problem: Problem, outer: TabulatedPotts, proven: CutProof) -> Regions:
    """CutProof in the terms of the original problem."""
    links = np.zeros(problem.n_links)
    links[outer.link] = proven.links
    return Regions(
        proven.amounts.indptr.astype(np.int64),
        outer.place[proven.amounts.indices],
        proven.amounts.data,
        split_links(problem, links),
        rules=proven.rules,
    )
