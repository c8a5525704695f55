"""MatchingModel: bipartite matchings, from features of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.matching import Matching
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph
from assent.models.example import LinearExample
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


@lru_cache(maxsize=1024)
def matching_space(n: int, m: int, rows: int, columns: int) -> MatchingSpace:
    """`MatchingSpace`, cached."""
    return MatchingSpace(n, m, rows, columns)


@dataclass(frozen=True)
class MatchingModel(Model):
    """Bipartite matchings, such as word alignments: features of pairs.

    An input is an array ``[n, m, D]`` of features of each pair, an output a table ``[n, m]`` of
    zeros and ones.  Weights: ``pairs[D]``.

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

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> LinearExample:
        features = self._read(x)
        gold = np.asarray(y, np.float64)
        if gold.shape != features.shape[:2] or not np.isin(gold, (0.0, 1.0)).all():
            raise ModelError(
                f"a matching is a table {features.shape[:2]} of zeros and ones, "
                f"got shape {gold.shape}"
            )
        costs, constant = loss.literals(gold.ravel())
        return LinearExample(
            features.reshape(-1, self.size), self._space(features), gold.ravel(), costs, constant,
            outside=outside,
        )  # fmt: skip

    def predict(self, x: Any, weights: Float) -> Any:
        features = self._read(x)
        z = self._space(features).maximize((features @ weights).ravel())
        return z.reshape(features.shape[:2]).astype(np.int8)

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
