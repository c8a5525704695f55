"""ExactlyOne: one literal is true, no more, no less."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Axis, rows
from assent.factors.grouped import ByGroup
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import SUM


class ExactlyOne(ByGroup):
    """Exactly one literal is true (the papers' XOR).

    Args:
        literals: array of literals, or a list of them.
        axis: the axis, or axes, that one factor runs over, as in NumPy; all of them by default.
        by: in place of an axis, a group for each literal: one factor per group, whatever its size.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary((2, 3), name="x")
        >>> at.ExactlyOne(x, axis=1)
        2 × ExactlyOne, first ExactlyOne(x[0,0], x[0,1], x[0,2])
        >>> at.ExactlyOne(x[0], by=["b", "a", "b"])
        2 × ExactlyOne, first ExactlyOne(x[0,1])
    """

    paper_name = "XOR (one-hot)"
    formula = "x_1 + … + x_n = 1"

    def __init__(self, literals: Any, *, axis: Axis = None, by: Any = None) -> None:
        self._attach(*rows("ExactlyOne", literals, axis))

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) == 1

    def normal_form(self) -> NormalForm:
        return NormalForm(SUM, self.same_k(1), self.size)
