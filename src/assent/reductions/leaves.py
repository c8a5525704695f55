"""Variables in a single factor over two: what they make of it is a score of the other one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import SUM, Float, Int32, Int64, Problem, Scores
from assent.model.variables import coordinates_of
from assent.reductions.dense_tables import Slot, dense_tables, no_scores
from assent.reductions.exclusive_literals import find_choices, logic_groups
from assent.reductions.pairwise_tables import over_two
from assent.reductions.reduction import Reduction, ReductionStep


@dataclass(frozen=True, eq=False)
class Leaves(ReductionStep):
    """Variables that are eliminated, each by the literal that stands in for it from then on.

    The literal is made true; the neighbour's own scores get the value of the variable at its
    best beside every state, less its value as that literal.
    """

    literals: Int32

    what: ClassVar[tuple[str, str]] = ("variable", "of degree one eliminated")

    def apply(self, before: Reduction) -> Reduction | None:
        """The neighbours' new scores, if the variables are leaves and no two are neighbours."""
        chosen = list(self._edges(before))
        if sum(len(edges.total) for edges in chosen) != len(self.literals):
            return None
        return self._after(before, chosen)

    def _after(self, before: Reduction, chosen: list[Edges]) -> Reduction | None:
        """The neighbours' new scores; None where a stand-in is not always possible."""
        theta, constant = np.zeros(before.compiled.problem.n), 0.0
        for edges in chosen:
            delta = edges.delta()
            if not np.isfinite(delta).all():
                return None
            constant += edges.other.add_scores(delta, theta)
        return before.rescored(theta, constant).given(self.literals.tolist())

    def follow(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """Every leaf as the literal that stands in for it."""
        out = assignment.copy()
        for edges in self._edges(before):
            _set(edges.leaf, edges.stand_in, before, out)
        return out

    def undo(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """Every leaf gets its best state beside its neighbour."""
        out = assignment.copy()
        for edges in self._edges(before):
            state = _state(edges.other, out[before.compiled.free])
            best = edges.total[np.arange(len(state)), state].argmax(axis=1)
            _set(edges.leaf, best, before, out)
        return out

    @property
    def count(self) -> int:
        """How many."""
        return len(self.literals)

    def _edges(self, before: Reduction) -> Iterator[Edges]:
        """The chosen leaves' edges, each with the state that stands in for the leaf."""
        problem = before.compiled.problem
        literals = before.columns(self.literals)
        if literals is None:
            return
        units = find_units(problem)
        own = units.of[coordinates_of(literals)]
        chosen = np.zeros(units.count, bool)
        chosen[own] = True
        stand_in = np.zeros(units.count, np.int64)
        stand_in[own] = literals
        for edges in leaf_edges(problem, before.flat, units):
            leaf = units.of[edges.leaf.column[:, 0]]
            rows = np.flatnonzero(chosen[leaf] & ~chosen[units.of[edges.other.column[:, 0]]])
            yield edges.take(rows, stand_in[leaf[rows]])


class Edges(NamedTuple):
    """Factors over a leaf and another variable.

    Attributes:
        leaf, other: slots with the literals of both.
        total: ``[m, other's states, leaf's states]`` the factor and the leaf's own scores.
        stand_in: ``[m]`` the leaf's state that stands in for it.
    """

    leaf: Slot
    other: Slot
    total: Float
    stand_in: Int64

    def take(self, rows: Int64, literals: Int64) -> Edges:
        """Some of them, with the literals ``[rows]`` that stand in for the leaves."""
        states = _literals_of(self.leaf)[rows] == literals[:, None]
        rows, state = rows[states.any(axis=1)], states[states.any(axis=1)].argmax(axis=1)
        return Edges(
            Slot(self.leaf.lits[rows], self.leaf.is_literal),
            Slot(self.other.lits[rows], self.other.is_literal),
            self.total[rows],
            state,
        )

    def delta(self) -> Float:
        """What the leaf at its best scores more than its stand-in, ``[m, other's states]``."""
        stands = np.take_along_axis(self.total, self.stand_in[:, None, None], axis=2)[:, :, 0]
        with np.errstate(invalid="ignore"):
            return np.asarray(self.total.max(axis=2) - stands)


@dataclass(frozen=True, eq=False)
class Units:
    """Variables: a choice of exactly one, or a single column.

    Attributes:
        of: ``[n]`` the variable of each column.
        size: ``[count]`` its columns; more than one in a choice.
        degree: ``[count]`` factors, beside what makes a choice of it.
    """

    of: Int64
    size: Int64
    degree: Int64

    @property
    def count(self) -> int:
        return len(self.size)

    def holds(self, slot: Slot) -> NDArray[np.bool_]:
        """Whether a slot is all of a variable, row by row ``[m]``."""
        unit = self.of[slot.column]
        is_one = (unit == unit[:, :1]).all(axis=1)
        return np.asarray(is_one & (self.size[unit[:, 0]] == slot.lits.shape[1]))


def find_units(problem: Problem) -> Units:
    """The variables of a problem, and how many factors each is in."""
    choices = find_choices(problem)
    inside = choices.number >= 0
    inside[inside] = choices.is_tight[choices.number[inside]]
    _, of = np.unique(
        np.where(inside, choices.number, choices.count + np.arange(problem.n)), return_inverse=True
    )
    size = np.bincount(of)
    units = Units(of, size, np.zeros(len(size), np.int64))
    links = [of[problem.pair_var.ravel()]]
    for group in logic_groups(problem):
        is_one = units.holds(Slot(group.column.T.astype(np.int32), False))
        is_choice = (group.kind == SUM) & is_one & (group.k == 1) & (group.lits >= 0).all(axis=0)
        links.append(of[group.column[:, ~is_choice]].ravel())
    for slots, _ in dense_tables(problem, no_scores(problem)):
        for slot in slots:
            once = units.holds(slot)
            links += [of[slot.column[once, 0]], of[slot.column[~once]].ravel()]
    behind = problem.tables.lits[len(problem.written.lits) :]  # structures
    links.append(of[coordinates_of(behind)])
    return replace(units, degree=np.bincount(np.concatenate(links), minlength=len(size)))


def leaf_edges(problem: Problem, scores: Scores, units: Units) -> Iterator[Edges]:
    """Factors over two variables of which one is in no other factor, seen from there.

    A factor between two leaves comes twice.
    """
    for tables, _ in over_two(problem, scores):
        for place in (0, 1):
            leaf, other = tables.slots[place], tables.slots[1 - place]
            own = units.of[leaf.column[:, 0]]
            apart = own != units.of[other.column[:, 0]]
            rows = np.flatnonzero(apart & (units.degree[own] == 1) & units.holds(leaf))
            lits = leaf.lits[rows]
            theta = scores.theta[coordinates_of(lits)]
            if leaf.is_literal:
                zero = np.zeros(len(rows))
                negated = lits[:, 0] < 0
                theta = np.stack(
                    [np.where(negated, theta[:, 0], zero), np.where(negated, zero, theta[:, 0])], 1
                )
            total = tables.scores[rows] if place else tables.scores[rows].transpose(0, 2, 1)
            yield Edges(
                Slot(lits, leaf.is_literal),
                Slot(other.lits[rows], other.is_literal),
                total + theta[:, None, :],
                np.zeros(len(rows), np.int64),
            )


def _state(slot: Slot, values: NDArray[np.int8]) -> Int64:
    """The state ``[m]`` of a slot under values ``[n]``."""
    truth = (values[slot.column] == 1) ^ (slot.lits < 0)
    return truth[:, 0].astype(np.int64) if slot.is_literal else truth.argmax(axis=1)


def _set(slot: Slot, state: Int64, before: Reduction, assignment: NDArray[np.int8]) -> None:
    """Give slots the states ``[m]`` in an assignment ``[N]``."""
    coordinate = before.compiled.free[slot.column]
    if slot.is_literal:
        assignment[coordinate[:, 0]] = state ^ (slot.lits[:, 0] < 0)
    else:
        assignment[coordinate] = np.arange(coordinate.shape[1]) == state[:, None]


def find_leaves(before: Reduction) -> tuple[ReductionStep, Reduction] | None:
    """Leaves of which no two are neighbours, and what they leave; None if there are none."""
    problem = before.compiled.problem
    units = find_units(problem)
    literals, taken = [np.zeros(0, np.int64)], np.zeros(units.count, bool)
    chosen = []
    for edges in leaf_edges(problem, before.flat, units):
        leaf, other = units.of[edges.leaf.column[:, 0]], units.of[edges.other.column[:, 0]]
        # The state that stands in is one that is possible beside everything.
        worst = edges.total.min(axis=1)
        state = worst.argmax(axis=1)
        rows = np.flatnonzero((worst.max(axis=1) > -np.inf) & ~taken[other])
        taken[leaf[rows]] = True
        own = _literals_of(edges.leaf)[rows, state[rows]].astype(np.int64)
        literals.append(own)
        chosen.append(edges.take(rows, own))
    found = np.concatenate(literals)
    if not len(found):
        return None
    step = Leaves(before.coordinates(found))
    after = step._after(before, chosen)
    assert after is not None, "stand-ins are possible beside everything"
    return step, after


def _literals_of(slot: Slot) -> Int32:
    """The literal ``[m, states]`` that is true in every state of a slot."""
    return np.concatenate([~slot.lits, slot.lits], axis=1) if slot.is_literal else slot.lits
