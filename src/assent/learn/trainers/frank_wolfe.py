"""FrankWolfe: block-coordinate Frank–Wolfe for structured support vector machines.

Lacoste-Julien et al. (ICML 2013) with line search; cached planes and gap sampling as in Osokin
et al. (ICML 2016).  The dual of ``|w|²/2 + C Σ hinge`` has one point z_i per example, from its
space: ``w = C Σ (f_i(y_i) - F_i z_i)``, and its value is ``C Σ (c_i z_i + d_i) - |w|²/2``.  A
step finds the violator of one example and moves z_i towards it, with exact line search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.arguments import is_whole, shown
from assent.kernels.problem import Float
from assent.learn.argument_checks import positive
from assent.learn.examples import Examples
from assent.learn.trainer import Measure, closed
from assent.models.example import Example

# A cached output replaces a call of the oracle if its gap is at least this part of the example's
# last duality gap (as in Osokin et al.).
CACHE_FACTOR = 0.25
# With gap sampling, every tenth pass visits all examples: gaps that were zero may have grown.
REFRESH = 10


@dataclass
class FrankWolfeState:
    """Weights, and the dual point of every example."""

    w: Float
    late: Float  # for the average: Σ of changes, each times its step's s(s + 1)/2
    z: list[Float]
    targets: list[Float]  # of examples that have several right outputs; otherwise empty
    planes: list[Float]  # [kept, size] outputs of each example, the latest first
    loss: Float  # [n] the loss of each z
    gap: Float  # [n] the last known gap of each block; inf: not visited
    rng: np.random.Generator
    steps: int = 0
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class FrankWolfe:
    """Minimise ``|w|²/2 + C · hinge loss``, one example at a time, with a duality gap.

    Args:
        C: the weight of the hinge loss.
        max_iterations: passes over the examples.
        gap_tolerance: of the duality gap, relative to 1 + |objective|.
        planes: outputs cached per example, tried before the oracle is called.
        gap_sampling: sample examples in proportion to their last known gaps, not uniformly.
        averaged: return the average of the weights over time, later ones counting more.
        seed: of the order of examples.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, FrankWolfe, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, FrankWolfe(C=1.0, gap_tolerance=1e-6))
        >>> result.reason
        'the duality gap is within tolerance'
    """

    C: float = 1.0
    max_iterations: int = 100
    gap_tolerance: float = 1e-3
    planes: int = 0
    gap_sampling: bool = False
    averaged: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self, "C", "max_iterations", "gap_tolerance")
        if not is_whole(self.planes) or self.planes < 0:
            raise ValueError(f"FrankWolfe: planes is a number >= 0, got {shown(self.planes)}")

    def init(self, examples: Examples) -> FrankWolfeState:
        """Every dual point at the gold output, so zero weights."""
        zero = np.zeros(examples.size)
        z = [example.gold for example in examples]
        planes = [np.zeros((0, len(own))) for own in z]
        loss = np.array([example.loss(own) for example, own in zip(examples, z, strict=True)])
        rng = np.random.default_rng(self.seed)
        targets = [e.gold if e.latent else np.zeros(0) for e in examples]
        gap = np.full(len(z), np.inf)
        return FrankWolfeState(zero, zero.copy(), z, targets, planes, loss, gap, rng)

    def advance(self, examples: Examples, state: FrankWolfeState) -> None:
        """As many steps as there are examples."""
        for i in self._order(state):
            example = examples[i]
            if example.latent:
                self._retarget(example, state, i)
            gradient = self.C * (example.scores(state.w) + example.costs)
            target = self._cached(gradient, state, i)
            if target is None:
                target = example.space.maximize(gradient)
                state.calls += 1
                state.gap[i] = max(0.0, float(gradient @ (target - state.z[i])))
                if self.planes:
                    kept = state.planes[i][: self.planes - 1]
                    state.planes[i] = np.concatenate([target[None], kept])
            self._move(example, gradient, state, i, target)
            state.steps += 1
        state.iteration += 1

    def _retarget(self, example: Example, state: FrankWolfeState, i: int) -> None:
        """Choose the target anew, as rounds of the concave-convex procedure do (Yu, Joachims 2009).

        The dual point stays, and the weights that it stands for follow the target.
        """
        target = example.target(example.scores(state.w))
        if (target != state.targets[i]).any():
            change = self.C * example.features(target - state.targets[i])
            state.targets[i] = target
            self._add(example, state, change)

    def _order(self, state: FrankWolfeState) -> list[int]:
        n, total = len(state.gap), state.gap.sum()
        visit_all = state.iteration % REFRESH == 0
        if visit_all or not (self.gap_sampling and 0.0 < total < np.inf):
            return state.rng.permutation(n).tolist()
        return state.rng.choice(n, n, p=state.gap / total).tolist()

    def _cached(self, gradient: Float, state: FrankWolfeState, i: int) -> Float | None:
        """A cached output whose gap suffices, or None."""
        if not len(state.planes[i]):
            return None
        gaps = state.planes[i] @ gradient - gradient @ state.z[i]
        best = int(gaps.argmax())
        enough = gaps[best] > 0.0 and gaps[best] >= CACHE_FACTOR * state.gap[i]
        return state.planes[i][best] if enough else None

    def _move(
        self, example: Example, gradient: Float, state: FrankWolfeState, i: int, target: Float
    ) -> None:
        """Move z_i towards a target, with exact line search of the dual."""
        direction = target - state.z[i]
        change = -self.C * example.features(direction)
        gap, length = float(gradient @ direction), example.squared(change)
        if gap <= 0.0:
            return
        step = min(1.0, gap / length) if length > 0.0 else 1.0
        state.z[i] = state.z[i] + step * direction
        state.loss[i] += step * float(example.costs @ direction)
        self._add(example, state, step * change)

    def _add(self, example: Example, state: FrankWolfeState, change: Float) -> None:
        """Add to the weights."""
        state.w[example.columns] += change
        # The average counts w_s for s: a change at step s misses the s(s - 1)/2 before.
        state.late[example.columns] += 0.5 * state.steps * (state.steps + 1) * change

    def weights(self, state: FrankWolfeState) -> Float:
        """The weights, or their average."""
        if not self.averaged or not state.steps:
            return state.w
        return state.w - 2.0 / (state.steps * (state.steps + 1)) * state.late

    def measure(self, examples: Examples, state: FrankWolfeState) -> Measure:
        """Primal objective, and its distance from the dual."""
        weights = self.weights(state)
        hinge = examples.violators(weights).value
        objective = 0.5 * examples.squared(weights) + self.C * hinge
        if examples.latent:
            return Measure(hinge, objective)  # the dual is that of the targets chosen last
        dual = self.C * float(state.loss.sum()) - 0.5 * examples.squared(state.w)
        return Measure(hinge, objective, objective - dual)

    def stop(self, measure: Measure) -> str | None:
        """When the duality gap is closed."""
        return closed(measure, self.gap_tolerance, "duality gap")
