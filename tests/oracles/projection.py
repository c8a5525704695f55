"""Exact projections onto the hull of enumerated vertices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import nnls

PAIR_VERTICES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int8)


def hull_projection(corners: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The point of the hull of ``corners[m, d]`` nearest to ``point[d]``.

    For u >= 0, ``|P u|^2 + (1 - sum u)^2`` with ``P = corners - point`` as columns is least at a
    multiple of the weights of the nearest point, so non-negative least squares is exact.
    """
    reach = 1.0 + np.abs(point).max(initial=0.0)
    offsets = (corners - point) / reach
    weights, _ = nnls(
        np.vstack([offsets.T, np.ones(len(corners))]), np.eye(1, len(point) + 1, len(point))[0]
    )
    nearest = weights @ corners / weights.sum()
    assert projection_gap(corners, point, nearest) <= 1e-7 * reach**2
    return nearest


def projection_gap(corners: np.ndarray, point: np.ndarray, candidate: np.ndarray) -> float:
    """How far ``candidate`` is from optimal: the largest ``<point - q, vertex - q>``, 0 at best."""
    return float(((corners - candidate) @ (point - candidate)).max())


def scored_projection(corners: np.ndarray, scores: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Minimise ``|q - point|^2 / 2 - scores . w`` over weights ``w``, ``q = w @ corners``.

    Tries every set of vertices as the support and keeps the best feasible one: for a handful of
    vertices only.
    """
    best, answer = np.inf, None
    for size in range(1, len(corners) + 1):
        for support in combinations(range(len(corners)), size):
            chosen = corners[list(support)].astype(float)
            # Stationarity with one multiplier for sum w = 1.
            system = np.ones((size + 1, size + 1))
            system[:size, :size] = chosen @ chosen.T
            system[size, size] = 0.0
            right = np.append(chosen @ point + scores[list(support)], 1.0)
            weights = np.linalg.lstsq(system, right, rcond=None)[0][:size]
            if weights.min() < -1e-10 or abs(weights.sum() - 1.0) > 1e-9:
                continue
            q = weights @ chosen
            value = 0.5 * ((q - point) ** 2).sum() - scores[list(support)] @ weights
            if value < best:
                best, answer = value, q
    assert answer is not None
    return answer


def pair_projection(point: np.ndarray, score: float) -> np.ndarray:
    """The pair subproblem: nearest ``(z1, z2)`` with the inner part ``z12`` scored linearly."""
    return scored_projection(PAIR_VERTICES, score * PAIR_VERTICES.all(axis=1), point)
