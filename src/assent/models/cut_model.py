"""CutModel: binary labels of a graph's nodes, neighbours preferring equal labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.factors.cut import Cut, clean_edges
from assent.kernels.problem import Float, Int64
from assent.model.graph import FactorGraph
from assent.models.example import LinearExample
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.space import Rows
from assent.models.structure_space import StructureSpace
from assent.models.tree_model import clean_features


class CutInput(NamedTuple):
    """An input of `CutModel`: a graph with features of its nodes and, optionally, its edges.

    Attributes:
        nodes: ``[n, D]`` features of the nodes.
        edges: ``[E, 2]`` positions of the ends of every edge.
        features: ``[E, F]`` features >= 0 of the edges, or None for one constant feature.
    """

    nodes: Any
    edges: Any
    features: Any = None


class CutLabels(NamedTuple):
    """An output of `CutModel` or `PottsModel` in which nodes count differently.

    Attributes:
        labels: ``[n]`` zeros and ones, or indices of labels.
        weights: ``[n]`` numbers >= 0 by which the loss of each node is multiplied; 0 for a node
            whose label is not known, which then only ought to agree with its neighbours.
    """

    labels: Any
    weights: Any


class CutSpace(StructureSpace):
    """Labels of nodes, and which edges are cut: |z_j - z_k| <= z_jk <= 1 (Taskar et al., (5)).

    Coordinates: the nodes, then the edges.  It is the linear relaxation: an edge may count as cut
    where its ends are equal, which is never optimal while cut edges have a price.

    Example:
        >>> import numpy as np
        >>> CutSpace(2, [[0, 1]]).maximize(np.array([1.0, -0.5, -2.0])).tolist()
        [1.0, 1.0, 0.0]
    """

    def __init__(self, n: int, edges: Any) -> None:
        graph = FactorGraph()
        self.ends: Int64 = clean_edges(edges, n)
        super().__init__(Cut(graph.binary(n), self.ends, cut=graph.binary(len(self.ends))))
        self.nodes = n
        self.abilities = (*self.abilities, "rows")  # type: ignore[misc]

    def indicators(self, labels: Float) -> Float:
        """The vertex of an assignment of labels."""
        j, k = self.ends.T
        return np.concatenate([labels, labels[j] != labels[k]])

    def rows(self) -> Rows:
        """Both inequalities of every edge, and z <= 1."""
        from scipy.sparse import csr_array, hstack, identity, vstack

        count, unit = len(self.ends), identity(self.nodes, format="csr")
        j, k = self.ends.T
        difference, cut = unit[j] - unit[k], identity(count)
        below = vstack([
            hstack([difference, -cut]), hstack([-difference, -cut]), identity(self.size)
        ])  # fmt: skip
        limit = np.concatenate([np.zeros(2 * count), np.ones(self.size)])
        return Rows(csr_array((0, self.size)), np.zeros(0), csr_array(below), limit)


@dataclass(frozen=True)
class CutModel(Model):
    """Two labels for the nodes of any graph, decoded exactly: an associative Markov network.

    An input is a `CutInput`, an output ``n`` zeros and ones, or `CutLabels`.  Weights:
    ``nodes[D]``, the score of label 1 per feature, and ``edges[F]``, the price of neighbours that
    differ.  Prices should not be negative: train with ``L2Ball(nonnegative=model.prices)``.  A
    negative price counts as 0.

    Args:
        features: ``D``; left out, as in the data.
        edge_features: ``F``; left out, as in the data (1 where there are none).

    Example:
        >>> import numpy as np
        >>> model = CutModel(features=1)
        >>> x = CutInput(np.array([[2.0], [-0.5], [1.0]]), [[0, 1], [1, 2]])
        >>> model.predict(x, np.array([1.0, 0.0])).tolist()
        [1, 0, 1]
        >>> model.predict(x, np.array([1.0, 0.4])).tolist()
        [1, 1, 1]
    """

    features: int | None = None
    edge_features: int | None = None

    @property
    def size(self) -> int:
        self.require_shape("features")
        return (self.features or 0) + (self.edge_features or 1)

    @property
    def prices(self) -> list[int]:
        """The weights that are prices of edges."""
        return list(range(self.size)[self.features :])

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> CutModel:
        first = CutInput(*inputs[0])
        edges = 1 if first.features is None else np.shape(first.features)[1]
        return replace(
            self,
            features=self.features or np.shape(first.nodes)[1],
            edge_features=self.edge_features or edges,
        )

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> LinearExample:
        nodes, edges, space = self._read(x)
        counted = None
        if isinstance(y, CutLabels):
            y, counted = y.labels, clean_weights(y.weights, space.nodes)
        labels = np.asarray(y, np.float64).ravel()
        if len(labels) != space.nodes or not np.isin(labels, (0.0, 1.0)).all():
            raise ModelError(f"an output is {space.nodes} zeros and ones, got {len(labels)} labels")
        costs, constant = loss.literals(labels)
        if counted is not None:
            costs = counted * costs
            constant = -float(costs[labels == 1.0].sum())  # so that the gold labels cost nothing
        costs = np.concatenate([costs, np.zeros(len(space.ends))])
        return LinearExample(
            _matrix(nodes, edges), space, space.indicators(labels), costs, constant,
            outside=outside,
        )  # fmt: skip

    def predict(self, x: Any, weights: Float) -> Any:
        nodes, edges, space = self._read(x)
        best = space.maximize(_matrix(nodes, edges) @ weights)
        return best[: space.nodes].astype(np.int8)

    def named(self, weights: Float) -> dict[str, Float]:
        return {"nodes": weights[: self.features], "edges": weights[self.features :]}

    def _read(self, x: Any) -> tuple[Any, Float, CutSpace]:
        nodes, edges, ends = clean_cut_input(x, self.features, self.edge_features or 1)
        return nodes, edges, CutSpace(nodes.shape[0], ends)


def clean_cut_input(x: Any, features: int | None, edge_features: int) -> tuple[Any, Float, Int64]:
    """Features of nodes ``[n, D]`` and edges ``[E, F]``, and ends ``[E, 2]`` of a `CutInput`."""
    given = CutInput(*x)
    nodes = clean_features(given.nodes, "nodes")
    ends = clean_edges(given.edges, nodes.shape[0])
    edges = np.ones((len(ends), 1))
    if given.features is not None:
        edges = np.asarray(given.features, np.float64)
    wanted = (len(ends), edge_features)
    if nodes.shape[1] != features or edges.shape != wanted:
        raise ModelError(
            f"features have shapes {nodes.shape} and {edges.shape}, expected "
            f"{(nodes.shape[0], features)} for nodes and {wanted} for edges"
        )
    if not (edges >= 0.0).all() or not np.isfinite(edges).all():
        raise ModelError("features of edges are finite and not negative, as prices must be")
    return nodes, edges, ends


def clean_weights(weights: Any, n: int) -> Float:
    """Weights of nodes in the loss, ``[n]`` numbers >= 0."""
    array = np.asarray(weights, np.float64)
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0.0).any():
        raise ModelError(f"weights in the loss are {n} finite numbers >= 0, got {array.shape}")
    return array


def _matrix(nodes: Any, edges: Float) -> Any:
    """The feature matrix: an edge's features count against its being cut."""
    from scipy.sparse import block_diag, csr_array

    return csr_array(block_diag([csr_array(nodes), csr_array(-edges)]))
