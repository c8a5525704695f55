"""Features of single words, for their links beyond the first, and of adjacent links."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import Float


def fertility_features(tables: dict[str, Float], axis: int) -> Float:
    """Features ``[words, W]``: how much of a word's row (axis 1) or column the tables fill.

    Example:
        >>> tables = {"HMM, forms": np.array([[0.9, 0.6]]), "HMM, stems": np.array([[0.9, 0.4]])}
        >>> fertility_features(tables, 1).round(2).tolist()
        [[1.0, 0.5]]
    """
    agreed = [table for name, table in tables.items() if name in ("HMM, forms", "HMM, stems")]
    second = [_second(np.mean(agreed, axis=0), axis)] if agreed else []
    if "votes" in tables:
        second.append(_second(tables["votes"], axis))
    words = tables["HMM, forms"].shape[1 - axis]
    return np.stack([np.ones(words), *second], axis=-1)


def _second(table: Float, axis: int) -> Float:
    """The second largest value of each row or column; zero where there is one only."""
    if table.shape[axis] < 2:
        return np.zeros(table.shape[1 - axis])
    return np.asarray(np.sort(table, axis=axis).take(-2, axis))
