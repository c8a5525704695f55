"""How far two coordinates, or two variables, are said to differ by a linear program.

A *difference* is 0 or 1 at integral points and linear in what the program knows:

    single     x                              from false
    two        u + v - 2 u v                  of two literals whose product is known: by a column,
                                              or as a constraint makes it zero
    variables  1 - sum over k of u_k v_k      of two variables that a table compares

It is written over *places*, where scores are: coordinate ``v``, the product of pair ``p`` at
``n + p``, entry ``j`` of the tables at ``n + P + j``.  What a place is worth in the columns of
the program is told apart, since a multiplier of a row reparametrises scores.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.table_groups import FlatTableGroup, table_groups
from assent.kernels.problem import POTTS, Float, Int32, Int64, Problem
from assent.solvers.cutting_planes.exclusive_pairs import Exclusions, exclusions
from assent.solvers.programs.compact_lp import CompactLP

if TYPE_CHECKING:
    from scipy import sparse

# Tables with more entries than this, times their pairs of slots, are left alone: differences
# would take more room than the program itself.
MOST_TERMS = 1 << 22


class Differences(NamedTuple):
    """``E`` differences: ``n`` of single coordinates, those of two, those of variables.

    Attributes:
        ends: ``[E, 2]`` coordinates: twice the same, two, or the first states of two variables.
        places: ``[E, places]`` over places, ``columns``: ``[E, C]`` over columns of the program.
        constant: ``[E]`` what ``places`` leave out, ``offset``: what ``columns`` leave out.
        links: ``[E, 2]`` for the literals of a product, their links in its factor, or -1.
        within: ``[E]`` for two states of two variables, the difference of the variables, or -1.
        rule: ``[E]`` for two literals that a constraint keeps from being both true, its number
            among the logic factors, or -1.
        n_single: how many of the first kind, ``n_two`` of the second.
    """

    ends: Int64
    places: sparse.csr_matrix
    columns: sparse.csr_matrix
    constant: Float
    offset: Float
    links: Int64
    within: Int64
    rule: Int64
    n_single: int
    n_two: int

    def at(self, columns: Float) -> Float:
        """All differences at a point of the program; within [0, 1] where its rows see to it."""
        return self.columns @ columns + self.offset

    def products(self) -> tuple[Int64, Int64]:
        """Ends ``[P, 2]`` and numbers ``[P]`` of those whose product has places, each once."""
        two = np.arange(self.n_single, self.n_single + self.n_two)
        two = two[self.rule[two] < 0]
        ends, first = np.unique(np.sort(self.ends[two], axis=1), axis=0, return_index=True)
        return ends, two[first]


def differences(problem: Problem, lp: CompactLP) -> Differences:
    """All differences that are linear in the columns of a program."""
    worth, rest, known = worth_of_places(problem, lp)
    builder = _DifferenceBuilder()
    builder.add_singles(problem.n)
    first_entry = problem.n + problem.n_pairs
    pairs = np.flatnonzero(known[problem.n : first_entry])
    u, v = problem.pair_var[pairs].T
    builder.add_two(u, v, (problem.n + pairs)[:, None], np.stack([2 * pairs, 2 * pairs + 1], 1))
    builder.add_excluding(exclusions(problem))
    variables = _ComparedVariables(builder)
    for group in table_groups(problem):
        lits, entry, m, k = group.lits, first_entry + group.places, len(group.lits), group.states[0]
        if group.kind == POTTS:
            all_known = known[entry].all(axis=1)
            rows = variables.add(lits[all_known, :k], lits[all_known, k:], entry[all_known])
            within = np.full(m, -1)
            within[all_known] = rows
            priced = np.nonzero(known[entry])
            link = group.links.reshape(m, 2, k)
            builder.add_two(
                lits[:, :k][priced], lits[:, k:][priced], entry[priced][:, None],
                np.stack([link[:, 0][priced], link[:, 1][priced]], axis=1), within[priced[0]],
            )  # fmt: skip
        elif len(group.states) > 1:
            _add_table(builder, variables, group, entry.reshape(m, *group.states))
    return builder.finish(problem.n, variables, worth, rest)


def worth_of_places(
    problem: Problem, lp: CompactLP
) -> tuple[sparse.csr_matrix, Float, NDArray[np.bool_]]:
    """What places are worth over the columns of a program, what that leaves out, which are known.

    An entry that is forbidden has no column and is worth nothing, which is known too.
    """
    from scipy import sparse

    n, rows = problem.n, lp.rows
    products = rows.products
    first_entry = n + problem.n_pairs
    count = first_entry + len(rows.entry_column)
    dense = np.flatnonzero(rows.entry_column >= 0)
    place, gains = n + products.place, products.gains
    lits = problem.all_lits[products.links[:, 0]]
    negated = (lits < 0) ^ products.opposite[:, 0]
    coordinate = np.where(lits < 0, ~lits, lits)
    row = np.concatenate([np.arange(n), place, place[gains], first_entry + dense])
    column = np.concatenate(
        [np.arange(n), n + products.column, coordinate[gains], n + rows.entry_column[dense]]
    )
    value = np.concatenate(
        [
            np.ones(n),
            np.where(gains, -1.0, 1.0),
            np.where(negated[gains], -1.0, 1.0),
            np.ones(len(dense)),
        ]
    )
    worth = sparse.csr_matrix((value, (row, column)), (count, len(lp.cost)))
    rest = np.zeros(count)
    rest[place[gains & negated]] = 1.0
    known = np.zeros(count, bool)
    known[row] = True
    return worth, rest, known


def _add_table(
    builder: _DifferenceBuilder,
    variables: _ComparedVariables,
    group: FlatTableGroup,
    entry: Int64,
) -> None:
    """Any two states of two slots of DENSE tables, ``entry[m, *states]``."""
    lits, shape, first, slots = group.lits, group.states, group.first, len(group.states)
    if entry.size * slots * (slots - 1) // 2 > MOST_TERMS:
        return
    columns = [lits[:, own] for own in group.columns]
    for i, j in combinations(range(slots), 2):
        both = np.moveaxis(entry, (1 + i, 1 + j), (1, 2))
        within = np.full((len(lits), shape[i], shape[j]), -1)
        if slots == 2 and shape[i] == shape[j] > 2 and not any(first):
            k = np.arange(shape[i])
            within[:, k, k] = variables.add(columns[i], columns[j], both[:, k, k])[:, None]
        both, within = (a[:, first[i] :, first[j] :] for a in (both, within))
        u = np.repeat(columns[i], columns[j].shape[1], axis=1)
        v = np.tile(columns[j], columns[i].shape[1])
        links = np.full((u.size, 2), -1)  # what its states must obey, a table's rows say
        builder.add_two(u.ravel(), v.ravel(), both.reshape(u.size, -1), links, within.ravel())


class _DifferenceBuilder:
    """Collects differences as triplets over places."""

    def __init__(self) -> None:
        self.count = 0
        self.ends: list[Int64] = []
        self.constant: list[Float] = []
        self.links: list[Int64] = []
        self.within: list[Int64] = []
        self.rule: list[Int64] = []
        self.row: list[Int64] = []
        self.place: list[Int64] = []
        self.value: list[Float] = []

    def add_singles(self, n: int) -> None:
        """Every coordinate's difference from false."""
        every = np.arange(n)
        self._rows(every, every, np.zeros(n))
        self._terms(every, every, np.ones(n))

    def add_excluding(self, found: Exclusions) -> None:
        """Two literals that are never both true: their product has no places."""
        no_entries, no_links = np.zeros((len(found.u), 0), np.int64), np.full((len(found.u), 2), -1)
        self.add_two(found.u, found.v, no_entries, no_links)
        self.rule[-1] = found.rule

    def add_two(
        self, u: Int32, v: Int32, entries: Int64, links: Int64, within: Int64 | None = None
    ) -> None:
        """Two literals ``u[E]``, ``v[E]`` whose product is the sum of ``entries[E, any]``."""
        negated, coordinates = (u < 0, v < 0), (np.where(u < 0, ~u, u), np.where(v < 0, ~v, v))
        flip = negated[0] ^ negated[1]
        sign = np.where(flip, -1.0, 1.0)
        rows = self.count + np.arange(len(u))
        constant = flip + sign * (negated[0].astype(float) + negated[1])
        self._rows(*coordinates, constant, links, within)
        for coordinate, opposite in zip(coordinates, negated, strict=True):
            self._terms(rows, coordinate, np.where(opposite, -sign, sign))
        each = np.broadcast_to(rows[:, None], entries.shape)
        self._terms(each.ravel(), entries.ravel(), -2.0 * np.repeat(sign, entries.shape[1]))

    def add_variables(self, u: Int64, v: Int64, entries: Int64) -> None:
        """Variables by their first states, compared by ``entries[E, K]``."""
        rows = self.count + np.arange(len(u))
        self._rows(u, v, np.ones(len(u)))
        each = np.broadcast_to(rows[:, None], entries.shape)
        self._terms(each.ravel(), entries.ravel(), np.full(entries.size, -1.0))

    def _rows(
        self,
        u: Int64,
        v: Int64,
        constant: Float,
        links: Int64 | None = None,
        within: Int64 | None = None,
    ) -> None:
        self.ends.append(np.stack([u, v], axis=1).astype(np.int64))
        self.constant.append(constant)
        self.links.append(np.full((len(u), 2), -1) if links is None else links)
        self.within.append(np.full(len(u), -1) if within is None else within)
        self.rule.append(np.full(len(u), -1))
        self.count += len(u)

    def _terms(self, rows: Int64, places: Int64, values: Float) -> None:
        self.row.append(rows)
        self.place.append(places.astype(np.int64))
        self.value.append(values)

    def finish(
        self, n: int, variables: _ComparedVariables, worth: sparse.csr_matrix, rest: Float
    ) -> Differences:
        """Everything collected, those of variables last."""
        from scipy import sparse

        n_two = self.count - n
        variables.finish()
        within = np.concatenate(self.within)
        within = np.where(within >= 0, n + n_two + within, -1)
        constant = np.concatenate(self.constant)
        where = np.concatenate(self.row), np.concatenate(self.place)
        shape = (self.count, worth.shape[0])
        places = sparse.csr_matrix((np.concatenate(self.value), where), shape)
        offset = constant + places @ rest
        columns = (places @ worth).tocsr()
        return Differences(
            np.concatenate(self.ends), places, columns, constant, offset,
            np.concatenate(self.links), within, np.concatenate(self.rule), n, n_two,
        )  # fmt: skip


