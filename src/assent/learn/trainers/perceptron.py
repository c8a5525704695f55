"""AveragedPerceptron: Collins (2002), as compared with in Taskar et al. 2006, section 6."""

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
class AveragedPerceptron:
    """Add the features of the gold output, take off those of the best one; average over time.

    Args:
        max_iterations: passes over the examples.
        batch: one step per pass, with the features of all examples at once.
        rate: the length of a step.  The online form's answer does not depend on it.
        seed: of the order of examples, new in every pass; None keeps the order.

    Example:
        >>> import numpy as np
        >>> from assent.learn import AveragedPerceptron, Examples, train
        >>> from assent.models import ChainModel
        >>> model = ChainModel(labels=(0, 1), features=1)
        >>> data = Examples(model, [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, AveragedPerceptron(max_iterations=3))
        >>> model.predict(data.inputs[0], result.weights).tolist()
        [1, 0]
    """

    max_iterations: int = 10
    batch: bool = False
    rate: float = 1.0
    seed: int | None = 0
    online = True  # its state does not depend on which examples there are

    def __post_init__(self) -> None:
        positive(self, "max_iterations", "rate")

    def init(self, examples: Examples) -> AveragedState:
        """No weights."""
        return AveragedState.start(examples, self.seed)

    def advance(self, examples: Examples, state: AveragedState) -> None:
        """One pass."""
        n = len(examples)
        if self.batch:
            gradient = examples.best(state.w).gradient
            add_averaged(state.w, state.late, state.steps, slice(None), -self.rate * gradient)
            state.steps += 1
        else:
            for i in order_of_pass(self.seed, state.rng, n):
                self._visit(examples, state, i)
        state.calls += n
        state.iteration += 1

    def _visit(self, examples: Examples, state: AveragedState, i: int) -> None:
        example = examples[i]
        wrong = example.gold - example.space.maximize(example.scores(state.w))
        if wrong.any():
            change = self.rate * example.features(wrong)
            add_averaged(state.w, state.late, state.steps, example.columns, change)
        state.steps += 1

    def weights(self, state: AveragedState) -> Float:
        """The average."""
        return state.average

    def measure(self, examples: Examples, state: AveragedState) -> Measure:
        """The hinge loss, to compare with others; the perceptron itself knows no costs."""
        return measure_hinge(examples, state.average)

    def stop(self, measure: Measure) -> str | None:
        """Never: the average still moves when no mistake is made any more."""
        return None
