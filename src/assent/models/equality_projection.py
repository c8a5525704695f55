"""Projection onto a polytope ``{0 <= z <= 1 : equal z = right}``, by its dual.

For multipliers ``v`` of the equations the minimiser of the Lagrangian is ``z(v) = clip(point +
equal' v, 0, 1)``, and ``v`` is optimal where ``z(v)`` satisfies them: a system of piecewise linear
equations, the gradient of a convex function.  A damped (semismooth) Newton method with a line
search solves it in about twelve steps, exactly once the active bounds are found.  Matrices are
dense: for small polytopes.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import Float

MOST_STEPS = 200
MOST_HALVINGS = 40
# Residual of the equations, relative to the largest coordinate of the point.
TOLERANCE = 1e-11
# Damping, relative to the residual, so that it vanishes with it.
DAMPING = 1e-2
# Armijo's constant: the part of the linear decrease that a step must reach.
ARMIJO = 1e-4


def nearest_with_equalities(equal: Float, right: Float, point: Float) -> Float | None:
    """The point nearest to ``point[n]`` with ``equal[m, n] @ z = right[m]`` and all in [0, 1].

    None where the equations are not met after ``MOST_STEPS`` steps: they may be infeasible.
    """
    limit = TOLERANCE * (1.0 + float(np.abs(point).max(initial=0.0)))
    multipliers = np.zeros(len(right))
    value, y, z = _dual(equal, right, point, multipliers)
    for _ in range(MOST_STEPS):
        gradient = equal @ z - right
        residual = float(np.abs(gradient).max(initial=0.0))
        if residual <= limit:
            return z
        # The Hessian: coordinates strictly inside their bounds move with the multipliers.
        part = equal[:, (y > 0.0) & (y < 1.0)]
        hessian = part @ part.T + DAMPING * min(1.0, residual) * np.eye(len(right))
        direction = np.linalg.solve(hessian, -gradient)
        slope = float(gradient @ direction)
        step = 1.0
        for _ in range(MOST_HALVINGS):
            trial = multipliers + step * direction
            found, y, z = _dual(equal, right, point, trial)
            if found <= value + ARMIJO * step * slope + 1e-15 * abs(value):
                break
            step *= 0.5
        multipliers, value = trial, found
    return None


def _dual(
    equal: Float, right: Float, point: Float, multipliers: Float
) -> tuple[float, Float, Float]:
    """The negated dual function, ``y = point + equal' multipliers``, and y clipped to [0, 1]."""
    y = point + equal.T @ multipliers
    z = y.clip(0.0, 1.0)
    return float(z @ (y - 0.5 * z) - right @ multipliers), y, z
