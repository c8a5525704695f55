"""What kinds on the number of true literals share: a number ``k``, or an output literal."""

from __future__ import annotations

from typing import Any

from assent.factors.base import Axis, counts, rows
from assent.factors.grouped import ByGroup


class Counting(ByGroup):
    """``k`` for each factor over ``literals``; kinds differ in how the count compares to it."""

    per_group = ("k",)

    def __init__(self, k: Any, literals: Any, *, axis: Axis = None, by: Any = None) -> None:
        graph, codes, shape = rows(self.kind, literals, axis)
        self.k = counts(self.kind, k, shape, codes.shape[1])
        self._attach(graph, codes, shape)

    def words(self, row: int) -> str:
        return super().words(row).replace("(", f"({self.k[row]}; ", 1)


class WithOutput(ByGroup):
    """Kinds that take a literal per factor, ``output``, which says what they otherwise demand."""

    per_group = ("output",)

    def __init__(
        self, literals: Any, *, axis: Axis = None, by: Any = None, output: Any = None
    ) -> None:
        self.has_output = output is not None
        self._attach(*rows(self.kind, literals, axis, output))
