"""Trainers that go one example at a time: their order, and the running average of weights.

The average is kept without touching all weights in every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainer import Measure


@dataclass
class AveragedState:
    """Weights, and what their average needs."""

    w: Float
    late: Float
    rng: np.random.Generator
    steps: int = 0
    iteration: int = 0
    calls: int = 0

    @classmethod
    def start(cls, examples: Examples, seed: int | None) -> AveragedState:
        """No weights."""
        zero = np.zeros(examples.size)
        return cls(zero, zero.copy(), np.random.default_rng(seed))

    @property
    def average(self) -> Float:
        """The mean of the weights after each step."""
        return average(self.w, self.late, self.steps)


def order_of_pass(seed: int | None, rng: np.random.Generator, n: int) -> list[int]:
    """The examples in a new order, or, without a seed, as they stand.

    Example:
        >>> order_of_pass(None, np.random.default_rng(), 3)
        [0, 1, 2]
    """
    return list(range(n)) if seed is None else rng.permutation(n).tolist()


def measure_hinge(examples: Examples, weights: Float) -> Measure:
    """The hinge loss, where a trainer knows nothing else of its weights."""
    hinge = examples.violators(weights).value
    return Measure(hinge, hinge)


def add_averaged(w: Float, late: Float, step: int, columns: Any, change: Float) -> None:
    """Add ``change`` to ``w[columns]`` at time ``step``, and note how late it came."""
    w[columns] += change
    late[columns] += step * change


def average(w: Float, late: Float, steps: int) -> Float:
    """The mean of the weights after each of ``steps`` steps, numbered from 0.

    Example:
        >>> import numpy as np
        >>> w, late = np.zeros(1), np.zeros(1)
        >>> for step, change in enumerate([1.0, 1.0, 4.0]):
        ...     add_averaged(w, late, step, slice(None), np.array([change]))
        >>> average(w, late, 3)
        array([3.])
    """
    return w - late / steps if steps else w.copy()
