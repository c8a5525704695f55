"""MIRA: Crammer et al. (2006), one cost-augmented output per step, as Martins et al. use it."""

from __future__ import annotations

from dataclasses import dataclass

from assent.learn.argument_checks import positive
from assent.learn.trainer import Measure
from assent.learn.trainers.averaging import AveragedState, AveragedTrainer
from assent.models.example import Example


@dataclass(frozen=True)
class MIRA(AveragedTrainer):
    """The smallest change of the weights that gives the gold output its margin; averaged.

    The violator of an example is its output of largest loss-augmented score; of a graph whose
    relaxation is loose it may be fractional, which is as valid a constraint.

    Args:
        C: the largest step length.
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

    def visit(self, example: Example, state: AveragedState, n: int) -> None:
        scores = example.scores(state.w)
        z, target = example.space.maximize(scores + example.costs), example.target(scores)
        hinge = float(scores @ (z - target)) + example.loss(z)
        change = example.features(target - z)
        length = example.squared(change)
        if hinge > 0.0 and length > 0.0:
            state.add(example.columns, min(self.C, hinge / length) * change)

    def stop(self, measure: Measure) -> str | None:
        """When every margin is met."""
        return "every margin is met" if measure.hinge <= 0.0 else None
