"""All factors of a problem in one list of groups, for decoders that ask them in turn.

AD3 has a loop of its own for every kind of factor.  Decoders that only ask a factor for its best
vertex, its max-marginals or its marginals need less: here every group of factors, of whatever
kind, is one row of integers, and all links stand in one array: two per pair, then those of logic
factors, then those of tables and structures.

Link ``j`` of factor ``f`` of a group is ``LINK + f * ALONG + j * ACROSS``.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from assent.kernels.core.structure_addresses import function_address
from assent.kernels.problem import Float, Int32, Int64, Problem, Scores

# Codes of groups: those of logic forms (CAP to KNAPSACK), pairs, then tables by their kind.
TABLE = 8  # DENSE, POTTS, STRUCTURE and CALLBACK count from here
PAIR = 5

# Columns of ``Flat.groups``.
CODE = 0
COUNT = 1  # factors in the group
SIZE = 2  # links per factor
LINK = 3  # first link
ACROSS = 4  # from a link of a factor to its next one
ALONG = 5  # from a factor's first link to that of the next factor
FACTOR = 6  # number of its first factor
ITEM = 7  # right-hand sides of CAP and SUM begin here in ``k``
WEIGHT = 8  # weights of KNAPSACK begin here in ``numbers``
CAPACITY = 9  # and capacities here
SLOTS = 10  # of a table
PLACES = 11  # states of all slots
START = 12  # first places of its slots begin here in ``integers``, SLOTS + 1 of them
PLACE = 13  # the places of its links begin here in ``integers``
BASE = 14  # what places score in any case (0, or -inf) begins here in ``numbers``
ENTRY = 15  # scores of joint states or inner parts begin here
ENTRIES = 16  # as many per factor
DATA = 17  # constants of a structure begin here in ``integers``
DATA_END = 18
ADDRESS = 19  # of its compiled function
AS_PLACES = 20  # whether a table's links are its places, in order, and all are possible
SLOT = 21  # first slot of a table, among those of all tables
COLUMNS = 22


class Flat(NamedTuple):
    """The structure of a problem; see the columns above."""

    groups: Int64  # [G, COLUMNS]
    lits: Int32  # one per link
    k: Int32
    numbers: Float
    integers: Int32


class ScoredFactors(NamedTuple):
    """All factors of a problem with their scores, as kernels take them."""

    flat: Flat
    inner: Float  # scores of pairs, then entries of tables
    theta: Float  # [n]
    degree: Int32  # [n] links of each coordinate
    constant: float


def scored_factors(problem: Problem, scores: Scores, question: str) -> ScoredFactors:
    """The problem's factors and scores, ready to be asked one question."""
    return ScoredFactors(
        flat_of(problem, question), inner_scores(scores), scores.theta, problem.degree,
        float(scores.constant),
    )  # fmt: skip


_known: WeakKeyDictionary[Problem, dict[str, Flat]] = WeakKeyDictionary()


def flat_of(problem: Problem, question: str) -> Flat:
    """The problem's groups, ready to be asked one question; made at the first call.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> flat_of(problem, "maximize").lits.tolist()
        [0, 1]
    """
    known = _known.setdefault(problem, {})
    if question not in known:
        known[question] = _Builder(problem, question).flat()
    return known[question]


def inner_scores(scores: Scores) -> Float:
    """Scores of pairs, then entries of tables: what ``ENTRY`` points into, read-only."""
    inner = np.concatenate([scores.pair, scores.table])
    inner.flags.writeable = False
    return inner


def first_links(problem: Problem) -> tuple[int, int]:
    """Where the links of logic factors and of tables begin."""
    return 2 * problem.n_pairs, 2 * problem.n_pairs + len(problem.lits)


def largest(flat: Flat) -> tuple[int, int, int]:
    """Most links, places and inner parts of any factor, at least one each.

    Two places per link, so that a literal's false and true have one each.
    """
    g = flat.groups
    size = int(g[:, SIZE].max(initial=1))
    entries = int(g[:, ENTRIES].max(initial=1))
    return size, max(2 * size, int(g[:, PLACES].max(initial=1))), max(entries, 1)


def links_of_group(row: Int64) -> Int64:
    """Links ``[size, count]`` of a group: one column per factor."""
    position, factor = np.arange(row[SIZE])[:, None], np.arange(row[COUNT])
    return row[LINK] + position * row[ACROSS] + factor * row[ALONG]


