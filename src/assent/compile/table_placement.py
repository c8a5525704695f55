"""Where tables go: kept, cut down to the states still possible, or turned into unary scores.

Structures keep all their states; see :mod:`assent.compile.structure_placement`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.logic_placement import FREE, renumber
from assent.compile.structure_placement import PlacedStructures, Settled, place_structures
from assent.factors.scored import Scored
from assent.factors.structure import Structure
from assent.factors.table import Table
from assent.kernels.problem import DENSE, Float, Int32, Int64, Model, Tables, make_tables, no_tables
from assent.model.variables import coordinates_of

if TYPE_CHECKING:
    from assent.model.graph import Handle


# A batch of tables by number, with what each forbids, ``[m, entries]``.
StrictTable = tuple[int, "Handle", NDArray[np.bool_]]


class PlacedTables(NamedTuple):
    """Some rows of a batch of tables that keep two slots or more.

    ``rows``, ``links[members, links]`` and ``entries[members, entries]`` say which factors, which
    of their literals and which of their scores remain (entry -1 is a score of zero); ``None``
    means all.  Structures keep all their scores.
    """

    block: int
    rows: Int64 | None
    links: Int64 | None
    entries: Int64 | None
    group: int
    first: int
    members: int


@dataclass(frozen=True)
class Unary:
    """Table entries that became scores of single literals, or of nothing.

    Entry ``entry`` of factor ``row`` is earned (``sign`` 1) or lost (-1) by literal ``code`` of
    column ``link``; entry ``base_entry`` of factor ``base_row`` is earned whatever happens.
    """

    block: int
    row: Int64
    entry: Int64
    code: Int32
    link: Int64
    sign: Float
    base_row: Int64
    base_entry: Int64


class Shape(NamedTuple):
    """Key of a group: kind, states and first state that is a coordinate, per slot."""

    kind: int
    states: tuple[int, ...]
    first: tuple[int, ...]


class Placement(NamedTuple):
    """Where all tables and structures went."""

    placed: tuple[PlacedTables, ...]
    unary: tuple[Unary, ...]
    settled: tuple[Settled, ...]
    tables: Tables
    models: tuple[Model, ...]


def place_tables(
    blocks: tuple[Handle, ...], fixed: NDArray[np.int8], column: Int32 | None
) -> Placement:
    """Sort all tables into groups of one shape over the free coordinates, structures last.

    ``column[N]`` numbers the free ones; None where all are.
    """
    parts: list[tuple[Shape, PlacedTables, Int32]] = []
    unary: list[Unary] = []
    structures: list[PlacedStructures] = []
    settled: list[Settled] = []
    for number, block in enumerate(blocks):
        factor = block.factor
        if isinstance(factor, Table) and len(factor):
            _split(number, factor, fixed, column is None, parts, unary)
        elif isinstance(factor, Structure) and len(factor):
            kept, done = place_structures(number, factor, fixed, column is None)
            structures += kept
            settled += done
    if not parts and not structures:
        return Placement((), tuple(unary), tuple(settled), no_tables(), ())
    order: dict[Shape, int] = {}
    for shape, _, _ in parts:
        order.setdefault(shape, len(order))
    members: list[list[Int32]] = [[] for _ in order]
    placed = []
    for shape, part, codes in parts:
        group = order[shape]
        first = sum(len(lits) for lits in members[group])
        members[group].append(renumber(codes, column))
        placed.append(
            PlacedTables(part.block, part.rows, part.links, part.entries, group, first, len(codes))
        )
    groups = [
        (shape.kind, shape.states, shape.first, np.concatenate(members[group]))
        for shape, group in order.items()
    ]
    for rows, links, first_of, model, codes, number in structures:
        factor = model.structure
        placed.append(PlacedTables(number, rows, links, None, len(groups), 0, len(codes)))
        groups.append((factor.kind_code, factor.states, first_of, renumber(codes, column)))
    sizes = [part.model.structure.scores.shape[1] for part in structures]
    models = tuple(part.model for part in structures)
    return Placement(
        tuple(placed), tuple(unary), tuple(settled), make_tables(groups, sizes), models
    )


def _split(
    number: int,
    factor: Table,
    fixed: NDArray[np.int8],
    all_free: bool,
    parts: list[tuple[Shape, PlacedTables, Int32]],
    unary: list[Unary],
) -> None:
    """One part per pattern of how many states remain in each slot."""
    open_to_start = min(factor.states) > 1  # the only state of a variable is no coordinate
    all_free = all_free or bool((fixed[coordinates_of(factor.codes)] == FREE).all())
    if open_to_start and len(factor.states) > 1 and all_free:
        shape = Shape(factor.kind_code, factor.states, factor.first)
        parts.append((shape, PlacedTables(number, None, None, None, 0, 0, 0), factor.codes))
        return
    allowed = factor.allowed(fixed)
    for counts, rows in _by_pattern(factor.states, [part.sum(axis=1) for part in allowed]):
        if min(counts) == 0:
            continue  # impossible: propagation has said so
        states = [
            np.nonzero(part[rows])[1].reshape(len(rows), count)
            for part, count in zip(allowed, counts, strict=True)
        ]
        open_slots = [slot for slot, count in enumerate(counts) if count > 1]
        entries = factor.entry_of(_joint(factor.states, states))
        if len(open_slots) < 2:
            unary.append(_as_unary(number, factor, rows, entries, open_slots, states))
            continue
        links = np.concatenate(
            [_slot_columns(factor, slot, states[slot]) for slot in open_slots], axis=1
        )
        shape = Shape(
            DENSE,
            tuple(counts[slot] for slot in open_slots),
            tuple(factor.first[slot] for slot in open_slots),
        )
        codes = factor.codes[rows[:, None], links]
        parts.append((shape, PlacedTables(number, rows, links, entries, 0, 0, 0), codes))


def _by_pattern(states: tuple[int, ...], left: list[Int64]) -> Iterator[tuple[list[int], Int64]]:
    """Numbers of states that remain in each slot, and the factors with these; ``left[slot][m]``."""
    key = np.zeros(len(left[0]), np.int64)
    for count, part in zip(states, left, strict=True):
        key = key * (count + 1) + part
    found, first, pattern = np.unique(key, return_index=True, return_inverse=True)
    for number in range(len(found)):
        counts = [int(part[first[number]]) for part in left]
        yield counts, np.flatnonzero(pattern == number)


def joint_states(placed: PlacedTables, factor: Table, fixed: NDArray[np.int8]) -> Int64:
    """Flat joint states ``[members, entries]`` of the written factors behind dense ones."""
    if placed.rows is None:
        every = np.arange(int(np.prod(factor.states, dtype=np.int64)))
        return np.broadcast_to(every, (placed.members, len(every)))
    allowed = [part[placed.rows] for part in factor.allowed(fixed)]
    states = [np.nonzero(part)[1].reshape(placed.members, -1) for part in allowed]
    return _joint(factor.states, states)


def _joint(counts: tuple[int, ...], states: list[Int64]) -> Int64:
    """Flat joint states ``[m, product]`` of the remaining states of each slot."""
    joint = np.zeros((len(states[0]), 1), np.int64)
    for count, part in zip(counts, states, strict=True):
        joint = (joint[:, :, None] * count + part[:, None, :]).reshape(len(part), -1)
    return joint


def _slot_columns(factor: Table, slot: int, states: Int64) -> Int64:
    """Columns of ``codes`` that hold the remaining states of a slot."""
    start = factor.slot_links()[slot].start
    if factor.first[slot]:
        return np.full((len(states), 1), start)
    return start + states


def _as_unary(
    number: int,
    factor: Table,
    rows: Int64,
    entries: Int64,
    open_slots: list[int],
    states: list[Int64],
) -> Unary:
    """Tables with at most one open slot: its states earn their entries alone."""
    none = np.zeros(0, np.int64)
    if not open_slots:
        return Unary(
            number, none, none, none.astype(np.int32), none, np.zeros(0), rows, entries[:, 0]
        )
    slot = open_slots[0]
    columns = _slot_columns(factor, slot, states[slot])
    if not factor.first[slot]:
        row, flat = np.repeat(rows, columns.shape[1]), columns.ravel()
        codes, sign = factor.codes[row, flat], np.ones(len(row))
        return Unary(number, row, entries.ravel(), codes, flat, sign, none, none)
    # A literal: entry 0 whatever happens, and entry 1 − entry 0 if it is true.
    row = np.concatenate([rows, rows])
    flat = np.concatenate([columns[:, 0], columns[:, 0]])
    entry = np.concatenate([entries[:, 1], entries[:, 0]])
    sign = np.repeat([1.0, -1.0], len(rows))
    return Unary(number, row, entry, factor.codes[row, flat], flat, sign, rows, entries[:, 0])


def take_entries(scores: Float, rows: Int64, entries: Int64) -> Float:
    """Scores of the chosen entries, 0 for entry -1."""
    return np.where(entries < 0, 0.0, scores[rows, entries])


def flat_table_scores(
    placed: tuple[PlacedTables, ...], tables: Tables, scores: tuple[Float, ...]
) -> Float:
    """Entries of all groups, in the order of the flat problem; ``scores`` by number of batch."""
    from assent.kernels.core.table_entries import pick_entries

    out = np.empty(int(tables.entry[-1]))
    for part in placed:
        own = scores[part.block]
        width = own.shape[1] if part.entries is None else part.entries.shape[1]
        begin = int(tables.entry[part.group]) + part.first * width
        to = out[begin : begin + part.members * width].reshape(part.members, width)
        if part.rows is None:
            to[:] = own
        elif part.entries is None:
            to[:] = own[part.rows]
        else:
            pick_entries(own, part.rows, part.entries, to)
    return out


def score_unary(part: Unary, scores: Float, column: Int64, theta: Float) -> float:
    """Add what tables earn by single literals to ``theta``; returns the constant they earn."""
    values = part.sign * take_entries(scores, part.row, part.entry)
    negated = part.code < 0
    own = column[np.where(negated, ~part.code, part.code)]
    np.add.at(theta, own, np.where(negated, -values, values))
    base = take_entries(scores, part.base_row, part.base_entry)
    return float(values[negated].sum() + base.sum())


def restore_tables(part: PlacedTables, tables: Tables, links: Float, out: Float) -> None:
    """Write the flat link scores of placed tables to ``out[m, links]`` of their batch."""
    own, where = _links_of(part, tables, links)
    out[where] = own


def gather_tables(part: PlacedTables, tables: Tables, values: NDArray[Any], links: Float) -> None:
    """The other way: from ``values[m, links]`` of a batch to the flat link scores."""
    own, where = _links_of(part, tables, links)
    own[:] = values[where]


def _links_of(part: PlacedTables, tables: Tables, links: Float) -> tuple[Float, Any]:
    """A view ``[members, links]`` of the flat links of placed tables, and where they stand."""
    width = int(tables.link[part.group + 1] - tables.link[part.group]) // int(
        tables.factor[part.group + 1] - tables.factor[part.group]
    )
    begin = int(tables.link[part.group]) + part.first * width
    where = ... if part.rows is None else (part.rows[:, None], part.links)
    return links[begin : begin + part.members * width].reshape(part.members, width), where


def restore_unary(part: Unary, scores: Float, out: Float) -> None:
    """What became unary scores comes back off the links."""
    values = part.sign * take_entries(scores, part.row, part.entry)
    np.subtract.at(out, (part.row, part.link), values)


def restore_marginals(
    block: int,
    placed: tuple[PlacedTables, ...],
    unary: tuple[Unary, ...],
    tables: Tables,
    inner: Float,
    consensus: Float,
    out: Float,
) -> None:
    """Write the weights of table entries to ``out[m, entries]`` (zero) of batch ``block``.

    ``inner`` are the weights laid out as the flat problem's table scores, ``consensus[N]`` the
    marginals of coordinates.
    """
    for part in (p for p in placed if p.block == block):
        rows = int(tables.factor[part.group + 1] - tables.factor[part.group])
        own = inner[tables.entry[part.group] : tables.entry[part.group + 1]]
        own = own.reshape(rows, len(own) // rows)
        own = own[part.first : part.first + part.members]
        if part.rows is None:
            out[:] = own
        elif part.entries is None:
            out[part.rows] = own
        else:
            row = np.broadcast_to(part.rows[:, None], own.shape)
            scored = part.entries >= 0
            out[row[scored], part.entries[scored]] = own[scored]
    for single in (u for u in unary if u.block == block):
        p = consensus[coordinates_of(single.code)]
        true = np.where(single.code < 0, 1.0 - p, p)
        weight, row, entry = np.where(single.sign > 0, true, 1.0 - true), single.row, single.entry
        if not len(row):
            weight, row, entry = np.ones(len(single.base_row)), single.base_row, single.base_entry
        out[row[entry >= 0], entry[entry >= 0]] = weight[entry >= 0]


def unsupported_literals(
    strict: list[StrictTable], fixed: NDArray[np.int8]
) -> tuple[Int32, tuple[int, int] | None]:
    """Free literals that no possible joint state allows, and a table that allows none, if any.

    A table is named by the number of its batch and its row.
    """
    found = [np.zeros(0, np.int32)]
    for number, block, forbidden in strict:
        factor = block.factor
        assert isinstance(factor, Scored)
        supported = factor.supported(forbidden, fixed)
        stuck = np.flatnonzero(~np.all([part.any(axis=1) for part in supported], axis=0))
        if len(stuck):
            return found[0], (number, int(stuck[0]))
        for part, place, first in zip(supported, factor.slot_links(), factor.first, strict=True):
            codes = factor.codes[:, place]
            found.append(codes[~part[:, first:]])
            if first:
                found.append(~codes[~part[:, :1]])
    literals = np.unique(np.concatenate(found))
    coordinate = coordinates_of(literals)
    return literals[fixed[coordinate] == -1], None
