"""Bounds of searches where scores are of very different sizes: no more is claimed than is shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.compiled import Compiled, GraphScores
from assent.kernels.picked_entries import sum_of_largest
from assent.replay import Others, Replay

# Where rounded sums may be off by more than this, relative to the bound, a proof is replayed.
CLEAR = 1e-8


def clear_of_rounding(
    bound: float,
    proof: Any,
    compiled: Compiled,
    scores: GraphScores,
    others: Others | None = None,
) -> float:
    """The bound, or what its proof shows if that is more and large scores cancel each other in it.

    A search adds up large scores of both signs in another order than a proof does.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(2, scores=[1e9, -1e9])
        >>> rule = g.add(at.Agree(x[0], x[1]))
        >>> claim = at.decode(g, at.AD3()).certificate
        >>> clear_of_rounding(-0.5, claim.shown_by, claim.compiled, claim.scores)
        0.0
    """
    rounding = np.finfo(float).eps * _size(scores)
    if not np.isfinite(bound) or rounding <= CLEAR * (1.0 + abs(bound)):
        return bound
    return max(bound, Replay(compiled, scores, others).bound(proof))


def _size(scores: GraphScores) -> float:
    """How large sums of scores may become."""
    parts = scores.theta, *scores.pairs, *scores.tables
    return abs(scores.constant) + sum(
        sum_of_largest(part.reshape(len(part), -1)) for part in parts if len(part)
    )
