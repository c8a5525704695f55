"""The nearest point of a hull, from the question ``maximize`` alone.

Wolfe's active set method (Finding the nearest point in a polytope, 1976): keep affinely independent
vertices and the point of their hull nearest to the target; ask for the vertex that improves it
most; leave vertices out when their weight falls to zero.  Ends after finitely many steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float

# A vertex enters only if it beats the present point by more than rounding.
TOLERANCE = 1e-11
# Supports settle after a few times their own size; the limit keeps a faulty oracle from looping.
MOST_STEPS = 100_000


def nearest_in_hull(maximize: Callable[[Float], Float], target: Float) -> Float:
    """The point nearest to ``target[n]`` of the polytope that ``maximize(scores[n])`` searches.

    Example:
        >>> import numpy as np
        >>> def corner(scores):
        ...     return np.eye(3)[scores.argmax()]
        >>> nearest_in_hull(corner, np.array([1.0, 0.5, -2.0])).round(3).tolist()
        [0.75, 0.25, 0.0]
    """
    vertices = maximize(target)[None]
    weight = np.ones(1)
    point = vertices[0]
    scale = 1.0 + float(np.abs(target).max(initial=0.0))
    for _ in range(MOST_STEPS):
        pull = target - point
        entering = maximize(pull)
        if pull @ (entering - point) <= TOLERANCE * scale * (1.0 + np.abs(entering).sum()):
            return point
        if (vertices == entering).all(axis=1).any():
            return point  # nothing new: what is left is rounding
        vertices, weight = _settle(np.vstack([vertices, entering]), np.append(weight, 0.0), target)
        point = weight @ vertices
    raise ModelError("no nearest point: `maximize` does not return best vertices of one polytope")


def _settle(vertices: Float, weight: Float, target: Float) -> tuple[Float, Float]:
    """Weights of the nearest point of the vertices' hull, and the vertices that have some."""
    while True:
        wanted = _affine_weights(vertices, target)
        if (wanted > 0.0).all():
            return vertices, wanted
        falling = wanted <= 0.0
        drop = weight[falling] - wanted[falling]
        limits = np.where(drop > 0.0, weight[falling] / np.where(drop > 0.0, drop, 1.0), 0.0)
        reach = min(1.0, float(limits.min()))
        weight = weight + reach * (wanted - weight)
        out = np.flatnonzero(falling)[limits.argmin()]
        keep = weight > 0.0
        keep[out] = False
        vertices, weight = vertices[keep], weight[keep] / weight[keep].sum()


def _affine_weights(vertices: Float, target: Float) -> Float:
    """Weights, summing to one, of the nearest point of the vertices' affine hull."""
    size = len(vertices)
    # Adding one to every product changes no solution and makes the matrix positive definite
    # where the vertices are affinely independent.
    moved = vertices - target
    gram = moved @ moved.T + 1.0
    try:
        weight = np.linalg.solve(gram, np.ones(size))
    except np.linalg.LinAlgError:
        weight = np.linalg.lstsq(gram, np.ones(size), rcond=None)[0]
    return weight / weight.sum()
