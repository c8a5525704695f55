"""The best labels of a network: two by a minimum cut, exactly."""

from __future__ import annotations

import numpy as np

from assent.factors.cut import Cut
from assent.kernels.problem import Float, Int64
from assent.model.graph import FactorGraph
from assent.models.structure_space import StructureSpace


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
    return _cut(scores[:, 1] - scores[:, 0], edges, prices)


def _cut(gain: Float, edges: Int64, prices: Float) -> Int64:
    """The best of two labels, where the second scores ``gain`` more than the first."""
    graph = FactorGraph()
    cut = Cut(graph.binary(len(gain)), edges, cut=graph.binary(len(edges)))
    best = StructureSpace(cut).maximize(np.concatenate([gain, -prices]))
    return best[: len(gain)].astype(np.int64)
