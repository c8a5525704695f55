"""The compiled problem: flat, read-only arrays that every solver and kernel works on.

Maximise ``constant + theta . x + sum_e pair[e] * x_i * x_j + scores of tables`` over binary
coordinates ``x`` subject to logic factors.  Structure (:class:`Problem`) and scores
(:class:`Scores`) are apart, so that a graph compiled once is decoded again with new scores only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# The logic forms every constraint is reduced to; negated literals do the rest.
CAP = 0  # sum of literals <= k
SUM = 1  # sum of literals == k
ANYOF = 2  # last literal == OR of the others
PARITY = 3  # an even number of literals is true
KNAPSACK = 4  # weights . literals <= capacity

# The kinds of tables.
DENSE = 0  # a score for every joint state
POTTS = 1  # two slots, a score per common state
STRUCTURE = 2  # joint states searched by a compiled function
CALLBACK = 3  # joint states searched by a Python function

Float = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Tables(NamedTuple):
    """Factors that score joint states, in ``T`` groups of one kind and shape.

    A factor has slots; a slot is a categorical variable (``first`` 0: every state is a
    coordinate) or a binary one (``first`` 1: state 1 is its coordinate, state 0 has none).
    A row of ``lits`` holds the coordinates of a factor's slots, one after the other; a row of
    scores has an entry per joint state, the last slot fastest (POTTS: an entry per state).

    Structures stand behind the tabulated factors.  Their slots may have fewer
    coordinates (:class:`Model` says which), an entry of theirs is the score of an inner part.

    Attributes:
        kind: ``[T]`` DENSE or POTTS, then STRUCTURE or CALLBACK.
        slot: ``[T + 1]`` the group's slots are ``slot[t]:slot[t + 1]``.
        states: ``[slots]`` number of states, ``first``: ``[slots]`` 0 or 1.
        link: ``[T + 1]`` the group's rows of ``lits``, ``[m, links]``, begin here.
        entry: ``[T + 1]`` the group's rows of scores, ``[m, entries]``, begin here.
        factor: ``[T + 1]`` the group's ``m`` factors are ``factor[t]:factor[t + 1]``.
        lits: coordinates ``v``, or ``~v`` for a binary slot that reads a negated literal.
    """

    kind: NDArray[np.int8]
    slot: Int64
    states: Int32
    first: Int32
    link: Int64
    entry: Int64
    factor: Int64
    lits: Int32


class Model(NamedTuple):
    """What a group of structures has beside :class:`Tables`.

    Attributes:
        structure: the factor that the group was made from; it has the compiled functions.
        place: ``[links]`` the place (slots' states, counted through) of each coordinate.
        base: ``[places]`` 0, or ``-inf`` for a state that cannot be.
    """

    structure: Any
    place: Int32
    base: Float


class LogicGroups(NamedTuple):
    """The logic factors of a :class:`Problem`, whose attributes these are, as kernels take them.

    A group holds ``members`` factors of one form and size.  Link ``j`` of factor ``f`` (counted
    within its group) stands at ``link + j * members + f``: factors of a group are processed side by
    side, so their links are stored transposed.
    """

    kind: NDArray[np.int8]  # [G] CAP, SUM, ANYOF, PARITY or KNAPSACK, in this order
    size: Int32  # [G] literals per factor, an ANYOF's output included
    members: Int64  # [G] factors
    link: Int64  # [G] first link
    factor: Int64  # [G] first factor
    lits: Int32  # [L]
    k: Int32  # [F]
    weights: Float  # one per link of the KNAPSACK groups
    capacity: Float  # one per KNAPSACK factor


class ScoredProblem(NamedTuple):
    """Pairs and logic factors of a :class:`Problem` with :class:`Scores`, as kernels take them."""

    pair_var: Int32  # [P, 2]
    groups: LogicGroups
    theta: Float  # [n]
    pair: Float  # [P]
    constant: float


@cache
def no_tables() -> Tables:
    """A problem without tables."""
    return make_tables([])


def make_tables(
    groups: list[tuple[int, tuple[int, ...], tuple[int, ...], Int32]], parts: Sequence[int] = ()
) -> Tables:
    """Assemble ``(kind, states, first, lits[m, links])`` groups, in the order given.

    ``parts`` are the numbers of inner parts of the structures, which come last.

    Example:
        >>> group = (DENSE, (3, 2), (0, 1), np.arange(4, dtype=np.int32)[None])
        >>> tables = make_tables([group])
        >>> tables.entry.tolist(), tables.link.tolist()
        ([0, 6], [0, 4])
    """
    written = groups[: len(groups) - len(parts)]
    entries = [
        *(states[0] if kind == POTTS else prod(states) for kind, states, _, _ in written),
        *parts,
    ]
    counts = [len(lits) for *_, lits in groups]
    tables = Tables(
        kind=np.array([g[0] for g in groups], np.int8),
        slot=_offsets([len(g[1]) for g in groups]),
        states=np.array([k for g in groups for k in g[1]], np.int32),
        first=np.array([f for g in groups for f in g[2]], np.int32),
        link=_offsets([g[3].size for g in groups]),
        entry=_offsets([m * e for m, e in zip(counts, entries, strict=True)]),
        factor=_offsets(counts),
        lits=_joined([g[3].ravel() for g in groups], np.int32),
    )
    for array in tables:
        array.setflags(write=False)
    return tables


def joint_places(tables: Tables) -> list[Int64]:
    """Numbers ``[m, joint states]`` of all joint states of the tables, group after group.

    Structures, whose joint states are not tabulated, have numbers for their entries.

    Example:
        >>> two = np.zeros((1, 4), np.int32)
        >>> [part.tolist() for part in joint_places(make_tables([(POTTS, (2, 2), (0, 0), two)]))]
        [[[0, 1, 2, 3]]]
    """
    out, begin = [], 0
    for t, kind in enumerate(tables.kind):
        m = int(tables.factor[t + 1] - tables.factor[t])
        if kind in (DENSE, POTTS):
            width = int(np.prod(tables.states[tables.slot[t] : tables.slot[t + 1]], dtype=np.int64))
        else:
            width = int(tables.entry[t + 1] - tables.entry[t]) // max(m, 1)
        out.append(begin + np.arange(m * width).reshape(m, width))
        begin += m * width
    return out


def _offsets(sizes: list[int]) -> Int64:
    return np.array([*accumulate(sizes, initial=0)], np.int64)


def _joined(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    """Arrays end to end, in memory of their own."""
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.zeros(0, dtype)


@dataclass(frozen=True, eq=False)
class Problem:
    """Structure of a compiled factor graph.

    A group holds all logic factors of one form and size; :class:`LogicGroups` says how their
    links are laid out.

    Attributes:
        n: number of coordinates (indicators still free after compilation).
        pair_var: ``[P, 2]`` the two coordinates of each pair factor.
        group_kind: ``[G]`` CAP, SUM, ANYOF, PARITY or KNAPSACK, in this order.
        group_size: ``[G]`` literals per factor, an ANYOF's output included.
        group_count: ``[G]`` factors in the group.
        group_link: ``[G]`` first link of the group.
        group_factor: ``[G]`` first logic factor of the group.
        lits: ``[L]`` coordinate ``v``, or ``~v`` for its negation.
        k: ``[F]`` right-hand side of CAP and SUM, 1 for the others.
        degree: ``[n]`` links of each coordinate, pairs and tables included.
        weights: one per link of the KNAPSACK groups, which stand last, in the order of ``lits``.
        capacity: one per KNAPSACK factor.
        tables: factors that score joint states.
        models: one per group of structures, the last groups of ``tables``.
    """

    n: int
    pair_var: Int32
    group_kind: NDArray[np.int8]
    group_size: Int32
    group_count: Int64
    group_link: Int64
    group_factor: Int64
    lits: Int32
    k: Int32
    degree: Int32
    weights: Float = field(default_factory=lambda: np.zeros(0))
    capacity: Float = field(default_factory=lambda: np.zeros(0))
    tables: Tables = field(default_factory=no_tables)
    models: tuple[Model, ...] = ()

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def written(self) -> Tables:
        """The tabulated factors, without the structures behind them."""
        if not self.models:
            return self.tables
        t = self.tables
        count = len(t.kind) - len(self.models)
        slots, until = int(t.slot[count]), slice(count + 1)
        return Tables(
            t.kind[:count], t.slot[until], t.states[:slots], t.first[:slots], t.link[until],
            t.entry[until], t.factor[until], t.lits[: t.link[count]],
        )  # fmt: skip

    @cached_property
    def groups(self) -> LogicGroups:
        """The logic factors as kernels take them."""
        return LogicGroups(
            self.group_kind, self.group_size, self.group_count, self.group_link, self.group_factor,
            self.lits, self.k, self.weights, self.capacity,
        )  # fmt: skip

    @property
    def n_pairs(self) -> int:
        return len(self.pair_var)

    @property
    def n_logic(self) -> int:
        return len(self.k)

    @cached_property
    def n_links(self) -> int:
        """All links: two per pair, one per literal of a logic factor or coordinate of a table."""
        return 2 * len(self.pair_var) + len(self.lits) + len(self.tables.lits)

    @property
    def all_lits(self) -> Int32:
        """Literals of all links: two per pair, then those of logic factors, then of tables."""
        return np.concatenate([self.pair_var.ravel(), self.lits, self.tables.lits])


@dataclass(frozen=True)
class Scores:
    """Scores of a :class:`Problem`: ``theta[n]``, ``pair[P]``, a constant, entries of tables.

    All are finite, but entries of tables may be ``-inf``.  ``scale`` is the typical size of the
    scores of the graph as written, which gaps are measured by.
    """

    theta: Float
    pair: Float
    constant: float = 0.0
    table: Float = field(default_factory=lambda: np.zeros(0))
    scale: float = 1.0


@dataclass(frozen=True)
class DualPoint:
    """One score per link: ``pair[P, 2]`` on coordinates, ``logic[L]`` and ``table`` on literals.

    Any values give a valid upper bound; good ones give a tight one.
    """

    pair: Float
    logic: Float
    table: Float = field(default_factory=lambda: np.zeros(0))

    def joined(self) -> Float:
        """One score per link, in the order of ``Problem.all_lits``."""
        return np.concatenate([self.pair.ravel(), self.logic, self.table])


def split_links(problem: Problem, links: Float) -> DualPoint:
    """The dual point with these scores of all links, in the order of ``Problem.all_lits``."""
    logic = 2 * problem.n_pairs
    table = logic + len(problem.lits)
    return DualPoint(links[:logic].reshape(-1, 2), links[logic:table], links[table:])


def make_logic(
    shapes: Sequence[tuple[int, int, int]],
    lits: Sequence[Int32],
    k: Sequence[Int32],
    weights: Sequence[Float] = (),
    capacity: Sequence[Float] = (),
) -> LogicGroups:
    """Lay out groups of ``(kind, size, members)``, which are sorted by kind, then size.

    ``lits[m, size]`` and ``k[m]`` come in batches in the order of the groups, each of which has one
    or several; KNAPSACKs have ``weights[m, size]`` and ``capacity[m]`` as well.

    Example:
        >>> batch = np.array([[0, ~1], [2, 3]], np.int32)
        >>> make_logic([(SUM, 2, 2)], [batch], [np.array([1, 1], np.int32)]).lits.tolist()
        [0, 2, -2, 3]
    """
    heavy = [shape for shape in shapes if shape[0] == KNAPSACK]
    return LogicGroups(
        kind=np.array([kind for kind, _, _ in shapes], np.int8),
        size=np.array([size for _, size, _ in shapes], np.int32),
        members=np.array([members for _, _, members in shapes], np.int64),
        link=_offsets([size * members for _, size, members in shapes])[:-1],
        factor=_offsets([members for _, _, members in shapes])[:-1],
        lits=_transposed(shapes, lits, np.int32),
        k=_joined(k, np.int32),
        weights=_transposed(heavy, weights, np.float64),
        capacity=_joined(capacity, np.float64),
    )


def _transposed(
    shapes: Sequence[tuple[int, int, int]], batches: Sequence[NDArray[Any]], dtype: type
) -> NDArray[Any]:
    """Rows of groups end to end, each group as :class:`LogicGroups` stores its links."""
    out, begin = _joined([batch.reshape(-1) for batch in batches], dtype), 0
    for _, size, members in shapes:
        end = begin + size * members
        if members > 1:  # a single factor's links stand as they are
            out[begin:end] = out[begin:end].reshape(members, size).T.reshape(-1)
        begin = end
    return out


def assemble(
    n: int,
    pair_var: Int32,
    logic: LogicGroups,
    tables: Tables | None = None,
    models: tuple[Model, ...] = (),
) -> Problem:
    """A :class:`Problem` over ``n`` coordinates from its parts."""
    tables = tables or no_tables()
    degree = np.bincount(pair_var.ravel(), minlength=n)
    for literals in (logic.lits, tables.lits):
        if len(literals):
            degree += np.bincount(np.maximum(literals, ~literals), minlength=n)
    kind, size, members, link, factor, lits, k, weights, capacity = logic
    return Problem(
        n, np.ascontiguousarray(pair_var, np.int32).reshape(-1, 2), kind, size, members, link,
        factor, lits, k, degree.astype(np.int32), weights, capacity, tables, models,
    )  # fmt: skip


def make_problem(
    n: int,
    pair_var: Int32,
    groups: list[tuple[int, Int32, Int32]],
    tables: Tables | None = None,
    weights: list[Float] | None = None,
    capacity: list[Float] | None = None,
    models: tuple[Model, ...] = (),
) -> Problem:
    """The same from groups in any order; factors keep their order within a group.

    Example:
        >>> pairs = np.zeros((0, 2), np.int32)
        >>> group = (SUM, np.array([[0, ~1]], np.int32), np.array([1], np.int32))
        >>> make_problem(2, pairs, [group]).degree.tolist()
        [1, 1]
    """
    order = sorted(range(len(groups)), key=lambda i: (groups[i][0], groups[i][1].shape[1]))
    heavy = [i for i in range(len(groups)) if groups[i][0] == KNAPSACK]
    rank = [heavy.index(i) for i in order if groups[i][0] == KNAPSACK]
    logic = make_logic(
        [(groups[i][0], groups[i][1].shape[1], len(groups[i][1])) for i in order],
        [groups[i][1] for i in order],
        [groups[i][2] for i in order],
        [(weights or [])[r] for r in rank],
        [(capacity or [])[r] for r in rank],
    )
    return assemble(n, pair_var, logic, tables, models)
