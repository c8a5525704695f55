"""PottsModel: several labels of a graph's nodes, neighbours preferring equal labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.cut import Cut, clean_edges
from assent.kernels.problem import Float, Int64
from assent.model.graph import FactorGraph
from assent.models.cut_model import CutInput, CutLabels, clean_cut_input, clean_weights
from assent.models.example import Example
from assent.models.joint_model import Model
from assent.models.losses import Loss, one_hot
from assent.models.space import Space
from assent.models.structure_space import StructureSpace

# A move must gain more than rounding does, relative to the value.
ROUNDING = 1e-12


class PottsSpace(Space):
    """Labels of nodes, and which edges join different ones.

    Coordinates: ``[n, K]`` the labels of the nodes, then the edges.  ``maximize`` takes expansion
    moves (Boykov, Veksler, Zabih 2001): each lets any nodes change to one label, the best way by a
    cut; when no move gains, what edges cost is at most twice that of the best labels.  Two labels
    are the best there are.

    Example:
        >>> scores = np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 3.0]])
        >>> PottsSpace(3, 3, [[0, 1], [1, 2]]).best_labels(scores, np.full(2, 1.0)).tolist()
        [0, 2, 2]
    """

    abilities = ("maximize",)

    def __init__(self, n: int, labels: int, edges: Any) -> None:
        self.nodes, self.labels = n, labels
        self.ends: Int64 = clean_edges(edges, n)
        self.size = n * labels + len(self.ends)
        pairs = Cut(FactorGraph().binary(n), self.ends, scores=np.zeros(len(self.ends)))
        self._moves = StructureSpace(pairs, parts=True)

    def indicators(self, labels: Int64) -> Float:
        """The vertex of an assignment of labels."""
        j, k = self.ends.T
        return np.concatenate([one_hot(labels, self.labels).ravel(), labels[j] != labels[k]])

    def maximize(self, scores: Float) -> Float:
        count = self.nodes * self.labels
        own, edges = scores[:count].reshape(self.nodes, self.labels), scores[count:]
        found = self.indicators(self.best_labels(own, np.maximum(-edges, 0.0)))
        found[count:][edges > 0.0] = 1.0  # as in CutSpace, an edge may count as cut
        return found

    def best_labels(self, scores: Float, prices: Float) -> Int64:
        """Labels ``[n]`` for scores ``[n, K]`` and prices >= 0 ``[E]`` of ends that differ."""
        labels = scores.argmax(axis=1)
        value = self.value(labels, scores, prices)
        settled, label = 0, 0
        while settled < self.labels:
            moved = self._expand(labels, label, scores, prices)
            new = self.value(moved, scores, prices)
            if new > value + ROUNDING * (1.0 + abs(value)):
                labels, value, settled = moved, new, 0
            settled += 1  # its own label cannot gain at once again
            label = (label + 1) % self.labels
        return labels

    def value(self, labels: Int64, scores: Float, prices: Float) -> float:
        """Scores of labels less the prices of edges whose ends differ."""
        j, k = self.ends.T
        own = scores[np.arange(self.nodes), labels].sum()
        return float(own - prices[labels[j] != labels[k]].sum())

    def _expand(self, labels: Int64, label: int, scores: Float, prices: Float) -> Int64:
        """The best way to change any nodes to ``label``: those true in a cut."""
        j, k = self.ends.T
        gain = scores[:, label] - scores[np.arange(self.nodes), labels]
        tables = np.zeros((len(self.ends), 2, 2))
        tables[:, 0, 0] = labels[j] != labels[k]
        tables[:, 0, 1] = labels[j] != label
        tables[:, 1, 0] = labels[k] != label
        tables *= -prices[:, None, None]
        change = self._moves.maximize(np.concatenate([gain, tables.ravel()]))[: self.nodes]
        return np.where(change > 0.5, label, labels)


class PottsExample(Example):
    """Gold labels of a graph's nodes; features stay as they were given."""

    def __init__(
        self, nodes: Any, edges: Float, space: PottsSpace, gold: Int64, costs: Float
    ) -> None:
        self._nodes, self._edges, self.space, self.constant = nodes, edges, space, 0.0
        self._potts = space
        self._gold = space.indicators(gold)
        self._costs = np.concatenate([costs.ravel(), np.zeros(len(edges))])

    def scores(self, weights: Float) -> Float:
        split = self._nodes.shape[1] * self._potts.labels
        own = self._nodes @ weights[:split].reshape(-1, self._potts.labels)
        return np.concatenate([own.ravel(), -(self._edges @ weights[split:])])

    def features(self, z: Float) -> Float:
        split = self._potts.nodes * self._potts.labels
        own = self._nodes.T @ z[:split].reshape(-1, self._potts.labels)
        return np.concatenate([np.asarray(own).ravel(), -(self._edges.T @ z[split:])])

    @property
    def matrix(self) -> Any:
        from scipy.sparse import block_diag, csr_array, identity, kron

        own = kron(csr_array(self._nodes), identity(self._potts.labels))
        return csr_array(block_diag([own, csr_array(-self._edges)]))


