"""DualExtragradient: Nesterov (2003), for structured prediction by Taskar et al. (2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainers.saddle import SaddleSettings, SaddleState
from assent.models.example import Example


@dataclass(frozen=True)
class DualExtragradient(SaddleSettings):
    """Max-margin learning as a saddle-point problem, in memory of the size of the weights.

    The memory-efficient form (Figure 6): no outputs are kept between passes, because their sum of
    gradients is ``(t + 1)(F_i'ū_w + c_i)``.  After t passes the gap is at most
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

    keeps_iterate = False

    def advance(self, examples: Examples, state: SaddleState) -> None:
        """One pass of Figure 6."""
        sets, outputs, t = self.weights_in, self.outputs, state.iteration
        eta_w, eta = state.step * state.balance, state.step / state.balance
        mean = self.weights(state)
        mirror_v = sets.move(sets.start(examples.size), eta_w * state.slope, examples.squared)
        v_w = sets.point(mirror_v)
        r_w = np.zeros(examples.size)

        def step(example: Example) -> tuple[Any, Float, Float, float]:
            costs, average = example.costs, example.scores(mean)
            target = example.target(average)
            direction = eta * t * (average + costs)
            mirror = outputs.move(example, outputs.start(example), direction)
            at_v = example.features(target - outputs.point(example, mirror))
            mirror = outputs.move(example, mirror, eta * (example.scores(v_w) + costs))
            u = outputs.point(example, mirror)
            return example.columns, at_v, example.features(target - u), example.loss(u)

        for columns, at_v, at_u, loss in examples.each(step):
            r_w[columns] += at_v
            state.slope[columns] += at_u
            state.loss += loss
        state.total += sets.point(sets.move(mirror_v, eta_w * r_w, examples.squared))
        state.calls += 2 * len(examples)
        state.iteration += 1
