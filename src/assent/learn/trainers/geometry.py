"""Steps of saddle-point methods inside the outputs' spaces: Euclidean or entropic.

As for sets of weights, steps are taken in mirror coordinates: the output itself, or natural
parameters (scores) whose marginals it is.  Logarithms of outputs are never taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.trainers.weight_sets import EntropicL1Ball, L1Ball, L2Ball
from assent.models.example import Example

WeightSet = L2Ball | L1Ball | EntropicL1Ball


@dataclass(frozen=True)
class Euclidean:
    """Steps followed by a projection; needs ``project`` of spaces.  Starts at the gold output.

    Mirror coordinates are the output, followed by the warm start of the next projection.
    """

    needs = "project"
    way_out = "Euclidean steps need; try Entropic(), or FrankWolfe, which only needs maximize"

    def start(self, example: Example) -> Float:
        """The gold output."""
        return example.gold

    def move(self, example: Example, mirror: Float, direction: Float) -> Float:
        """A step, then a projection."""
        space = example.space
        target, warm = mirror[: space.size] + direction, mirror[space.size :]
        if not space.memory:
            return space.project(target)
        memory = warm.copy() if len(warm) else np.zeros(space.memory)
        return np.concatenate([space.project_again(target, memory), memory])

    def point(self, example: Example, mirror: Float) -> Float:
        """The output."""
        return mirror[: example.space.size]

    def spread(self, example: Example) -> float:
        """The largest divergence from the start: half a squared distance."""
        gold = example.gold
        away = 1.0 - 2.0 * gold
        return 0.5 * float(gold.sum() + away @ example.space.maximize(away))


EUCLIDEAN = Euclidean()


@dataclass(frozen=True)
class Entropic:
    """Multiplicative steps; needs ``marginals`` of spaces.

    Example 2 of Taskar et al. 2006, for every structure that has marginals: a step adds to the
    scores of a distribution over outputs.

    Args:
        pull: score of gold coordinates at the start; 0 starts at the uniform distribution.
    """

    pull: float = 0.0
    needs = "marginals"
    way_out = "Entropic steps need; try Euclidean(), or FrankWolfe, which only needs maximize"

    def start(self, example: Example) -> Float:
        """Scores in favour of the gold output."""
        return self.pull * example.gold

    def move(self, example: Example, mirror: Float, direction: Float) -> Float:
        """Add to the scores."""
        return mirror + direction

    def point(self, example: Example, mirror: Float) -> Float:
        """The marginals of scores."""
        return example.space.marginals(mirror)[1]

    def spread(self, example: Example) -> float:
        """The largest divergence from the start, reached where its probability is least."""
        start = self.start(example)
        value, _ = example.space.marginals(start)
        return value - float(start @ example.space.maximize(-start))


def lipschitz(examples: Examples, weights: WeightSet, outputs: Euclidean | Entropic) -> float:
    """The Lipschitz constant of the saddle function's gradient, in the norms of both geometries.

    Between Euclidean geometries it is the spectral norm of F.  An entropic geometry has the L1
    norm, and the norm of F_i is the longest feature vector of any output, which ``maximize``
    bounds.
    """
    entropic = isinstance(weights, EntropicL1Ball)
    if isinstance(outputs, Euclidean):
        if not entropic:
            return examples.norm()
        squares = np.zeros(examples.size)
        for example in examples:
            squares += np.asarray(example.matrix.power(2).sum(axis=0)).ravel()
        return weights.radius * float(np.sqrt(squares.max()))
    total = 0.0
    for example in examples:
        if entropic:
            largest = abs(example.matrix).max(axis=1).todense()
            rows = weights.radius * np.asarray(largest).ravel()
        else:
            rows = example.row_lengths()
        total += float(rows @ example.space.maximize(rows)) ** 2
    return float(np.sqrt(total))
