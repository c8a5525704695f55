"""Features of neighbours: what the tables say about the words beside a pair."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import Float

BESIDE = ((0, 1), (0, -1), (1, 0), (-1, 0))


def shifted(table: Float, rows: int, columns: int) -> Float:
    """``table[i + rows, j + columns]`` at ``i, j``; zero beyond the edges.

    Example:
        >>> shifted(np.array([[1.0, 2.0], [3.0, 4.0]]), 1, 1).tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    n, m = table.shape
    out = np.zeros_like(table)
    into = slice(max(0, -rows), min(n, n - rows)), slice(max(0, -columns), min(m, m - columns))
    of = slice(max(0, rows), min(n, n + rows)), slice(max(0, columns), min(m, m + columns))
    if into[0].start < into[0].stop and into[1].start < into[1].stop:
        out[into] = table[of]
    return out


def neighbour_features(name: str, table: Float) -> dict[str, Float]:
    """What a table says about the neighbours of each pair, by direction."""
    return {
        f"{name} before": shifted(table, -1, -1),
        f"{name} after": shifted(table, 1, 1),
        # An adjective may stand between an article and its noun in one language only.
        f"{name} near before": np.maximum(shifted(table, -2, -1), shifted(table, -1, -2)),
        f"{name} near after": np.maximum(shifted(table, 2, 1), shifted(table, 1, 2)),
        f"{name} crossing": shifted(table, -1, 1) + shifted(table, 1, -1),
        f"{name} beside": np.sum([shifted(table, *step) for step in BESIDE], axis=0),
    }


def competing(table: Float) -> Float:
    """Each value less the largest other one of its row and column.

    Example:
        >>> competing(np.array([[3.0, 1.0], [0.0, 1.0]])).tolist()
        [[2.0, -2.0], [-3.0, 0.0]]
    """
    best = np.full_like(table, 0.0)
    for axis in (0, 1):
        if table.shape[axis] > 1:
            order = np.sort(table, axis=axis)
            first, second = order.take([-1], axis), order.take([-2], axis)
            best = np.maximum(best, np.where(table == first, second, first))
    return table - best
