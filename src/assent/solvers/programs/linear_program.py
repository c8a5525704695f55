"""The linear relaxation through HiGHS: oracle, baseline and solver in one.

Maximise ``theta . x`` plus the scores of pairs and tables over ``x`` in the unit cube and the hull
of every factor, in the rows of :mod:`assent.solvers.programs.relaxation_rows`.  The multipliers of
a factor's rows, times the rows' entries, are its link scores: by LP duality the bound they give
equals the optimum of the relaxation.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assent.kernels.problem import Problem, Scores
from assent.solvers.base.one_step import OneStep, OneStepState
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_choice, check_time_limit
from assent.solvers.programs.column_generation import solve_priced
from assent.solvers.programs.compact_lp import LpSolution, build_lp, link_scores
from assent.solvers.programs.highs import (
    Method,
    find_ray,
    highs_status,
    load_highs,
    read_highs,
    run_until,
    why_it_stopped,
)
from assent.solvers.programs.program_file import write_program

if TYPE_CHECKING:
    from pathlib import Path

    from assent.model.graph import FactorGraph


def solve_lp(
    problem: Problem,
    scores: Scores,
    method: Method = "choose",
    time_limit: float | None = None,
) -> LpSolution:
    """Solve the relaxation with HiGHS on one thread.

    ``method``: dual "simplex", interior-point "ipm", or HiGHS's own choice ("choose").
    An interrupt (Ctrl-C) stops HiGHS and comes back as the status "interrupted"; a small program
    takes some milliseconds and is solved first.
    """
    solution = ProgramRun(problem, scores, method, time_limit).go_on()
    assert solution is not None, "without a limit on its work it ends"
    return solution


class ProgramRun:
    """The relaxation in HiGHS: it can be paused, and goes on from its basis."""

    def __init__(
        self, problem: Problem, scores: Scores, method: Method, time_limit: float | None
    ) -> None:
        self.problem, self.scores, self.method = problem, scores, method
        self.deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
        self.lp = build_lp(problem, scores)
        # Presolving pays off for rows of structures; else the simplex method is quicker without,
        # up to forty times where tables are large.
        presolve = None if problem.models or method == "ipm" else "off"
        if not self.lp.rows.priced:
            self.highs = load_highs(self.lp, {"solver": method, "presolve": presolve})
        self.work = 0.0  # as `run_until` has it

    def go_on(self, work: float = np.inf) -> LpSolution | None:
        """Solve it, or do so much more work; None if that was not enough."""
        if self.lp.rows.priced:
            return solve_priced(self.problem, self.scores, self.lp, self.method, self.deadline)
        self.work += run_until(self.highs, self.deadline, work)
        status = highs_status(self.highs)
        return None if status == "iteration limit" else self._solution(status)

    def _solution(self, status: str) -> LpSolution:
        problem, lp, info = self.problem, self.lp, self.highs.getInfo()
        columns, row_dual = read_highs(self.highs, lp)
        x, relaxed_value = np.full(problem.n, 0.5), np.nan
        if columns is not None:
            x = np.clip(columns[: problem.n], 0.0, 1.0)
            if status == "optimal":  # before, rows may be broken
                relaxed_value = float(lp.offset - lp.scale * (lp.cost @ columns))
        value, ray = np.nan, None
        if status == "infeasible":
            value, ray = -np.inf, find_ray(problem, lp, self.deadline)
        elif status == "optimal":
            value = float(lp.offset - lp.scale * info.objective_function_value)
        iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        dual, seconds = link_scores(problem, lp.rows, row_dual), self.highs.getRunTime()
        return LpSolution(status, value, x, relaxed_value, row_dual, dual, ray, seconds, iterations)


@dataclass
class LinearProgramState(OneStepState):
    """The program once it was begun, and the work it may do next before it is paused."""

    run: ProgramRun | None = None
    allowed: float = np.inf


@dataclass(frozen=True)
class LinearProgram(OneStep):
    """Solve the linear relaxation with HiGHS, in one step.

    Attributes:
        method: "simplex", "ipm" or "choose" (HiGHS decides).
        time_limit: seconds after which HiGHS stops, or None.
        gap_tolerance: relative gap at which an answer counts as optimal.

    Example:
        >>> LinearProgram(method="ipm").method
        'ipm'
    """

    method: Method = "choose"
    time_limit: float | None = None
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything
    takes_time_limit = True

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("simplex", "ipm", "choose"))
        super().__post_init__()
        check_time_limit(self.time_limit)

    def solve(
        self, problem: Problem, scores: Scores, time_limit: float | None = None
    ) -> LpSolution:
        """The solution of the relaxation; a time limit given here wins over the settings'."""
        limit = self.time_limit if time_limit is None else time_limit
        return solve_lp(problem, scores, self.method, limit)

    def write(self, graph: FactorGraph, path: str | Path) -> None:
        """Write the relaxation to an ``.lp`` or ``.mps`` file, for any other solver.

        The file maximises; constants are included.  Structures that have no rows of their own
        (see ``docs/files.md``) cannot be written.
        """
        write_program(graph, path, integer=False)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> LinearProgramState:
        """Nothing yet: a program has no use for an earlier one's end."""
        return LinearProgramState(problem.n)

    def pause_after(self, workspace: LinearProgramState, work: float) -> None:
        """Its work is that of its linear programs, as `run_until` has it."""
        workspace.allowed = work

    def advance(
        self, problem: Problem, scores: Scores, workspace: LinearProgramState, iterations: int = 1
    ) -> Info:
        """Solve; one iteration is the whole solve, and none is done when it is paused."""
        w = workspace
        w.run = w.run or ProgramRun(problem, scores, self.method, self.time_limit)
        w.solution = w.run.go_on(w.allowed)
        if w.solution is None:
            return Info(0, np.inf, np.inf, work=w.run.work)
        status = w.solution.status
        if status == "interrupted":
            raise KeyboardInterrupt
        done = status == "optimal"
        residual = 0.0 if done else np.inf
        return Info(
            1, residual, residual, finished=done, reason=why_it_stopped(status), work=w.run.work
        )
