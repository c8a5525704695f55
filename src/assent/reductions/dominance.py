"""Dominated values: some best assignment is without them, by an exchange that never loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float, Int32, Int64, Problem, Scores
from assent.model.variables import coordinates_of
from assent.proof.certify import literal_truth
from assent.reductions.dense_tables import dense_tables
from assent.reductions.exchange_gains import least_gains
from assent.reductions.exclusive_literals import Choices, find_choices
from assent.reductions.reduction import Reduction, ReductionStep


@dataclass(frozen=True, eq=False)
class Exchanges(ReductionStep):
    """Dominated values, pruned at once: an assignment with one loses nothing by its exchange.

    Literal ``lost[i]`` becomes false and ``by[i]`` true instead: its own negation (a flip), or
    another literal of a set of which at most one is true (a swap).  An exchange that loses
    something adds it to the bound.
    """

    lost: Int32
    by: Int32

    what: ClassVar[tuple[str, str]] = ("value", "pruned by dominance")

    def apply(self, before: Reduction) -> Reduction | None:
        """The values are pruned, if no exchange brings another one's lost value back."""
        lost, by = before.columns(self.lost), before.columns(self.by)
        if lost is None or by is None or len(lost) != len(by) or np.isin(by, lost).any():
            return None
        column = coordinates_of(lost)
        if len(np.unique(column)) != len(column):
            return None
        gained = _gains(before, lost, by)
        if gained is None or np.isneginf(gained).any():
            return None
        return before.with_loss(float(np.maximum(-gained, 0.0).sum())).given((~self.lost).tolist())

    def follow(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """All exchanges made."""
        out = assignment.copy()
        chosen = literal_truth(self.lost, assignment)
        for literals, value in ((self.lost[chosen], 0), (self.by[chosen], 1)):
            out[coordinates_of(literals)] = value ^ (literals < 0)
        return out

    @property
    def count(self) -> int:
        """How many."""
        return len(self.lost)


def _gains(before: Reduction, lost: Int64, by: Int64) -> Float | None:
    """What exchanges gain at least; None where a choice has two targets, or there is no choice."""
    problem = before.compiled.problem
    choices = find_choices(problem)
    is_flip = by == ~lost
    swaps = np.flatnonzero(~is_flip)
    if (np.minimum(lost, by)[swaps] < 0).any():
        return None
    number = choices.number[lost[swaps]]
    if ((number < 0) | (choices.number[by[swaps]] != number)).any():
        return None
    inside = np.flatnonzero(choices.number >= 0)
    target = inside[np.unique(choices.number[inside], return_index=True)[1]]  # the first members
    target[number] = by[swaps]
    if (target[number] != by[swaps]).any():
        return None
    gains = least_gains(problem, before.flat, choices, target)
    flips = gains.flip[coordinates_of(lost), (lost >= 0).astype(np.int64)]
    return np.where(is_flip, flips, gains.swap[np.maximum(lost, 0)])


def find_exchanges(before: Reduction) -> tuple[ReductionStep, Reduction] | None:
    """Exchanges that lose nothing, and what they leave; None if there are none.

    The target of a choice is the state of the best estimate.
    """
    problem, flat = before.compiled.problem, before.flat
    choices = find_choices(problem)
    target = _best_members(choices, _estimates(problem, flat))
    gains = least_gains(problem, flat, choices, target)
    dropped = gains.flip >= 0.0
    value = np.where(dropped[:, 0], 0, np.where(dropped[:, 1], 1, -1))
    swaps = np.flatnonzero((gains.swap >= 0.0) & (value < 0))
    swaps = swaps[value[target[choices.number[swaps]]] != 1]  # a target is not pruned itself
    flips = np.flatnonzero(value >= 0)
    if not len(flips) + len(swaps):
        return None
    lost = np.concatenate([np.where(value[flips] == 1, flips, ~flips), swaps])
    by = np.concatenate([~lost[: len(flips)], target[choices.number[swaps]]])
    step = Exchanges(before.coordinates(lost), before.coordinates(by))
    return step, before.given((~step.lost).tolist())


def _best_members(choices: Choices, estimates: Float) -> Int64:
    """The column of every choice whose estimate is best, ``[C]``."""
    inside = np.flatnonzero(choices.number >= 0)
    order = inside[np.lexsort((-estimates[inside], choices.number[inside]))]
    _, first = np.unique(choices.number[order], return_index=True)
    return order[first]


def _estimates(problem: Problem, scores: Scores) -> Float:
    """Estimated values of columns, ``[n]``: their score, and what factors give them on average.

    Where a factor forbids some of it, less than all others.
    """
    total = scores.theta.copy()
    total += 0.5 * np.bincount(
        problem.pair_var.ravel(), np.repeat(scores.pair, 2), minlength=problem.n
    )
    forbidden = np.zeros(problem.n)
    for tables in dense_tables(problem, scores):
        for slot, own in enumerate(tables.slots):
            if own.is_literal:
                continue
            seen = tables.from_slot(slot)
            possible = seen != -np.inf
            share = possible.mean(axis=1)
            mean = np.where(possible, seen, 0.0).mean(axis=1) / np.maximum(share, 1e-9)
            np.add.at(total, own.column, mean)
            np.add.at(forbidden, own.column, 1.0 - share)
    above = 1.0 + 2.0 * float(np.abs(total).max(initial=0.0))  # more than any two differ by
    return total - above * forbidden
