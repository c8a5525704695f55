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
from assent.solvers.base.protocol import Info
from assent.solvers.base.settings import check_choice, check_time_limit
from assent.solvers.programs.column_generation import solve_priced
from assent.solvers.programs.compact_lp import LpSolution, build_lp, link_scores
from assent.solvers.programs.highs import (
    SMALL_PROGRAM,
    Method,
    find_ray,
    highs_status,
    load_highs,
    read_highs,
    run_highs,
    time_left,
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

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> solve_lp(problem, Scores(np.array([1.0, -0.5]), np.array([2.0]))).value
        2.5
    """
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    lp = build_lp(problem, scores)
    if lp.rows.priced:
        return solve_priced(problem, scores, lp, method, deadline)
    small = lp.matrix.nnz <= SMALL_PROGRAM
    presolve = "off" if small and method != "ipm" else None
    options = {"solver": method, "presolve": presolve, "time_limit": time_left(deadline)}
    highs = load_highs(lp, options)
    if small:
        highs.run()
    else:
        run_highs(highs)
    status = highs_status(highs)
    columns, row_dual = read_highs(highs, lp)
    x, relaxed_value = np.full(problem.n, 0.5), np.nan
    if columns is not None:
        x = np.clip(columns[: problem.n], 0.0, 1.0)
        if status == "optimal":  # before, rows may be broken
            relaxed_value = float(lp.offset - lp.scale * (lp.cost @ columns))
    value, ray = np.nan, None
    if status == "infeasible":
        value, ray = -np.inf, find_ray(problem, lp, deadline)
    elif status == "optimal":
        value = float(lp.offset - lp.scale * highs.getInfo().objective_function_value)
    info = highs.getInfo()
    iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
    dual = link_scores(problem, lp.rows, row_dual)
    return LpSolution(
        status, value, x, relaxed_value, row_dual, dual, ray, highs.getRunTime(), iterations
    )


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

    def advance(
        self, problem: Problem, scores: Scores, workspace: OneStepState, iterations: int = 1
    ) -> Info:
        """Solve; one iteration is the whole solve."""
        workspace.solution = self.solve(problem, scores)
        if workspace.solution.status == "interrupted":
            raise KeyboardInterrupt
        status = workspace.solution.status
        done = status == "optimal"
        residual = 0.0 if done else np.inf
        return Info(1, residual, residual, finished=done, reason=why_it_stopped(status))
