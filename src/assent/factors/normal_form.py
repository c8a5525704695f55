"""The logic forms that every constraint is written in.

Each form answers its questions for a batch of ``m`` factors over ``size`` literals:

- CAP:   sum of literals <= k, hull ``cube and sum <= k``
- SUM:   sum of literals == k, hull ``cube and sum == k``
- ANYOF: last literal == OR of the others, hull ``x_i <= z, z <= sum x_i`` within the cube
- PARITY: an even number of literals is true, hull: the parity polytope
- KNAPSACK: weights . literals <= capacity, set ``cube and weights . x <= capacity``, which holds
  fractional items as well: a relaxation
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, SUM, Float, Int32


class NormalForm(NamedTuple):
    """Form code, right-hand side ``k[m]``, literals per factor and which of them enter negated.

    A KNAPSACK has ``weights[m, size]`` and ``capacity[m]`` as well.
    """

    form: int
    k: Int32
    size: int
    flip_inputs: bool = False  # all literals but the last
    flip_last: bool = False
    weights: Float | None = None
    capacity: Float | None = None

    @property
    def flip(self) -> NDArray[np.bool_]:
        """``[size]`` which columns enter negated."""
        mask = np.full(self.size, self.flip_inputs)
        mask[-1] = self.flip_last
        return mask

    def literals(self, codes: Int32) -> Int32:
        """The literals ``codes[…, size]`` as the form reads them: flipped columns negated."""
        lits = ~codes if self.flip_inputs else codes
        if self.flip_last != self.flip_inputs:
            lits = lits.copy()
            lits[..., -1] = ~lits[..., -1]
        return lits

    def take(self, rows: slice | NDArray[np.int64]) -> NormalForm:
        """The same for some rows of the batch."""
        weights = None if self.weights is None else self.weights[rows]
        capacity = None if self.capacity is None else self.capacity[rows]
        return self._replace(k=self.k[rows], weights=weights, capacity=capacity)

    def maximize(self, scores: Float) -> tuple[Float, NDArray[Any]]:
        """Best value ``[m]`` and vertex ``[m, size]`` for literal scores ``[m, size]``."""
        if self.form == KNAPSACK:
            point = self.fill(scores)
            return (scores * point).sum(axis=1), point
        sign = np.where(self.flip, -1.0, 1.0)
        vertex = maximize_form(self.form, self.k, scores * sign)
        truth = vertex ^ self.flip
        return np.where(truth, scores, 0.0).sum(axis=1), truth

    def fill(self, scores: Float) -> Float:
        """Best points ``[m, size]`` of KNAPSACKs: by score per weight, the last item fractional."""
        from assent.kernels.kinds.knapsack_relaxation import maximize_knapsack

        assert self.weights is not None and self.capacity is not None
        out = np.empty(scores.shape)
        for row, point in enumerate(out):
            own = np.ascontiguousarray(scores[row])
            maximize_knapsack(own, self.weights[row], self.capacity[row], point)
        return out

    def project(self, points: Float) -> Float:
        """Nearest points ``[m, size]`` of the hull to ``points[m, size]``."""
        from assent.kernels.kinds.knapsack_relaxation import project_knapsack
        from assent.kernels.kinds.logic_projections import project_logic
        from assent.kernels.kinds.parity_hull import project_parity

        inputs = np.where(self.flip, 1.0 - points, points)
        out = np.clip(inputs, 0.0, 1.0)  # what a CAP that counts all its literals asks for
        for row, (k, nearest) in enumerate(zip(self.k, out, strict=True)):
            point = np.ascontiguousarray(inputs[row])
            if self.weights is not None and self.capacity is not None:
                project_knapsack(point, self.weights[row], self.capacity[row], nearest, 0.0)
            elif self.form == PARITY:
                project_parity(point, nearest, 0.0)
            elif self.form == ANYOF or 0 < k < len(point):
                project_logic(self.form, k, point, nearest)
            elif self.form == SUM or k == 0:  # a single point, which kernels leave to us
                nearest[:] = k > 0
        return np.where(self.flip, 1.0 - out, out)

    def max_marginals(self, scores: Float) -> Float:
        """Best value ``[m, size, 2]`` with each literal false and true; ``-inf`` if impossible."""
        from assent.kernels.core.max_marginals import max_marginals_form

        out = np.empty((*scores.shape, 2))
        inner = np.where(self.flip, -scores, scores)
        for row, k, best in zip(inner, self.k, out, strict=True):
            max_marginals_form(self.form, k, np.ascontiguousarray(row), best)
        out[:, self.flip] = out[:, self.flip, ::-1]
        # s·(1 − x) = s − s·x: what flipping a column leaves behind.
        return out + scores[:, self.flip].sum(axis=1)[:, None, None]

    def marginals(self, scores: Float, temperature: float) -> tuple[Float, Float]:
        """Log-partition ``[m]`` (times temperature) and probabilities ``[m, size]``."""
        from assent.kernels.core.marginals import marginals_form

        value, out = np.empty(len(scores)), np.empty(scores.shape)
        inner = np.where(self.flip, -scores, scores)
        for row, (own, k) in enumerate(zip(inner, self.k, strict=True)):
            own = np.ascontiguousarray(own)
            value[row] = marginals_form(self.form, k, own, float(temperature), out[row])
        out = np.where(self.flip, 1.0 - out, out)
        return value + scores[:, self.flip].sum(axis=1), out


def repeated_last(form: int, lits: Int32) -> NDArray[np.bool_]:
    """Which columns ``[m, size-1]`` of ``lits[m, size]`` hold the same literal as the last.

    Only the last literal of a factor is ever negated alone, so only it can repeat another; in an
    ANYOF it is the output, which is no repetition, and in a PARITY it may stand twice.
    """
    if form not in (CAP, SUM):
        return np.zeros(lits[:, :-1].shape, bool)
    return lits[:, :-1] == lits[:, -1:]


def maximize_form(form: int, k: Int32, scores: Float) -> NDArray[np.bool_]:
    """Best vertices ``[m, size]``; ties go to the earlier literal, then to false."""
    if form == ANYOF:
        return _maximize_anyof(scores)
    if form == PARITY:
        return _maximize_parity(scores)
    order = np.argsort(-scores, axis=1, kind="stable")
    chosen = np.arange(scores.shape[1]) < k[:, None]
    if form == CAP:
        chosen = chosen & (np.take_along_axis(scores, order, axis=1) > 0)
    vertex = np.zeros(scores.shape, bool)
    np.put_along_axis(vertex, order, chosen, axis=1)
    return vertex


def _maximize_anyof(scores: Float) -> NDArray[np.bool_]:
    """With the output true at least one input is: the positive ones, or the least bad."""
    inputs, output = scores[:, :-1], scores[:, -1]
    vertex = np.zeros(scores.shape, bool)
    vertex[:, :-1] = inputs > 0
    rows = np.arange(len(scores))
    vertex[rows, inputs.argmax(axis=1)] = True
    vertex[:, -1] = True
    value = np.where(vertex[:, :-1], inputs, 0.0).sum(axis=1) + output
    vertex[value <= 0] = False
    return vertex


def _maximize_parity(scores: Float) -> NDArray[np.bool_]:
    """All that gain; where that is an odd number, the one that matters least changes sides."""
    vertex = scores > 0
    odd = np.flatnonzero(vertex.sum(axis=1) % 2)
    cheapest = np.abs(scores[odd]).argmin(axis=1)
    vertex[odd, cheapest] ^= True
    return vertex
