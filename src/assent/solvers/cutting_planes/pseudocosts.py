"""Pseudocosts: what branching on a coordinate has done to bounds, and which to branch on next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float

if TYPE_CHECKING:
    from assent.solvers.cutting_planes.cut_nodes import CutNode

# Coordinates nearer to 0 or 1 count as integral.
INTEGRAL = 1e-6
# A coordinate without effect on one side is still worth this share of the usual one.
SLIGHT = 1e-3


class Pseudocosts:
    """What branching on each coordinate took off the bound, per unit of change: ``fall[n, 2]``.

    The rule of product of two estimates prefers coordinates that help on both sides (Achterberg,
    Koch and Martin, 2005); those without a history are taken for average.
    """

    def __init__(self, n: int) -> None:
        self.fall, self.count = np.zeros((n, 2)), np.zeros((n, 2))

    def learn(self, node: CutNode) -> None:
        """From a node that has been bounded."""
        if node.literals and node.moved > 0.0 and np.isfinite(node.bound):
            literal = node.literals[-1]
            place = max(literal, ~literal), int(literal >= 0)
            self.fall[place] += (node.above - node.bound) / node.moved
            self.count[place] += 1.0

    def choose(self, x: Float, free: NDArray[np.bool_]) -> int:
        """The coordinate to split by."""
        seen = self.count.sum(axis=0)
        usual = np.where(seen > 0.0, self.fall.sum(axis=0) / np.maximum(seen, 1.0), 1.0)
        each = np.where(self.count > 0.0, self.fall / np.maximum(self.count, 1.0), usual)
        down, up = each[:, 0] * x, each[:, 1] * (1.0 - x)
        least = SLIGHT * max(float(usual.max()), SLIGHT)
        score = np.maximum(down, least) * np.maximum(up, least)
        undecided = np.minimum(x, 1.0 - x)
        if (undecided[free] > INTEGRAL).any():
            free = free & (undecided > INTEGRAL)
        return int(np.where(free, score, -1.0).argmax())
