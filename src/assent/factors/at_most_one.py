"""AtMostOne: no two literals are true."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.factors.counting import WithOutput
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import CAP, SUM


class AtMostOne(WithOutput):
    """At most one literal is true; with ``output=z``, moreover z says whether one is.

    The form with output is the papers' XOR-with-output: two true literals are forbidden either
    way, ``z`` does not say "at most one".

    Args:
        literals: array of literals, or a list of them.
        axis: the axis, or axes, that one factor runs over, as in NumPy; all of them by default.
        by: in place of an axis, a group for each literal: one factor per group, whatever its size.
        output: one literal per factor, or per group.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, z = g.binary(3, name="x"), g.binary(name="z")
        >>> at.AtMostOne(x, output=z)
        AtMostOne(x[0], x[1], x[2] → z)
    """

    paper_name = "AtMostOne; XOR-with-output"
    formula = "x_1 + … + x_n ≤ 1;  with output: x_1 + … + x_n = z"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].sum(axis=1) == truth[:, -1]
        return truth.sum(axis=1) <= 1

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(SUM, self.same_k(1), self.size, False, True)
        return NormalForm(CAP, self.same_k(1), self.size)
