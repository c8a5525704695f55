"""MatchingModel: bipartite matchings, from features of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.factors.matching import Matching
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph
from assent.models.example import Example, contains, require_inside
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.space import Rows
from assent.models.structure_space import StructureSpace


class MatchingSpace(StructureSpace):
    """All matchings of ``n`` rows with ``m`` columns.

    A row is in at most ``rows`` pairs, a column in at most ``columns``.

    Example:
        >>> MatchingSpace(2, 3).size
        6
    """

    def __init__(self, n: int, m: int, rows: int = 1, columns: int = 1) -> None:
        super().__init__(Matching(FactorGraph().binary((n, m)), rows=rows, columns=columns))
        self.shape, self.limits = (n, m), (rows, columns)
        self.abilities = (*self.abilities, "rows")  # type: ignore[misc]

    def rows(self) -> Rows:
        """The limit of every row and column, and z <= 1 (6)."""
        from scipy.sparse import csr_array, identity, kron, vstack

        n, m = self.shape
        by_row = kron(identity(n), np.ones((1, m)))
        by_column = kron(np.ones((1, n)), identity(m))
        below = vstack([by_row, by_column, identity(n * m)])
        limit = np.repeat([*self.limits, 1], [n, m, n * m])
        return Rows(csr_array((0, n * m)), np.zeros(0), csr_array(below), limit.astype(float))


matching_space = lru_cache(maxsize=1024)(MatchingSpace)


class PartialMatching(NamedTuple):
    """A gold output of which only a part is known: some pairs may be matched or not.

    What is learnt is, for the weights at hand, the best matching that has as many of the ``sure``
    pairs as fit, any of the ``possible`` ones and no other.  Possible pairs cost nothing.

    Attributes:
        sure: table ``[n, m]`` of zeros and ones.
        possible: likewise; where a pair is sure as well, it is sure.
    """

    sure: Any
    possible: Any


class MatchingExample(Example):
    """A matching to learn, from features ``[n, m, D]`` of pairs.

    Args:
        features: of each pair.
        space: all matchings.
        gold: the matching, ``[n * m]`` zeros and ones; or, with ``possible``, its sure pairs.
        loss: what wrong pairs cost.
        possible: pairs ``[n * m]`` that may be matched or not.
        outside: allow a matching that is not in the space.
    """

    def __init__(
        self, features: Float, space: MatchingSpace, gold: Float, loss: Loss, *,
        possible: Any = None, outside: bool = False,
    ) -> None:  # fmt: skip
        self.space = space
        self._rows = features.reshape(len(gold), -1)
        self._costs, self.constant = loss.literals(gold)
        self._gold = gold
        self.latent = possible is not None
        if possible is None:
            self.inside = contains(space, gold)
            require_inside(self.inside, outside)
            return
        sure = gold > 0.0
        self._right = np.where(sure | possible, 0.0, -np.inf)
        self._sure = sure.astype(np.float64)
        self._costs = np.where(possible & ~sure, 0.0, self._costs)
        # Unlike any score, minus one keeps pairs out that are only possible.
        self._gold = self.target(np.full(len(gold), -1.0))
        self.constant = -float(self._costs @ self._gold)

    def target(self, scores: Float) -> Float:
        """The best of the right matchings."""
        if not self.latent:
            return self._gold
        # One sure pair more outweighs whatever the scores of all others may add up to.
        bonus = 1.0 + 2.0 * float(np.abs(scores).sum())
        return self.space.maximize(scores + self._right + bonus * self._sure)

    def scores(self, weights: Float) -> Float:
        return self._rows @ weights

    def features(self, z: Float) -> Float:
        return z @ self._rows

    @cached_property
    def matrix(self) -> Any:
        from scipy.sparse import csr_array

        return csr_array(self._rows)


@dataclass(frozen=True)
class MatchingModel(Model):
    """Bipartite matchings, such as word alignments: features of pairs.

    An input is an array ``[n, m, D]`` of features of each pair, an output a table ``[n, m]`` of
    zeros and ones, or to learn from a `PartialMatching`.  Weights: ``pairs[D]``.

    Args:
        features: ``D``; left out, as in the data.
        rows: how many partners a row has at most.
        columns: how many partners a column has at most.

    Example:
        >>> import numpy as np
        >>> model = MatchingModel(features=1)
        >>> x = np.array([[[2.0], [1.0]], [[3.0], [-1.0]]])
        >>> model.predict(x, np.array([1.0])).tolist()
        [[0, 1], [1, 0]]
    """

    features: int | None = None
    rows: int = 1
    columns: int = 1

    @property
    def size(self) -> int:
        self.require_shape("features")
        return self.features or 0

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> MatchingModel:
        return replace(self, features=self.features or np.shape(inputs[0])[-1])

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> MatchingExample:
        features = self._read(x)
        space = self._space(features)
        if not isinstance(y, PartialMatching):
            gold = _table(y, features.shape[:2]).ravel()
            return MatchingExample(features, space, gold, loss, outside=outside)
        sure, possible = (_table(part, features.shape[:2]).ravel() for part in y)
        return MatchingExample(features, space, sure, loss, possible=possible > 0.0)

    def predict(self, x: Any, weights: Float) -> Any:
        features = self._read(x)
        z = self._space(features).maximize((features @ weights).ravel())
        return z.reshape(features.shape[:2]).astype(np.int8)

    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        if not isinstance(y, PartialMatching):
            return super().agreement(y, predicted)
        same = (np.asarray(y.sure) == predicted) | (np.asarray(y.possible) != 0)
        return int(same.sum()), same.size

    def named(self, weights: Float) -> dict[str, Float]:
        return {"pairs": weights}

    def _read(self, x: Any) -> Float:
        features = np.asarray(x, np.float64)
        if features.ndim != 3 or features.shape[2] != self.size or not features.size:
            raise ModelError(
                f"features of pairs have shape {features.shape}, expected (rows, columns, "
                f"{self.size})"
            )
        if not np.isfinite(features).all():
            raise ModelError("features must be finite; there is a NaN or infinity")
        return features

    def _space(self, features: Float) -> MatchingSpace:
        n, m, _ = features.shape
        return matching_space(n, m, self.rows, self.columns)


def _table(given: Any, shape: tuple[int, ...]) -> Float:
    """A table of zeros and ones, checked."""
    table = np.asarray(given, np.float64)
    if table.shape != shape or not np.isin(table, (0.0, 1.0)).all():
        raise ModelError(
            f"a matching is a table {shape} of zeros and ones, got shape {table.shape}"
        )
    return table
