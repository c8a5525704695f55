"""IntegerProgram: branch and bound through HiGHS."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assent.kernels.problem import Float, Problem, Scores
from assent.proof.proof_tree import Trusted
from assent.solvers.base import infeasibility
from assent.solvers.base.one_step import OneStep, OneStepState
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_time_limit
from assent.solvers.base.stop_reasons import ROUNDING_ONLY
from assent.solvers.programs.compact_lp import CompactLP, build_lp
from assent.solvers.programs.highs import why_it_stopped
from assent.solvers.programs.linear_program import solve_lp
from assent.solvers.programs.program_file import write_program
from assent.solvers.programs.trusted_core import search_program

if TYPE_CHECKING:
    from assent.compile.compiled import Compiled
    from assent.model.graph import FactorGraph


@dataclass
class IntegerProgramState(OneStepState):
    """The relaxation's solution for the dual point, and what the search found."""

    program: CompactLP = field(kw_only=True)
    x: Float | None = None
    searched: float = np.inf  # the search's own bound


@dataclass(frozen=True)
class IntegerProgram(OneStep):
    """Branch and bound through HiGHS: the true optimum of small problems, where AD3 leaves a gap.

    First the relaxation is solved, whose multipliers are the dual point of the certificate; then
    HiGHS searches.  ``certificate.searched`` says that the bound is the search's: a stranger can
    recheck the answer and the relaxation's bound, not the search.  Where only the search shows
    that nothing is possible, ``certificate.trusted`` names it.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
        time_limit: seconds after which HiGHS stops, or None.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> at.decode(g, at.AD3()).status.name, at.decode(g, at.IntegerProgram()).status.name
        ('RELAXED', 'OPTIMAL')
    """

    gap_tolerance: float = 1e-6
    time_limit: float | None = None
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything
    takes_time_limit = True
    searches = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time_limit(self.time_limit)

    def write(self, graph: FactorGraph, path: str | Path) -> None:
        """Write the integer program to an ``.lp`` or ``.mps`` file, for any other solver.

        The file maximises; constants are included, so that its optimum is the graph's.
        """
        write_program(graph, path, integer=True)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> IntegerProgramState:
        """The program; a structure without rows is refused here."""
        return IntegerProgramState(problem.n, program=build_lp(problem, scores, integer=True))

    def advance(
        self, problem: Problem, scores: Scores, workspace: IntegerProgramState, iterations: int = 1
    ) -> Info:
        """Solve the relaxation, then search; one iteration is everything."""
        w, began = workspace, time.perf_counter()
        w.solution = solve_lp(problem, scores, "choose", self.time_limit)
        if w.solution.status == "interrupted":
            raise KeyboardInterrupt
        left = None
        if self.time_limit is not None:
            left = max(self.time_limit - (time.perf_counter() - began), 1e-3)
        if w.solution.status == "infeasible":
            ray = w.solution.ray
            if ray is None or not infeasibility.proves(problem, ray, scores.table):
                w.searched = -np.inf
            return Info(1, 0.0, 0.0)
        found = search_program(w.program, scores, left, self.gap_tolerance)
        w.x = None if found.assignment is None else found.assignment.astype(float)
        w.searched = found.bound
        if found.status == "interrupted":
            raise KeyboardInterrupt
        residual = 0.0 if found.status == "optimal" else np.inf
        reason = why_it_stopped(found.status) or ROUNDING_ONLY  # if a gap remains all the same
        return Info(1, residual, residual, finished=True, reason=reason)

    def bound(self, problem: Problem, scores: Scores, workspace: IntegerProgramState) -> float:
        """The better of the search's bound and the relaxation's."""
        return min(workspace.searched, super().bound(problem, scores, workspace))

    def proof(self, compiled: Compiled, workspace: IntegerProgramState) -> Trusted | None:
        """The search's word, where nothing else shows that nothing is possible."""
        return Trusted("HiGHS", -np.inf) if workspace.searched == -np.inf else None

    def marginals(self, workspace: IntegerProgramState) -> Float:
        """The answer found, or the relaxed one."""
        return super().marginals(workspace) if workspace.x is None else workspace.x
