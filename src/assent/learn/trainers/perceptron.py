"""AveragedPerceptron: Collins (2002), as compared with in Taskar et al. 2006, section 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assent.learn.argument_checks import positive
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.learn.trainers.averaging import AveragedState, AveragedTrainer
from assent.models.example import Example


@dataclass(frozen=True)
class AveragedPerceptron(AveragedTrainer):
    """Add the features of the gold output, subtract those of the best one; average over time.

    Measured by the hinge loss, to compare with other trainers; its updates use no costs.

    Args:
        max_iterations: passes over the examples.
        batch: one step per pass, with the features of all examples at once.
        rate: the step length.  The predictions of the online form do not depend on it.
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

    def advance(self, examples: Examples, state: AveragedState) -> None:
        """One pass: a step per example, or one of all together."""
        if not self.batch:
            super().advance(examples, state)
            return
        state.add(slice(None), -self.rate * examples.best(state.w).gradient)
        state.steps += 1
        state.calls += len(examples)
        state.iteration += 1

    def visit(self, example: Example, state: AveragedState, n: int) -> None:
        scores = example.scores(state.w)
        error = example.target(scores) - example.space.maximize(scores)
        if error.any():
            state.add(example.columns, self.rate * example.features(error))

    def visit_all(self, compiled: Any, state: AveragedState, order: Any) -> bool:
        compiled.visit_best(order, state.w, state.late, state.steps, rate=self.rate)
        state.steps += len(order)
        return True

    def stop(self, measure: Measure) -> str | None:
        """Never: the average still changes when no mistake is made any more."""
        return None
