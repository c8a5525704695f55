"""Step sizes of saddle-point methods, and their balance between weights and outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.learn.argument_checks import positive
from assent.learn.examples import Examples
from assent.learn.trainers.geometry import lipschitz

# Below one over the Lipschitz constant, as that is computed up to rounding.
SAFE_STEP = 0.95


@dataclass(frozen=True)
class StepSearch:
    """Try step sizes for a few passes each and keep the one with the smallest gap.

    The step that is proven to converge is often far too short.  Begins with it and increases it
    while the gap improves; where the set of weights is unbounded, the hinge loss (He and Liao,
    2002, search on this merit function too).  Larger steps have no proof: the fastest at first may
    stall later, and on some small random problems the gap stays open.

    Args:
        passes: for each step size.
        factor: from one step size to the next.
    """

    passes: int = 5
    factor: float = 3.0

    def __post_init__(self) -> None:
        positive(self, "passes", "factor")
        if self.factor <= 1.0:
            raise ValueError(f"StepSearch: factor is larger than 1, got {self.factor}")


def find_balance(examples: Examples, trainer: Any) -> float:
    """The balance of a trainer's settings, or the one that makes the bound (19) smallest."""
    if trainer.balance is not None:
        return float(trainer.balance)
    d_w = trainer.weights_in.spread(examples.size)
    d_z = sum(trainer.outputs.spread(example) for example in examples)
    return float(np.sqrt(d_w / d_z)) if np.isfinite(d_w) and d_z > 0.0 else 1.0


def find_step(examples: Examples, trainer: Any) -> tuple[float, int]:
    """The step of a trainer's settings, or one fit for the data; and oracle calls for it."""
    if trainer.step is not None and not isinstance(trainer.step, StepSearch):
        return float(trainer.step), 0
    constant = lipschitz(examples, trainer.weights_in, trainer.outputs)
    if constant == 0.0:
        raise ModelError("all features are zero: there is nothing to learn")
    step = SAFE_STEP / constant
    return (step, 0) if trainer.step is None else _search(examples, trainer, step)


def _search(examples: Examples, trainer: Any, step: float) -> tuple[float, int]:
    best, merit, calls = step, np.inf, 0
    while True:
        trial = replace(trainer, step=step)
        state = trial.init(examples)
        for _ in range(trainer.step.passes):
            trial.advance(examples, state)
        calls += state.calls
        found = trial.measure(examples, state)
        value = found.gap if np.isfinite(found.gap) else found.hinge
        if not value < merit:
            return best, calls
        best, merit = step, value
        step *= trainer.step.factor
