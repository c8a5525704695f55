"""KernelChainModel: sequences of labels with features that are known by their products only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float, Int64
from assent.models.example import Example
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.tree_model import (
    all_labels,
    clean_features,
    count_equal,
    label_numbers,
    label_values,
)
from assent.models.tree_space import TreeSpace, chain_space


class Kernel(Protocol):
    """Products of feature vectors: ``kernel(a[n, D], b[m, D])`` is ``[n, m]``."""

    def __call__(self, a: Float, b: Float) -> Float: ...


@dataclass(frozen=True)
class Polynomial:
    """``(a·b + constant)^degree``, and 1 for a vector with itself if ``normalized``.

    Example:
        >>> Polynomial(2)(np.eye(2), np.array([[1.0, 1.0]])).round(3).ravel().tolist()
        [0.5, 0.5]
    """

    degree: int = 2
    constant: float = 0.0
    normalized: bool = True

    def __post_init__(self) -> None:
        if not self.degree > 0:
            raise ValueError(f"Polynomial: degree is a positive number, got {self.degree!r}")

    def __call__(self, a: Float, b: Float) -> Float:
        products = (a @ b.T + self.constant) ** self.degree
        if not self.normalized:
            return products
        own, other = (((x * x).sum(axis=1) + self.constant) ** self.degree for x in (a, b))
        return products / np.sqrt(np.maximum(np.outer(own, other), 1e-300))


@dataclass(frozen=True)
class Gaussian:
    """``exp(-|a - b|² / (2 width²))``.

    Example:
        >>> float(Gaussian(1.0)(np.zeros((1, 1)), np.ones((1, 1)))[0, 0].round(3))
        0.607
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        if not self.width > 0.0:
            raise ValueError(f"Gaussian: width is a positive number, got {self.width!r}")

    def __call__(self, a: Float, b: Float) -> Float:
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * a @ b.T
        return np.exp(-np.maximum(squares, 0.0) / (2.0 * self.width**2))


class KernelChainExample(Example):
    """A chain whose weights are coefficients of the training data's feature vectors.

    ``features`` of an output are then its own indicators, each at the row of its position, and
    lengths are measured by the kernel: what a trainer does with them is what it would do with the
    feature vectors themselves (Taskar et al. 2006, end of section 5).
    """

    def __init__(self, model: KernelChainModel, rows: Int64, gold: Any, loss: Loss) -> None:
        k = model.states
        self.model, self.states = model, gold
        self.space: TreeSpace = chain_space(len(rows), k)
        # A letter that occurs twice in a word has one coefficient.
        self._rows, self._place = np.unique(rows, return_inverse=True)
        edges = np.arange(model.edge, model.size)
        self.columns = np.concatenate([
            (self._rows[:, None] * k + np.arange(k)).ravel(), edges
        ])  # fmt: skip
        costs, self.constant = loss.states(gold, k)
        self._node_costs = costs.ravel()

    @property
    def gold(self) -> Float:
        return self.space.indicators(self.states)

    @property
    def costs(self) -> Float:
        out = np.zeros(self.space.size)
        out[: len(self._node_costs)] = self._node_costs
        return out

    def scores(self, weights: Float) -> Float:
        products = self.model.gram[self._rows][self._place]
        return self.model.chain_scores(products, weights, self.space)

    def features(self, z: Float) -> Float:
        k, n = self.model.states, len(self.states)
        nodes, edges = z[: n * k].reshape(n, k), z[n * k :].reshape(-1, k * k)
        own = np.zeros((len(self._rows), k))
        np.add.at(own, self._place, nodes)
        return np.concatenate([own.ravel(), edges.sum(axis=0), nodes[0], nodes[-1]])

    def squared(self, features: Float) -> float:
        k = self.model.states
        own = features[: len(self._rows) * k].reshape(-1, k)
        rest = features[own.size :]
        gram = self.model.gram[np.ix_(self._rows, self._rows)]
        return float((own * (gram @ own)).sum() + rest @ rest)

    def row_lengths(self) -> Float:
        k, n = self.model.states, len(self.states)
        lengths = np.ones(self.space.size)
        own = self.model.gram[self._rows, self._rows][self._place]
        lengths[: n * k] = np.sqrt(np.repeat(own, k))
        # The first and last positions have a feature of their end beside.
        lengths[:k] = np.sqrt(lengths[:k] ** 2 + 1.0)
        lengths[(n - 1) * k : n * k] = np.sqrt(lengths[(n - 1) * k : n * k] ** 2 + 1.0)
        return lengths

    @property
    def matrix(self) -> Any:
        raise TypeError("in kernel form there is no matrix of features; use another trainer")


