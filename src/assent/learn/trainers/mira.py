"""MIRA: Crammer et al. (2006), one cost-augmented output per step, as Martins et al. use it."""

from __future__ import annotations

from dataclasses import dataclass

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.learn.trainers.averaging import (
    AveragedState,
    add_averaged,
    measure_hinge,
    order_of_pass,
)


@dataclass(frozen=True)
class MIRA:
    """The smallest change of the weights that gives the gold output its margin; averaged.

    The violator of an example is its best output with costs added; of a graph whose relaxation
    is loose it may be fractional, which is as good a constraint.

    Args:
        C: no step is longer than this times the violator's features.
        max_iterations: passes over the examples.
        seed: of the order of examples, new in every pass; None keeps the order.

    Example:
        >>> import numpy as np
        >>> from assent.learn import MIRA, Examples, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, MIRA(max_iterations=50))
        >>> bool(result.trace.hinge[-1] < 0.1)
        True
    """

    C: float = 1.0
    max_iterations: int = 10
    seed: int | None = 0
    online = True  # its state does not depend on which examples there are

    def __post_init__(self) -> None:
        positive(self, "C", "max_iterations")

    def init(self, examples: Examples) -> AveragedState:
        """No weights."""
        return AveragedState.start(examples, self.seed)

    def advance(self, examples: Examples, state: AveragedState) -> None:
        """One pass."""
        n = len(examples)
        for i in order_of_pass(self.seed, state.rng, n):
            example = examples[i]
            z, hinge = example.violator(state.w)
            change = example.features(example.gold - z)
            length = example.squared(change)
            if hinge > 0.0 and length > 0.0:
                change *= min(self.C, hinge / length)
                add_averaged(state.w, state.late, state.steps, example.columns, change)
            state.steps += 1
        state.calls += n
        state.iteration += 1

    def weights(self, state: AveragedState) -> Float:
        """The average."""
        return state.average

    def measure(self, examples: Examples, state: AveragedState) -> Measure:
        """The hinge loss."""
        return measure_hinge(examples, state.average)

    def stop(self, measure: Measure) -> str | None:
        """When every margin is met."""
        return "every margin is met" if measure.hinge <= 0.0 else None
