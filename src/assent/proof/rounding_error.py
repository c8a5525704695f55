"""Bounds where scores are of very different sizes: no more is claimed than is shown."""

from __future__ import annotations

import math

import numpy as np

from assent.compile.compiled import GraphScores
from assent.kernels.core.table_entries import sum_of_largest
from assent.kernels.problem import Float

EPSILON = float(np.finfo(float).eps)

# Where rounded sums may be off by more than this, relative to the bound, a proof is replayed.
CLEAR = 1e-8


def rounding_matters(bound: float, scores: GraphScores) -> bool:
    """Whether sums of scores may be off by more than a bound may be.

    A solver adds up large scores of both signs in another order than a proof does.
    """
    return bool(
        np.isfinite(bound) and EPSILON * _size(scores) > CLEAR * (scores.scale + abs(bound))
    )


def is_never_rounded(scale: float, *parts: Float) -> bool:
    """Whether rounding matters to no bound whatever, by a quick look at all flat scores."""
    # No sum of sizes is larger than this (Cauchy and Schwarz).
    most = sum(math.sqrt(len(part) * float(np.dot(part, part))) for part in parts)
    return EPSILON * most <= CLEAR * scale


def _size(scores: GraphScores) -> float:
    """How large sums of scores may become."""
    parts = scores.theta, *scores.factors
    return abs(scores.constant) + sum(
        sum_of_largest(part.reshape(len(part), -1)) for part in parts if len(part)
    )
