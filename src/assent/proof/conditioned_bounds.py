"""Bounds with one more value known, for many values at once; imports no solver.

One more value changes what link scores show in the factors that mention it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import FREE, Compiled, GraphScores
from assent.factors.base import Factor
from assent.kernels.problem import Float, Int64
from assent.model.variables import coordinates_of
from assent.proof import certify

# Links evaluated together: some megabytes.
AT_ONCE = 1 << 20


def bounds_with_each(
    compiled: Compiled,
    scores: GraphScores,
    dual: tuple[Float, ...],
    known: NDArray[np.int8],
    literals: Sequence[int],
) -> Float:
    """Bounds ``[L]`` that link scores ``dual`` prove beside ``known[N]`` with each literal true.

    Nothing is propagated.  A literal already known, or named before, is left out: ``inf``.
    """
    codes = np.array(literals, np.int64)
    coordinate, value = coordinates_of(codes), (codes >= 0).astype(np.int8)
    total = np.full(len(codes), certify.upper_bound(compiled, scores, dual, known))
    which = np.full(len(known), -1)
    which[coordinate[::-1]] = np.arange(len(codes))[::-1]
    residual = scores.theta.copy()
    with np.errstate(invalid="ignore"):
        for block, own, links in zip(compiled.blocks, compiled.by_block(scores), dual, strict=True):
            certify.charge(block.factor.codes, links, residual)
            _add_changes(block.factor, own, links, known, which, value, total)
    left = residual[coordinate]
    total += np.where(value == 1, left, 0.0) - np.maximum(left, 0.0)
    is_new = (known[coordinate] == FREE) & (which[coordinate] == np.arange(len(codes)))
    return np.where(is_new & ~np.isnan(total), total, np.inf)


def _add_changes(
    factor: Factor,
    scores: Float,
    links: Float,
    known: NDArray[np.int8],
    which: Int64,
    value: NDArray[np.int8],
    total: Float,
) -> None:
    """Add what the best values of a batch change by, to the ``total[L]`` of every literal."""
    coordinate = coordinates_of(factor.codes)
    row, place = np.nonzero(which[coordinate] >= 0)
    literal, row = np.unique(np.stack([which[coordinate[row, place]], row]), axis=1)
    step = max(1, AT_ONCE // max(1, coordinate.shape[1]))
    for begin in range(0, len(row), step):
        rows, own = row[begin : begin + step], literal[begin : begin + step]
        before = known[coordinate[rows]]
        after = np.where(which[coordinate[rows]] == own[:, None], value[own][:, None], before)
        change = certify.row_bounds(factor, scores, links, after, rows)
        change -= certify.row_bounds(factor, scores, links, before, rows)
        np.add.at(total, own, change)
