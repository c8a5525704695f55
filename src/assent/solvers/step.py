"""A step of a plan: a solver, why it was chosen, and how long it is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assent.solvers.patience import Patience
from assent.solvers.search_patience import SearchPatience


@dataclass(frozen=True)
class Step:
    """A solver, in words why it was chosen, and whether nothing is tried after it.

    Nothing is tried after it either if a ``relaxed`` answer is enough and it has one.

    It is given up after so ``many`` iterations, or when its answer does not become clear
    (`Patience`), a search over tables when it puts few states away (`SearchPatience`): the next
    step has an answer.

    Example:
        >>> import assent as at
        >>> step = Step(at.AD3(), "AD3: no shortcut applies.")
        >>> step.is_last, step.first().is_last, step.patience(links=10)
        (True, False, None)
    """

    solver: Any
    words: str
    is_last: bool = True
    many: int | None = None
    relaxed: bool = False
    search_patience: SearchPatience | None = None

    def patience(self, links: int) -> Patience | None:
        """How long to go on with a problem of so many links; None for as long as it takes."""
        return None if self.many is None else Patience(self.many, links)

    def first(self) -> Step:
        """The step, with others behind it."""
        return replace(self, is_last=False)
