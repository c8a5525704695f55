"""Exactly: exactly k literals of each factor are true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Logic, counts, rows
from assent.factors.normal_form import NormalForm
from assent.problem import SUM


class Exactly(Logic):
    """Exactly ``k`` literals are true (the papers' BUDGET with equality).

    Args:
        k: a whole number from 0 to the number of literals, or one per factor.
        literals: array of literals, or a list of them.
        axis: the axis one factor runs over; needed for more than one axis.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> at.Exactly(2, x)
        Exactly(2; x[0], x[1], x[2])
    """

    paper_name = "BUDGET with equality"
    formula = "x_1 + … + x_n = k"

    def __init__(self, k: Any, literals: Any, *, axis: int | None = None) -> None:
        graph, codes, shape = rows("Exactly", literals, axis)
        self.k = counts("Exactly", k, shape, codes.shape[1])
        self._attach(graph, codes, shape)

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) == self.k

    def normal_form(self) -> NormalForm:
        return NormalForm(SUM, self.k, self.flip())

    def words(self, row: int) -> str:
        return super().words(row).replace("(", f"({self.k[row]}; ", 1)
