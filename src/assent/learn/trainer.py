"""The trainer protocol: settings that make, advance and read a state."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from assent.kernels.problem import Float
from assent.learn.examples import Examples


class Measure(NamedTuple):
    """How good weights are.

    Attributes:
        hinge: the hinge loss over all examples (minus the log-likelihood for `LogLikelihood`).
        objective: what the trainer minimises: hinge, and the regulariser where it has one.
        gap: the objective is at most this far from the optimum; NaN where nothing is known.
    """

    hinge: float
    objective: float
    gap: float = float("nan")


class Trainer(Protocol):
    """A frozen settings object; all that changes is in the state it makes.

    A state is a dataclass of arrays, numbers, lists of arrays and random generators, so that
    checkpoints can be written without pickling.  It has ``iteration`` and ``calls``: passes
    done, and oracle calls (maximisations, projections, marginals) made for them.
    """

    @property
    def max_iterations(self) -> int: ...

    def init(self, examples: Examples) -> Any:
        """The state at the start."""

    def advance(self, examples: Examples, state: Any) -> None:
        """One more pass over the examples."""

    def weights(self, state: Any) -> Float:
        """The weights learnt so far."""

    def measure(self, examples: Examples, state: Any) -> Measure:
        """How good these weights are."""

    def stop(self, measure: Measure) -> str | None:
        """Why training is finished, or None."""


def closed(measure: Measure, tolerance: float, what: str) -> str | None:
    """Why to stop where a gap is within ``tolerance``, relative to 1 + |objective|."""
    near = measure.gap <= tolerance * (1.0 + abs(measure.objective))
    return f"the {what} is within tolerance" if near else None
