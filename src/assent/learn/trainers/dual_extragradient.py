"""DualExtragradient: Nesterov (2003), for structured prediction by Taskar et al. (2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainers.geometry import Euclidean
from assent.learn.trainers.saddle import SaddleSettings, SaddleState
from assent.learn.trainers.weight_sets import EntropicL1Ball
from assent.models.example import Example

# Of the longest step that would have been allowed, so that the next pass is seldom made twice.
SHARE = 0.8
GROWTH = 2.0  # at most, from one pass to the next
# Where gradients do not change any more every length is allowed: sums of these stay finite.
LONGEST = 1e6


class Trial(NamedTuple):
    """What a step of some length comes to: weights and outputs u, from the point v."""

    weights: Float  # u_w
    move: Float  # u_w - v_w
    at_v: Float  # Σ_i F_i (y_i - v_i)
    at_u: Float  # Σ_i F_i (y_i - u_i)
    moved: float  # Σ_i |u_i - v_i|^2
    loss: float  # of u


@dataclass(frozen=True)
class DualExtragradient(SaddleSettings):
    """Max-margin learning as a saddle-point problem, in memory of the size of the weights.

    The memory-efficient form (Figure 6): no outputs are kept between passes, because their sum of
    gradients is ``(t + 1)(F_i'ū_w + c_i)``.  After t passes the gap is at most
    ``(D_w / balance + balance · D_z) / (step (t + 1))`` (19), D being the largest divergences from
    the centre; with steps of several lengths, their sum stands for ``step (t + 1)``.

    The proof needs no Lipschitz constant, only that the gradient changes little between the two
    points of a pass: ``η |F(u) - F(v)| <= |u - v|``.  Where few outputs still move, as in networks
    of many nodes, steps may be several times as long as for all of them (Khobotov 1987).

    Settings are those of `SaddleSettings`, and

    Args:
        adaptive: make steps as long as that allows, ``step`` at least; a pass is made again with
            a shorter one where it does not hold.  For Euclidean steps.

    Example:
        >>> import numpy as np
        >>> from assent.learn import DualExtragradient, Examples, L2Ball, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, DualExtragradient(L2Ball(0.5), gap_tolerance=0.05))
        >>> result.reason
        'the saddle gap is within tolerance'
    """

    adaptive: bool = False

    keeps_iterate = False

    def __post_init__(self) -> None:
        super().__post_init__()
        euclidean = isinstance(self.outputs, Euclidean)
        if self.adaptive and (not euclidean or isinstance(self.weights_in, EntropicL1Ball)):
            raise ModelError("adaptive steps are Euclidean: leave out `adaptive`, or take "
                             "Euclidean() and L2Ball or L1Ball")  # fmt: skip

    def advance(self, examples: Examples, state: SaddleState) -> None:
        """One pass of Figure 6; adaptively, again as long as its step is too long."""
        trial = self._try(examples, state)
        longest = _longest_stride(examples, state, trial) if self.adaptive else 1.0
        while state.stride > longest:
            state.stride = max(1.0, SHARE * longest)
            trial = self._try(examples, state)
            longest = _longest_stride(examples, state, trial)
        state.total += state.stride * trial.weights
        state.slope += state.stride * trial.at_u
        state.loss += state.stride * trial.loss
        state.length += state.stride
        if self.adaptive:
            state.stride = min(GROWTH * state.stride, max(1.0, SHARE * longest))
        state.iteration += 1

    def _try(self, examples: Examples, state: SaddleState) -> Trial:
        """Both points of a pass, with a step of ``state.stride``."""
        sets, outputs = self.weights_in, self.outputs
        eta_w, eta = state.step * state.balance, state.step / state.balance
        mean = self.weights(state)
        mirror_v = sets.move(sets.start(examples.size), eta_w * state.slope, examples.squared)
        v_w = sets.point(mirror_v)

        def step(example: Example) -> tuple[Any, Float, Float, float, float]:
            costs, average = example.costs, example.scores(mean)
            target = example.target(average)
            direction = eta * state.length * (average + costs)
            mirror = outputs.move(example, outputs.start(example), direction)
            v = outputs.point(example, mirror)
            ahead = state.stride * eta * (example.scores(v_w) + costs)
            u = outputs.point(example, outputs.move(example, mirror, ahead))
            at_v, at_u = example.features(target - v), example.features(target - u)
            return example.columns, at_v, at_u, float(np.sum((u - v) ** 2)), example.loss(u)

        at_v, at_u, moved, loss = np.zeros(examples.size), np.zeros(examples.size), 0.0, 0.0
        for columns, own_v, own_u, far, own in examples.each(step):
            at_v[columns] += own_v
            at_u[columns] += own_u
            moved += far
            loss += own
        state.calls += 2 * len(examples)
        u_w = sets.point(sets.move(mirror_v, state.stride * eta_w * at_v, examples.squared))
        return Trial(u_w, u_w - v_w, at_v, at_u, moved, loss)


def _longest_stride(examples: Examples, state: SaddleState, trial: Trial) -> float:
    """How long a step may be, as a multiple of η, for the change of gradients that was seen.

    It is 1 at least and ``LONGEST`` at most.  Norms are those of the balanced geometry:
    ``|u|^2 = |w|^2 / balance + balance |z|^2``.
    """
    balance = state.balance
    moved = examples.squared(trial.move) / balance + balance * trial.moved
    scores = sum(examples.each(lambda e: float(np.sum(e.scores(trial.move) ** 2))))
    changed = balance * examples.squared(trial.at_u - trial.at_v) + scores / balance
    longest = np.sqrt(moved / changed) / state.step if changed > 0.0 else LONGEST
    return float(np.clip(longest, 1.0, LONGEST))
