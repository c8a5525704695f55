"""The scale of the scores, their typical size: what a gap is measured by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assent.kernels.problem import Float

# Of more scores than this, evenly spaced ones tell as much.
ENOUGH = 100_000


def score_scale(*families: Sequence[Float]) -> float:
    """The smallest of the families' median sizes; 1 where all scores are zero.

    Scores of zero and ``-inf`` do not count.  A median is not moved by a few penalties that are
    meant to be prohibitive, nor by a few scores next to zero, as the largest or the mean would be;
    the smallest, since penalties on their own are often all of that kind.

    Example:
        >>> own, tables = np.array([1.0, -2.0, 0.0, 3.0]), np.array([-np.inf, 1e6])
        >>> score_scale([own], [tables]), score_scale([1e-9 * own]), score_scale([0.0 * own])
        (2.0, 2e-09, 1.0)
    """
    least = min(map(_median, families), default=np.inf)
    return least if np.isfinite(least) else 1.0


def score_scales(rows: Float, *families: Sequence[Float]) -> Float:
    """``[B]`` the same for the families that every one of ``rows[B, n]`` shares, and itself.

    Example:
        >>> score_scales(np.array([[1.0, -2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 9.0]])).tolist()
        [2.0, 9.0]
    """
    step = rows.size // max(1, len(rows)) // ENOUGH + 1
    sizes = np.abs(rows[:, ::step])
    sizes[sizes == 0.0] = np.inf  # behind all others, as what is forbidden
    sizes.sort(axis=1)
    middle = np.isfinite(sizes).sum(axis=1) // 2
    own = sizes[np.arange(len(rows)), middle] if sizes.size else np.full(len(rows), np.inf)
    least = np.minimum(own, min(map(_median, families), default=np.inf))
    return np.where(np.isfinite(least), least, 1.0)


def _median(arrays: Sequence[Float]) -> float:
    """The upper median of the sizes that are neither zero nor infinite; infinite if none is."""
    parts = [own.reshape(-1) for own in arrays if own.size]
    for step in (sum(map(len, parts)) // ENOUGH + 1, 1) if parts else ():
        some = [own[::step] for own in parts]
        sizes = np.abs(some[0] if len(some) == 1 else np.concatenate(some))
        sizes.sort()  # of few, as most graphs of a batch have, quicker than to pick them first
        zeros, last = len(sizes) - np.count_nonzero(sizes), sizes.searchsorted(np.inf)
        if zeros < last:
            return float(sizes[zeros + (last - zeros) // 2])
    return np.inf
