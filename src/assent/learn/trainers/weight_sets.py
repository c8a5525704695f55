"""Sets of feasible weights, and mirror-descent steps inside them.

Each set gives a start, a step in a direction, and the minimum of a linear function.  Steps are
taken in *mirror coordinates*: the weights themselves for Euclidean steps, natural parameters for
entropic ones; ``point`` maps them to weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.arguments import as_floats
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.learn.argument_checks import positive

# The squared norm of weights: Euclidean, or that of a kernel.
Squared = Callable[[Float], float]


def euclidean(w: Float) -> float:
    """The squared norm of a vector."""
    return float(w @ w)


@dataclass(frozen=True, eq=False)
class L2Ball:
    """Weights of norm at most ``radius``, with Euclidean steps.

    Args:
        radius: γ; infinite for no limit.
        nonnegative: weights that may not be negative: True for all, or their indices.
        above: rows ``[r, weights]`` with ``above @ w >= 0``, such as submodularity.

    Projecting onto a cone and then scaling into the ball is the projection onto both.

    Example:
        >>> L2Ball(1.0, nonnegative=[0]).project(np.array([-1.0, 2.0]))
        array([0., 1.])
    """

    radius: float = float("inf")
    nonnegative: Any = None
    above: Any = None

    def __post_init__(self) -> None:
        positive(self, "radius")
        if self.above is not None:
            given = as_floats(self.above)
            rows = np.zeros((1, 0)) if given is None else np.atleast_2d(given)
            if not np.isfinite(rows).all() or not rows.any(axis=1).all():
                raise ModelError("L2Ball: rows of `above` are finite and not all zero")
            object.__setattr__(self, "above", rows)

    def check(self, size: int) -> None:
        """Raise where the constraints are over another number of weights."""
        if self.above is not None and self.above.shape[1] != size:
            raise ModelError(f"L2Ball: rows of `above` have {self.above.shape[1]} entries, "
                             f"there are {size} weights")  # fmt: skip

    def start(self, size: int) -> Float:
        """Zero weights."""
        self.check(size)
        return np.zeros(size)

    def move(self, mirror: Float, direction: Float, squared: Squared = euclidean) -> Float:
        """A step, then a projection."""
        return self.project(mirror + direction, squared)

    def point(self, mirror: Float) -> Float:
        """The weights: the mirror coordinates themselves."""
        return mirror

    def project(self, w: Float, squared: Squared = euclidean) -> Float:
        """The nearest feasible weights; ``squared`` gives squared norms."""
        w = self._cone(w)
        length = squared(w) ** 0.5 if np.isfinite(self.radius) else 0.0
        return w * (self.radius / length) if length > self.radius else w

    def lowest(self, gradient: Float, squared: Squared = euclidean) -> float:
        """The smallest value of ``gradient . w``."""
        # On a cone within a ball, -radius times the length of the projection of -gradient.
        length = squared(self._cone(-gradient)) ** 0.5
        return -self.radius * length if length > 0.0 else 0.0

    def spread(self, size: int) -> float:
        """The largest divergence from the start: half a squared distance."""
        return 0.5 * self.radius**2

    def _cone(self, w: Float) -> Float:
        """The projection onto the cone of `nonnegative` and `above`."""
        if self.above is None:
            if self.nonnegative is None:
                return w
            chosen = slice(None) if self.nonnegative is True else self.nonnegative
            w = w.copy()
            w[chosen] = np.maximum(w[chosen], 0.0)
            return w
        from scipy.optimize import nnls

        rows = self.above
        if self.nonnegative is not None:
            unit = np.eye(len(w))
            rows = np.vstack([rows, unit if self.nonnegative is True else unit[self.nonnegative]])
        multipliers, _ = nnls(rows.T, -w)
        return w + rows.T @ multipliers


FREE = L2Ball()


@dataclass(frozen=True)
class L1Ball:
    """Weights of L1 norm at most ``radius``, with Euclidean steps.

    Example:
        >>> L1Ball(1.0).project(np.array([2.0, 0.5, -1.5])).tolist()
        [0.75, 0.0, -0.25]
    """

    radius: float

    def __post_init__(self) -> None:
        positive(self, "radius")

    def start(self, size: int) -> Float:
        """Zero weights (for entropic steps, the uniform distribution)."""
        return np.zeros(size)

    def move(self, mirror: Float, direction: Float, squared: Squared = euclidean) -> Float:
        """A step, then a projection."""
        return self.project(mirror + direction)

    def point(self, mirror: Float) -> Float:
        """The weights: the mirror coordinates themselves."""
        return mirror

    def project(self, w: Float) -> Float:
        """The nearest feasible weights, by soft thresholding."""
        sizes = np.abs(w)
        if sizes.sum() <= self.radius:
            return w
        ordered = np.sort(sizes)[::-1]
        thresholds = (np.cumsum(ordered) - self.radius) / np.arange(1, len(w) + 1)
        threshold = thresholds[np.flatnonzero(ordered > thresholds)[-1]]
        return np.sign(w) * np.maximum(sizes - threshold, 0.0)

    def lowest(self, gradient: Float, squared: Squared = euclidean) -> float:
        """The smallest value of ``gradient . w``."""
        return -self.radius * float(np.abs(gradient).max(initial=0.0))

    def spread(self, size: int) -> float:
        """The largest divergence from the start: half a squared distance."""
        return 0.5 * self.radius**2


@dataclass(frozen=True)
class EntropicL1Ball(L1Ball):
    """Weights of L1 norm at most ``radius``, with entropic (multiplicative) steps.

    Example 1 of Taskar et al. 2006: ``(1 - |w|/γ, w⁺/γ, w⁻/γ)`` is a distribution, and a step
    multiplies it.  From the uniform start the parameters of w⁺ and w⁻ stay opposite to each
    other and that of the rest stays 0: one natural parameter per weight is enough.

    Example:
        >>> ball = EntropicL1Ball(2.0)
        >>> ball.point(ball.move(ball.start(2), np.array([9.0, 0.0]))).round(3).tolist()
        [2.0, 0.0]
    """

    def move(self, mirror: Float, direction: Float, squared: Squared = euclidean) -> Float:
        """Add to the natural parameters."""
        return mirror + self.radius * direction

    def point(self, mirror: Float) -> Float:
        """The weights of natural parameters."""
        top = float(np.abs(mirror).max(initial=0.0))
        up, down = np.exp(mirror - top), np.exp(-mirror - top)
        return self.radius * (up - down) / (np.exp(-top) + up.sum() + down.sum())

    def spread(self, size: int) -> float:
        """The largest divergence from the start."""
        return float(np.log(2 * size + 1))
