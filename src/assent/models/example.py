"""One training example, as every trainer sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.models.space import Space


class Example(ABC):
    """Scores linear in the weights over a space, and the gold output with its loss.

    In the letters of Taskar et al. 2006, section 3: ``scores(w)`` is Fᵢᵀw, ``features(z)`` is
    Fᵢz, ``space`` is Zᵢ, ``gold`` is yᵢ, ``costs`` is cᵢ and ``constant`` is dᵢ.

    Attributes:
        space: where outputs lie.
        constant: the part of the loss that is the same for all outputs.
        columns: the weights that this example's scores depend on; ``features`` is over these.
        count: how often it counts; part of scores, features, costs and constant already.
        inside: whether the gold output lies in the space.
        latent: whether several outputs are right, of which `target` chooses.
    """

    space: Space
    constant: float
    columns: Any = slice(None)
    count: float = 1.0
    inside: bool = True
    latent: bool = False

    _gold: Float
    _costs: Float

    @property
    def gold(self) -> Float:
        """Indicators ``[size]`` of the gold output."""
        return self._gold

    @property
    def costs(self) -> Float:
        """What each coordinate adds to the loss, ``[size]``."""
        return self._costs

    def target(self, scores: Float) -> Float:
        """The output to learn: the best of the right ones for ``scores[size]``; mostly `gold`."""
        return self.gold

    @abstractmethod
    def scores(self, weights: Float) -> Float:
        """The score ``[size]`` of every coordinate."""

    @abstractmethod
    def features(self, z: Float) -> Float:
        """The features of an output ``z[size]``, over ``columns``; linear in ``z``."""

    @property
    @abstractmethod
    def matrix(self) -> Any:
        """``scores`` as a sparse matrix ``[size, weights]``."""

    def squared(self, features: Float) -> float:
        """The squared length of what ``features`` returns."""
        # Not `features @ features`: for long vectors that starts a second thread, at a loss.
        return float(np.einsum("i,i", features, features))

    def row_lengths(self) -> Float:
        """The length ``[size]`` of each coordinate's features."""
        return np.sqrt(np.asarray(self.matrix.power(2).sum(axis=1)).ravel())

    def violator(self, weights: Float) -> tuple[Float, float]:
        """The output of largest loss-augmented score (9), and the hinge loss (20)."""
        scores = self.scores(weights)
        z = self.space.maximize(scores + self.costs)
        return z, self.hinge(scores, z)

    def loss(self, z: Float) -> float:
        """The loss of output ``z[size]``."""
        return float(self.costs @ z) + self.constant

    def hinge(self, scores: Float, z: Float) -> float:
        """The loss-augmented score of output ``z`` minus the score of the target."""
        return float(scores @ (z - self.target(scores))) + self.loss(z)


class LinearExample(Example):
    """An example given by its feature matrix: the base for models of your own.

    Args:
        matrix: sparse or dense ``[size, weights]``: the features of each coordinate.
        space: where outputs lie; over ``size`` coordinates.
        gold: indicators ``[size]`` of the gold output.
        costs: ``[size]`` what each coordinate adds to the loss.
        constant: added to every output's loss.
        outside: allow a gold output that is not in the space.

    Example:
        >>> import numpy as np
        >>> from assent.models import TreeSpace
        >>> own = LinearExample(np.eye(2), TreeSpace([2], [-1]), gold=[1, 0], costs=[0, 1])
        >>> own.violator(np.zeros(2))
        (array([0., 1.]), 1.0)
    """

    def __init__(
        self, matrix: Any, space: Space, gold: Any, costs: Any, constant: float = 0.0, *,
        outside: bool = False,
    ) -> None:  # fmt: skip
        from scipy.sparse import csr_array

        self.space, self.constant = space, float(constant)
        self._matrix = csr_array(matrix, dtype=np.float64)
        if self._matrix.shape[0] != space.size:
            raise ModelError(
                f"an example's matrix has a row per coordinate: {space.size}, "
                f"got shape {self._matrix.shape}"
            )
        if not np.isfinite(self._matrix.data).all():
            raise ModelError("an example's features must be finite; there is a NaN or infinity")
        self._gold = vector(gold, space.size, "gold")
        self._costs = vector(costs, space.size, "costs")
        self.inside = contains(space, self._gold)
        require_inside(self.inside, outside)

    @property
    def matrix(self) -> Any:
        return self._matrix

    @cached_property
    def columns(self) -> Any:
        return np.unique(self._matrix.indices)

    @cached_property
    def _transposed(self) -> Any:
        """Features ``[columns, size]``: only the weights in use."""
        return self._matrix[:, self.columns].T.tocsr()

    def scores(self, weights: Float) -> Float:
        return self._matrix @ weights

    def features(self, z: Float) -> Float:
        return self._transposed @ z


class CountedExample(Example):
    """An example that counts several times: its scores, features and costs are multiplied.

    So is its hinge loss, since the same output is best.  Its likelihood is not that of the
    multiplied scores: `Examples.log_loss` divides them by ``count`` first.
    """

    def __init__(self, example: Example, count: float) -> None:
        self._example, self.count = example, count
        self.space, self.inside, self.latent = example.space, example.inside, example.latent
        self.constant, self.columns = count * example.constant, example.columns

    @property
    def gold(self) -> Float:
        return self._example.gold

    @property
    def costs(self) -> Float:
        return self.count * self._example.costs

    def target(self, scores: Float) -> Float:
        return self._example.target(scores)

    @property
    def matrix(self) -> Any:
        return self.count * self._example.matrix

    def scores(self, weights: Float) -> Float:
        return self.count * self._example.scores(weights)

    def features(self, z: Float) -> Float:
        return self.count * self._example.features(z)

    def squared(self, features: Float) -> float:
        return self._example.squared(features)

    def row_lengths(self) -> Float:
        return self.count * self._example.row_lengths()


def vector(values: Any, size: int, name: str) -> Float:
    """``values`` as finite numbers ``[size]``."""
    array = np.asarray(values, np.float64)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ModelError(f"{name}: expected {size} finite numbers, got shape {array.shape}")
    return array


def contains(space: Space, point: Float) -> bool:
    """Whether a zero-one point is a vertex: of all vertices it must be the nearest to itself."""
    # For such scores the distance from `point` is least where the score is largest.
    found = space.maximize(2.0 * point - 1.0)
    return bool(np.abs(found - point).max(initial=0.0) < 1e-6)


def require_inside(inside: bool, outside: bool) -> None:
    """Raise where a gold output is not in the space, unless ``outside`` allows it."""
    if not inside and not outside:
        raise ModelError(
            "the gold output is not among the outputs of the model, so no weights can reach it; "
            "correct the data, or pass outside=True to train towards it nevertheless"
        )
