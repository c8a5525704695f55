"""The nearest point of a polytope ``{0 <= z <= 1 : equal z = right}``, by its dual.

For prices ``v`` of the equations the nearest point is ``z(v) = clip(point + equal' v, 0, 1)``, and
the best prices are where it satisfies them.  That is a system of piecewise linear equations, the
gradient of a convex function: Newton's method with a little damping and a line search solves it in
a dozen steps, exactly once the pieces are found.  Matrices are dense: for small polytopes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels.problem import Float

MOST_STEPS = 200
MOST_HALVINGS = 40
# Equations hold up to this, relative to the largest number around.
TOLERANCE = 1e-11
# Damping, relative to the violation left, so that it vanishes with it.
DAMPING = 1e-2
# A step must gain this part of what the slope promises.
SUFFICIENT = 1e-4


def nearest_with_equalities(equal: Float, right: Float, point: Float) -> Float | None:
    """The point nearest to ``point[n]`` with ``equal[m, n] @ z = right[m]`` and all in [0, 1].

    None where the equations are not met after many steps: nothing may satisfy them.

    Example:
        >>> nearest_with_equalities(np.ones((1, 3)), np.ones(1), np.array([1.0, 0.5, -2.0]))
        array([0.75, 0.25, 0.  ])
    """
    limit = TOLERANCE * (1.0 + float(np.abs(point).max(initial=0.0)))
    prices = np.zeros(len(right))
    value, y, z = _dual(equal, right, point, prices)
    for _ in range(MOST_STEPS):
        slope = equal @ z - right
        missing = float(np.abs(slope).max(initial=0.0))
        if missing <= limit:
            return z
        step = _solve(equal, (y > 0.0) & (y < 1.0), DAMPING * min(1.0, missing), -slope)
        promise = float(slope @ step)
        share = 1.0
        for _ in range(MOST_HALVINGS):
            trial = prices + share * step
            found, y, z = _dual(equal, right, point, trial)
            if found <= value + SUFFICIENT * share * promise + 1e-15 * abs(value):
                break
            share *= 0.5
        prices, value = trial, found
    return None


def _dual(equal: Float, right: Float, point: Float, prices: Float) -> tuple[float, Float, Float]:
    """The dual function, ``point + equal' prices``, and the point that it is clipped to."""
    y = point + equal.T @ prices
    z = y.clip(0.0, 1.0)
    return float(z @ (y - 0.5 * z) - right @ prices), y, z


def _solve(equal: Float, free: Any, damping: float, right: Float) -> Float:
    """A damped Newton step: the coordinates that are ``free[n]`` follow the prices."""
    part = equal[:, free]
    matrix = part @ part.T + damping * np.eye(len(right))
    return np.asarray(np.linalg.solve(matrix, right), np.float64)