@dataclass(frozen=True)
class PottsModel(Model):
    """Several labels for the nodes of any graph: an associative Markov network.

    An input is a `CutInput`, an output ``n`` indices of labels, or `CutLabels`.  Weights:
    ``nodes[D, K]`` and ``edges[F]``, the price of neighbours that differ; a negative price counts
    as 0.  Decoded by expansion moves, so for trainers that ask for nothing but the best output.

    Args:
        labels: ``K``; left out, as in the data.
        features: ``D``; left out, as in the data.
        edge_features: ``F``; left out, as in the data (1 where there are none).

    Example:
        >>> model = PottsModel(labels=3, features=3)
        >>> x = CutInput(np.array([[3.0, 0, 0], [0, 1.0, 0.5], [0, 0, 3.0]]), [[0, 1], [1, 2]])
        >>> model.predict(x, np.append(np.eye(3), 0.0)).tolist()
        [0, 1, 2]
        >>> model.predict(x, np.append(np.eye(3), 1.0)).tolist()
        [0, 2, 2]
    """

    labels: int | None = None
    features: int | None = None
    edge_features: int | None = None

    @property
    def size(self) -> int:
        self.require_shape("labels", "features")
        return (self.features or 0) * (self.labels or 0) + (self.edge_features or 1)

    @property
    def prices(self) -> list[int]:
        """The weights that are prices of edges."""
        return list(range(self.size)[(self.features or 0) * (self.labels or 0) :])

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> PottsModel:
        first = CutInput(*inputs[0])
        most = max(int(np.max(y.labels if isinstance(y, CutLabels) else y)) for y in outputs)
        edges = 1 if first.features is None else np.shape(first.features)[1]
        return replace(
            self,
            labels=self.labels or most + 1,
            features=self.features or np.shape(first.nodes)[1],
            edge_features=self.edge_features or edges,
        )

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> PottsExample:
        nodes, edges, space = self._read(x)
        counted = np.ones(space.nodes)
        if isinstance(y, CutLabels):
            y, counted = y.labels, clean_weights(y.weights, space.nodes)
        gold = np.asarray(y)
        if gold.shape != (space.nodes,) or not np.isin(gold, np.arange(space.labels)).all():
            raise ModelError(
                f"an output is {space.nodes} indices of labels, 0 to {space.labels - 1}, got "
                f"shape {gold.shape}"
            )
        gold = gold.astype(np.int64)
        costs, _ = loss.states(gold, space.labels)
        costs = costs - costs[np.arange(space.nodes), gold, None]  # gold costs nothing
        return PottsExample(nodes, edges, space, gold, counted[:, None] * costs)

    def predict(self, x: Any, weights: Float) -> Any:
        nodes, edges, space = self._read(x)
        named = self.named(weights)
        prices = np.maximum(edges @ named["edges"], 0.0)
        return space.best_labels(np.asarray(nodes @ named["nodes"]), prices)

    def named(self, weights: Float) -> dict[str, Float]:
        split = self.prices[0]
        own = weights[:split].reshape(-1, self.labels or 1)
        return {"nodes": own, "edges": weights[split:]}

    def _read(self, x: Any) -> tuple[Any, Float, PottsSpace]:
        nodes, edges, ends = clean_cut_input(x, self.features, self.edge_features or 1)
        return nodes, edges, PottsSpace(nodes.shape[0], self.labels or 0, ends)
