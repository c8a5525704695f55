"""Values that are pruned together: exchanging all of them at once never loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint, Int32
from assent.proof.field_checks import fits
from assent.reductions.dominance import exchanged
from assent.reductions.exchange_difference import most_gained
from assent.reductions.reduction import Reduction


@dataclass(frozen=True, eq=False)
class Improving:
    """States that turn into others of their variables, all at once, with link scores.

    State ``lost[i]`` becomes ``by[i]``.  What an assignment is worth above what it turns into is
    bounded by the link scores ``dual`` of the difference; if that is no more than zero, some best
    assignment is without these states.  What it is more than zero is added to the bound.

    Example:
        >>> import assent as at
        >>> from assent.compile.compiled import graph_scores
        >>> g = at.FactorGraph()
        >>> t = g.categorical(2, states="ab", scores=[[2.0, 0.0], [0.0, 0.5]])
        >>> rule = g.add(at.Potts(t[0], t[1], scores=1.0))
        >>> start = Reduction.of(g.compile(), graph_scores(g))
        >>> paid = DualPoint(np.zeros((0, 2)), np.zeros(4), np.array([0.0, -1.0, 0.0, 1.0]))
        >>> step = Improving(np.array([1, 3], np.int32), np.array([0, 2], np.int32), paid)
        >>> after = step.apply(start)
        >>> after.compiled.fixed.tolist(), after.loss
        ([1, 0, 1, 0], 0.0)
    """

    lost: Int32
    by: Int32
    dual: DualPoint

    what: ClassVar[tuple[str, str]] = ("value", "pruned by joint exchange")

    @property
    def count(self) -> int:
        """How many."""
        return len(self.lost)

    def apply(self, before: Reduction) -> Reduction | None:
        """The values are pruned, if no exchange brings another one's lost value back."""
        problem = before.compiled.problem
        lost, by = before.columns(self.lost), before.columns(self.by)
        if lost is None or by is None or len(lost) != len(by) or not fits(self.dual, problem):
            return None
        if (np.minimum(lost, by) < 0).any() or np.isin(by, lost).any():
            return None
        to = np.arange(problem.n)
        to[lost] = by
        if (to[lost] != by).any():
            return None
        gained = most_gained(problem, before.flat, to, self.dual)
        if not gained < np.inf:
            return None
        return before.with_loss(max(gained, 0.0)).given((~self.lost).tolist())

    def follow(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """All exchanges made."""
        return exchanged(assignment, self.lost, self.by)

    def undo(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """Nothing to do: what is best without the values is best with them."""
        return assignment