class _Builder:
    """Collects the rows and arrays of a :class:`Flat`."""

    def __init__(self, problem: Problem, question: str) -> None:
        self.problem = problem
        self.question = question
        self.rows: list[np.ndarray] = []
        self.integers: list[np.ndarray] = []
        self.numbers = [problem.weights, problem.capacity]
        # Counted as they come: there may be a group per factor.
        self.integer_count, self.number_count = 0, len(problem.weights) + len(problem.capacity)
        self.factors = 0

    def flat(self) -> Flat:
        self._add_pairs()
        self._add_logic()
        self._add_tables()
        flat = Flat(
            np.array(self.rows, np.int64).reshape(-1, COLUMNS),
            self.problem.all_lits,
            self.problem.k,
            np.concatenate(self.numbers),
            np.concatenate([np.zeros(0, np.int32), *self.integers]).astype(np.int32, copy=False),
        )
        for array in flat:
            array.flags.writeable = False
        return flat

    def _row(self, code: int, count: int, size: int, link: int) -> np.ndarray:
        row = np.zeros(COLUMNS, np.int64)
        row[CODE], row[COUNT], row[SIZE], row[LINK] = code, count, size, link
        row[FACTOR], row[ACROSS], row[ALONG] = self.factors, 1, size
        self.factors += count
        self.rows.append(row)
        return row

    def _keep(self, values: np.ndarray) -> int:
        """Where ``values`` begin in ``integers``."""
        self.integers.append(values)
        self.integer_count += len(values)
        return self.integer_count - len(values)

    def _keep_numbers(self, values: np.ndarray) -> int:
        """Where ``values`` begin in ``numbers``."""
        self.numbers.append(values)
        self.number_count += len(values)
        return self.number_count - len(values)

    def _add_pairs(self) -> None:
        if self.problem.n_pairs:
            row = self._row(PAIR, self.problem.n_pairs, 2, 0)
            row[ENTRIES] = 1

    def _add_logic(self) -> None:
        p = self.problem
        first_link, _ = first_links(p)
        first_weight = len(p.lits) - len(p.weights)
        first_capacity = p.n_logic - len(p.capacity)
        for g, kind in enumerate(p.group_kind):
            count, size = int(p.group_count[g]), int(p.group_size[g])
            row = self._row(int(kind), count, size, first_link + int(p.group_link[g]))
            row[ACROSS], row[ALONG] = count, 1
            row[ITEM] = p.group_factor[g]
            row[WEIGHT] = p.group_link[g] - first_weight
            row[CAPACITY] = len(p.weights) + p.group_factor[g] - first_capacity

    def _add_tables(self) -> None:
        p, t = self.problem, self.problem.tables
        _, first_link = first_links(p)
        written = len(t.kind) - len(p.models)
        for g, kind in enumerate(t.kind):
            count = int(t.factor[g + 1] - t.factor[g])
            size = int(t.link[g + 1] - t.link[g]) // count
            row = self._row(TABLE + int(kind), count, size, first_link + int(t.link[g]))
            slots = slice(t.slot[g], t.slot[g + 1])
            start = np.zeros(slots.stop - slots.start + 1, np.int64)
            np.cumsum(t.states[slots], out=start[1:])
            row[SLOTS], row[PLACES] = len(start) - 1, start[-1]
            row[START], row[SLOT] = self._keep(start), t.slot[g]
            row[ENTRY] = p.n_pairs + t.entry[g]
            row[ENTRIES] = (t.entry[g + 1] - t.entry[g]) // count
            row[AS_PLACES] = size == start[-1]  # what is impossible in a structure has no link
            if g < written:
                row[PLACE] = self._keep(_places(start, t.first[slots], t.states[slots]))
                row[BASE] = self._keep_numbers(np.zeros(start[-1]))
                continue
            model = p.models[g - written]
            row[PLACE] = self._keep(model.place)
            row[DATA] = self._keep(model.structure.data)
            row[DATA_END] = row[DATA] + len(model.structure.data)
            row[BASE] = self._keep_numbers(model.base)
            row[ADDRESS] = function_address(model.structure, self.question)


def _places(start: Int64, first: Int32, states: Int32) -> Int64:
    """Where the states with a link stand, of slots that begin at ``start``."""
    if not first.any():
        return np.arange(start[-1])
    slots = zip(start, first, states, strict=False)
    return np.concatenate([np.arange(s + f, s + k) for s, f, k in slots])
