"""A sentence's tree, automata, triples and heads in a row as the structures of an AD3 run.

The same arrays as :mod:`assent.kernels.ad3.structure_steps` makes of any problem, which takes
longer than most sentences take to solve: one group per structure, the tree first, the sequence of
heads last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.ad3.active_set_system import packed_length
from assent.kernels.ad3.structure_steps import LARGEST_ROOM, Models
from assent.kernels.ad3.table_steps import Layout
from assent.kernels.core.structure_addresses import NONE
from assent.kernels.core.vertices import KEPT_ROWS
from assent.kernels.jit import jit, jit_internal
from assent.kernels.parsing.sentence_parts import count_inner
from assent.kernels.problem import STRUCTURE, Tables


class Sides(NamedTuple):
    """The structures over the modifiers of a head on one side: automata, then triples."""

    owner: np.ndarray  # [S] the automaton whose modifiers they are
    above: np.ndarray  # [S] how many grandparents they look at
    entry: np.ndarray  # [S + 1] where their inner parts begin
    automata: int  # how many are automata


@jit_internal
def list_sides(parts):
    """All structures over the modifiers of a head on one side, in the order of their parts."""
    automata, triple = parts.automata, parts.triple
    used = len(automata.head)
    count = used
    for u in range(len(triple) - 1):
        count += triple[u + 1] > triple[u]
    owner, above = np.empty(count, np.int64), np.zeros(count, np.int64)
    entry = np.empty(count + 1, np.int64)
    for u in range(used):
        owner[u], above[u], entry[u] = u, automata.above[u], automata.entry[u]
    entry[used] = automata.entry[used]
    count = used
    for u in range(len(triple) - 1):
        if triple[u + 1] > triple[u]:
            owner[count], entry[count + 1] = u, triple[u + 1]
            count += 1
    return Sides(owner, above, entry, used)


@jit
def make_tables(parts):
    """Slots, links and entries of all structures; see ``problem.Tables``."""
    arcs, automata, sequence = parts.arcs, parts.automata, len(parts.bigram) > 0
    sides = list_sides(parts)
    words, count, used = len(arcs.first) - 2, len(arcs.head), len(sides.owner)
    groups = 1 + used + sequence
    slot, link = np.zeros(groups + 1, np.int64), np.zeros(groups + 1, np.int64)
    entry = np.zeros(groups + 1, np.int64)
    slot[1], link[1] = words, count
    for i in range(used):
        u, above = sides.owner[i], sides.above[i]
        k = automata.begin[u + 1] - automata.begin[u]
        slot[i + 2] = slot[i + 1] + k + (above > 0)
        link[i + 2] = link[i + 1] + k + above
        entry[i + 2] = sides.entry[i + 1]
    if sequence:
        slot[groups] = slot[groups - 1] + words
        link[groups] = link[groups - 1] + count
        entry[groups] = count_inner(parts)
    states, first = np.full(slot[-1], 2, np.int32), np.ones(slot[-1], np.int32)
    lits = np.empty(link[-1], np.int32)
    for group in (0, groups - 1) if sequence else (0, 0):
        for m in range(words):
            at = slot[group] + m
            states[at], first[at] = arcs.first[m + 2] - arcs.first[m + 1], 0
        for a in range(count):
            lits[link[group] + a] = a
    for i in range(used):
        u, above, at = sides.owner[i], sides.above[i], link[i + 1]
        k = automata.begin[u + 1] - automata.begin[u]
        for b in range(k):
            lits[at + b] = automata.arc[automata.begin[u] + b]
        for g in range(above):
            lits[at + k + g] = arcs.first[automata.head[u]] + g
        if above > 0:
            states[slot[i + 2] - 1], first[slot[i + 2] - 1] = above, 0
    kind = np.full(groups, STRUCTURE, np.int8)
    return Tables(kind, slot, states, first, link, entry, np.arange(groups + 1), lits)


class Addresses(NamedTuple):
    """Of the functions that search structures."""

    tree: int
    automaton: int
    triples: int
    sequence: int


@jit
def make_models(parts, single_root, addresses, sequence):
    """What the structures are; ``sequence`` are the constants of that of heads, or empty."""
    arcs, automata, sides = parts.arcs, parts.automata, list_sides(parts)
    words, count, used = len(arcs.first) - 2, len(arcs.head), len(sides.owner)
    groups = 1 + used + (len(sequence) > 0)
    address, data_at = np.empty(groups, np.int64), np.zeros(groups + 1, np.int64)
    place_at, base_at = np.zeros(groups + 1, np.int64), np.zeros(groups + 1, np.int64)
    address[0] = addresses.tree
    data_at[1], place_at[1], base_at[1] = 2 + count, count, count
    for i in range(used):
        u, above, is_automaton = sides.owner[i], sides.above[i], i < sides.automata
        k = automata.begin[u + 1] - automata.begin[u]
        address[i + 1] = addresses.automaton if is_automaton else addresses.triples
        data_at[i + 2] = data_at[i + 1] + (3 if is_automaton else 1)
        place_at[i + 2] = place_at[i + 1] + k + above
        base_at[i + 2] = base_at[i + 1] + 2 * k + above
    if len(sequence):
        address[groups - 1] = addresses.sequence
        data_at[groups] = data_at[groups - 1] + len(sequence)
        place_at[groups] = place_at[groups - 1] + count
        base_at[groups] = base_at[groups - 1] + count
    data, place = np.empty(data_at[-1], np.int32), np.empty(place_at[-1], np.int32)
    data[0], data[1] = words, single_root
    for a in range(count):
        data[2 + a], place[a] = arcs.head[a], a
    for i in range(used):
        u, above, at = sides.owner[i], sides.above[i], data_at[i + 1]
        k = automata.begin[u + 1] - automata.begin[u]
        data[at] = k
        if i < sides.automata:
            data[at + 1], data[at + 2] = above, max(automata.tables[u], 1)
        for b in range(k):
            place[place_at[i + 1] + b] = 2 * b + 1
        for g in range(above):
            place[place_at[i + 1] + k + g] = 2 * k + g
    for i in range(len(sequence)):
        data[data_at[groups - 1] + i] = sequence[i]
    for a in range(count if len(sequence) else 0):
        place[place_at[groups - 1] + a] = a
    return Models(
        address, data, data_at, place, place_at, np.zeros(base_at[-1]), base_at,
        np.full(groups, NONE, np.int64), np.zeros(groups + 1, np.int64),
    )  # fmt: skip


@jit
def make_layout(tables):
    """Room for the vertices of every structure; see ``table_steps.make_layout``."""
    groups = len(tables.kind)
    start = np.zeros(len(tables.states) + groups, np.int32)
    room = np.empty(groups, np.int64)
    vertex, place, row = np.zeros((3, groups + 1), np.int64)
    for t in range(groups):
        first, last = tables.slot[t], tables.slot[t + 1]
        total = 0
        for slot in range(first, last):
            total += tables.states[slot]
            start[slot + t + 1] = total
        room[t] = min(total - (last - first) + 2, LARGEST_ROOM)
        vertex[t + 1] = vertex[t] + room[t]
        place[t + 1] = place[t] + room[t] * (last - first)
        row[t + 1] = row[t] + packed_length(min(room[t], KEPT_ROWS))
    return Layout(
        start, room, vertex, place, row, np.zeros(groups, np.bool_), np.zeros(0), np.zeros(0)
    )
