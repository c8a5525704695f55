"""All: every literal is true."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.factors.counting import WithOutput
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import ANYOF, SUM


class All(WithOutput):
    """All literals are true; with ``output=z``, z says whether they all are.

    Arguments are those of `AtMostOne`.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, z = g.binary(2, name="x"), g.binary(name="z")
        >>> at.All(x, output=z)
        All(x[0], x[1] → z)
    """

    paper_name = "AND; AND-with-output"
    formula = "x_1 = … = x_n = 1;  with output: z = x_1 ∧ … ∧ x_n"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].all(axis=1) == truth[:, -1]
        return np.asarray(truth.all(axis=1))

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(ANYOF, self.same_k(1), self.size, True, True)
        return NormalForm(SUM, self.same_k(self.size), self.size)
