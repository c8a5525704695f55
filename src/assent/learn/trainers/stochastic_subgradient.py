"""Subgradient: the structured support vector machine by averaged stochastic steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive
from assent.learn.examples import Examples
from assent.learn.trainer import Measure, closed
from assent.learn.trainers.averaging import add_averaged, average, order_of_pass


@dataclass
class SubgradientState:
    """The sum of all subgradients so far, and what its average needs."""

    total: Float  # G_t = sum of f(gold) - f(violator)
    late: Float
    rng: np.random.Generator
    losses: float = 0.0  # sum of the violators' losses
    steps: int = 0
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class Subgradient:
    """Minimise ``|w|²/2 + C · hinge loss`` by stochastic subgradient steps of length 1/t.

    With steps of that length the weights after t steps are just ``C n / t`` times the sum G_t of
    all subgradients (Shalev-Shwartz et al. 2007), and the average of the weights with weights t,
    which converges at the rate 1/t (Lacoste-Julien et al. 2012), is a multiple of the average of
    these sums.  So a step touches only what the example does.

    Args:
        C: the price of the hinge loss.
        max_iterations: passes over the examples.
        gap_tolerance: of the duality gap, relative to 1 + |objective|.
        seed: of the order of examples, new in every pass.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, Subgradient, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, Subgradient(C=1.0, max_iterations=200))
        >>> bool(result.trace.gap[-1] < 0.05)
        True
    """

    C: float = 1.0
    max_iterations: int = 50
    gap_tolerance: float = 1e-3
    seed: int | None = 0

    def __post_init__(self) -> None:
        positive(self, "C", "max_iterations", "gap_tolerance")

    def init(self, examples: Examples) -> SubgradientState:
        """No weights."""
        zero = np.zeros(examples.size)
        return SubgradientState(zero, zero.copy(), np.random.default_rng(self.seed))

    def advance(self, examples: Examples, state: SubgradientState) -> None:
        """One pass."""
        n = len(examples)
        for i in order_of_pass(self.seed, state.rng, n):
            example = examples[i]
            scale = self.C * n / max(1, state.steps)
            scores = scale * example.scores(state.total)
            z = example.space.maximize(scores + example.costs)
            state.losses += float(example.costs @ z) + example.constant
            change = example.features(example.gold - z)
            add_averaged(state.total, state.late, state.steps, example.columns, change)
            state.steps += 1
        state.calls += n
        state.iteration += 1

    def weights(self, state: SubgradientState) -> Float:
        """The average of the weights, later ones counting more."""
        t = state.steps
        n = t // max(1, state.iteration)
        # 2/(t(t+1)) Σ s w_s with s w_s = C n G_s, and Σ G_s = t · (mean of the sums).
        return 2.0 * self.C * n / (t + 1) * average(state.total, state.late, t)

    def measure(self, examples: Examples, state: SubgradientState) -> Measure:
        """Primal objective at the average; the violators so far, averaged, are a dual point."""
        weights = self.weights(state)
        hinge = examples.violators(weights).value
        objective = 0.5 * examples.squared(weights) + self.C * hinge
        if not state.iteration:
            return Measure(hinge, objective)
        last = self.C / state.iteration * state.total
        dual = self.C * state.losses / state.iteration - 0.5 * examples.squared(last)
        return Measure(hinge, objective, objective - dual)

    def stop(self, measure: Measure) -> str | None:
        """When the duality gap is closed."""
        return closed(measure, self.gap_tolerance, "duality gap")
