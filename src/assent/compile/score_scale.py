"""The scale of the scores, their typical size: what a gap is measured by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assent.kernels.problem import Float

# Of more scores than this, evenly spaced ones tell as much.
ENOUGH = 100_000


def score_scale(*medians: float) -> float:
    """The smallest of the median sizes of some families of scores; 1 where all scores are zero.

    A median is not moved by a few penalties that are meant to be prohibitive, nor by a few scores
    next to zero, as the largest or the mean would be; the smallest, since penalties on their own
    are often all of that kind.

    Example:
        >>> own, tables = np.array([1.0, -2.0, 0.0, 3.0]), np.array([-np.inf, 1e6])
        >>> score_scale(median_size([own]), median_size([tables]))
        2.0
        >>> score_scale(median_size([1e-9 * own])), score_scale(median_size([0.0 * own]))
        (2e-09, 1.0)
    """
    least = min(medians)
    return least if least < np.inf else 1.0


def score_scales(rows: Float, median: float) -> Float:
    """``[B]`` the same for every one of ``rows[B, n]`` and families that all of them share.

    Example:
        >>> rows = np.array([[1.0, -2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 9.0]])
        >>> score_scales(rows, 5.0).tolist()
        [2.0, 5.0]
    """
    step = rows.size // max(1, len(rows)) // ENOUGH + 1
    sizes = np.abs(rows[:, ::step])
    sizes[sizes == 0.0] = np.inf  # behind all others, as what is forbidden
    sizes.sort(axis=1)
    middle = np.isfinite(sizes).sum(axis=1) // 2
    own = sizes[np.arange(len(rows)), middle] if sizes.size else np.full(len(rows), np.inf)
    least = np.minimum(own, median)
    return np.where(np.isfinite(least), least, 1.0)


def median_size(family: Sequence[Float]) -> float:
    """The upper median of the sizes that are neither zero nor infinite; infinite if none is.

    Example:
        >>> median_size([np.array([1.0, 0.0]), np.array([[-2.0, -np.inf]])]), median_size([])
        (2.0, inf)
    """
    step = sum([own.size for own in family]) // ENOUGH + 1
    median = _middle(family, step)
    return median if step == 1 or median < np.inf else _middle(family, 1)


def _middle(family: Sequence[Float], step: int) -> float:
    """That of every so many scores."""
    some = [own.reshape(-1)[::step] for own in family]
    sizes = np.abs(some[0] if len(some) == 1 else np.concatenate([np.zeros(0), *some]))
    sizes.sort()  # of few, as most graphs of a batch have, quicker than to pick them first
    if not len(sizes):
        return np.inf
    zeros = 0 if sizes[0] else len(sizes) - np.count_nonzero(sizes)
    last = len(sizes) if sizes[-1] < np.inf else int(sizes.searchsorted(np.inf))
    return float(sizes[zeros + (last - zeros) // 2]) if zeros < last else np.inf
