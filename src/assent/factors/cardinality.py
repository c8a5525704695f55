"""Cardinality: a score for every number of true literals."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.base import Axis, rows
from assent.factors.structure import Structure


class Cardinality(Structure):
    """``scores[k]`` is earned where exactly ``k`` literals are true (counting potential).

    Args:
        literals: array of literals, or a list of them.
        scores: shape ``(*shape, n + 1)`` for ``n`` literals, or one row for all factors;
            ``-inf`` forbids a number.
        axis: the axis, or axes, that one factor runs over, as in NumPy; all of them by default.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0, name="x")
        >>> several = g.add(at.Cardinality(x, scores=[0.0, 0.0, 0.0, -2.0]))
        >>> at.decode(g)[x].sum()
        np.int64(2)
    """

    paper_name = "counting potential"
    formula = "score[x_1 + … + x_n]"
    kernel_names = "count_structure", "counts"

    def __init__(self, literals: Any, *, scores: Any, axis: Axis = None) -> None:
        self._attach_literals(*rows("Cardinality", literals, axis))
        self.scores = self.fit(scores)

    def fit(self, scores: Any) -> Any:
        fitted = super().fit(scores)
        bad = np.flatnonzero(np.isneginf(fitted).all(axis=1))
        if len(bad):
            raise ModelError(
                f"{self.words(int(bad[0]))}: every number of true literals is forbidden (-inf)"
            )
        return fitted

    def entry_shape(self) -> tuple[int, ...]:
        return (self.size + 1,)
