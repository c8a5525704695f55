"""KernelChainModel: sequences of labels, with a kernel in place of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float, Int64
from assent.models.losses import Loss
from assent.models.tree_model import (
    TreeLabelsExample,
    TreeWeightsModel,
    all_labels,
    clean_features,
    label_numbers,
)
from assent.models.tree_space import TreeSpace, chain_space
from assent.models.weight_layout import WeightLayout


class ChainKernel(Protocol):
    """Inner products of feature vectors: ``kernel(a[n, D], b[m, D])`` is ``[n, m]``."""

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


class KernelChainExample(TreeLabelsExample):
    """A chain whose weights are coefficients of the training data's feature vectors.

    ``features`` of an output are its own indicators, each at the row of its position, and norms
    are those of the kernel: updates of a trainer are then the updates it would make with the
    feature vectors themselves (Taskar et al. 2006, end of section 5).
    """

    def __init__(self, model: KernelChainModel, rows: Int64, gold: Any, loss: Loss) -> None:
        self.model = model
        super().__init__(model.layout, chain_space(len(rows), model.layout.states), gold, loss)
        # Positions with equal feature vectors share one coefficient.
        self._rows, self._row_of = np.unique(rows, return_inverse=True)
        self.columns = self.layout.columns(self._rows)

    def scores(self, weights: Float) -> Float:
        products = self.model.gram[self._rows][self._row_of]
        return self.layout.scores(weights, self.space.size, products)

    def features(self, z: Float) -> Float:
        nodes, edges = self.split(z)
        by_row = np.zeros((len(self._rows), self.layout.states))
        np.add.at(by_row, self._row_of, nodes)
        return np.concatenate([by_row.ravel(), edges.sum(axis=0), nodes[0], nodes[-1]])

    def squared(self, features: Float) -> float:
        gram = self.model.gram[np.ix_(self._rows, self._rows)]
        return _kernel_square(gram, features, self.layout.states)

    def row_lengths(self) -> Float:
        squares = np.ones(self.space.size)
        nodes = self.split(squares)[0]
        nodes[:] = self.model.gram[self._rows, self._rows][self._row_of, None]
        # The first and the last position have one more feature, of the chain's ends.
        nodes[0] += 1.0
        nodes[-1] += 1.0
        return np.sqrt(squares)

    @property
    def matrix(self) -> Any:
        raise TypeError("in kernel form there is no matrix of features; use another trainer")


def _kernel_square(gram: Float, coefficients: Float, states: int) -> float:
    """The squared norm of coefficients: of rows ``[N, K]`` by ``gram[N, N]``, of others plainly."""
    rows, rest = np.split(coefficients, [len(gram) * states])
    rows = rows.reshape(-1, states)
    return float((rows * (gram @ rows)).sum() + rest @ rest)


@dataclass(frozen=True, eq=False)
class KernelChainModel(TreeWeightsModel):
    """`ChainModel` with a kernel: feature spaces of high or infinite dimension.

    Weights are ``nodes[N, K]``, coefficients of the N different positions of the training data,
    then ``edges[K, K]``, ``start[K]`` and ``stop[K]`` as in `ChainModel`.  For trainers that move
    along features (`FrankWolfe`, `Subgradient`, `MIRA`, `AveragedPerceptron`, and
    `DualExtragradient` and its kin in an ``L2Ball``).  Needs N² numbers.

    Args:
        kernel: inner products of feature vectors, such as ``Polynomial(2)`` or ``Gaussian(3.0)``.
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

    kernel: ChainKernel
    labels: tuple[Any, ...] | None = None
    landmarks: Any = None

    @property
    def layout(self) -> WeightLayout:
        """The blocks of weights; features of a position are its products with the landmarks."""
        self.require_shape("labels", "landmarks")
        return WeightLayout(len(self.landmarks), len(self.labels or ()))

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> KernelChainModel:
        landmarks = self.landmarks
        if landmarks is None:
            rows = [clean_features(x, f"input {i}") for i, x in enumerate(inputs)]
            landmarks = np.unique(np.concatenate(rows), axis=0)
        return replace(self, labels=all_labels(self.labels, outputs), landmarks=landmarks)

    @cached_property
    def gram(self) -> Float:
        """The Gram matrix ``[N, N]`` of the landmarks."""
        return self.kernel(self.landmarks, self.landmarks)

    @cached_property
    def _number(self) -> dict[bytes, int]:
        return {row.tobytes(): i for i, row in enumerate(self.landmarks)}

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> KernelChainExample:
        self.require_shape("labels", "landmarks")
        nodes = clean_features(x, "an input")
        try:
            rows = np.array([self._number[row.tobytes()] for row in nodes])
        except KeyError:
            raise ModelError(
                "a position of a training input is not among the model's landmarks; let "
                "shaped(inputs, outputs) collect them"
            ) from None
        return KernelChainExample(self, rows, label_numbers(self.labels, y, len(nodes)), loss)

    def scored(self, x: Any, weights: Float) -> tuple[TreeSpace, Float]:
        self.require_shape("labels", "landmarks")
        nodes = clean_features(x, "an input")
        space = chain_space(len(nodes), self.layout.states)
        products = self.kernel(nodes, self.landmarks)
        return space, self.layout.scores(weights, space.size, products)

    def squared(self, weights: Float) -> float:
        return _kernel_square(self.gram, weights, self.layout.states)
