"""ChainModel and TreeModel: labels of nodes, features on nodes and edges."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from assent.arguments import as_array, as_floats, is_listed, shown
from assent.errors import ModelError
from assent.factors.forest import clean_parents
from assent.kernels.problem import Float, Int32
from assent.model.finite_automaton import Automaton
from assent.models.chain_batch import ChainBatch, ChainSums
from assent.models.chain_rules import ChainRules, chain_rules, labelled_space
from assent.models.example import Example, require_inside
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.tree_space import TreeSpace
from assent.models.weight_layout import WeightLayout
from assent.result import label_array


class TreeInput(NamedTuple):
    """An input of `TreeModel`: a tree with features of its nodes and, optionally, its edges.

    Attributes:
        nodes: ``[n, D]`` features of the nodes, dense or sparse.
        parents: ``[n]`` the parent of each node, -1 for a root.
        edges: ``[n, E]`` features of the edge from each node to its parent (a root's row is
            not read), or None for one constant feature.
    """

    nodes: Any
    parents: Any
    edges: Any = None


class TreeLabelsExample(Example):
    """Gold labels ``states[n]`` of a tree's nodes.

    Gold indicators and costs are computed when asked for: kept, they would fill the memory.
    """

    def __init__(self, layout: WeightLayout, space: TreeSpace, gold: Int32, loss: Loss) -> None:
        self.layout, self.space, self.states = layout, space, gold
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

    def split(self, z: Float) -> tuple[Float, Float]:
        """Coordinates ``[size]`` of nodes ``[n, K]`` and of edges ``[edges, K * K]``."""
        k, n = self.layout.states, len(self.states)
        return z[: n * k].reshape(n, k), z[n * k :].reshape(-1, k * k)


class TreeExample(TreeLabelsExample):
    """An example with features of nodes and edges; its matrix is formed only on request."""

    def __init__(
        self, layout: WeightLayout, space: TreeSpace, nodes: Any, edges: Any, gold: Int32,
        loss: Loss,
    ) -> None:  # fmt: skip
        super().__init__(layout, space, gold, loss)
        self.given, self._edges = nodes, edges

    @cached_property
    def used(self) -> Any:
        """The features that occur, sorted; None where features are dense."""
        return None if isinstance(self.given, np.ndarray) else np.unique(self.given.indices)

    @cached_property
    def columns(self) -> Any:
        return slice(None) if self.used is None else self.layout.columns(self.used)

    @cached_property
    def _nodes(self) -> Any:
        """Features of nodes, only the columns in use."""
        return self.given if self.used is None else self.given[:, self.used]

    def scores(self, weights: Float) -> Float:
        return self.layout.scores(weights, self.space.size, self._nodes, self._edges, self.used)

    def features(self, z: Float) -> Float:
        nodes, edges = self.split(z)
        tables = edges.sum(axis=0) if self._edges is None else self._edges.T @ edges
        ends = [nodes[0], nodes[-1]] if self.layout.ends else []
        return np.concatenate([(self._nodes.T @ nodes).ravel(), tables.ravel(), *ends])

    @cached_property
    def matrix(self) -> Any:
        from scipy.sparse import block_diag, coo_array, csr_array, hstack, identity, kron

        k, n = self.layout.states, len(self.states)
        count = (self.space.size - n * k) // k**2
        edges = np.ones((count, 1)) if self._edges is None else self._edges
        blocks = block_diag([
            kron(csr_array(self.given), identity(k)), kron(csr_array(edges), identity(k * k))
        ])  # fmt: skip
        if not self.layout.ends:
            return csr_array(blocks)
        at = ([*range(k), *range((n - 1) * k, n * k)], range(2 * k))
        ends = coo_array((np.ones(2 * k), at), shape=(self.space.size, 2 * k))
        return csr_array(hstack([blocks, ends]))


class TreeWeightsModel(Model):
    """A model over trees or chains whose weights have a `WeightLayout`."""

    labels: tuple[Any, ...] | None

    @property
    @abstractmethod
    def layout(self) -> WeightLayout:
        """The blocks of weights."""

    @property
    def size(self) -> int:
        return self.layout.size

    def named(self, weights: Float) -> dict[str, Float]:
        return self.layout.named(weights)

    @abstractmethod
    def scored(self, x: Any, weights: Float) -> tuple[TreeSpace, Float]:
        """The tree of an input, and the scores of its coordinates."""

    def predict(self, x: Any, weights: Float) -> Any:
        space, scores = self.scored(x, weights)
        return label_values(self.labels or ())[space.best_states(scores)]

    def label_marginals(self, x: Any, weights: Float) -> Float:
        space, scores = self.scored(x, weights)
        return space.marginals(scores)[1][: space.nodes].reshape(-1, self.layout.states)

    def label_scores(self, x: Any, weights: Float) -> Float:
        space, scores = self.scored(x, weights)
        return space.max_marginals(scores).reshape(-1, self.layout.states)


@dataclass(frozen=True)
class ChainModel(TreeWeightsModel):
    """Sequences of labels: features of each position, and transitions between labels.

    An input is an array ``[T, D]`` of features (dense, or SciPy sparse), an output a
    sequence of ``T`` labels.  Weights: ``nodes[D, K]``, ``edges[K, K]`` (from, to), ``start[K]``
    and ``stop[K]``.

    Args:
        labels: all labels; left out, those found in the data, sorted.
        features: ``D``; left out, as in the data.
        automaton: an `Automaton` whose symbols are the labels, such as ``at.bio(tags)``: only what
            it accepts is predicted, has a probability and is compared with in training.
        forbidden: transitions that may not be, as pairs of labels; in a pair, None stands for the
            begin and for the end.

    Example:
        >>> import numpy as np
        >>> model = ChainModel(labels=("N", "V"), features=1)
        >>> model.size
        10
        >>> weights = np.zeros(10)
        >>> weights[[0, 1]] = -1.0, 1.0
        >>> model.predict(np.array([[1.0], [-2.0]]), weights).tolist()
        ['V', 'N']
        >>> strict = ChainModel(labels=("N", "V"), features=1, forbidden=((None, "V"),))
        >>> strict.predict(np.array([[1.0], [-2.0]]), weights).tolist()
        ['N', 'N']
    """

    labels: tuple[Any, ...] | None = None
    features: int | None = None
    automaton: Automaton | None = None
    forbidden: tuple[tuple[Any, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.automaton is not None and not isinstance(self.automaton, Automaton):
            raise TypeError(
                f"ChainModel: automaton is an Automaton such as at.bio(tags), got "
                f"{shown(self.automaton)}"
            )
        if not is_listed(self.forbidden):
            raise TypeError(
                "ChainModel: forbidden is a sequence of pairs of labels, got "
                f"{shown(self.forbidden)}"
            )
        object.__setattr__(
            self, "forbidden", tuple(tuple(p) if is_listed(p) else p for p in self.forbidden)
        )

    @property
    def layout(self) -> WeightLayout:
        """The blocks of weights."""
        self.require_shape("labels", "features")
        return WeightLayout(self.features or 0, len(self.labels or ()))

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> ChainModel:
        first = clean_features(inputs[0], "input 0")
        return replace(
            self,
            labels=all_labels(self.labels, outputs),
            features=self.features or first.shape[1],
        )

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> TreeExample:
        nodes = _nodes(self.layout, x)
        gold = label_numbers(self.labels, y, nodes.shape[0])
        example = TreeExample(self.layout, self._space(len(gold)), nodes, None, gold, loss)
        if self.rules is not None:
            example.inside = self.rules.accepts(gold)
            require_inside(example.inside, outside)
        return example

    @property
    def rules(self) -> ChainRules | None:
        """What is allowed, if not everything is."""
        if self.automaton is None and not self.forbidden:
            return None
        return chain_rules(self.labels or (), self.automaton, self.forbidden)

    def _space(self, length: int) -> TreeSpace:
        return labelled_space(length, self.labels or (), self.automaton, self.forbidden)

    def scored(self, x: Any, weights: Float) -> tuple[TreeSpace, Float]:
        nodes = _nodes(self.layout, x)
        space = self._space(nodes.shape[0])
        return space, self.layout.scores(weights, space.size, nodes)

    def predict_many(self, inputs: Sequence[Any], weights: Float, n_jobs: int = 1) -> list[Any]:
        """All in one compiled loop, whatever ``n_jobs`` is."""
        if not len(inputs):
            return []
        nodes = [_nodes(self.layout, x, f"input {i}") for i, x in enumerate(inputs)]
        batch = ChainBatch(self.layout, stack(nodes), [x.shape[0] for x in nodes], self.rules)
        labels = label_values(self.labels or ())[batch.maximize(*batch.scores(weights))]
        return np.split(labels, batch.ends[1:-1])

    def sums(self, examples: Sequence[Any], counts: Float | None = None) -> ChainSums:
        """The sums over examples of this model, all at once, each counted ``counts`` times."""
        constants = np.array([example.constant for example in examples])
        lengths = [len(example.states) for example in examples]
        return ChainSums(
            ChainBatch(
                self.layout,
                stack([example.given for example in examples]),
                lengths,
                self.rules,
                counts,
            ),
            np.concatenate([example.states for example in examples]),
            np.concatenate([example.split(example.costs)[0] for example in examples]),
            float(constants.sum() if counts is None else constants @ counts),
        )


@dataclass(frozen=True)
class TreeModel(TreeWeightsModel):
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
    def layout(self) -> WeightLayout:
        """The blocks of weights."""
        self.require_shape("labels", "features")
        labels, edge_features = len(self.labels or ()), self.edge_features or 1
        return WeightLayout(self.features or 0, labels, edge_features, ends=False)

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

    def scored(self, x: Any, weights: Float) -> tuple[TreeSpace, Float]:
        space, nodes, edges = self._read(x)
        return space, self.layout.scores(weights, space.size, nodes, edges)

    def _read(self, x: Any) -> tuple[TreeSpace, Any, Any]:
        """Space, node features and edge features of an input."""
        tree = TreeInput(*x)
        nodes = _nodes(self.layout, tree.nodes)
        n = nodes.shape[0]
        parents = clean_parents("Tree", tree.parents, n)
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
    """The space of a tree whose nodes all have ``states`` states, cached."""
    return TreeSpace((states,) * len(parents), parents)


def _nodes(layout: WeightLayout, x: Any, name: str = "an input") -> Any:
    """Node features, checked against the layout."""
    nodes = clean_features(x, name)
    if nodes.shape[1] != layout.features or not nodes.shape[0]:
        raise ModelError(
            f"{name} has features of shape {nodes.shape}, expected (positions, "
            f"{layout.features}) with at least one position"
        )
    return nodes


def stack(nodes: Sequence[Any]) -> Any:
    """Features of several inputs, stacked along the first axis."""
    if all(isinstance(x, np.ndarray) for x in nodes):
        return np.concatenate(nodes)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([csr_array(x) for x in nodes]))


def clean_features(x: Any, name: str) -> Any:
    """Features as a finite array of two dimensions, sparse ones as CSR."""
    if hasattr(x, "tocsr"):
        array = x.tocsr().astype(np.float64)
        values = array.data
    else:
        numbers = as_floats(x)
        if numbers is None:
            raise ModelError(f"{name}: features must be numbers, got {shown(x)}")
        values = array = np.ascontiguousarray(numbers)
    if array.ndim != 2:
        raise ModelError(f"{name}: features have shape {array.shape}, expected two dimensions")
    if not np.isfinite(values).all():
        raise ModelError(f"{name}: features must be finite; there is a NaN or infinity")
    return array


def all_labels(given: tuple[Any, ...] | None, outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The labels given, or those of the data, sorted."""
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
    """The index in ``labels`` of each of the ``n`` labels of an output."""
    given = as_array(y)
    if given is None:
        raise ModelError(f"an output is a list of labels, got {shown(y)}")
    values = given.ravel().tolist()
    if len(values) != n:
        raise ModelError(f"an output has {len(values)} labels for {n} variables")
    number = _label_index(labels or ())
    try:
        return np.array([number[label] for label in values], np.int32)
    except KeyError as error:
        raise ModelError(f"label {error} is not among the model's labels {labels}") from None


@lru_cache(maxsize=64)
def _label_index(labels: tuple[Any, ...]) -> dict[Any, int]:
    """The index of each label."""
    return {label: i for i, label in enumerate(labels)}


label_values = lru_cache(maxsize=64)(label_array)
