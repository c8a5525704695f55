"""Features of single words, for their links beyond the first, and of adjacent links."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import Float


def fertility_features(tables: dict[str, Float], axis: int) -> Float:
    """Features ``[words, W]`` of each row's (axis 1) or column's links beyond the first.

    A constant, how frequent the word is, what tables say about its second best link, and how
    often other aligners give it several.

    Example:
        >>> names = "HMM, forms", "HMM, stems", "both frequent, forms"
        >>> tables = dict(zip(names, np.array([[[0.9, 0.6]], [[0.9, 0.4]], [[0.2, 0.1]]])))
        >>> fertility_features(tables, 1).round(2).tolist()
        [[1.0, 0.2, 0.5]]
    """
    agreed = agreed_links(tables)
    found = [
        np.ones(agreed.shape[1 - axis]),
        tables["both frequent, forms"].max(axis=axis),
        _second(agreed, axis),
    ]
    linked = [table for name, table in tables.items() if name.startswith("linked both ways")]
    if linked:
        found.append(_second(np.mean(linked, axis=0), axis))
    if "votes" in tables:
        others = [table for name, table in tables.items() if name.startswith("other ")]
        several = [table.sum(axis=axis) > 1.0 for table in others]
        found += [_second(tables["votes"], axis), np.mean(several, axis=0)]
    return np.stack(found, axis=-1)


def adjacent_features(tables: dict[str, Float]) -> Float:
    """Features ``[n - 1, m - 1, A]`` of links (i, j) and (i + 1, j + 1) together.

    Example:
        >>> tables = {"HMM, forms": np.eye(2), "HMM, stems": np.eye(2)}
        >>> adjacent_features(tables).tolist()
        [[[1.0, 1.0]]]
    """
    agreed = agreed_links(tables)
    both = np.sqrt(agreed[:-1, :-1] * agreed[1:, 1:])
    return np.stack([np.ones_like(both), both], axis=-1)


def agreed_links(tables: dict[str, Float]) -> Float:
    """The mean of what the hidden Markov models say about each link, ``[n, m]``."""
    return np.mean([tables["HMM, forms"], tables["HMM, stems"]], axis=0)


def _second(table: Float, axis: int) -> Float:
    """The second largest value of each row or column; zero where there is one only."""
    if table.shape[axis] < 2:
        return np.zeros(table.shape[1 - axis])
    return np.asarray(np.sort(table, axis=axis).take(-2, axis))
