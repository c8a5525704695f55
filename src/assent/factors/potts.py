"""Potts: a score when two variables take the same state."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.scored import slots_of
from assent.factors.table import Table
from assent.kernels.problem import POTTS, Float, Int64
from assent.model.variables import Categorical


class Potts(Table):
    """``scores`` are earned where ``a`` and ``b`` are in the same state, element by element.

    Args:
        a, b: categorical variables with the same states; arrays broadcast.
        scores: shape ``(*shape, K)``, one per common state; or one number per factor with a last
            axis of 1, or one number for all.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> label = g.categorical(3, states=4, name="label")
        >>> at.Potts(label[:-1], label[1:], scores=1.5)
        2 × Potts, first Potts(label[0], label[1])
    """

    paper_name = "Potts"
    formula = "score[s] · [s_1 = s_2 = s]"
    kind_code = POTTS

    def __init__(self, a: Any, b: Any, *, scores: Any) -> None:
        if not (isinstance(a, Categorical) and isinstance(b, Categorical)):
            raise TypeError("Potts takes two categorical variables; for literals use Pair")
        if a.states != b.states:
            raise ModelError(f"Potts: {a!r} and {b!r} have different states")
        graph, codes, shape, self.states, self.first = slots_of("Potts", (a, b))
        self._attach(graph, codes, shape)
        if len(a.states) == 1:
            raise ModelError("Potts: variables with one state always agree; add a constant instead")
        self.scores = self.fit(scores)

    def dense(self, scores: Float) -> Float:
        out = np.zeros((len(scores), *self.states))
        both = np.arange(self.states[0])
        out[:, both, both] = scores
        return out

    def entry_of(self, joint: Int64) -> Int64:
        first, second = np.divmod(joint, self.states[1])
        return np.where(first == second, first, -1)

    def entry_shape(self) -> tuple[int, ...]:
        return self.states[:1]
