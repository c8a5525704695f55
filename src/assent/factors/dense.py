"""Dense: a score for every joint state of its variables."""

from __future__ import annotations

from math import prod
from typing import Any

from assent.errors import ModelError
from assent.factors.scored import slots_of
from assent.factors.table import Table, refuse_empty
from assent.kernels.problem import DENSE, Float, Int64

# A table is stored in full: beyond this many joint states it is the wrong tool.
LARGEST_TABLE = 2**24


class Dense(Table):
    """A table of scores over the joint states of variables, element by element (DENSE).

    Args:
        variables: categorical variables or literals (state 0 is false, 1 is true); arrays
            broadcast, one factor per element.
        scores: shape ``(*shape, K1, K2, …)`` or one table ``(K1, K2, …)`` for all; ``-inf``
            forbids a joint state.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, states="NV", name="tag")
        >>> at.Dense(tag[:-1], tag[1:], scores=[[0.0, 1.0], [2.0, -1.0]])
        2 × Dense, first Dense(tag[0], tag[1])
    """

    paper_name = "DENSE"
    formula = "score[s_1, …, s_d]"
    kind_code = DENSE

    def __init__(self, *variables: Any, scores: Any) -> None:
        graph, codes, shape, self.states, self.first = slots_of("Dense", variables)
        entries = prod(self.states)
        if entries > LARGEST_TABLE:
            raise ModelError(f"Dense: a table of {entries} joint states is too large; split it")
        self._attach(graph, codes, shape)
        self.scores = self.fit(scores)

    def fit(self, scores: Any) -> Float:
        return refuse_empty("Dense", super().fit(scores))

    def dense(self, scores: Float) -> Float:
        return scores.reshape(-1, *self.states)

    def entry_of(self, joint: Int64) -> Int64:
        return joint

    def entry_shape(self) -> tuple[int, ...]:
        return self.states
