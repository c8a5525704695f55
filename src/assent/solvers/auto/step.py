"""A step of a plan: a solver, why it was chosen, and how long it is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assent.solvers.auto.cutoff import Patience
from assent.solvers.auto.search_cutoff import SearchPatience


@dataclass(frozen=True)
class Step:
    """A solver, in words why it was chosen, and what comes after it.

    Attributes:
        solver: its settings.
        words: what `result.plan` says of it.
        is_last: whether nothing is tried after it.
        relaxed: whether nothing is either once it has solved the relaxation.
        patience: when it is given up, and the next step begins at its answer; None for never.

    Example:
        >>> import assent as at
        >>> step = Step(at.AD3(), "AD3: no shortcut applies.")
        >>> step.is_last, step.first().is_last
        (True, False)
    """

    solver: Any
    words: str
    is_last: bool = True
    relaxed: bool = False
    patience: Patience | SearchPatience | None = None

    def first(self) -> Step:
        """The step, with others behind it."""
        return replace(self, is_last=False)
