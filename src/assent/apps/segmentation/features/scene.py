"""Scene: a graph of nodes to be labelled, whatever the nodes are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from assent.apps.segmentation.data.label_set import UNKNOWN
from assent.errors import ModelError
from assent.kernels.problem import Float, Int64


class Scene(NamedTuple):
    """Nodes with features, and neighbours with features.

    Attributes:
        nodes: ``[n, D]`` features of the nodes.
        edges: ``[E, 2]`` neighbours.
        features: ``[E, F]`` features >= 0 of the edges.
        labels: ``[n]`` indices of labels, -1 where unknown; None where nothing is known.
        regions: the node of every pixel, ``[height, width]``, or of every point, ``[points]``;
            None where nodes are points.
    """

    nodes: Float
    edges: Int64
    features: Float
    labels: Int64 | None = None
    regions: Int64 | None = None


def region_labels(regions: Int64, mask: Int64, count: int) -> Int64:
    """The label ``[n]`` that most of a region's known pixels have, -1 if none is known.

    Example:
        >>> region_labels(np.array([[0, 0, 0, 1]]), np.array([[1, 1, 0, -1]]), 2).tolist()
        [1, -1]
    """
    known = mask != UNKNOWN
    votes = np.zeros((int(regions.max(initial=0)) + 1, count), np.int64)
    np.add.at(votes, (regions[known], mask[known]), 1)
    return np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)


def fill_unknown(labels: Int64, edges: Int64) -> Int64:
    """Labels in which every unknown one is that of the nearest known node, counted in edges.

    Example:
        >>> fill_unknown(np.array([1, -1, -1, 0]), np.array([[0, 1], [1, 2], [2, 3]])).tolist()
        [1, 1, 0, 0]
    """
    known = np.flatnonzero(labels != UNKNOWN)
    if not len(known):
        raise ModelError("no label is known")
    if len(known) == len(labels):
        return labels
    graph = csr_array((np.ones(len(edges)), tuple(edges.T)), shape=(len(labels), len(labels)))
    _, _, sources = dijkstra(
        graph, directed=False, indices=known, unweighted=True, min_only=True,
        return_predecessors=True,
    )  # fmt: skip
    filled = np.where(sources >= 0, labels[np.maximum(sources, 0)], UNKNOWN)
    # Parts of the graph without any known node: the most frequent label.
    filled[filled == UNKNOWN] = np.bincount(labels[known]).argmax()
    return filled
