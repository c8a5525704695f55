"""Constraints on the number of true literals: at most, at least or exactly one, k or all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Logic, counts, rows
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import ANYOF, CAP, SUM


class Counting(Logic):
    """``k`` for each factor over ``literals``; kinds differ in how the count compares to it."""

    def __init__(self, k: Any, literals: Any, *, axis: int | None = None) -> None:
        graph, codes, shape = rows(self.kind, literals, axis)
        self.k = counts(self.kind, k, shape, codes.shape[1])
        self._attach(graph, codes, shape)

    def words(self, row: int) -> str:
        return super().words(row).replace("(", f"({self.k[row]}; ", 1)


class AtMost(Counting):
    """At most ``k`` literals are true (the papers' BUDGET).

    Args:
        k: a whole number from 0 to the number of literals, or one per factor.
        literals: array of literals, or a list of them.
        axis: the axis one factor runs over; needed for more than one axis.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> at.AtMost(2, x)
        AtMost(2; x[0], x[1], x[2])
    """

    paper_name = "BUDGET"
    formula = "x_1 + … + x_n ≤ k"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) <= self.k

    def normal_form(self) -> NormalForm:
        return NormalForm(CAP, self.k, self.flip())


class AtLeast(Counting):
    """At least ``k`` literals are true; arguments as of `AtMost`.

    Example:
        >>> import assent as at
        >>> x = at.FactorGraph().binary(3, name="x")
        >>> at.AtLeast(2, x)
        AtLeast(2; x[0], x[1], x[2])
    """

    paper_name = "BUDGET on negated literals"
    formula = "x_1 + … + x_n ≥ k"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) >= self.k

    def normal_form(self) -> NormalForm:
        return NormalForm(CAP, self.size - self.k, self.flip(inputs=True, last=True))


class Exactly(Counting):
    """Exactly ``k`` literals are true; arguments as of `AtMost`.

    Example:
        >>> import assent as at
        >>> x = at.FactorGraph().binary(3, name="x")
        >>> at.Exactly(2, x)
        Exactly(2; x[0], x[1], x[2])
    """

    paper_name = "BUDGET with equality"
    formula = "x_1 + … + x_n = k"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) == self.k

    def normal_form(self) -> NormalForm:
        return NormalForm(SUM, self.k, self.flip())


class ExactlyOne(Logic):
    """Exactly one literal is true (the papers' XOR).

    Args:
        literals: array of literals, or a list of them.
        axis: the axis one factor runs over; needed for more than one axis.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary((2, 3), name="x")
        >>> at.ExactlyOne(x, axis=1)
        2 × ExactlyOne, first ExactlyOne(x[0,0], x[0,1], x[0,2])
    """

    paper_name = "XOR (one-hot)"
    formula = "x_1 + … + x_n = 1"

    def __init__(self, literals: Any, *, axis: int | None = None) -> None:
        self._attach(*rows("ExactlyOne", literals, axis))

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return truth.sum(axis=1) == 1

    def normal_form(self) -> NormalForm:
        return NormalForm(SUM, self.same_k(1), self.flip())


class WithOutput(Logic):
    """Kinds that take a literal per factor, ``output``, which says what they otherwise demand."""

    def __init__(self, literals: Any, *, axis: int | None = None, output: Any = None) -> None:
        self.has_output = output is not None
        self._attach(*rows(self.kind, literals, axis, output))


class AtMostOne(WithOutput):
    """At most one literal is true; with ``output=z``, moreover z says whether one is.

    The form with output is the papers' XOR-with-output: two true literals are forbidden either
    way, ``z`` does not say "at most one".

    Args:
        literals: array of literals, or a list of them.
        axis: the axis one factor runs over; needed for more than one axis.
        output: one literal per factor.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, z = g.binary(3, name="x"), g.binary(name="z")
        >>> at.AtMostOne(x, output=z)
        AtMostOne(x[0], x[1], x[2] → z)
    """

    paper_name = "AtMostOne; XOR-with-output"
    formula = "x_1 + … + x_n ≤ 1;  with output: x_1 + … + x_n = z"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].sum(axis=1) == truth[:, -1]
        return truth.sum(axis=1) <= 1

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(SUM, self.same_k(1), self.flip(last=True))
        return NormalForm(CAP, self.same_k(1), self.flip())


class AtLeastOne(WithOutput):
    """At least one literal is true; with ``output=z``, z says whether one is.

    Arguments are those of `AtMostOne`.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(2, name="x")
        >>> at.AtLeastOne([x[0], ~x[1]])
        AtLeastOne(x[0], ~x[1])
    """

    paper_name = "OR; OR-with-output"
    formula = "x_1 + … + x_n ≥ 1;  with output: z = x_1 ∨ … ∨ x_n"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].any(axis=1) == truth[:, -1]
        return np.asarray(truth.any(axis=1))

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(ANYOF, self.same_k(1), self.flip())
        return NormalForm(CAP, self.same_k(self.size - 1), self.flip(inputs=True, last=True))


class All(WithOutput):
    """All literals are true; with ``output=z``, z says whether they all are.

    Arguments are those of `AtMostOne`.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, z = g.binary(2, name="x"), g.binary(name="z")
        >>> at.All(x, output=z)
        All(x[0], x[1] → z)
    """

    paper_name = "AND; AND-with-output"
    formula = "x_1 = … = x_n = 1;  with output: z = x_1 ∧ … ∧ x_n"

    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.has_output:
            return truth[:, :-1].all(axis=1) == truth[:, -1]
        return np.asarray(truth.all(axis=1))

    def normal_form(self) -> NormalForm:
        if self.has_output:
            return NormalForm(ANYOF, self.same_k(1), self.flip(inputs=True, last=True))
        return NormalForm(SUM, self.same_k(self.size), self.flip())
