"""ProjectedGradient: simultaneous gradient steps, (16) of Taskar et al. 2006."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainers.saddle import SaddleSettings, SaddleState
from assent.models.example import Example


@dataclass(frozen=True)
class ProjectedGradient(SaddleSettings):
    """Gradient descent of the weights, ascent of the outputs (16); returns average weights.

    The iterates themselves may cycle, which `Extragradient` avoids.

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

    def advance(self, examples: Examples, state: SaddleState) -> None:
        """A simultaneous gradient step of weights and outputs."""
        outputs, eta = self.outputs, state.step / state.balance
        w, mean = self.weights_in.point(state.w), self.weights(state)

        def step(example: Example, z: Float) -> tuple[Any, Float, Float, float]:
            u = outputs.point(example, z)
            moved = outputs.move(example, z, eta * (example.scores(w) + example.costs))
            change = example.features(self.target(example, mean) - u)
            return example.columns, change, moved, example.loss(u)

        self.finish_pass(examples, state, step, w)
        state.calls += len(examples)
