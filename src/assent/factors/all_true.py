"""All: every literal of a factor is true, or the output says whether they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Logic, rows
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import ANYOF, SUM


class All(Logic):
    """All literals are true; with ``output=z``, z says whether they all are.

    Args:
        literals: array of literals, or a list of them.
        axis: the axis one factor runs over; needed for more than one axis.
        output: one literal per factor.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, z = g.binary(2, name="x"), g.binary(name="z")
        >>> at.All(x, output=z)
        All(x[0], x[1] → z)
    """

    paper_name = "AND; AND-with-output"
    formula = "x_1 = … = x_n = 1;  with output: z = x_1 ∧ … ∧ x_n"

    def __init__(self, literals: Any, *, axis: int | None = None, output: Any = None) -> None:
        self.has_output = output is not None
        self._attach(*rows("All", literals, axis, output))

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].all(axis=1) == truth[:, -1]
        return truth.sum(axis=1) == self.size

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(ANYOF, self.same_k(1), self.flip(inputs=True, last=True))
        return NormalForm(SUM, self.same_k(self.size), self.flip())
