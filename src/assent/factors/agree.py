"""Agree: two variables, or two literals, take the same value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Logic, elementwise
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import SUM
from assent.model.variables import Categorical, Literals, as_literals


class Agree(Logic):
    """``a`` and ``b`` are equal, element by element; categoricals state by state.

    Two categorical variables must have the same states.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, states=["N", "V"], name="tag")
        >>> at.Agree(tag[0], tag[2])
        2 × Agree, first Agree(tag[0]=N, tag[2]=N)
    """

    paper_name = "equality"
    formula = "a = b"

    def __init__(self, a: Any, b: Any) -> None:
        parts = _comparable(a, b)
        self.sides = (a, b) if isinstance(a, Categorical) else parts
        self._attach(*elementwise("Agree", list(parts)))

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth[:, 0] == truth[:, 1]

    def normal_form(self) -> NormalForm:
        return NormalForm(SUM, self.same_k(1), self.size, False, True)


def _comparable(a: Any, b: Any) -> tuple[Literals, Literals]:
    if isinstance(a, Categorical) and isinstance(b, Categorical):
        if a.states != b.states:
            raise ModelError(f"Agree: {a!r} and {b!r} have different states")
        return a.indicators, b.indicators
    return as_literals(a), as_literals(b)
