"""Tables of the flat problem, group by group, with a score per joint state."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from assent.compile.table_groups import table_groups
from assent.kernels.problem import POTTS, Float, Int32, Int64, Problem, Scores
from assent.model.variables import coordinates_of

# Entries held together: some megabytes.
AT_ONCE = 1 << 22


class Slot(NamedTuple):
    """A variable of a table: its literals ``[m, width]``, and whether it is a single one.

    A single literal has two states, false and true; otherwise every state has a literal.
    """

    lits: Int32
    is_literal: bool

    @property
    def column(self) -> Int64:
        """Columns of the literals."""
        return coordinates_of(self.lits).astype(np.int64)

    def add_scores(self, scores: Float, theta: Float) -> float:
        """Add ``scores[m, states]`` to the columns' own ``theta``; returns the constant left."""
        if not self.is_literal:
            np.add.at(theta, self.column, scores)
            return 0.0
        true = scores[:, 1] - scores[:, 0]
        negated = self.lits[:, 0] < 0
        np.add.at(theta, self.column[:, 0], np.where(negated, -true, true))
        return float(scores[:, 0].sum() + true[negated].sum())


class DenseTables(NamedTuple):
    """Tables of one shape: their slots, and a score per joint state, ``[m, *states]``."""

    slots: tuple[Slot, ...]
    scores: Float

    def from_slot(self, slot: int) -> Float:
        """Scores ``[m, joint states of the others, states]`` as one slot sees them."""
        moved = np.moveaxis(self.scores, slot + 1, -1)
        return moved.reshape(len(moved), -1, moved.shape[-1])


def no_scores(problem: Problem) -> Scores:
    """All zero."""
    entries = np.zeros(int(problem.tables.entry[-1]))
    return Scores(np.zeros(problem.n), np.zeros(problem.n_pairs), 0.0, entries)


def dense_tables(problem: Problem, scores: Scores) -> Iterator[DenseTables]:
    """All tables that are no structures, some at a time."""
    for group in table_groups(problem):
        states, entries = group.states, group.scores(scores.table)
        step = max(1, AT_ONCE // prod(states))
        for begin in range(0, len(entries), step):
            rows = slice(begin, begin + step)
            own = entries[rows]
            if group.kind == POTTS:
                joint = np.zeros((len(own), *states))
                every = np.arange(states[0])
                joint[:, every, every] = own
            else:
                joint = own.reshape(-1, *states)
            slots = zip(group.columns, group.first, strict=True)
            yield DenseTables(
                tuple(Slot(group.lits[rows, columns], bool(first)) for columns, first in slots),
                joint,
            )
