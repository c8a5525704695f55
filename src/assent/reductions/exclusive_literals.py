"""Coordinates of which exactly one, or at most one, is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import CAP, KNAPSACK, SUM, Float, Int32, Int64, Problem
from assent.model.variables import coordinates_of


class LogicGroup(NamedTuple):
    """Logic factors of one form and size: ``lits[size, m]`` and signed weights, ``k[m]``.

    A positive literal weighs 1 and a negated one -1, times its weight in a KNAPSACK.
    """

    kind: int
    lits: Int32
    column: Int64
    weight: Float
    k: Int32


def logic_groups(problem: Problem) -> Iterator[LogicGroup]:
    """The logic factors of a problem, group by group."""
    p = problem
    first_weight = len(p.lits) - len(p.weights)
    for g, kind in enumerate(p.group_kind):
        size, m = int(p.group_size[g]), int(p.group_count[g])
        begin, first = int(p.group_link[g]), int(p.group_factor[g])
        lits = p.lits[begin : begin + size * m].reshape(size, m)
        weight = np.where(lits < 0, -1.0, 1.0)
        if kind == KNAPSACK:
            own = begin - first_weight
            weight = weight * p.weights[own : own + size * m].reshape(size, m)
        column = coordinates_of(lits).astype(np.int64)
        yield LogicGroup(int(kind), lits, column, weight, p.k[first : first + m])


@dataclass(frozen=True, eq=False)
class Choices:
    """Sets of columns of which at most one is true, ``C`` of them; no column is in two.

    Attributes:
        number: ``[n]`` the set of each column, -1 for none.
        is_tight: ``[C]`` whether exactly one is true.
    """

    number: Int64
    is_tight: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return len(self.is_tight)


def find_choices(problem: Problem) -> Choices:
    """The sets that factors spell out, exactly one before at most one, earlier before later."""
    number = np.full(problem.n, -1)
    tight: list[NDArray[np.bool_]] = [np.zeros(0, bool)]
    count = 0
    for kind in (SUM, CAP):
        for group in logic_groups(problem):
            if group.kind != kind:
                continue
            rows = np.flatnonzero((group.k == 1) & (group.lits >= 0).all(axis=0))
            column = group.column[:, rows]
            rows = np.flatnonzero((number[column] < 0).all(axis=0))
            column = column[:, rows]
            # Of rows that overlap, the first one of all its columns stays.
            first = np.full(problem.n, len(rows))
            np.minimum.at(first, column, np.arange(len(rows))[None, :])
            column = column[:, (first[column] == np.arange(len(rows))).all(axis=0)]
            number[column] = count + np.arange(column.shape[1])
            count += column.shape[1]
            tight.append(np.full(column.shape[1], kind == SUM))
    return Choices(number, np.concatenate(tight))
