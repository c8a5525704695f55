"""DualExtragradient: Nesterov (2003), for structured prediction by Taskar et al. (2006).

The saddle function is ``L(w, z) = Σ_i w'F_i z_i + c_i'z_i + d_i - w'f_i(y_i)``, minimised by
weights w and maximised by outputs z.  A step T takes a place and a direction, in the geometry of
the set of weights or of the space of an output.
"""

from __future__ import annotations

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
class DualExtragradientState:
    """Four vectors as long as the weights (two while a pass runs), and numbers."""

    mean: Float  # ū_w
    slope: Float  # s_w
    step: float  # η
    balance: float
    loss: float = 0.0  # Σ_t Σ_i c_i'u_i + d_i
    iteration: int = 0  # t
    calls: int = 0


@dataclass(frozen=True)
class DualExtragradient(SaddleSettings):
    """Max-margin learning as a saddle-point problem, in memory of the size of the weights.

    The memory-efficient form (Figure 6): of the outputs' side nothing is kept between passes,
    because its sum of gradients is ``(t + 1)(F_i'ū_w + c_i)``.  After t passes the gap is at most
    ``(D_w / balance + balance · D_z) / (step (t + 1))`` (19), D being the largest divergences from
    the centre.

    Settings are those of `SaddleSettings`.

    Example:
        >>> import numpy as np
        >>> from assent.learn import DualExtragradient, Examples, L2Ball, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, DualExtragradient(L2Ball(0.5), gap_tolerance=0.05))
        >>> result.reason
        'the saddle gap is within tolerance'
    """

    def init(self, examples: Examples) -> DualExtragradientState:
        """The centre: no weights, outputs at their start."""
        require(examples, self.outputs.needs, self.outputs.way_out)
        check_set(examples, self.weights_in)
        self.weights_in.start(examples.size)  # checks that constraints fit
        balance = find_balance(examples, self)
        step, calls = find_step(examples, self)
        zero = np.zeros(examples.size)
        return DualExtragradientState(zero, zero.copy(), step, balance, calls=calls)

    def advance(self, examples: Examples, state: DualExtragradientState) -> None:
        """One pass of Figure 6."""
        sets, z, t = self.weights_in, self.outputs, state.iteration
        eta_w, eta = state.step * state.balance, state.step / state.balance
        v_place = sets.move(sets.start(examples.size), eta_w * state.slope, examples.squared)
        v_w = sets.point(v_place)
        r_w = np.zeros(examples.size)

        def ask(example: Example) -> tuple[Any, Float, Float, float]:
            gold, costs = example.gold, example.costs
            direction = eta * t * (example.scores(state.mean) + costs)
            place = z.move(example, z.start(example), direction)
            here = example.features(gold - z.point(example, place))
            place = z.move(example, place, eta * (example.scores(v_w) + costs))
            u = z.point(example, place)
            loss = float(costs @ u) + example.constant
            return example.columns, here, example.features(gold - u), loss

        for own, here, there, loss in examples.each(ask):
            r_w[own] += here
            state.slope[own] += there
            state.loss += loss
        u_w = sets.point(sets.move(v_place, eta_w * r_w, examples.squared))
        state.mean = (t * state.mean + u_w) / (t + 1)
        state.calls += 2 * len(examples)
        state.iteration += 1

    def weights(self, state: DualExtragradientState) -> Float:
        """The mean of the weights."""
        return state.mean

    def measure(self, examples: Examples, state: DualExtragradientState) -> Measure:
        """The hinge loss at the mean weights, less the least of any weights at mean outputs."""
        hinge = examples.violators(state.mean).value
        if not state.iteration:
            return Measure(hinge, hinge)
        # s_w is minus the sum of the gradients in w.
        lowest = self.weights_in.lowest(-state.slope / state.iteration, examples.squared)
        return Measure(hinge, hinge, hinge - (state.loss / state.iteration + lowest))
