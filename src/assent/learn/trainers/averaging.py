"""Trainers that visit one example at a time, and the running average of their weights.

The average is kept without touching all weights in every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.models.example import Example


@dataclass
class AveragedState:
    """Weights, and what their average needs."""

    w: Float  # the weights (for Subgradient the sum of all subgradients)
    late: Float  # the sum of all changes, each times the number of the step that made it
    rng: np.random.Generator  # the order of examples
    losses: float = 0.0  # the sum of the violators' losses
    steps: int = 0
    iteration: int = 0
    calls: int = 0

    def add(self, columns: Any, change: Float) -> None:
        """Add ``change`` to ``w[columns]`` in the current step."""
        self.w[columns] += change
        self.late[columns] += self.steps * change

    @property
    def average(self) -> Float:
        """The mean of the weights after each step."""
        return self.w - self.late / self.steps if self.steps else self.w.copy()


class AveragedTrainer:
    """Passes of single-example steps; a subclass has the settings and `visit`."""

    seed: int | None

    def init(self, examples: Examples) -> AveragedState:
        """Zero weights."""
        zero = np.zeros(examples.size)
        return AveragedState(zero, zero.copy(), np.random.default_rng(self.seed))

    def advance(self, examples: Examples, state: AveragedState) -> None:
        """One pass, in a random order or, without a seed, in the given one."""
        n = len(examples)
        order = np.arange(n) if self.seed is None else state.rng.permutation(n)
        if examples.compiled is None or not self.visit_all(examples.compiled, state, order):
            for i in order.tolist():
                self.visit(examples[i], state, n)
                state.steps += 1
        state.calls += n
        state.iteration += 1

    def visit(self, example: Example, state: AveragedState, n: int) -> None:
        """Update the weights by one of ``n`` examples."""
        raise NotImplementedError

    def visit_all(self, compiled: Any, state: AveragedState, order: Any) -> bool:
        """Update the weights by all examples in a compiled loop, or return False."""
        return False

    def weights(self, state: AveragedState) -> Float:
        """The average of the weights."""
        return state.average

    def measure(self, examples: Examples, state: AveragedState) -> Measure:
        """The hinge loss of the average."""
        hinge = examples.violators(self.weights(state)).value
        return Measure(hinge, hinge)
