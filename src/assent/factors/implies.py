"""Implies: when all premises hold, so does the conclusion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Logic, elementwise
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import CAP
from assent.model.variables import as_literals, conjunction


class Implies(Logic):
    """Premises ``a & b & …`` imply the conclusion, element by element (the papers' IMPLY).

    Arrays broadcast as NumPy's do, one factor per element; a conclusion that is meant as a whole
    is ``z`` of ``All(xs, output=z)``.

    Args:
        premises: literals or a conjunction of them.
        conclusion: literals.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> at.Implies(x[0] & x[1], ~x[2])
        Implies(x[0] & x[1] ⇒ ~x[2])
        >>> at.Implies(x[:2], x[1:])
        2 × Implies, first Implies(x[0] ⇒ x[1])
    """

    paper_name = "IMPLY"
    formula = "x_1 + … + x_n − y ≤ n − 1"

    def __init__(self, premises: Any, conclusion: Any) -> None:
        parts = [*conjunction(premises).parts, as_literals(conclusion)]
        self._attach(*elementwise("Implies", parts))

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return ~truth[:, :-1].all(axis=1) | truth[:, -1]

    def normal_form(self) -> NormalForm:
        return NormalForm(CAP, self.same_k(self.size - 1), self.size, False, True)

    def words(self, row: int) -> str:
        *premises, conclusion = (self.graph.describe_code(c) for c in self.codes[row])
        return f"Implies({' & '.join(premises)} ⇒ {conclusion})"
