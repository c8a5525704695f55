"""LogLikelihood: conditional random fields, through the question ``marginals``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive, require, require_coordinates
from assent.learn.examples import Examples
from assent.learn.trainer import Measure

# Steps and changes of gradients that L-BFGS remembers.
MEMORY = 10
# A step must gain this part of what the slope promises (Armijo), and is halved until it does.
SUFFICIENT = 1e-4
HALVINGS = 40
# The slope at its end must have fallen by this part (the weak Wolfe condition).
FLATTER = 0.9


@dataclass
class LikelihoodState:
    """Weights and gradient, and the last steps with what they changed in it."""

    w: Float
    value: float
    gradient: Float
    loss: float
    moved: Float  # [memory, weights], latest last
    turned: Float  # [memory, weights]
    known: int = 0  # rows in use
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class LogLikelihood:
    """Minimise ``|w|²/2 - C · log-likelihood`` by L-BFGS; for spaces with ``marginals``.

    Args:
        C: the price of the loss.
        max_iterations: steps, of one pass over the examples or a few.
        tolerance: of the gradient's length, relative to 1 + |objective|.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, LogLikelihood, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> train(data, LogLikelihood(C=1.0)).reason
        'the gradient is within tolerance'
    """

    C: float = 1.0
    max_iterations: int = 200
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        positive(self, "C", "max_iterations", "tolerance")

    def init(self, examples: Examples) -> LikelihoodState:
        """No weights."""
        require_coordinates(examples, type(self).__name__)
        require(examples, "marginals", "LogLikelihood needs; FrankWolfe needs maximize alone")
        w = np.zeros(examples.size)
        value, gradient, loss = self._at(examples, w)
        memory = np.zeros((MEMORY, examples.size))
        return LikelihoodState(w, value, gradient, loss, memory, memory.copy(),
                               calls=len(examples))  # fmt: skip

    def _at(self, examples: Examples, w: Float) -> tuple[float, Float, float]:
        """Objective, gradient, and loss."""
        total = examples.log_loss(w)
        objective = 0.5 * float(w @ w) + self.C * total.value
        return objective, w + self.C * total.gradient, total.value

    def advance(self, examples: Examples, state: LikelihoodState) -> None:
        """One step."""
        direction = -self._inverse_hessian(state)
        slope = float(direction @ state.gradient)
        length = 1.0 if state.known else 1.0 / max(1.0, float(np.linalg.norm(state.gradient)))
        shortest, longest = 0.0, np.inf
        for _ in range(HALVINGS):
            w = state.w + length * direction
            value, gradient, loss = self._at(examples, w)
            state.calls += len(examples)
            if value > state.value + SUFFICIENT * length * slope:
                longest = length
            elif float(gradient @ direction) < FLATTER * slope:
                shortest = length
            else:
                break
            length = 2.0 * length if longest == np.inf else 0.5 * (shortest + longest)
        if value < state.value:
            self._remember(state, w - state.w, gradient - state.gradient)
            state.w, state.value, state.gradient, state.loss = w, value, gradient, loss
        state.iteration += 1

    @staticmethod
    def _inverse_hessian(state: LikelihoodState) -> Float:
        """The inverse Hessian times the gradient, by the two-loop recursion."""
        out = state.gradient.copy()
        moved, turned = state.moved[-state.known :], state.turned[-state.known :]
        if not state.known:
            return out
        share = np.empty(state.known)
        for i in range(state.known - 1, -1, -1):
            share[i] = moved[i] @ out / (moved[i] @ turned[i])
            out -= share[i] * turned[i]
        out *= moved[-1] @ turned[-1] / (turned[-1] @ turned[-1])
        for i in range(state.known):
            out += (share[i] - turned[i] @ out / (moved[i] @ turned[i])) * moved[i]
        return out

    @staticmethod
    def _remember(state: LikelihoodState, moved: Float, turned: Float) -> None:
        if moved @ turned <= 0.0:
            return  # rounding, on a convex function
        state.moved = np.concatenate([state.moved[1:], moved[None]])
        state.turned = np.concatenate([state.turned[1:], turned[None]])
        state.known = min(MEMORY, state.known + 1)

    def weights(self, state: LikelihoodState) -> Float:
        """The weights."""
        return state.w

    def measure(self, examples: Examples, state: LikelihoodState) -> Measure:
        """The objective is as convex as |w|²/2, so the gradient bounds its distance."""
        gap = 0.5 * float(state.gradient @ state.gradient)
        return Measure(state.loss, state.value, gap)

    def stop(self, measure: Measure) -> str | None:
        """When the gradient vanishes."""
        length = np.sqrt(2.0 * measure.gap)
        near = length <= self.tolerance * (1.0 + abs(measure.objective))
        return "the gradient is within tolerance" if near else None


@dataclass
class AdaGradState:
    """Sums of gradients and of their squares."""

    total: Float
    squares: Float
    rng: np.random.Generator
    steps: int = 0
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class AdaGradLikelihood:
    """Minimise ``|w|²/2 - C · log-likelihood`` one example at a time, by AdaGrad.

    The dual averaging form of Duchi et al. (2011): weights are a formula of the sums of
    gradients and of their squares, so that a step touches only what the example does.

    Args:
        C: the price of the loss.
        rate: the length of steps.
        max_iterations: passes over the examples.
        seed: of the order of examples, new in every pass.

    Example:
        >>> import numpy as np
        >>> from assent.learn import AdaGradLikelihood, Examples, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> trace = train(data, AdaGradLikelihood(max_iterations=100)).trace
        >>> bool(trace.objective[-1] < trace.objective[0])
        True
    """

    C: float = 1.0
    rate: float = 0.1
    max_iterations: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self, "C", "rate", "max_iterations")

    def init(self, examples: Examples) -> AdaGradState:
        """No weights."""
        require_coordinates(examples, type(self).__name__)
        require(examples, "marginals", "LogLikelihood needs; FrankWolfe needs maximize alone")
        zero = np.zeros(examples.size)
        return AdaGradState(zero, zero.copy(), np.random.default_rng(self.seed))

    def advance(self, examples: Examples, state: AdaGradState) -> None:
        """One pass."""
        n = len(examples)
        w = np.zeros(examples.size)
        for i in state.rng.permutation(n):
            example = examples[int(i)]
            own = example.columns
            w[own] = self._formula(state, own, n)
            _, z = example.space.marginals(example.scores(w))
            gradient = self.C * example.features(z - example.gold)
            state.total[own] += gradient
            state.squares[own] += gradient**2
            state.steps += 1
        state.calls += n
        state.iteration += 1

    def _formula(self, state: AdaGradState, own: Any, n: int) -> Float:
        """The weights that minimise all gradients, t/n times |w|²/2 and AdaGrad's distance."""
        curvature = state.steps / n + np.sqrt(state.squares[own]) / self.rate
        return -state.total[own] / np.maximum(curvature, 1e-300)

    def weights(self, state: AdaGradState) -> Float:
        """The weights."""
        n = state.steps // max(1, state.iteration)
        return self._formula(state, slice(None), max(1, n))

    def measure(self, examples: Examples, state: AdaGradState) -> Measure:
        """The objective is as convex as |w|²/2, so the gradient bounds its distance."""
        w = self.weights(state)
        total = examples.log_loss(w)
        gradient = w + self.C * total.gradient
        objective = 0.5 * float(w @ w) + self.C * total.value
        return Measure(total.value, objective, 0.5 * float(gradient @ gradient))

    def stop(self, measure: Measure) -> str | None:
        """Never before the passes are done."""
        return None
