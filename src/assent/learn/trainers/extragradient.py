"""Extragradient: Korpelevich (1976)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.learn.trainers.saddle import SaddleSettings, SaddleState
from assent.models.example import Example


@dataclass(frozen=True)
class Extragradient(SaddleSettings):
    """Korpelevich's method: extrapolate, then step with the gradient at the extrapolated point.

    Keeps an output per example.  The average of the extrapolated points has a gap that falls as
    1/t; the last iterate converges as well, often sooner.

    Settings are those of `SaddleSettings`, and

    Args:
        averaged: return the average of the weights; otherwise the last ones.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, Extragradient, L2Ball, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> train(data, Extragradient(L2Ball(0.5), gap_tolerance=0.05)).reason
        'the saddle gap is within tolerance'
    """

    averaged: bool = True

    def advance(self, examples: Examples, state: SaddleState) -> None:
        """Extrapolate with the gradient at the iterate, step with that at the extrapolation."""
        sets, outputs = self.weights_in, self.outputs
        eta_w, eta = state.step * state.balance, state.step / state.balance
        w, mean = sets.point(state.w), self.weights(state)
        # Extrapolated weights need all outputs; extrapolated outputs only the weights.
        gradient, _ = self._gradient(examples, state)
        ahead = sets.point(sets.move(state.w, -eta_w * gradient, examples.squared))

        def step(example: Example, z: Float) -> tuple[Any, Float, Float, float]:
            u = outputs.move(example, z, eta * (example.scores(w) + example.costs))
            u = outputs.point(example, u)
            moved = outputs.move(example, z, eta * (example.scores(ahead) + example.costs))
            change = example.features(self.target(example, mean) - u)
            return example.columns, change, moved, example.loss(u)

        self.finish_pass(examples, state, step, ahead)
        state.calls += 2 * len(examples)

    def _gradient(self, examples: Examples, state: SaddleState) -> tuple[Float, float]:
        """The gradient in w at the current outputs, and their loss."""
        gradient, total, mean = np.zeros(examples.size), 0.0, self.weights(state)

        def at(example: Example, z: Float) -> tuple[Any, Float, float]:
            u = self.outputs.point(example, z)
            target = self.target(example, mean)
            return example.columns, example.features(u - target), example.loss(u)

        for columns, features, loss in examples.each(at, state.z):
            gradient[columns] += features
            total += loss
        return gradient, total

    def weights(self, state: SaddleState) -> Float:
        """The average of the weights, or the last."""
        if self.averaged and state.iteration:
            return super().weights(state)
        return self.weights_in.point(state.w)

    def measure(self, examples: Examples, state: SaddleState) -> Measure:
        """The hinge loss, and the saddle gap at the same weights and outputs."""
        if self.averaged or examples.latent:
            return super().measure(examples, state)
        hinge = examples.violators(self.weights(state)).value
        gradient, loss = self._gradient(examples, state)
        lowest = self.weights_in.lowest(gradient, examples.squared)
        return Measure(hinge, hinge, hinge - (loss + lowest))
