"""LogLikelihood and AdaGradLikelihood: conditional random fields, for spaces with marginals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive, require, require_coordinates
from assent.learn.examples import Examples
from assent.learn.trainer import Measure

# Pairs of steps and gradient changes that L-BFGS keeps.
MEMORY = 10
# The weak Wolfe conditions: sufficient decrease (Armijo) and curvature, with the usual constants.
ARMIJO = 1e-4
CURVATURE = 0.9
LINE_SEARCH_STEPS = 40


@dataclass
class LikelihoodState:
    """Weights, objective and gradient, and L-BFGS's pairs of steps and gradient changes."""

    w: Float
    value: float
    gradient: Float
    loss: float
    s: list[Float]  # MEMORY steps, latest last, empty where there are none yet
    y: list[Float]  # changes of the gradient; both scaled such that s·y is 1
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class LogLikelihood:
    """Minimise ``|w|²/2 - C · log-likelihood`` by L-BFGS; for spaces with ``marginals``.

    Args:
        C: the weight of the loss.
        max_iterations: steps; each takes at least one pass over the examples.
        tolerance: of the gradient's norm, relative to 1 + |objective|.

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
        """Zero weights."""
        _check(examples, self)
        w = np.zeros(examples.size)
        value, gradient, loss = _objective(examples, self.C, w)
        return LikelihoodState(
            w, value, gradient, loss, [np.zeros(0)] * MEMORY, [np.zeros(0)] * MEMORY,
            calls=len(examples),
        )  # fmt: skip

    def advance(self, examples: Examples, state: LikelihoodState) -> None:
        """One step: a bisection line search until the weak Wolfe conditions hold."""
        direction = -self._inverse_hessian(state)
        slope = float(direction @ state.gradient)
        length = 1.0 if len(state.s[-1]) else 1.0 / max(1.0, float(np.linalg.norm(state.gradient)))
        shortest, longest = 0.0, np.inf
        for _ in range(LINE_SEARCH_STEPS):
            w = state.w + length * direction
            value, gradient, loss = _objective(examples, self.C, w)
            state.calls += len(examples)
            if value > state.value + ARMIJO * length * slope:
                longest = length
            elif float(gradient @ direction) < CURVATURE * slope:
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
        from scipy.linalg.blas import daxpy  # out += a x in place: these vectors may be long

        out = state.gradient.copy()
        s = [step for step in state.s if len(step)]
        y = [change for change in state.y if len(change)]
        if not s:
            return out
        alpha = np.empty(len(s))
        for i in range(len(s) - 1, -1, -1):
            alpha[i] = s[i] @ out
            out = daxpy(y[i], out, a=-alpha[i])
        out /= y[-1] @ y[-1]
        for i in range(len(s)):
            out = daxpy(s[i], out, a=alpha[i] - y[i] @ out)
        return out

    @staticmethod
    def _remember(state: LikelihoodState, s: Float, y: Float) -> None:
        product = float(s @ y)
        if product <= 0.0:
            return  # rounding, on a convex function
        s /= np.sqrt(product)
        y /= np.sqrt(product)
        state.s = [*state.s[1:], s]
        state.y = [*state.y[1:], y]

    def weights(self, state: LikelihoodState) -> Float:
        """The weights."""
        return state.w

    def measure(self, examples: Examples, state: LikelihoodState) -> Measure:
        """The objective is 1-strongly convex, so half the gradient's square bounds the gap."""
        return Measure(state.loss, state.value, 0.5 * float(state.gradient @ state.gradient))

    def stop(self, measure: Measure) -> str | None:
        """When the gradient vanishes."""
        norm = np.sqrt(2.0 * measure.gap)
        near = norm <= self.tolerance * (1.0 + abs(measure.objective))
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

    The dual averaging form of Duchi et al. (2011): weights are a function of the sums of gradients
    and of their squares, so that a step changes only the coordinates of its example's features.

    Args:
        C: the weight of the loss.
        rate: the step length.
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
        """Zero weights."""
        _check(examples, self)
        zero = np.zeros(examples.size)
        return AdaGradState(zero, zero.copy(), np.random.default_rng(self.seed))

    def advance(self, examples: Examples, state: AdaGradState) -> None:
        """One pass."""
        n = len(examples)
        order = state.rng.permutation(n)
        if examples.compiled is not None:
            examples.compiled.visit_likelihood(
                order, state.total, state.squares, state.steps, self.rate, self.C
            )
            state.steps += n
        else:
            self._visit_each(examples, state, order)
        state.calls += n
        state.iteration += 1

    def _visit_each(self, examples: Examples, state: AdaGradState, order: Any) -> None:
        n = len(order)
        w = np.zeros(examples.size)
        for i in order.tolist():
            example = examples[i]
            own = example.columns
            w[own] = self._dual_average(state, own, n)
            _, z = example.space.marginals(example.scores(w) / example.count)
            gradient = self.C * example.features(z - example.gold)
            state.total[own] += gradient
            state.squares[own] += gradient**2
            state.steps += 1

    def _dual_average(self, state: AdaGradState, own: Any, n: int) -> Float:
        """The minimiser of all linearised losses, t/n times |w|²/2 and AdaGrad's proximal term."""
        curvature = state.steps / n + np.sqrt(state.squares[own]) / self.rate
        return -state.total[own] / np.maximum(curvature, 1e-300)

    def weights(self, state: AdaGradState) -> Float:
        """The weights."""
        n = state.steps // max(1, state.iteration)
        return self._dual_average(state, slice(None), max(1, n))

    def measure(self, examples: Examples, state: AdaGradState) -> Measure:
        """The objective is 1-strongly convex, so half the gradient's square bounds the gap."""
        objective, gradient, loss = _objective(examples, self.C, self.weights(state))
        return Measure(loss, objective, 0.5 * float(gradient @ gradient))

    def stop(self, measure: Measure) -> str | None:
        """Never before the passes are done."""
        return None


def _check(examples: Examples, trainer: Any) -> None:
    """Raise where examples have no marginals or only coefficients of a kernel."""
    require_coordinates(examples, type(trainer).__name__)
    require(examples, "marginals", "LogLikelihood needs; FrankWolfe only needs maximize")


def _objective(examples: Examples, C: float, w: Float) -> tuple[float, Float, float]:
    """Objective, gradient, and loss."""
    total = examples.log_loss(w)
    objective = 0.5 * float(w @ w) + C * total.value
    return objective, w + C * total.gradient, total.value
