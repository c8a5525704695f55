"""Knapsack: the true literals' weights stay within a capacity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Axis, rows
from assent.factors.grouped import ByGroup
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import KNAPSACK, Float
from assent.model.scores import broadcast_numbers

# Weights may exceed a capacity by this part of it: sums like 0.1 + 0.2 <= 0.3 should hold.
FEASIBILITY_TOLERANCE = 1e-9

# Sums of whole numbers below this are exact.
EXACT = 2.0**53

# A capacity may be infinite, a weight may not.
LARGEST = {"weights": np.finfo(float).max, "capacity": np.inf}


def most_weight(weights: Float, capacity: Float) -> Float:
    """``[m]`` what the weights ``[m, size]`` of the true literals may add up to.

    This is the one place where a capacity is read with tolerance: the normal form and all that use
    it compare with the number found here.  Whole weights need none but to read 2.9999999999 as 3.

    Example:
        >>> most_weight(np.array([[1.0, 2.0]]), np.array([3.0 - 1e-10])).tolist()
        [3.0]
        >>> most_weight(np.array([[0.1, 0.2]]), np.array([0.3])) >= 0.1 + 0.2
        array([ True])
    """
    more = capacity * (1.0 + FEASIBILITY_TOLERANCE)
    near = np.rint(capacity)
    exact = np.where(near <= more, np.maximum(near, capacity), capacity)
    whole = (weights == np.rint(weights)).all(axis=1) & (weights.sum(axis=1) < EXACT)
    return np.where(whole, exact, more)


class Knapsack(ByGroup):
    """The weights of the true literals add up to at most ``capacity`` (KNAPSACK).

    Its set is the linear relaxation (items may be fractional): a valid outer set, so that bounds
    hold; answers are checked against the true constraint.

    Args:
        literals: array of literals, or a list of them.
        weights: numbers >= 0, one per literal; broadcast over the factors.
        capacity: a number >= 0, or one per factor.
        axis: the axis, or axes, that one factor runs over, as in NumPy; all of them by default.
        by: in place of an axis, a group for each literal: one factor per group, whatever its size.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[3.0, 2.5, 2.5], name="x")
        >>> rule = g.add(at.Knapsack(x, weights=[3.0, 2.0, 2.0], capacity=4.0))
        >>> at.decode(g)[x].tolist()
        [0, 1, 1]
    """

    paper_name = "KNAPSACK"
    # Max-marginals over fractional items are not those of integral ones; sums have no meaning.
    abilities = ("maximize", "project")
    formula = "w_1 x_1 + … + w_n x_n ≤ c"
    per_group = ("capacity",)
    per_literal = ("weights",)

    def __init__(
        self, literals: Any, *, weights: Any, capacity: Any, axis: Axis = None, by: Any = None
    ) -> None:
        graph, codes, shape = rows("Knapsack", literals, axis)
        self.weights = _numbers("weights", weights, (*shape, codes.shape[1]), codes.shape)
        self.capacity = _numbers("capacity", capacity, shape, (len(codes),))
        self._attach(graph, codes, shape)

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        load = np.where(truth, self.weights, 0.0).sum(axis=1)
        return load <= most_weight(self.weights, self.capacity)

    def normal_form(self) -> NormalForm:
        most = most_weight(self.weights, self.capacity)
        return NormalForm(KNAPSACK, self.same_k(1), self.size, weights=self.weights, capacity=most)


def _numbers(what: str, value: Any, shape: tuple[int, ...], flat: tuple[int, ...]) -> Float:
    """Non-negative numbers of ``shape`` (or broadcast to it), reshaped to ``flat``."""
    full = broadcast_numbers(f"Knapsack: {what}", value, shape)
    if np.count_nonzero((full >= 0.0) & (full <= LARGEST[what])) < full.size:
        raise ModelError(f"Knapsack: {what} must be numbers >= 0, got {value!r}")
    return full.reshape(flat)
