"""Constraints of the flat problem, as regions of a few coordinates see them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from assent.compile.table_groups import table_groups
from assent.kernels.problem import CAP, KNAPSACK, PARITY, SUM, Float, Int32, Int64, Problem
from assent.proof.projected_constraints import possible
from assent.solvers.cutting_planes.cycle_cuts import INTEGRAL
from assent.solvers.direct.tabulated_problem import group_lits

# Constraints over more coordinates tie none of them closely.
MOST_TIED = 12


class LocalConstraints:
    """The logic factors of a problem, seen from coordinates."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.lits = [group_lits(problem, g) for g in range(len(problem.group_kind))]
        self.first = problem.group_factor
        parts = [np.where(lits < 0, ~lits, lits) for lits in self.lits]
        number = [
            np.repeat(int(f) + np.arange(len(part)), part.shape[1])
            for f, part in zip(self.first, parts, strict=True)
        ]
        every = np.concatenate([np.zeros(0, np.int64), *(part.ravel() for part in parts)])
        order = np.argsort(every, kind="stable")
        self.of = np.concatenate([np.zeros(0, np.int64), *number])[order]
        self.start = np.searchsorted(every[order], np.arange(problem.n + 1))

    def _row(self, number: int) -> tuple[int, Int32]:
        """The form of a logic factor, and its literals."""
        group = int(np.searchsorted(self.first, number, side="right")) - 1
        row = self.lits[group][number - int(self.first[group])]
        return int(self.problem.group_kind[group]), row

    def binding(self, x: Float, undecided: NDArray[np.bool_], most: int) -> list[Int64]:
        """Coordinates of counts without slack at ``x``: of literals above zero, up to a limit."""
        found = []
        for group, kind in enumerate(self.problem.group_kind.tolist()):
            if kind not in (CAP, SUM) or self.problem.group_size[group] < 3:
                continue
            lits = self.lits[group]
            number = int(self.first[group])
            k = self.problem.k[number : number + len(lits)]
            value = np.where(lits < 0, 1.0 - x[~lits], x[np.maximum(lits, 0)])
            above = value > INTEGRAL
            few = above.sum(axis=1) <= most
            own = np.where(lits < 0, ~lits, lits)
            open_ = (above & undecided[own]).sum(axis=1) > 1
            tight = value.sum(axis=1) >= k - INTEGRAL
            for f in np.flatnonzero(few & open_ & tight):
                found.append(np.unique(own[f][above[f]]).astype(np.int64))
        return found

    def beside(self, chosen: NDArray[np.bool_]) -> dict[int, Counter[int]]:
        """For chosen coordinates, the other ones that constraints tie them to, and how often."""
        found: dict[int, Counter[int]] = {}
        for lits in self.lits:
            own = np.where(lits < 0, ~lits, lits)
            inside = chosen[own]
            count = inside.sum(axis=1)
            for f in np.flatnonzero((count > 1) & (count <= MOST_TIED)):
                members = own[f][inside[f]].tolist()
                for u in members:
                    found.setdefault(u, Counter()).update(v for v in members if v != u)
        return found

    def with_support(self, coordinates: set[int], x: Float, most: int) -> Int64:
        """Coordinates with those of true literals of the counts over them, up to a limit."""
        found = set(coordinates)
        for number in self.over(np.array(sorted(coordinates))):
            kind, lits = self._row(number)
            if kind in (CAP, SUM):
                true = np.where(lits < 0, 1.0 - x[~lits], x[np.maximum(lits, 0)]) > INTEGRAL
                more = found | {max(code, ~code) for code in lits[true].tolist()}
                found = more if len(more) <= most else found
        return np.array(sorted(found), np.int64)

    def over(self, coordinates: Int64) -> tuple[int, ...]:
        """Constraints that say something about at least two of some coordinates."""
        parts = [self.of[self.start[v] : self.start[v + 1]] for v in coordinates.tolist()]
        number, count = np.unique(np.concatenate(parts), return_counts=True)
        group = np.searchsorted(self.first, number, side="right") - 1
        # A parity says nothing of some of its literals, a knapsack of few next to nothing.
        mute = np.isin(self.problem.group_kind[group], (KNAPSACK, PARITY))
        binding = (count > 1) & (~mute | (count == self.problem.group_size[group]))
        return tuple(number[binding].tolist())

    def shared(self, number: int, coordinates: Int64) -> list[int]:
        """The coordinates among some that a constraint is over."""
        lits = self._row(number)[1]
        return np.intersect1d(np.where(lits < 0, ~lits, lits), coordinates).tolist()

    def allow(
        self, number: int, coordinates: Int64, states: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which joint values ``[S, m]`` of some coordinates a constraint can hold with."""
        kind, lits = self._row(number)
        own = np.where(lits < 0, ~lits, lits)
        order = np.argsort(coordinates)
        place = np.minimum(np.searchsorted(coordinates, own, sorter=order), len(order) - 1)
        column = order[place]
        loose = coordinates[column] != own
        truth = states[:, column] ^ (lits < 0)
        weights, capacity = self._load(number, kind, len(lits))
        return possible(kind, int(self.problem.k[number]), truth, loose, weights, capacity)

    def _load(self, number: int, kind: int, size: int) -> tuple[Float | None, float]:
        """Weights and capacity of a KNAPSACK."""
        if kind != KNAPSACK:
            return None, 0.0
        problem = self.problem
        group = int(np.searchsorted(self.first, number, side="right")) - 1
        count, inside = int(problem.group_count[group]), number - int(self.first[group])
        first = int(problem.group_link[group]) - (len(problem.lits) - len(problem.weights))
        weights = problem.weights[first + inside + count * np.arange(size)]
        heavy = number - (problem.n_logic - len(problem.capacity))
        return weights, float(problem.capacity[heavy])


def states_of_tables(problem: Problem) -> tuple[Int64, dict[int, int]]:
    """The variable of every coordinate that is a state in a table, and variables' sizes.

    A variable is known by its first state; -1 for coordinates that are none.
    """
    variable, size = np.full(problem.n, -1), {}
    for group in table_groups(problem):
        for columns, states, first in zip(group.columns, group.states, group.first, strict=True):
            if not first:
                own = group.lits[:, columns]
                variable[own] = own[:, :1]
                size.update(dict.fromkeys(own[:, 0].tolist(), states))
    return variable, size
