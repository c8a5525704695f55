"""The best labels of a network: two by a minimum cut, exactly; several by expansion moves."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import Float, Int64
from assent.models import CutSpace, PottsSpace


def label_nodes(scores: Float, edges: Int64, prices: Float) -> Int64:
    """Labels ``[n]`` that maximise scores less the prices of edges whose ends differ.

    Args:
        scores: ``[n, K]``.
        edges: ``[E, 2]``.
        prices: ``[E]`` numbers >= 0.

    Example:
        >>> scores = np.array([[0.0, 2.0], [0.0, -0.5], [0.0, 1.0]])
        >>> label_nodes(scores, np.array([[0, 1], [1, 2]]), np.array([0.4, 0.4])).tolist()
        [1, 1, 1]
    """
    if not len(edges):
        return scores.argmax(axis=1)
    n, labels = scores.shape
    if labels > 2:
        return PottsSpace(n, labels, edges).best_labels(scores, prices)
    best = CutSpace(n, edges).maximize(np.concatenate([scores[:, 1] - scores[:, 0], -prices]))
    return best[:n].astype(np.int64)
