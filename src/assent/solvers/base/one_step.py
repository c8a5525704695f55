"""Solvers of one step: what follows once their ``solution`` of the relaxation is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.protocol import IterativeSolver, WarmStart


@dataclass(frozen=True)
class OneStepSolution:
    """The relaxed answer ``x[n]``, its value, and link scores.

    Where the relaxation was found infeasible, ``ray`` are link scores that prove it.
    """

    x: Float
    relaxed_value: float
    dual: DualPoint
    ray: DualPoint | None = None


@dataclass
class OneStepState:
    """The solution over ``n`` coordinates, once there is one: an interrupt may come first."""

    n: int
    solution: Any = None  # with the fields of a OneStepSolution


class OneStep(IterativeSolver):
    """All of a solver but `advance`, which sets the state's ``solution``."""

    finds_rays = True

    def init(self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None) -> Any:
        """Nothing yet: one step has no use for an earlier one's end."""
        return OneStepState(problem.n)

    def bound(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """Upper bound from the multipliers; infinite before the solve."""
        return np.inf if workspace.solution is None else super().bound(problem, scores, workspace)

    def dual_point(self, problem: Problem, scores: Scores, workspace: Any) -> DualPoint:
        """Link scores of the relaxation's multipliers; zero before the solve."""
        if workspace.solution is None:
            return split_links(problem, np.zeros(problem.n_links))
        return workspace.solution.dual

    def ray(self, workspace: Any) -> DualPoint | None:
        """Link scores that prove infeasibility, if such a proof was found."""
        return None if workspace.solution is None else workspace.solution.ray

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """Objective of the relaxation at the relaxed answer, if there is one."""
        return np.nan if workspace.solution is None else workspace.solution.relaxed_value

    def marginals(self, workspace: Any) -> Float:
        """The relaxed answer; one half everywhere before the solve."""
        if workspace.solution is None:
            return np.full(workspace.n, 0.5)
        return workspace.solution.x
