"""Extragradient: Korpelevich (1976)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.argument_checks import require
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.learn.trainers.saddle import SaddleSettings
from assent.learn.trainers.step_sizes import check_set, find_balance, find_step
from assent.models.example import Example


@dataclass
class ExtragradientState:
    """Places of weights and of all outputs, and sums over the passes."""

    place: Float  # of the weights
    places: list[Float]  # of the outputs
    total: Float  # Σ_t of the weights
    slope: Float  # minus Σ_t of the gradients in w
    step: float
    balance: float
    loss: float = 0.0  # Σ_t of the outputs' losses
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class Extragradient(SaddleSettings):
    """Korpelevich's method: look ahead, then step from where you stood with what you saw.

    Keeps an output per example.  The mean of the points looked ahead to has a gap that falls as
    1/t; the last point converges as well, often sooner.

    Settings are those of `SaddleSettings`, and

    Args:
        averaged: return the mean, whose gap is known, or the last weights.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, Extragradient, L2Ball, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> train(data, Extragradient(L2Ball(0.5), gap_tolerance=0.05)).reason
        'the saddle gap is within tolerance'
    """

    averaged: bool = True

    def init(self, examples: Examples) -> ExtragradientState:
        """No weights, outputs at their start."""
        return start_both(self, examples)

    def advance(self, examples: Examples, state: ExtragradientState) -> None:
        """Look ahead with the gradient here, step with the gradient there."""
        sets, z = self.weights_in, self.outputs
        eta_w, eta = state.step * state.balance, state.step / state.balance
        w = sets.point(state.place)
        here = np.zeros(examples.size)
        # The weights ahead need all outputs here; the outputs ahead need the weights here only.
        for own, features in examples.each(self._here, state.places):
            here[own] += features
        ahead = sets.point(sets.move(state.place, eta_w * here, examples.squared))

        def ask(example: Example, place: Float) -> tuple[Any, Float, Float, float]:
            looked = z.move(example, place, eta * (example.scores(w) + example.costs))
            u = z.point(example, looked)
            moved = z.move(example, place, eta * (example.scores(ahead) + example.costs))
            loss = float(example.costs @ u) + example.constant
            return example.columns, example.features(example.gold - u), moved, loss

        there = move_outputs(examples, state, ask)
        state.place = sets.move(state.place, eta_w * there, examples.squared)
        state.total += ahead
        state.slope += there
        state.calls += 2 * len(examples)
        state.iteration += 1

    def _here(self, example: Example, place: Float) -> tuple[Any, Float]:
        """Features of the gold output less those of a place."""
        return example.columns, example.features(example.gold - self.outputs.point(example, place))

    def weights(self, state: ExtragradientState) -> Float:
        """The mean of the weights, or the last."""
        if not self.averaged or not state.iteration:
            return self.weights_in.point(state.place)
        return state.total / state.iteration

    def measure(self, examples: Examples, state: ExtragradientState) -> Measure:
        """The hinge loss, less the best that any weights get at the same outputs."""
        return measure_mean(self, examples, state) if self.averaged else self._last(examples, state)

    def _last(self, examples: Examples, state: ExtragradientState) -> Measure:
        """The saddle gap at the last weights and outputs."""
        hinge, loss = examples.violators(self.weights(state)).value, 0.0
        gradient = np.zeros(examples.size)
        for example, place in zip(examples, state.places, strict=True):
            z = self.outputs.point(example, place)
            gradient[example.columns] += example.features(z - example.gold)
            loss += float(example.costs @ z) + example.constant
        lowest = self.weights_in.lowest(gradient, examples.squared)
        return Measure(hinge, hinge, hinge - (loss + lowest))


def start_both(trainer: Any, examples: Examples) -> ExtragradientState:
    """No weights, outputs at their start."""
    require(examples, trainer.outputs.needs, trainer.outputs.way_out)
    check_set(examples, trainer.weights_in)
    start = trainer.weights_in.start(examples.size)
    balance = find_balance(examples, trainer)
    step, calls = find_step(examples, trainer)
    zero = np.zeros(examples.size)
    places = [trainer.outputs.start(example) for example in examples]
    return ExtragradientState(start, places, zero, zero.copy(), step, balance, calls=calls)


def move_outputs(
    examples: Examples, state: ExtragradientState, ask: Callable[[Example, Float], Any]
) -> Float:
    """Let ``ask(example, place)`` move all outputs; returns the features of gold less theirs.

    It answers with the weights it touches, these features, the new place, and the output's loss.
    """
    total = np.zeros(examples.size)
    for i, (own, features, moved, loss) in enumerate(examples.each(ask, state.places)):
        total[own] += features
        state.places[i] = moved
        state.loss += loss
    return total


def measure_mean(trainer: Any, examples: Examples, state: ExtragradientState) -> Measure:
    """The saddle gap at a trainer's weights and the mean of its outputs."""
    hinge = examples.violators(trainer.weights(state)).value
    if not state.iteration:
        return Measure(hinge, hinge)
    lowest = trainer.weights_in.lowest(-state.slope / state.iteration, examples.squared)
    return Measure(hinge, hinge, hinge - (state.loss / state.iteration + lowest))
