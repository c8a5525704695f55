"""Subgradient: the structured support vector machine by averaged stochastic subgradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive
from assent.learn.examples import Examples
from assent.learn.trainer import Measure, closed
from assent.learn.trainers.averaging import AveragedState, AveragedTrainer
from assent.models.example import Example


@dataclass(frozen=True)
class Subgradient(AveragedTrainer):
    """Minimise ``|w|²/2 + C · hinge loss`` by stochastic subgradient steps of length 1/t.

    With steps of that length the weights after t steps are ``C n / t`` times the sum G_t of
    all subgradients (Shalev-Shwartz et al. 2007), and the average of the weights with weights t,
    which converges at the rate 1/t (Lacoste-Julien et al. 2012), is a multiple of the average of
    these sums.  So a step changes only the coordinates of its example's features.

    Args:
        C: the weight of the hinge loss.
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

    def visit(self, example: Example, state: AveragedState, n: int) -> None:
        scale = self.C * n / max(1, state.steps)
        scores = scale * example.scores(state.w)
        z = example.space.maximize(scores + example.costs)
        state.losses += example.loss(z)
        state.add(example.columns, example.features(example.target(scores) - z))

    def visit_all(self, compiled: Any, state: AveragedState, order: Any) -> bool:
        state.losses += compiled.visit_best(
            order, state.w, state.late, state.steps, scaled=self.C * len(order), margin=1.0
        )
        state.steps += len(order)
        return True

    def weights(self, state: AveragedState) -> Float:
        """The average of the weights, later ones counting more."""
        t = state.steps
        n = t // max(1, state.iteration)
        # 2/(t(t+1)) Σ s w_s with s w_s = C n G_s, and Σ G_s = t · (mean of the sums).
        return 2.0 * self.C * n / (t + 1) * state.average

    def measure(self, examples: Examples, state: AveragedState) -> Measure:
        """Primal objective at the average; the violators so far, averaged, are a dual point."""
        weights = self.weights(state)
        hinge = examples.violators(weights).value
        objective = 0.5 * examples.squared(weights) + self.C * hinge
        if not state.iteration or examples.latent:
            return Measure(hinge, objective)
        last = self.C / state.iteration * state.w
        dual = self.C * state.losses / state.iteration - 0.5 * examples.squared(last)
        return Measure(hinge, objective, objective - dual)

    def stop(self, measure: Measure) -> str | None:
        """When the duality gap is closed."""
        return closed(measure, self.gap_tolerance, "duality gap")
