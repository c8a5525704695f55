"""AD3's quadratic form: the point of a graph's relaxation that is nearest to a given one.

Maximise ``scores - |x - target|^2 / 2`` over the local polytope.  The square, and with it the
coordinate's own score, is one more factor per coordinate, whose copy moves by a formula;
everything else is AD3 as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from assent.kernels.problem import DualPoint, Float, Problem, Scores
from assent.solvers.ad3.ad3 import AD3, CURRENT, Workspace, residual_scores
from assent.solvers.ad3.outside_factors import Aside
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.protocol import WarmStart
from assent.solvers.base.starting_point import initial_penalty

# Iterations between looks at the residuals and the bound.
STRETCH = 20
# The square has curvature 1, and so has the penalty's, unless scores are larger than that.
LEAST_PENALTY = 1.0


@dataclass
class Squares:
    """A factor per coordinate that earns ``linear * x - curvature * (x - target)^2 / 2``.

    Takes the place of the factors outside the fused loop, which it steps as well.
    """

    target: Float  # [n]
    curvature: Float  # [n], 0 where nothing pulls
    linear: Float  # [n]
    w: Float  # [n], as every link's
    penalty: float
    others: Aside | None

    def step(
        self, problem: Problem, scores: Scores, iterations: int, penalty: float, alpha: float,
        full: bool, limit: float, weight: Float, w_logic: Float, w_table: Float, tau: Float,
        p: Float, total: Float,
    ) -> float:  # fmt: skip
        """Project and move the multipliers; adds ``q - p`` to ``total`` and returns its squares."""
        if penalty != self.penalty:  # multipliers u = w + p are kept in units of the penalty
            self.w = (self.penalty / penalty) * (self.w + p) - p
            self.penalty = penalty
        pulled = self.linear + self.curvature * self.target + penalty * (self.w + 2.0 * p)
        offset = np.clip(pulled / (self.curvature + penalty), 0.0, 1.0) - p
        self.w -= alpha * offset
        total += offset
        squares = float(offset @ offset)
        if self.others is not None:
            squares += self.others.step(
                problem, scores, iterations, penalty, alpha, full, limit, weight, w_logic, w_table,
                tau, p, total,
            )  # fmt: skip
        return squares

    @property
    def searched_alone(self) -> None:
        """Structures are never alone: the squares stand beside them."""
        return None

    @property
    def tables_alone(self) -> None:
        """Nor are tables."""
        return None

    def wake(self) -> None:
        """Let nobody sleep."""
        if self.others is not None:
            self.others.wake()

    def inner_value(self, problem: Problem) -> float:
        """What the other factors' inner parts earn."""
        return 0.0 if self.others is None else self.others.inner_value(problem)

    def inner_marginals(self, problem: Problem) -> Float:
        """Weights of the other factors' inner parts."""
        return np.zeros(0) if self.others is None else self.others.inner_marginals(problem)

    def value(self, x: Float) -> float:
        """What the squares earn at ``x[n]``."""
        return float(self.linear @ x - 0.5 * self.curvature @ (x - self.target) ** 2)

    def best(self, extra: Float) -> float:
        """The most that ``extra . x`` and the squares earn together over the cube."""
        slope = self.linear + extra
        curved = self.curvature > 0.0
        x = np.where(curved, self.target, slope > 0.0)
        x[curved] += slope[curved] / self.curvature[curved]
        x = x.clip(0.0, 1.0)
        return float(extra @ x) + self.value(x)


class Nearest(NamedTuple):
    """The nearest point: ``p[n]``, its value, a bound on any value, and how it was reached."""

    p: Float
    value: float
    bound: float
    iterations: int
    converged: bool


def find_nearest(
    problem: Problem,
    scores: Scores,
    target: Float,
    curvature: Float,
    *,
    tolerance: float,
    max_iterations: int,
) -> Nearest:
    """Maximise the scores less half the squared distance from ``target[n]``."""
    inner = replace(scores, theta=np.zeros(problem.n))
    penalty = max(LEAST_PENALTY, initial_penalty(problem, scores))
    solver = AD3(penalty=penalty, extrapolate=False)
    workspace = _start(solver, problem, inner, target)
    others = workspace.aside
    assert not isinstance(others, Squares)
    squares = Squares(target, curvature, scores.theta, -workspace.p, penalty, others)
    workspace.aside = squares
    value, bound, converged = -np.inf, np.inf, False
    while workspace.iterations < max_iterations and not converged:
        stretch = min(STRETCH, max_iterations - workspace.iterations)
        info = solver.advance(problem, inner, workspace, stretch)
        converged = max(info.primal_residual, info.dual_residual) <= tolerance
        bound = min(bound, _bound(problem, inner, solver, workspace, squares))
    value = solver.relaxed_value(problem, inner, workspace) + squares.value(workspace.p)
    return Nearest(workspace.p.clip(0.0, 1.0), value, bound, workspace.iterations, converged)


def _start(solver: AD3, problem: Problem, scores: Scores, target: Float) -> Workspace:
    """No multipliers, the consensus at the target, and a further link per coordinate."""
    nothing = DualPoint(
        np.zeros(problem.pair_var.shape),
        np.zeros(len(problem.lits)),
        np.zeros(len(problem.tables.lits)),
    )
    near = WarmStart(target.clip(0.0, 1.0), nothing, np.nan)
    workspace = solver.init(problem, scores, near)
    workspace.mass = workspace.mass + (problem.degree > 0)
    workspace.links += problem.n
    return workspace


def _bound(
    problem: Problem, scores: Scores, solver: AD3, workspace: Workspace, squares: Squares
) -> float:
    """What factors and squares can earn alone at the current link scores."""
    workspace.prefer = CURRENT
    links = solver.dual_point(problem, scores, workspace)
    rest = residual_scores(problem, scores, links)
    # With theta = -rest nothing is left to the coordinates themselves: the squares have it.
    factors = bound_at(problem, replace(scores, theta=-rest), links)
    return factors + squares.best(rest)
