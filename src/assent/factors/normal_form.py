"""The three logic forms (CAP, SUM, ANYOF) that every constraint is written in.

Each form answers its questions for a batch of ``m`` factors over ``size`` literals:

- CAP:   sum of literals <= k, hull ``cube and sum <= k``
- SUM:   sum of literals == k, hull ``cube and sum == k``
- ANYOF: last literal == OR of the others, hull ``x_i <= z, z <= sum x_i`` within the cube
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.problem import ANYOF, CAP, SUM, Float, Int32

FORM_NAMES = {CAP: "CAP", SUM: "SUM", ANYOF: "ANYOF"}


@dataclass(frozen=True)
class NormalForm:
    """Form code, right-hand side ``k[m]`` and which columns ``flip[size]`` enter negated."""

    form: int
    k: Int32
    flip: NDArray[np.bool_]

    def literals(self, codes: Int32) -> Int32:
        """The literals ``codes[m, size]`` as the form reads them: flipped columns negated."""
        return codes ^ -self.flip.astype(np.int32)

    def maximize(self, scores: Float) -> tuple[Float, NDArray[np.bool_]]:
        """Best value ``[m]`` and vertex ``[m, size]`` for literal scores ``[m, size]``."""
        sign = np.where(self.flip, -1.0, 1.0)
        vertex = maximize_form(self.form, self.k, scores * sign)
        truth = vertex ^ self.flip
        return np.where(truth, scores, 0.0).sum(axis=1), truth

    def project(self, points: Float) -> Float:
        """Nearest points ``[m, size]`` of the hull to ``points[m, size]``."""
        from assent.kernels.projections import project_logic

        inputs = np.where(self.flip, 1.0 - points, points)
        out = np.clip(inputs, 0.0, 1.0)  # what a CAP that counts all its literals asks for
        for row, k, nearest in zip(inputs, self.k, out, strict=True):
            if self.form == ANYOF or 0 < k < len(row):
                project_logic(self.form, k, row, nearest)
            elif self.form == SUM or k == 0:  # a single point, which kernels leave to us
                nearest[:] = k > 0
        return np.where(self.flip, 1.0 - out, out)


def repeated_last(form: int, lits: Int32) -> NDArray[np.bool_]:
    """Which columns ``[m, size-1]`` of ``lits[m, size]`` hold the same literal as the last.

    Only the last literal of a factor is ever negated alone, so only it can repeat another; in an
    ANYOF it is the output, which is no repetition.
    """
    return (lits[:, :-1] == lits[:, -1:]) & (form != ANYOF)


def maximize_form(form: int, k: Int32, scores: Float) -> NDArray[np.bool_]:
    """Best vertices ``[m, size]``; ties go to the earlier literal, then to false."""
    if form == ANYOF:
        return _maximize_anyof(scores)
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
    worth = np.where(vertex[:, :-1], inputs, 0.0).sum(axis=1) + output
    vertex[worth <= 0] = False
    return vertex
