"""The weights of models over trees and chains: their blocks, and the scores they give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.problem import Float, Int64


class WeightLayout(NamedTuple):
    """Blocks: nodes ``[D, K]``, edges ``[E, K, K]``; of chains also start and stop ``[K]``."""

    features: int
    states: int
    edge_features: int = 1
    ends: bool = True

    @property
    def edge(self) -> int:
        """Where the weights of edges begin."""
        return self.features * self.states

    @property
    def start(self) -> int:
        """Where the weights of the first label begin."""
        return self.edge + self.edge_features * self.states**2

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.start + 2 * self.states * self.ends

    def split(self, weights: Float) -> tuple[Float, Float, Float]:
        """Weights as nodes ``[D, K]``, edges ``[E, K * K]`` and ends ``[2, K]`` (trees: none)."""
        k, edge, start = self.states, self.edge, self.start
        nodes, edges, ends = weights[:edge], weights[edge:start], weights[start:]
        return nodes.reshape(-1, k), edges.reshape(-1, k * k), ends.reshape(-1, k)

    def named(self, weights: Float) -> dict[str, Float]:
        """The blocks by name; tables of edges are (from, to), in trees (parent, child)."""
        nodes, edges, ends = self.split(weights)
        tables = edges.reshape(-1, self.states, self.states)
        if self.ends:
            return {"nodes": nodes, "edges": tables[0], "start": ends[0], "stop": ends[1]}
        return {"nodes": nodes, "edges": tables.swapaxes(1, 2)}

    def columns(self, used: Any) -> Int64:
        """The weights that an example with the node features ``used`` can change."""
        k = self.states
        nodes = np.asarray(used, np.int64)[:, None] * k + np.arange(k)
        return np.concatenate([nodes.ravel(), np.arange(self.edge, self.size)])

    def scores(
        self, weights: Float, size: int, nodes: Any, edges: Any = None, used: Any = None
    ) -> Float:
        """Scores ``[size]`` of the coordinates of a tree's space.

        Args:
            weights: ``[weights]``.
            size: of the space.
            nodes: ``[n, D]`` features of nodes, or only their columns ``used``.
            edges: ``[edges, E]`` features of edges, or None for one constant feature.
            used: the columns of ``nodes``; None for all.
        """
        k, n = self.states, nodes.shape[0]
        by_feature, tables, ends = self.split(weights)
        out = np.empty(size)
        of_nodes, of_edges = out[: n * k].reshape(n, k), out[n * k :].reshape(-1, k * k)
        of_nodes[:] = nodes @ (by_feature if used is None else by_feature[used])
        of_edges[:] = tables if edges is None else edges @ tables
        if self.ends:
            of_nodes[0] += ends[0]
            of_nodes[-1] += ends[1]
        return out
