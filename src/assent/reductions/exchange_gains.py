"""What exchanging one value of a variable for another gains at least, whatever the others are.

There are two exchanges.  A *flip* changes one column alone.  A *swap* makes a true column of a
choice false and the choice's *target* true in its place.  Both are possible only where every
assignment that satisfies the constraints still does so afterwards; their gain is the sum of the
least that every factor can gain by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.compile.table_groups import table_groups
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, SUM, Float, Int64, Problem, Scores
from assent.model.variables import coordinates_of
from assent.reductions.dense_tables import DenseTables, dense_tables
from assent.reductions.exclusive_literals import Choices, LogicGroup, logic_groups


@dataclass(frozen=True, eq=False)
class Gains:
    """The least gains of exchanges; ``-inf`` for one that is not possible.

    Attributes:
        flip: ``[n, 2]`` of taking the value 0 or 1 from a column by flipping it.
        swap: ``[n]`` of taking the value 1 from a column of a choice for its target.
    """

    flip: Float
    swap: Float


def least_gains(problem: Problem, scores: Scores, choices: Choices, target: Int64) -> Gains:
    """Least gains of all flips, and of all swaps for the columns ``target[C]``."""
    theta = scores.theta
    flip = np.stack([theta, -theta], axis=1)
    swap = np.full(problem.n, -np.inf)
    inside = np.flatnonzero(choices.number >= 0)
    goal = target[choices.number[inside]]
    rise, fall = _pair_gains(problem, scores)
    flip += np.stack([rise, fall], axis=1)
    swap[inside] = theta[goal] - theta[inside] + rise[goal] + fall[inside]
    for group in logic_groups(problem):
        _block_flips(group, flip)
        swap[_blocked_swaps(group, choices, target)] = -np.inf
    frozen = _frozen(problem)
    flip[frozen] = -np.inf
    for tables in dense_tables(problem, scores):
        for slot in range(len(tables.slots)):
            _add_table(tables, slot, choices, target, flip, swap, frozen)
    swap[frozen] = -np.inf
    swap[inside[frozen[goal]]] = -np.inf
    swap[target] = -np.inf
    return Gains(flip, swap)


def _pair_gains(problem: Problem, scores: Scores) -> tuple[Float, Float]:
    """The least that pairs gain where a column becomes true, and where it becomes false."""
    columns = problem.pair_var.ravel()
    each = np.repeat(scores.pair, 2)
    rise = np.bincount(columns, np.minimum(each, 0.0), minlength=problem.n)
    fall = np.bincount(columns, np.minimum(-each, 0.0), minlength=problem.n)
    return rise.astype(float), fall.astype(float)


def _frozen(problem: Problem) -> NDArray[np.bool_]:
    """Columns ``[n]`` of structures, and of factors that a column is in twice."""
    rows = [group.column.T for group in logic_groups(problem)]
    rows += [_columns(group.lits) for group in table_groups(problem)]
    frozen = np.zeros(problem.n, bool)
    for own in rows:
        ordered = np.sort(own, axis=1)
        frozen[own[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]] = True
    frozen[_columns(problem.tables.lits[len(problem.written.lits) :])] = True
    return frozen


def _columns(lits: NDArray[np.int32]) -> Int64:
    return coordinates_of(lits).astype(np.int64)


# ---------------------------------------------------------------- constraints


def _block_flips(group: LogicGroup, flip: Float) -> None:
    """No flip may break a constraint: a budget only gets smaller, the others never change."""
    if group.kind in (CAP, KNAPSACK):
        flip[group.column[group.weight > 0.0], 0] = -np.inf
        flip[group.column[group.weight < 0.0], 1] = -np.inf
    else:
        flip[group.column] = -np.inf


def _blocked_swaps(group: LogicGroup, choices: Choices, target: Int64) -> Int64:
    """Columns that cannot be swapped for their targets, as a constraint could be broken.

    A constraint with the target in it is one for all columns of the choice, also for those that
    it does not mention.
    """
    goals = _Goals.of(group, choices, target)
    place, row = np.nonzero(choices.number[group.column] >= 0)
    column = group.column[place, row]
    own = choices.number[column]
    other = column != target[own]
    place, row, column, own = place[other], row[other], column[other], own[other]
    goal = goals.find(row, own)
    breaks = _breaks(group, place, row, goal, goals)
    # Blocked by mentioning it, and by not mentioning it where only the target is mentioned.
    size = len(choices.number)
    blocked = np.bincount(column, breaks, minlength=size)
    mentioned = np.bincount(column, goals.alone[goal], minlength=size)
    alone = np.bincount(goals.own, goals.alone[:-1], minlength=choices.count)
    inside = np.flatnonzero(choices.number >= 0)
    unmentioned = alone[choices.number[inside]] - mentioned[inside]
    return inside[(blocked[inside] > 0) | (unmentioned > 0)]


def _breaks(
    group: LogicGroup, place: Int64, row: Int64, goal: Int64, goals: _Goals
) -> NDArray[np.bool_]:
    """Whether swaps of columns at ``place, row`` can break a constraint that mentions them."""
    has = goal >= 0
    change = np.where(has, goals.weight[goal], 0.0) - group.weight[place, row]
    if group.kind in (CAP, KNAPSACK):
        return np.asarray(change > 0.0)
    if group.kind == SUM:
        return np.asarray(change != 0.0)
    if group.kind == PARITY:  # two changes are none
        return np.asarray(~has)
    assert group.kind == ANYOF
    output = len(group.column) - 1
    inputs = has & (place < output) & (goals.place[goal] < output)
    return np.asarray(~inputs | (change != 0.0))


@dataclass(frozen=True, eq=False)
class _Goals:
    """Where targets stand in the constraints of a group, in the order of ``key``.

    ``alone`` says whether becoming true breaks the constraint if nothing else in it changes.
    """

    key: Int64
    own: Int64
    place: Int64
    weight: Float
    alone: NDArray[np.bool_]
    count: int

    @classmethod
    def of(cls, group: LogicGroup, choices: Choices, target: Int64) -> _Goals:
        own = choices.number[group.column]
        place, row = np.nonzero((own >= 0) & (group.column == np.append(target, -1)[own]))
        own = own[place, row]
        key = row * choices.count + own
        order = np.argsort(key, kind="stable")
        weight = group.weight[place, row][order]
        alone = weight > 0.0 if group.kind in (CAP, KNAPSACK) else np.ones(len(order), bool)
        # One more that stands for "none": index -1.
        return cls(
            key[order], own[order], np.append(place[order], -1), np.append(weight, 0.0),
            np.append(alone, False), choices.count,
        )  # fmt: skip

    def find(self, row: Int64, own: Int64) -> Int64:
        """The number of the target of choice ``own`` in constraint ``row``, -1 for none."""
        key = row * self.count + own
        at = np.searchsorted(self.key, key)
        found = at < len(self.key)
        found[found] = self.key[at[found]] == key[found]
        return np.where(found, at, -1)


# ---------------------------------------------------------------- tables


def _add_table(
    tables: DenseTables,
    slot: int,
    choices: Choices,
    target: Int64,
    flip: Float,
    swap: Float,
    frozen: NDArray[np.bool_],
) -> None:
    """Add the least gains of one slot of some tables; what cannot be swapped is ``frozen``."""
    own, seen = tables.slots[slot], tables.from_slot(slot)
    if own.is_literal:
        rise, fall = _least(seen, 1, 0), _least(seen, 0, 1)
        column, gained = own.column[:, 0], np.stack([rise, fall], axis=1)
        np.add.at(flip, column, np.where(own.lits < 0, gained[:, ::-1], gained))
        frozen[column] = True
        return
    flip[own.column] = -np.inf
    number = choices.number[own.column]
    goal = np.append(target, -1)[number[:, 0]]
    at_goal = own.column == goal[:, None]
    swappable = (number == number[:, :1]).all(axis=1) & at_goal.any(axis=1)
    frozen[own.column[~swappable]] = True
    rows = np.flatnonzero(swappable)
    gained = _least_swaps(seen[rows], at_goal[rows].argmax(axis=1))
    np.add.at(swap, own.column[rows], gained)


def _least(seen: Float, to: int, lost: int) -> Float:
    """The least gain ``[m]`` of state ``to`` in place of ``lost`` where the latter is possible."""
    possible = seen[:, :, lost] != -np.inf
    with np.errstate(invalid="ignore"):
        gained = np.where(possible, seen[:, :, to] - seen[:, :, lost], np.inf)
    return np.where(possible.any(axis=1), gained.min(axis=1), 0.0)


def _least_swaps(seen: Float, goal: Int64) -> Float:
    """The least gains ``[m, states]`` of the state ``goal[m]`` in place of each."""
    possible = seen != -np.inf
    with np.errstate(invalid="ignore"):
        to = np.take_along_axis(seen, goal[:, None, None], axis=2)
        gained = np.where(possible, to - seen, np.inf)
    return np.where(possible.any(axis=1), gained.min(axis=1), 0.0)
