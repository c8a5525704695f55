"""AtLeast: a lower limit on the number of true literals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.factors.counting import Counting
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import CAP


class AtLeast(Counting):
    """At least ``k`` literals are true; arguments as of `AtMost`.

    Example:
        >>> import assent as at
        >>> x = at.FactorGraph().binary(3, name="x")
        >>> at.AtLeast(2, x)
        AtLeast(2; x[0], x[1], x[2])
    """

    paper_name = "BUDGET on negated literals"
    formula = "x_1 + … + x_n ≥ k"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) >= self.k

    def normal_form(self) -> NormalForm:
        return NormalForm(CAP, self.size - self.k, self.size, True, True)
