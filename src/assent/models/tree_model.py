"""ChainModel and TreeModel: labels of nodes, features on nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.factors.tree import clean_parents
from assent.kernels.problem import Float, Int32
from assent.models.chain_batch import ChainBatch, ChainSums
from assent.models.example import Example
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.tree_space import TreeSpace, chain_space


class TreeInput(NamedTuple):
    """An input of `TreeModel`: a tree with features on its nodes and perhaps its edges.

    Attributes:
        nodes: ``[n, D]`` features of the nodes, dense or sparse.
        parents: ``[n]`` the parent of each node, -1 for a root.
        edges: ``[n, E]`` features of the edge from each node to its parent (a root's row is
            not read), or None for one constant feature.
    """

    nodes: Any
    parents: Any
    edges: Any = None


class Layout(NamedTuple):
    """Where each block of weights begins: nodes ``[D, K]``, edges ``[E, K, K]``, start, stop."""

    features: int
    states: int
    edge_features: int
    ends: bool

    @property
    def edge(self) -> int:
        return self.features * self.states

    @property
    def start(self) -> int:
        return self.edge + self.edge_features * self.states**2

    @property
    def size(self) -> int:
        return self.start + 2 * self.states * self.ends


class TreeExample(Example):
    """An example over the marginal polytope of a tree, its matrix written as products."""

    def __init__(
        self, layout: Layout, space: TreeSpace, nodes: Any, edges: Any, gold: Int32, loss: Loss
    ) -> None:
        self.layout, self.space, self.states = layout, space, gold
        self.given = nodes
        self._nodes, self._edges = nodes, edges
        self.columns, self._used = _touched(layout, nodes)
        if self._used is not None:
            self._nodes = nodes[:, self._used]
        costs, self.constant = loss.states(gold, layout.states)
        self._node_costs = costs.ravel()

    @property
    def gold(self) -> Float:
        assert isinstance(self.space, TreeSpace)
        return self.space.indicators(self.states)

    @property
    def costs(self) -> Float:
        out = np.zeros(self.space.size)
        out[: len(self._node_costs)] = self._node_costs
        return out

    def scores(self, weights: Float) -> Float:
        k, n = self.layout.states, len(self.states)
        blocks = weights[: self.layout.edge].reshape(-1, k)
        out = np.empty(self.space.size)
        nodes = out[: n * k].reshape(n, k)
        nodes[:] = self._nodes @ (blocks if self._used is None else blocks[self._used])
        tables = weights[self.layout.edge : self.layout.start].reshape(-1, k * k)
        edges = out[n * k :].reshape(-1, k * k)
        edges[:] = tables if self._edges is None else self._edges @ tables
        if self.layout.ends:
            start = self.layout.start
            nodes[0] += weights[start : start + k]
            nodes[-1] += weights[start + k :]
        return out

    def features(self, z: Float) -> Float:
        k, n = self.layout.states, len(self.states)
        nodes, edges = z[: n * k].reshape(n, k), z[n * k :].reshape(-1, k * k)
        tables = edges.sum(axis=0) if self._edges is None else self._edges.T @ edges
        parts = [(self._nodes.T @ nodes).ravel(), tables.ravel()]
        if self.layout.ends:
            parts += [nodes[0], nodes[-1]]
        return np.concatenate(parts)

    @cached_property
    def matrix(self) -> Any:
        from scipy.sparse import block_diag, coo_array, csr_array, hstack, identity, kron, vstack

        k, n = self.layout.states, len(self.states)
        joint = self.space.size - n * k
        edges = np.ones((joint // k**2, 1)) if self._edges is None else self._edges
        nodes = csr_array(self._nodes)
        if self._used is not None:
            rows, cols = nodes.nonzero()
            shape = (n, self.layout.features)
            nodes = csr_array((nodes.data, (rows, self._used[cols])), shape=shape)
        blocks = block_diag([kron(nodes, identity(k)), kron(csr_array(edges), identity(k * k))])
        if not self.layout.ends:
            return csr_array(blocks)
        ends = coo_array(
            (np.ones(2 * k), ([*range(k), *range((n - 1) * k, n * k)], range(2 * k))),
            shape=(n * k, 2 * k),
        )
        return csr_array(hstack([blocks, vstack([ends, coo_array((joint, 2 * k))])]))


def _touched(layout: Layout, nodes: Any) -> tuple[Any, Any]:
    """The weights an example can touch, and the node features it uses; all, where it is dense."""
    if isinstance(nodes, np.ndarray):
        return slice(None), None
    used = np.unique(nodes.indices)
    k = layout.states
    first = (used[:, None].astype(np.int64) * k + np.arange(k)).ravel()
    return np.concatenate([first, np.arange(layout.edge, layout.size)]), used


@dataclass(frozen=True)
class ChainModel(Model):
    """Sequences of labels: features of each position, and what follows what.

    An input is an array ``[T, D]`` of features (dense, or sparse as scipy has it), an output a
    sequence of ``T`` labels.  Weights: ``nodes[D, K]``, ``edges[K, K]`` (from, to), ``start[K]``
    and ``stop[K]``.

    Args:
        labels: all labels; left out, those found in the data, sorted.
        features: ``D``; left out, as in the data.

    Example:
        >>> import numpy as np
        >>> model = ChainModel(labels=("N", "V"), features=1)
        >>> model.size
        10
        >>> weights = np.zeros(10)
        >>> weights[[0, 1]] = -1.0, 1.0
        >>> model.predict(np.array([[1.0], [-2.0]]), weights).tolist()
        ['V', 'N']
    """

    labels: tuple[Any, ...] | None = None
    features: int | None = None

    @property
    def layout(self) -> Layout:
        """Where each block of weights begins."""
        labels, features = _shape_of(self)
        return Layout(features, len(labels), 1, True)

    @property
    def size(self) -> int:
        return self.layout.size

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> ChainModel:
        first = clean_features(inputs[0], "input 0")
        return replace(
            self,
            labels=all_labels(self.labels, outputs),
            features=self.features or first.shape[1],
        )

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> TreeExample:
        layout = self.layout
        nodes = _nodes(layout, x)
        gold = label_numbers(self.labels, y, nodes.shape[0])
        return TreeExample(
            layout, chain_space(nodes.shape[0], layout.states), nodes, None, gold, loss
        )

    def predict(self, x: Any, weights: Float) -> Any:
        nodes = _nodes(self.layout, x)
        space = chain_space(nodes.shape[0], self.layout.states)
        return _predict(self, space, nodes, None, weights)

    def predict_many(self, inputs: Sequence[Any], weights: Float, n_jobs: int = 1) -> list[Any]:
        """All in one compiled loop, whatever ``n_jobs`` is."""
        if not len(inputs):
            return []
        nodes = [_nodes(self.layout, x, f"input {i}") for i, x in enumerate(inputs)]
        batch = ChainBatch(stack(nodes), [x.shape[0] for x in nodes], self.layout.states)
        labels = label_values(self.labels or ())[batch.maximize(*batch.scores(weights))]
        return np.split(labels, batch.ends[1:-1])

    def sums(self, examples: Sequence[Any]) -> ChainSums:
        """The sums over examples of this model, all at once."""
        return ChainSums(
            stack([example.given for example in examples]),
            [example.states for example in examples],
            self.layout.states,
            np.concatenate([example.costs[: len(example.states) * self.layout.states]
                            for example in examples]),
            sum(example.constant for example in examples),
        )  # fmt: skip

    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        return count_equal(y, predicted)

    def named(self, weights: Float) -> dict[str, Float]:
        at, k = self.layout, self.layout.states
        return {
            "nodes": weights[: at.edge].reshape(at.features, k),
            "edges": weights[at.edge : at.start].reshape(k, k),
            "start": weights[at.start : at.start + k],
            "stop": weights[at.start + k :],
        }


@dataclass(frozen=True)
class TreeModel(Model):
    """Labels of the nodes of trees: features of nodes and of edges.

    An input is a `TreeInput`, an output a sequence of labels, one per node.  Weights:
    ``nodes[D, K]`` and ``edges[E, K, K]`` (parent, child).

    Args:
        labels: all labels; left out, those found in the data, sorted.
        features: ``D``; left out, as in the data.
        edge_features: ``E``; left out, as in the data (1 where there are none).

    Example:
        >>> import numpy as np
        >>> model = TreeModel(labels=("a", "b"), features=2)
        >>> x = TreeInput(np.array([[1.0, 0.0], [0.0, 0.0]]), parents=[-1, 0])
        >>> weights = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0])
        >>> model.predict(x, weights).tolist()
        ['b', 'b']
    """

    labels: tuple[Any, ...] | None = None
    features: int | None = None
    edge_features: int | None = None

    @property
    def layout(self) -> Layout:
        """Where each block of weights begins."""
        labels, features = _shape_of(self)
        return Layout(features, len(labels), self.edge_features or 1, False)

    @property
    def size(self) -> int:
        return self.layout.size

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> TreeModel:
        first = TreeInput(*inputs[0])
        edges = 1 if first.edges is None else clean_features(first.edges, "edges").shape[1]
        return replace(
            self,
            labels=all_labels(self.labels, outputs),
            features=self.features or clean_features(first.nodes, "input 0").shape[1],
            edge_features=self.edge_features or edges,
        )

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> TreeExample:
        space, nodes, edges = self._read(x)
        gold = label_numbers(self.labels, y, nodes.shape[0])
        return TreeExample(self.layout, space, nodes, edges, gold, loss)

    def predict(self, x: Any, weights: Float) -> Any:
        space, nodes, edges = self._read(x)
        return _predict(self, space, nodes, edges, weights)

    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        return count_equal(y, predicted)

    def named(self, weights: Float) -> dict[str, Float]:
        at, k = self.layout, self.layout.states
        tables = weights[at.edge : at.start].reshape(-1, k, k)
        return {
            "nodes": weights[: at.edge].reshape(at.features, k),
            "edges": tables.swapaxes(1, 2),
        }

    def _read(self, x: Any) -> tuple[TreeSpace, Any, Any]:
        """Space, node features and edge features of an input."""
        tree = TreeInput(*x)
        nodes = _nodes(self.layout, tree.nodes)
        n = nodes.shape[0]
        parents = clean_parents(tree.parents, n)
        edges = None
        if tree.edges is not None or self.layout.edge_features > 1:
            edges = clean_features(tree.edges, "edges")
            if edges.shape != (n, self.layout.edge_features):
                raise ModelError(
                    f"edge features have shape {edges.shape}, expected "
                    f"{(n, self.layout.edge_features)}: a row per node, for the edge to its parent"
                )
            edges = edges[np.asarray(parents) >= 0]
        return tree_space(tuple(parents), self.layout.states), nodes, edges


@lru_cache(maxsize=1024)
def tree_space(parents: tuple[int, ...], states: int) -> TreeSpace:
    """The space of a tree whose nodes all have as many states: made once for each tree."""
    return TreeSpace((states,) * len(parents), parents)


def _predict(model: Any, space: TreeSpace, nodes: Any, edges: Any, weights: Float) -> Any:
    unknown = np.zeros(nodes.shape[0], np.int32)
    example = TreeExample(model.layout, space, nodes, edges, unknown, _NO_LOSS)
    return label_values(model.labels)[space.best_states(example.scores(weights))]


class _NoLoss:
    """For inputs without a gold output."""

    def states(self, gold: Any, count: int) -> tuple[Float, float]:
        return np.zeros((len(gold), count)), 0.0

    def literals(self, gold: Float) -> tuple[Float, float]:
        return np.zeros(len(gold)), 0.0


_NO_LOSS = _NoLoss()


def _shape_of(model: Any) -> tuple[tuple[Any, ...], int]:
    if model.labels is None or model.features is None:
        raise ModelError(
            f"{type(model).__name__} has no shape yet: give labels= and features=, or let "
            "shaped(inputs, outputs) find them in the data"
        )
    return model.labels, model.features


def _nodes(layout: Layout, x: Any, name: str = "an input") -> Any:
    """Node features, checked against the layout."""
    nodes = clean_features(x, name)
    if nodes.shape[1] != layout.features or not nodes.shape[0]:
        raise ModelError(
            f"{name} has features of shape {nodes.shape}, expected (positions, "
            f"{layout.features}) with at least one position"
        )
    return nodes


def stack(nodes: Sequence[Any]) -> Any:
    """Features of several inputs, one below the other."""
    if all(isinstance(x, np.ndarray) for x in nodes):
        return np.concatenate(nodes)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([csr_array(x) for x in nodes]))


def clean_features(x: Any, name: str) -> Any:
    """Features as a finite array of two dimensions, sparse ones in rows."""
    if hasattr(x, "tocsr"):
        array = x.tocsr().astype(np.float64)
        values = array.data
    else:
        try:
            array = np.ascontiguousarray(x, np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{name}: features must be numbers: {error}") from None
        values = array
    if array.ndim != 2:
        raise ModelError(f"{name}: features have shape {array.shape}, expected two dimensions")
    if not np.isfinite(values).all():
        raise ModelError(f"{name}: features must be finite; there is a NaN or infinity")
    return array


def all_labels(given: tuple[Any, ...] | None, outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The labels given, or those of the data in order.

    Example:
        >>> all_labels(None, [["V", "N"], ["N"]])
        ('N', 'V')
    """
    if given is not None:
        return tuple(given)
    found = {label for y in outputs for label in np.asarray(y).ravel().tolist()}
    if not found:
        raise ModelError("there are no labels in the data")
    try:
        return tuple(sorted(found))
    except TypeError:
        raise ModelError(f"labels of several types cannot be sorted: {found}") from None


def label_numbers(labels: tuple[Any, ...] | None, y: Any, n: int) -> Int32:
    """The number of each label of an output."""
    values = np.asarray(y).ravel().tolist()
    if len(values) != n:
        raise ModelError(f"an output has {len(values)} labels for {n} variables")
    number = label_index(labels or ())
    try:
        return np.array([number[label] for label in values], np.int32)
    except KeyError as error:
        raise ModelError(f"label {error} is not among the model's labels {labels}") from None


@lru_cache(maxsize=64)
def label_index(labels: tuple[Any, ...]) -> dict[Any, int]:
    """The number of each label."""
    return {label: i for i, label in enumerate(labels)}


@lru_cache(maxsize=64)
def label_values(labels: tuple[Any, ...]) -> np.ndarray:
    """Labels as an array."""
    from assent.result import label_array

    return label_array(labels)


def count_equal(y: Any, predicted: Any) -> tuple[int, int]:
    """Equal labels, and all of them.

    Example:
        >>> count_equal(["N", "V"], ["N", "N"])
        (1, 2)
    """
    y, predicted = np.asarray(y).ravel(), np.asarray(predicted).ravel()
    return int((y == predicted).sum()), len(y)
