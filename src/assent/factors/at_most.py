"""AtMost: an upper limit on the number of true literals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.arguments import as_array
from assent.factors.counting import Counting
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import CAP


class AtMost(Counting):
    """At most ``k`` literals are true (the papers' BUDGET).

    Args:
        k: a whole number from 0 to the number of literals, or one per factor.
        literals: array of literals, or a list of them.
        axis: the axis, or axes, that one factor runs over, as in NumPy; all of them by default.
        by: in place of an axis, a group for each literal: one factor per group, whatever its size.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> at.AtMost(2, x)
        AtMost(2; x[0], x[1], x[2])
    """

    paper_name = "BUDGET"
    formula = "x_1 + … + x_n ≤ k"

    @classmethod
    def in_groups(cls, given: dict[str, Any], size: int) -> dict[str, Any]:
        """In a group that is no larger than its limit all may be true."""
        k = as_array(given["k"])
        if k is None or k.dtype.kind not in "iu":
            return given
        return {**given, "k": np.minimum(k, size)}

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) <= self.k

    def normal_form(self) -> NormalForm:
        return NormalForm(CAP, self.k, self.size)