@dataclass(frozen=True, eq=False)
class KernelChainModel(Model):
    """`ChainModel` with a kernel: features of positions in many dimensions, or infinitely many.

    Weights are ``nodes[N, K]``, coefficients of the N different positions of the training data,
    then ``edges[K, K]``, ``start[K]`` and ``stop[K]`` as in `ChainModel`.  For trainers that move
    along features (`FrankWolfe`, `Subgradient`, `MIRA`, `AveragedPerceptron`, and
    `DualExtragradient` and its kin in an ``L2Ball``).  Needs N² numbers.

    Args:
        kernel: products of feature vectors, such as ``Polynomial(2)`` or ``Gaussian(3.0)``.
        labels: all labels; left out, those found in the data, sorted.
        landmarks: ``[N, D]`` the positions; left out, those of the data.

    Example:
        >>> import numpy as np
        >>> from assent.learn import FrankWolfe, StructuredPredictor
        >>> X = [np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])]
        >>> y = [["odd", "even"], ["odd", "even"]]
        >>> model = KernelChainModel(Polynomial(2, constant=1.0))
        >>> StructuredPredictor(model, FrankWolfe(C=9.0)).fit(X, y).score(X, y)
        1.0
    """

    kernel: Kernel
    labels: tuple[Any, ...] | None = None
    landmarks: Any = None

    @property
    def states(self) -> int:
        """The number of labels."""
        self._require_shape()
        assert self.labels is not None
        return len(self.labels)

    @property
    def edge(self) -> int:
        """Where the weights of edges begin."""
        return len(self.landmarks) * self.states

    @property
    def size(self) -> int:
        return self.edge + self.states**2 + 2 * self.states

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> KernelChainModel:
        landmarks = self.landmarks
        if landmarks is None:
            rows = [clean_features(x, f"input {i}") for i, x in enumerate(inputs)]
            landmarks = np.unique(np.concatenate(rows), axis=0)
        return replace(self, labels=all_labels(self.labels, outputs), landmarks=landmarks)

    @cached_property
    def gram(self) -> Float:
        """``[N, N]`` products of all landmarks."""
        return self.kernel(self.landmarks, self.landmarks)

    @cached_property
    def _number(self) -> dict[bytes, int]:
        return {row.tobytes(): i for i, row in enumerate(self.landmarks)}

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> KernelChainExample:
        self._require_shape()
        nodes = clean_features(x, "an input")
        try:
            rows = np.array([self._number[row.tobytes()] for row in nodes])
        except KeyError:
            raise ModelError(
                "a position of a training input is not among the model's landmarks; let "
                "shaped(inputs, outputs) collect them"
            ) from None
        return KernelChainExample(self, rows, label_numbers(self.labels, y, len(nodes)), loss)

    def predict(self, x: Any, weights: Float) -> Any:
        self._require_shape()
        nodes = clean_features(x, "an input")
        space = chain_space(len(nodes), self.states)
        scores = self.chain_scores(self.kernel(nodes, self.landmarks), weights, space)
        assert self.labels is not None
        return label_values(self.labels)[space.best_states(scores)]

    def chain_scores(self, products: Float, weights: Float, space: TreeSpace) -> Float:
        """Scores of a chain from its products ``[T, N]`` with the landmarks."""
        k, n = self.states, len(products)
        out = np.empty(space.size)
        nodes = out[: n * k].reshape(n, k)
        nodes[:] = products @ weights[: self.edge].reshape(-1, k)
        out[n * k :].reshape(-1, k * k)[:] = weights[self.edge : self.edge + k * k]
        nodes[0] += weights[self.edge + k * k : -k]
        nodes[-1] += weights[-k:]
        return out

    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        return count_equal(y, predicted)

    def named(self, weights: Float) -> dict[str, Float]:
        k = self.states
        return {
            "nodes": weights[: self.edge].reshape(-1, k),
            "edges": weights[self.edge : self.edge + k * k].reshape(k, k),
            "start": weights[self.edge + k * k : -k],
            "stop": weights[-k:],
        }

    def squared(self, weights: Float) -> float:
        own = weights[: self.edge].reshape(-1, self.states)
        rest = weights[self.edge :]
        return float((own * (self.gram @ own)).sum() + rest @ rest)

    def _require_shape(self) -> None:
        if self.labels is None or self.landmarks is None:
            raise ModelError(
                "KernelChainModel has no shape yet: let shaped(inputs, outputs) find labels and "
                "landmarks in the data"
            )
