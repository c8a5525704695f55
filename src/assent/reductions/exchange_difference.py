"""What assignments are worth more than what a joint exchange of values turns them into.

That difference is a sum over the same factors, so link scores bound it as they bound a graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import SUM, DualPoint, Float, Int64, Problem, Scores
from assent.reductions.dense_tables import DenseTables, Slot, dense_tables, no_scores
from assent.reductions.exclusive_literals import Choices, find_choices, logic_groups


@dataclass(frozen=True, eq=False)
class Whole:
    """Factors of one size that make exactly one state of a variable true.

    Attributes:
        column: ``[m, size]`` all states of each.
        links: ``[m, size]`` numbers as in ``Problem.all_lits``.
    """

    column: Int64
    links: Int64


def whole_variables(problem: Problem, choices: Choices) -> Iterator[Whole]:
    """The factors that say of choices that they are such, by size."""
    begin = 2 * problem.n_pairs
    for group in logic_groups(problem):
        size, m = group.lits.shape
        says = (group.kind == SUM) & (group.k == 1) & (group.lits >= 0).all(axis=0)
        rows = np.flatnonzero(says & _are_whole(group.column.T, choices))
        links = begin + np.arange(size * m).reshape(size, m).T
        if len(rows):
            yield Whole(group.column[:, rows].T, links[rows])
        begin += size * m


def first_table_link(problem: Problem) -> int:
    """The number of the first link of a table in ``Problem.all_lits``."""
    return 2 * problem.n_pairs + len(problem.lits)


def movable(problem: Problem, choices: Choices) -> NDArray[np.bool_]:
    """Columns ``[n]`` of variables that are in nothing but tables, and in these as a whole."""
    inside = choices.number >= 0
    is_barred = ~inside
    is_barred[inside] = ~choices.is_tight[choices.number[inside]]
    others = np.ones(problem.n_links, bool)
    for variables in whole_variables(problem, choices):
        others[variables.links] = False
    begin = first_table_link(problem)
    others[begin : begin + len(problem.written.lits)] = False
    lits = problem.all_lits[others]
    is_barred[np.where(lits < 0, ~lits, lits)] = True
    for tables in dense_tables(problem, no_scores(problem)):
        for slot in tables.slots:
            torn = slot.is_literal | ~_are_whole(slot.column, choices)
            is_barred[slot.column[torn]] = True
    barred = np.zeros(choices.count, bool)
    barred[choices.number[is_barred & inside]] = True
    out = inside.copy()
    out[inside] = ~barred[choices.number[inside]]
    return out


def _are_whole(column: Int64, choices: Choices) -> NDArray[np.bool_]:
    """Whether rows ``[m, width]`` of columns are all columns of one choice each, ``[m]``."""
    number = choices.number[column]
    size = np.append(np.bincount(choices.number[choices.number >= 0]), 0)
    one = (number >= 0).all(axis=1) & (number == number[:, :1]).all(axis=1)
    return np.asarray(one & (size[number[:, 0]] == column.shape[1]))


def table_differences(problem: Problem, scores: Scores, to: Int64) -> Iterator[DenseTables]:
    """Tables of what joint states are worth more than what they turn into.

    ``to[n]`` is the column that each turns into, itself where nothing changes.  A joint state that
    is forbidden is worth ``-inf``, one that turns into such ``inf``.
    """
    for tables in dense_tables(problem, scores):
        index: list[Int64] = [np.arange(len(tables.scores))]
        for slot, states in zip(tables.slots, tables.scores.shape[1:], strict=True):
            index.append(states_after(slot, to, states))
        count = len(tables.slots)
        shaped = [index[0].reshape(-1, *[1] * count)]
        for axis, own in enumerate(index[1:]):
            shape = [len(own), *[1] * count]
            shape[axis + 1] = own.shape[1]
            shaped.append(own.reshape(shape))
        with np.errstate(invalid="ignore"):
            more = tables.scores - tables.scores[tuple(shaped)]
        yield DenseTables(tables.slots, np.where(tables.scores == -np.inf, -np.inf, more))


def states_after(slot: Slot, to: Int64, states: int) -> Int64:
    """The state ``[m, states]`` that each state of a slot turns into."""
    same = np.broadcast_to(np.arange(states), (len(slot.lits), states))
    if slot.is_literal:
        return same
    column, after = slot.column, to[slot.column]
    changed = after != column
    row, state = np.nonzero(changed)
    out = same.copy()
    out[row, state] = (column[row] == after[row, state][:, None]).argmax(axis=1)
    return out


def most_gained(problem: Problem, scores: Scores, to: Int64, dual: DualPoint) -> float:
    """The most that an assignment can be worth above what it turns into, as link scores show.

    ``inf`` where an exchange could break something.  Columns that are changed, or changed to, are
    to be `movable`.

    Example:
        >>> from assent.kernels.problem import make_problem, split_links
        >>> rule = (SUM, np.array([[0, 1]], np.int32), np.array([1], np.int32))
        >>> problem = make_problem(2, np.zeros((0, 2), np.int32), [rule])
        >>> scores = Scores(np.array([3.0, 1.0]), np.zeros(0))
        >>> most_gained(problem, scores, np.array([0, 0]), split_links(problem, np.zeros(2)))
        0.0
        >>> most_gained(problem, scores, np.array([1, 1]), split_links(problem, np.zeros(2)))
        2.0
    """
    choices = find_choices(problem)
    changed = np.flatnonzero(to != np.arange(problem.n))
    touched = np.concatenate([changed, to[changed]])
    if not movable(problem, choices)[touched].all():
        return np.inf
    if (choices.number[changed] != choices.number[to[changed]]).any():
        return np.inf
    links, used = dual.joined(), np.zeros(problem.n_links, bool)
    residual, total = scores.theta - scores.theta[to], 0.0
    for variables in whole_variables(problem, choices):
        own = links[variables.links]
        used[variables.links] = True
        np.subtract.at(residual, variables.column, own)
        total += float(own.max(axis=1).sum())
    begin = first_table_link(problem)
    for tables in table_differences(problem, scores, to):
        width = sum(slot.lits.shape[1] for slot in tables.slots)
        place = slice(begin, begin + len(tables.scores) * width)
        begin = place.stop
        used[place] = True
        total += _most_in_tables(tables, links[place].reshape(-1, width), residual)
    if links[~used].any():
        return np.inf
    return total + float(np.maximum(residual, 0.0).sum())


def _most_in_tables(tables: DenseTables, links: Float, residual: Float) -> float:
    """The sum of the largest entries of tables with link scores, which are taken off ``residual``.

    A negated literal is charged when it is false: what is left over counts at once.
    """
    total, left = tables.scores.copy(), 0.0
    ends = np.cumsum([slot.lits.shape[1] for slot in tables.slots])[:-1]
    for axis, (slot, own) in enumerate(
        zip(tables.slots, np.split(links, ends, axis=1), strict=True)
    ):
        extra = np.concatenate([np.zeros_like(own), own], axis=1) if slot.is_literal else own
        shape = [len(own), *[1] * len(tables.slots)]
        shape[axis + 1] = extra.shape[1]
        total += extra.reshape(shape)
        negated = slot.lits < 0
        np.subtract.at(residual, slot.column, np.where(negated, -own, own))
        left -= float(own[negated].sum())
    return left + float(total.reshape(len(total), -1).max(axis=1, initial=-np.inf).sum())
