"""The common part of saddle-point methods: settings, state, saddle gap.

The saddle function is ``L(w, z) = Σ_i w'F_i z_i + c_i'z_i + d_i - w'f_i(y_i)``, minimised by the
weights w and maximised by the outputs z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive, require, require_coordinates
from assent.learn.examples import Examples
from assent.learn.trainer import Measure, closed
from assent.learn.trainers.geometry import EUCLIDEAN, Entropic, Euclidean, WeightSet
from assent.learn.trainers.step_sizes import StepSearch, find_balance, find_step
from assent.learn.trainers.weight_sets import FREE, L2Ball
from assent.models.example import Example


@dataclass
class SaddleState:
    """The iterate in mirror coordinates (see `weight_sets`), and sums over the passes."""

    w: Float  # the weights, empty where the trainer does not keep the iterate
    z: list[Float]  # the outputs, likewise
    total: Float  # Σ_t of the weights
    slope: Float  # s_w: minus Σ_t of the gradients in w
    step: float  # η
    balance: float
    loss: float = 0.0  # Σ_t Σ_i c_i'z_i + d_i
    stride: float = 1.0  # the next step as a multiple of η; the sums above are weighted by these
    length: float = 0.0  # Σ_t of the strides
    iteration: int = 0  # t
    calls: int = 0


@dataclass(frozen=True)
class SaddleSettings:
    """Settings of `DualExtragradient`, `Extragradient` and `ProjectedGradient`.

    Args:
        weights_in: the set of allowed weights.  In a ball of finite radius there is a gap to watch;
            ``L2Ball()`` follows the unregularised path, to be ended by validation.
        outputs: the geometry of outputs: ``Euclidean()`` or ``Entropic()``.
        step: η; left out, 0.95 over the Lipschitz constant, which takes a few passes to find; or
            a `StepSearch`.
        balance: factor by which steps of weights are longer and those of outputs shorter.  Left
            out, the one that minimises the bound where the set of weights is bounded, else the
            paper's 1: with many examples the outputs are farther from the solution, and with 1
            the gap takes several times as many passes.
        max_iterations: passes over the examples, with one or two oracle calls each.
        gap_tolerance: of the saddle gap, relative to 1 + |objective|.

    Example:
        >>> from assent.learn import DualExtragradient, Entropic, L2Ball
        >>> DualExtragradient(L2Ball(10.0), Entropic(), step=0.03).max_iterations
        200
    """

    weights_in: WeightSet = FREE
    outputs: Euclidean | Entropic = EUCLIDEAN
    step: float | StepSearch | None = None
    balance: float | None = None
    max_iterations: int = 200
    gap_tolerance: float = 1e-3

    keeps_iterate = True  # whether a pass begins at the weights and outputs of the one before

    def __post_init__(self) -> None:
        positive(self, "max_iterations", "gap_tolerance")
        if not isinstance(self.step, StepSearch | None):
            positive(self, "step")
        if self.balance is not None:
            positive(self, "balance")

    def init(self, examples: Examples) -> SaddleState:
        """Zero weights, outputs at their start."""
        require(examples, self.outputs.needs, self.outputs.way_out)
        sets = self.weights_in
        if not (isinstance(sets, L2Ball) and sets.nonnegative is sets.above is None):
            require_coordinates(examples, type(sets).__name__)
        start = sets.start(examples.size)
        balance = find_balance(examples, self)
        step, calls = find_step(examples, self)
        state = SaddleState(np.zeros(0), [], 0.0 * start, 0.0 * start, step, balance, calls=calls)
        if self.keeps_iterate:
            state.w, state.z = start, [self.outputs.start(example) for example in examples]
        return state

    def finish_pass(
        self, examples: Examples, state: SaddleState, step: Callable[[Example, Float], Any],
        counted: Float,
    ) -> None:  # fmt: skip
        """Move all outputs by ``step(example, z)``, and the weights; ``counted`` are averaged.

        A step returns the weights it concerns, the features of gold less the output's, the new
        output in mirror coordinates, and the output's loss.
        """
        slope, eta = np.zeros(examples.size), state.step * state.balance
        for i, (columns, features, moved, loss) in enumerate(examples.each(step, state.z)):
            slope[columns] += features
            state.z[i] = moved
            state.loss += loss
        state.w = self.weights_in.move(state.w, eta * slope, examples.squared)
        state.total += counted
        state.slope += slope
        state.length += state.stride
        state.iteration += 1

    def weights(self, state: SaddleState) -> Float:
        """The average of the weights."""
        return state.total / (state.length or 1.0)

    def target(self, example: Example, mean: Float) -> Float:
        """The output to learn; where several are right, the best for the average weights.

        The weights of the moment swing, and targets that followed them would swing with them.
        """
        return example.target(example.scores(mean)) if example.latent else example.gold

    def measure(self, examples: Examples, state: SaddleState) -> Measure:
        """The hinge loss, and the saddle gap at these weights and the average outputs."""
        hinge = examples.violators(self.weights(state)).value
        if not state.iteration or examples.latent:
            return Measure(hinge, hinge)  # with latent targets the problem is not convex
        lowest = self.weights_in.lowest(-state.slope / state.length, examples.squared)
        return Measure(hinge, hinge, hinge - (state.loss / state.length + lowest))

    def stop(self, measure: Measure) -> str | None:
        """When the saddle gap is closed."""
        return closed(measure, self.gap_tolerance, "saddle gap")
