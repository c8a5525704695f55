"""AD3's quadratic form: the point of a graph's relaxation that is nearest to a given one.

Maximise ``scores - |x - target|^2 / 2`` over the local polytope.  The square, and with it the
coordinate's own score, is one more factor per coordinate, whose copy moves by a formula;
everything else is AD3 as it stands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from assent.kernels.ad3.state import CURRENT, ORDERED, Quadratic
from assent.kernels.core.residual_scores import residuals
from assent.kernels.problem import DualPoint, Float, Problem, Scores
from assent.solvers.ad3.ad3 import AD3, Workspace
from assent.solvers.ad3.outside_factors import start_outside
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.protocol import WarmStart
from assent.solvers.base.starting_point import initial_penalty

# Iterations between checks of the residuals and the bound.
STRETCH = 20
# The square has curvature 1, and so has the penalty's, unless scores are larger than that.
LEAST_PENALTY = 1.0


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
    squares = Quadratic(
        target.astype(np.float64), curvature.astype(np.float64), scores.theta.copy(), np.zeros(0)
    )
    workspace, squares = _start(solver, problem, inner, squares)
    bound, converged = np.inf, False
    while workspace.iterations < max_iterations and not converged:
        stretch = min(STRETCH, max_iterations - workspace.iterations)
        info = solver.advance(problem, inner, workspace, stretch)
        converged = max(info.primal_residual, info.dual_residual) <= tolerance
        bound = min(bound, _bound(problem, inner, solver, workspace, squares))
    value = solver.relaxed_value(problem, inner, workspace) + _value(squares, workspace.p)
    return Nearest(workspace.p.clip(0.0, 1.0), value, bound, workspace.iterations, converged)


def _start(
    solver: AD3, problem: Problem, scores: Scores, squares: Quadratic
) -> tuple[Workspace, Quadratic]:
    """No multipliers, the consensus at the target, and a further link per coordinate."""
    nothing = DualPoint(
        np.zeros(problem.pair_var.shape),
        np.zeros(len(problem.lits)),
        np.zeros(len(problem.tables.lits)),
    )
    near = WarmStart(squares.target.clip(0.0, 1.0), nothing, np.nan)
    workspace = solver.init(problem, scores, near)
    own, squares = workspace.own, squares._replace(w=-workspace.p)
    workspace.own = own._replace(
        mass=own.mass + (problem.degree > 0), total_weight=own.total_weight + problem.n
    )
    workspace.outside = start_outside(problem, squares)
    workspace.state.numbers[ORDERED] = 0.0  # the quadratic form is stepped outside the fused loop
    workspace.prefer(CURRENT)
    return workspace, squares


def _value(squares: Quadratic, x: Float) -> float:
    """What the squares earn at ``x[n]``."""
    return float(squares.linear @ x - 0.5 * squares.curvature @ (x - squares.target) ** 2)


def _best(squares: Quadratic, extra: Float) -> float:
    """The most that ``extra . x`` and the squares earn together over the cube."""
    slope = squares.linear + extra
    curved = squares.curvature > 0.0
    x = np.where(curved, squares.target, slope > 0.0)
    x[curved] += slope[curved] / squares.curvature[curved]
    x = x.clip(0.0, 1.0)
    return float(extra @ x) + _value(squares, x)


def _bound(
    problem: Problem, scores: Scores, solver: AD3, workspace: Workspace, squares: Quadratic
) -> float:
    """What factors and squares can earn alone at the current link scores."""
    links = solver.dual_point(problem, scores, workspace)
    rest = np.empty(problem.n)
    residuals(problem.all_lits, links.joined(), scores.theta, rest)
    # With theta = -rest nothing is left to the coordinates themselves: the squares have it.
    factors = bound_at(problem, replace(scores, theta=-rest), links)
    return factors + _best(squares, rest)
