"""Steps of saddle-point methods: how long, and how weights' and outputs' compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.learn.argument_checks import positive, require_coordinates
from assent.learn.examples import Examples
from assent.learn.trainers.geometry import lipschitz
from assent.learn.trainers.weight_sets import L2Ball

# Below one over the Lipschitz constant, to be clear of rounding in it.
SAFE_STEP = 0.95


@dataclass(frozen=True)
class StepSearch:
    """Try steps of several lengths for a few passes each and keep the one with the least gap.

    A step that is safe for all data is often far too short for yours.  Begins with the safe one
    and takes longer ones while they do better; where the set of weights is unbounded, by the
    hinge loss instead of the gap (He and Liao, 2002, search on this merit function too).
    What is quickest at first may stall later, as nothing is proven for such steps: on some small
    random problems the gap stays open.  Watch it, or leave the step to the data.

    Args:
        passes: for each length.
        factor: from one length to the next.
    """

    passes: int = 5
    factor: float = 3.0

    def __post_init__(self) -> None:
        positive(self, "passes", "factor")
        if self.factor <= 1.0:
            raise ValueError(f"StepSearch: factor is larger than 1, got {self.factor}")


def check_steps(trainer: Any) -> None:
    """Raise where a trainer's step or balance is no positive number."""
    if trainer.step is not None and not isinstance(trainer.step, StepSearch):
        positive(trainer, "step")
    if trainer.balance is not None:
        positive(trainer, "balance")


def check_set(examples: Examples, weights_in: Any) -> None:
    """Raise where a set of weights needs coordinates and there are none."""
    plain = isinstance(weights_in, L2Ball) and weights_in.nonnegative is weights_in.above is None
    if not plain:
        require_coordinates(examples, type(weights_in).__name__)


def find_balance(examples: Examples, trainer: Any) -> float:
    """The balance of a trainer's settings, or the one that makes the bound (19) smallest."""
    if trainer.balance is not None:
        return float(trainer.balance)
    own = trainer.weights_in.spread(examples.size)
    others = sum(trainer.outputs.spread(example) for example in examples)
    return float(np.sqrt(own / others)) if np.isfinite(own) and others > 0.0 else 1.0


def find_step(examples: Examples, trainer: Any) -> tuple[float, int]:
    """The step of a trainer's settings, or one fit for the data; and questions asked for it."""
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
