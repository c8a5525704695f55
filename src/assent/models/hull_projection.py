"""Projection onto a polytope of which only ``maximize`` is known.

Wolfe's active set method (Finding the nearest point in a polytope, 1976): keep affinely independent
vertices and the point of their hull nearest to the target; add the vertex that maximises the
gradient; drop vertices whose weight falls to zero.  Ends after finitely many steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float

# A vertex enters only if it improves on the current point by more than rounding.
TOLERANCE = 1e-11
# Steps are a small multiple of the support's size; the limit keeps a faulty oracle from looping.
MOST_STEPS = 100_000


def nearest_in_hull(maximize: Callable[[Float], Float], target: Float) -> Float:
    """The point nearest to ``target[n]`` of the polytope over which ``maximize(scores[n])`` is."""
    vertices = maximize(target)[None]
    weight = np.ones(1)
    point = vertices[0]
    scale = 1.0 + float(np.abs(target).max(initial=0.0))
    for _ in range(MOST_STEPS):
        gradient = target - point
        entering = maximize(gradient)
        if gradient @ (entering - point) <= TOLERANCE * scale * (1.0 + np.abs(entering).sum()):
            return point
        if (vertices == entering).all(axis=1).any():
            return point  # already active: the rest is rounding
        vertices, weight = _minor_cycle(
            np.vstack([vertices, entering]), np.append(weight, 0.0), target
        )
        point = weight @ vertices
    raise ModelError("no nearest point: `maximize` does not return best vertices of one polytope")


def _minor_cycle(vertices: Float, weight: Float, target: Float) -> tuple[Float, Float]:
    """Vertices of positive weight in the nearest point of the vertices' hull, and these weights."""
    while True:
        affine = _affine_weights(vertices, target)
        if (affine > 0.0).all():
            return vertices, affine
        falling = affine <= 0.0
        drop = weight[falling] - affine[falling]
        limits = np.where(drop > 0.0, weight[falling] / np.where(drop > 0.0, drop, 1.0), 0.0)
        step = min(1.0, float(limits.min()))
        weight = weight + step * (affine - weight)
        keep = weight > 0.0
        keep[np.flatnonzero(falling)[limits.argmin()]] = False
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
