"""A graph on its way to a smaller one: the values known and the scores after some steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from assent.compile.closure import Closure
from assent.compile.compiled import Compiled, Conflict, GraphScores
from assent.kernels.problem import Float, Int32, Int64, Scores
from assent.model.variables import coordinates_of


@dataclass(frozen=True, eq=False)
class Reduction:
    """A graph with some values known and other scores than written.

    Attributes:
        closure: propagation over its factors.
        compiled: the graph with what is known.
        scores: after the steps so far.
        loss: the optimum of the original graph exceeds its own by at most this.
    """

    closure: Closure
    compiled: Compiled
    scores: GraphScores
    loss: float = 0.0

    @classmethod
    def of(cls, compiled: Compiled, scores: GraphScores) -> Reduction:
        """The graph as it was compiled."""
        return cls(Closure(compiled), compiled, scores)

    @property
    def refuted(self) -> bool:
        """Whether propagation has shown that nothing is possible."""
        return self.compiled.conflict is not None

    @cached_property
    def flat(self) -> Scores:
        """Scores of the flat problem."""
        return self.compiled.flat_scores(self.scores)

    def columns(self, literals: Int32) -> Int64 | None:
        """Literals over coordinates as literals over columns; None if one is not free."""
        coordinate = coordinates_of(literals)
        if literals.ndim != 1 or coordinate.max(initial=-1) >= len(self.compiled.fixed):
            return None
        column = self.compiled.column_of()[coordinate]
        return None if (column < 0).any() else np.where(literals < 0, ~column, column)

    def coordinates(self, literals: Int64) -> Int32:
        """Literals over columns as literals over coordinates."""
        free = self.compiled.free
        own = free[coordinates_of(literals)]
        return np.where(literals < 0, ~own, own).astype(np.int32)

    def given(self, literals: Sequence[int]) -> Reduction:
        """The same with these literals true as well, and all that follows."""
        known = self.closure.extend(self.compiled.fixed, literals)
        if known is None:
            return replace(self, compiled=replace(self.compiled, conflict=Conflict(())))
        return replace(self, compiled=self.closure.compile(known))

    def with_loss(self, loss: float) -> Reduction:
        """The same with ``loss`` more that may be lost."""
        return replace(self, loss=self.loss + loss)

    def rescored(self, theta: Float, constant: float) -> Reduction:
        """The same with these own scores ``[n]`` of free coordinates, and more of a constant."""
        before = self.scores
        own = before.theta.copy()
        own[self.compiled.free] += theta
        constant += before.constant
        scores = replace(before, theta=own, constant=constant, scale_before=before.scale)
        return replace(self, scores=scores)


class ReductionStep(Protocol):
    """One reduction, which can check itself; its ``count`` values, variables or factors are gone.

    ``what`` says in words what these are, and what happened to them.
    """

    what: ClassVar[tuple[str, str]]

    @property
    def count(self) -> int:
        """How many values, variables or factors it is about."""

    def apply(self, before: Reduction) -> Reduction | None:
        """What it makes of a reduction; None where that would not be right."""

    def follow(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """From an assignment ``[N]`` before the step to one after it that scores no less."""
        return assignment

    def undo(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """From an assignment ``[N]`` after the step to one before it that scores no less."""
        return assignment
