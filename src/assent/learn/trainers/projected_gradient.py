"""ProjectedGradient: both players follow their gradients, (16) of Taskar et al. 2006."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.learn.trainers.extragradient import (
    ExtragradientState,
    measure_mean,
    move_outputs,
    start_both,
)
from assent.learn.trainers.saddle import SaddleSettings
from assent.models.example import Example


@dataclass(frozen=True)
class ProjectedGradient(SaddleSettings):
    """Weights and outputs each follow their gradient (16); the mean over time is returned.

    Without looking ahead the points themselves may circle for ever.

    Settings are those of `SaddleSettings`.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, L2Ball, ProjectedGradient, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, ProjectedGradient(L2Ball(0.5), max_iterations=100))
        >>> bool(result.trace.gap[-1] < 0.1)
        True
    """

    def init(self, examples: Examples) -> ExtragradientState:
        """No weights, outputs at their start."""
        return start_both(self, examples)

    def advance(self, examples: Examples, state: ExtragradientState) -> None:
        """Both players move at once."""
        sets, z = self.weights_in, self.outputs
        eta_w, eta = state.step * state.balance, state.step / state.balance
        w = sets.point(state.place)

        def ask(example: Example, place: Float) -> tuple[Any, Float, Float, float]:
            u = z.point(example, place)
            moved = z.move(example, place, eta * (example.scores(w) + example.costs))
            loss = float(example.costs @ u) + example.constant
            return example.columns, example.features(example.gold - u), moved, loss

        here = move_outputs(examples, state, ask)
        state.place = sets.move(state.place, eta_w * here, examples.squared)
        state.total += w
        state.slope += here
        state.calls += len(examples)
        state.iteration += 1

    def weights(self, state: ExtragradientState) -> Float:
        """The mean of the weights."""
        return state.total / max(1, state.iteration)

    def measure(self, examples: Examples, state: ExtragradientState) -> Measure:
        """The hinge loss, less the best that any weights get at the mean outputs."""
        return measure_mean(self, examples, state)
