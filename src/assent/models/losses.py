"""Losses that decompose over coordinates: ``loss(z) = costs . z + constant``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from assent.arguments import is_real, shown
from assent.errors import ModelError
from assent.kernels.problem import Float


class Loss(Protocol):
    """The loss of an output: costs of coordinates and a constant (c_i, d_i in Taskar et al.)."""

    def states(self, gold: Any, count: int) -> tuple[Float, float]:
        """Costs ``[n, count]`` of the states of variables whose gold states are ``gold[n]``."""

    def literals(self, gold: Float) -> tuple[Float, float]:
        """Costs ``[n]`` of literals that are true (1) or false (0) in ``gold[n]``."""


@dataclass(frozen=True)
class Hamming:
    """The number of variables that are wrong.

    Example:
        >>> Hamming().states([1], 3)
        (array([[1., 0., 1.]]), 0.0)
    """

    def states(self, gold: Any, count: int) -> tuple[Float, float]:
        """Every state but the gold one costs 1."""
        return 1.0 - one_hot(gold, count), 0.0

    def literals(self, gold: Float) -> tuple[Float, float]:
        """A literal costs 1 where it differs."""
        return 1.0 - 2.0 * gold, float(gold.sum())


@dataclass(frozen=True)
class WeightedHamming:
    """Wrong coordinates, with one cost for false positives and one for false negatives.

    Equation (10) of Taskar et al. 2006, over the states of categorical variables as well.

    Example:
        >>> WeightedHamming(false_positive=1.0, false_negative=3.0).literals(np.array([1.0, 0.0]))
        (array([-3.,  1.]), 3.0)
    """

    false_positive: float = 1.0
    false_negative: float = 1.0

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            value = getattr(self, name)
            if not is_real(value) or not 0.0 <= value < np.inf:
                raise ValueError(f"{name} is a cost >= 0, got {shown(value)}")

    def states(self, gold: Any, count: int) -> tuple[Float, float]:
        """Costs of each state as of a literal."""
        return self.literals(one_hot(gold, count))

    def literals(self, gold: Float) -> tuple[Float, float]:
        """``c+ - (c- + c+) y`` each, and ``c-`` for every true one."""
        costs = self.false_positive - (self.false_positive + self.false_negative) * gold
        return costs, float(self.false_negative * gold.sum())


@dataclass(frozen=True, eq=False)
class LabelCosts:
    """A cost for each pair of gold and predicted state.

    Args:
        costs: ``[K, K]`` (gold, predicted), zero where both are the same.

    Example:
        >>> LabelCosts([[0.0, 1.0], [5.0, 0.0]]).states([1, 0], 2)
        (array([[5., 0.],
               [0., 1.]]), 0.0)
    """

    costs: Any

    def __post_init__(self) -> None:
        table = np.array(self.costs, np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all():
            raise ModelError(
                f"LabelCosts takes a table [gold, predicted] of numbers, got shape {table.shape}"
            )
        if table.diagonal().any() or (table < 0.0).any():
            raise ModelError("LabelCosts: costs are >= 0, and zero on the diagonal (correct)")
        object.__setattr__(self, "costs", table)

    def states(self, gold: Any, count: int) -> tuple[Float, float]:
        """The row of the gold state."""
        if len(self.costs) != count:
            raise ModelError(f"LabelCosts has {len(self.costs)} states, the variables have {count}")
        return self.costs[np.asarray(gold)], 0.0

    def literals(self, gold: Float) -> tuple[Float, float]:
        """As states false and true."""
        if len(self.costs) != 2:
            raise ModelError(f"LabelCosts has {len(self.costs)} states, a literal has 2")
        rows = self.costs[gold.astype(np.int64)]
        return rows[:, 1] - rows[:, 0], float(rows[:, 0].sum())


def one_hot(states: Any, count: int) -> Float:
    """Indicators ``[n, count]`` of states.

    Example:
        >>> one_hot([1], 2)
        array([[0., 1.]])
    """
    states = np.asarray(states)
    out = np.zeros((len(states), count))
    out[np.arange(len(states)), states] = 1.0
    return out
