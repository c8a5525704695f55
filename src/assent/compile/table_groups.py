"""The groups of tables and structures of a flat problem, one after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from assent.factors.scored import slot_links
from assent.kernels.core.memo import remembered
from assent.kernels.problem import Float, Int32, Int64, Problem


class FlatTableGroup(NamedTuple):
    """``m`` tables, or structures, of one kind and shape, as in :class:`Tables`.

    ``link`` is the first link in ``Problem.all_lits``, ``entries`` are scores in ``Scores.table``,
    ``number`` and ``factors`` count groups and factors.
    """

    number: int
    kind: int
    states: tuple[int, ...]
    first: tuple[int, ...]
    lits: Int32  # [m, links]
    link: int
    entries: slice
    factors: slice

    @property
    def links(self) -> Int64:
        """``[m, links]`` in ``Problem.all_lits``."""
        return self.link + np.arange(self.lits.size).reshape(self.lits.shape)

    @property
    def places(self) -> Int64:
        """``[m, entries]`` in ``Scores.table``."""
        return np.arange(self.entries.start, self.entries.stop).reshape(len(self.lits), -1)

    @property
    def columns(self) -> tuple[slice, ...]:
        """The columns of ``lits`` that belong to each slot of a table."""
        return slot_links(self.states, self.first)

    def scores(self, table: Float) -> Float:
        """The group's scores ``[m, entries]``."""
        return table[self.entries].reshape(len(self.lits), -1)


@remembered
def all_groups(problem: Problem) -> list[FlatTableGroup]:
    """Groups of tables, then those of structures."""
    t, first_link = problem.tables, 2 * problem.n_pairs + len(problem.lits)
    slots, links, entries, factors = (
        [slice(*ends) for ends in pairwise(column.tolist())]
        for column in (t.slot, t.link, t.entry, t.factor)
    )
    return [
        FlatTableGroup(
            g, int(kind), tuple(t.states[slots[g]].tolist()), tuple(t.first[slots[g]].tolist()),
            t.lits[links[g]].reshape(factors[g].stop - factors[g].start, -1),
            first_link + links[g].start, entries[g], factors[g],
        )
        for g, kind in enumerate(t.kind)
    ]  # fmt: skip


def table_groups(problem: Problem) -> list[FlatTableGroup]:
    """Groups of tables."""
    return all_groups(problem)[: len(problem.tables.kind) - len(problem.models)]


def structure_groups(problem: Problem) -> list[FlatTableGroup]:
    """Groups of structures, one for each of the problem's models."""
    return all_groups(problem)[len(problem.tables.kind) - len(problem.models) :]
