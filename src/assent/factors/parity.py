"""Parity: an even (or odd) number of literals is true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Axis, rows
from assent.factors.grouped import ByGroup
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import PARITY


class Parity(ByGroup):
    """An even number of literals is true; with ``odd=True``, an odd number (parity check).

    Args:
        literals: array of literals, or a list of them.
        axis: the axis, or axes, that one factor runs over, as in NumPy; all of them by default.
        by: in place of an axis, a group for each literal: one factor per group, whatever its size.
        odd: whether the number is odd instead.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> at.Parity(x)
        Parity(x[0], x[1], x[2])
    """

    paper_name = "parity check"
    formula = "x_1 ⊕ … ⊕ x_n = 0;  odd: x_1 ⊕ … ⊕ x_n = 1"

    def __init__(
        self, literals: Any, *, axis: Axis = None, by: Any = None, odd: bool = False
    ) -> None:
        if not isinstance(odd, (bool, np.bool_)):
            raise TypeError(f"Parity: odd is True or False, got {odd!r}")
        self.odd = bool(odd)
        self._attach(*rows("Parity", literals, axis))

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) % 2 == int(self.odd)

    def normal_form(self) -> NormalForm:
        return NormalForm(PARITY, self.same_k(1), self.size, flip_last=self.odd)

    def words(self, row: int) -> str:
        name = "Parity(odd; " if self.odd else "Parity("
        return super().words(row).replace("Parity(", name, 1)