class _ComparedVariables:
    """Collects differences of variables, whose states must be listed in one order everywhere."""

    def __init__(self, builder: _DifferenceBuilder) -> None:
        self.builder = builder
        self.states: dict[int, bytes] = {}
        self.count = 0
        self.parts: list[tuple[Int64, Int64, Int64]] = []

    def add(self, u: Int32, v: Int32, entries: Int64) -> Int64:
        """Variables of states ``u[m, K]`` and ``v[m, K]``: their numbers, -1 where refused."""
        agreed = np.array([self._agree(a) and self._agree(b) for a, b in zip(u, v, strict=True)])
        kept = np.flatnonzero(agreed) if len(u) else np.zeros(0, np.int64)
        numbers = np.full(len(u), -1)
        numbers[kept] = self.count + np.arange(len(kept))
        self.count += len(kept)
        self.parts.append((u[kept, 0], v[kept, 0], entries[kept]))
        return numbers

    def _agree(self, states: Int32) -> bool:
        """Whether the variable that begins with this state was listed in the same order before."""
        listed = states.tobytes()
        return self.states.setdefault(int(states[0]), listed) == listed

    def finish(self) -> None:
        """Hand them to the builder."""
        for u, v, entries in self.parts:
            self.builder.add_variables(u, v, entries)
