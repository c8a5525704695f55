"""AtLeastOne: some literal is true."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.factors.counting import WithOutput
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import ANYOF, CAP


class AtLeastOne(WithOutput):
    """At least one literal is true; with ``output=z``, z says whether one is.

    Arguments are those of `AtMostOne`.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(2, name="x")
        >>> at.AtLeastOne([x[0], ~x[1]])
        AtLeastOne(x[0], ~x[1])
    """

    paper_name = "OR; OR-with-output"
    formula = "x_1 + … + x_n ≥ 1;  with output: z = x_1 ∨ … ∨ x_n"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].any(axis=1) == truth[:, -1]
        return np.asarray(truth.any(axis=1))

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(ANYOF, self.same_k(1), self.size)
        return NormalForm(
            CAP, self.same_k(self.size - 1), self.size, flip_inputs=True, flip_last=True
        )
