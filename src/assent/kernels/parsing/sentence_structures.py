"""A sentence's tree, automata and heads in a row as the structures of an AD3 run.

The same arrays as :mod:`assent.kernels.ad3.structure_steps` makes of any problem, which takes
longer than most sentences take to solve: one group per structure, the tree first, the sequence of
heads last.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.ad3.structure_steps import LARGEST_ROOM, Models
from assent.kernels.ad3.table_steps import Layout
from assent.kernels.core.oracle import NONE
from assent.kernels.core.vertices import KEPT_ROWS
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.parsing.sentence_parts import count_inner
from assent.kernels.problem import STRUCTURE, Tables


@jit
def make_tables(parts):
    """Slots, links and entries of all structures; see ``problem.Tables``."""
    arcs, automata, sequence = parts.arcs, parts.automata, len(parts.bigram) > 0
    words, count, used = len(arcs.first) - 2, len(arcs.head), len(automata.head)
    groups = 1 + used + sequence
    slot, link = np.zeros(groups + 1, np.int64), np.zeros(groups + 1, np.int64)
    entry = np.zeros(groups + 1, np.int64)
    slot[1], link[1] = words, count
    for u in range(used):
        k, above = automata.begin[u + 1] - automata.begin[u], automata.above[u]
        slot[u + 2] = slot[u + 1] + k + (above > 0)
        link[u + 2] = link[u + 1] + k + above
        entry[u + 2] = automata.entry[u + 1]
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
    for u in range(used):
        k, above = automata.begin[u + 1] - automata.begin[u], automata.above[u]
        at = link[u + 1]
        for b in range(k):
            lits[at + b] = automata.arc[automata.begin[u] + b]
        for g in range(above):
            lits[at + k + g] = arcs.first[automata.head[u]] + g
        if above > 0:
            states[slot[u + 2] - 1], first[slot[u + 2] - 1] = above, 0
    kind = np.full(groups, STRUCTURE, np.int8)
    return Tables(kind, slot, states, first, link, entry, np.arange(groups + 1), lits)


@jit
def make_models(parts, single_root, addresses, sequence):
    """What the structures are.

    ``addresses`` are those of the functions of trees, automata and sequences, ``sequence`` the
    constants of the last, empty if there is none.
    """
    arcs, automata = parts.arcs, parts.automata
    tree, automaton, chain = addresses
    words, count, used = len(arcs.first) - 2, len(arcs.head), len(automata.head)
    groups = 1 + used + (len(sequence) > 0)
    address, data_at = np.full(groups, automaton, np.int64), np.zeros(groups + 1, np.int64)
    place_at, base_at = np.zeros(groups + 1, np.int64), np.zeros(groups + 1, np.int64)
    address[0] = tree
    data_at[1], place_at[1], base_at[1] = 2 + count, count, count
    for u in range(used):
        k, above = automata.begin[u + 1] - automata.begin[u], automata.above[u]
        data_at[u + 2] = data_at[u + 1] + 3
        place_at[u + 2] = place_at[u + 1] + k + above
        base_at[u + 2] = base_at[u + 1] + 2 * k + above
    if len(sequence):
        address[groups - 1] = chain
        data_at[groups] = data_at[groups - 1] + len(sequence)
        place_at[groups] = place_at[groups - 1] + count
        base_at[groups] = base_at[groups - 1] + count
    data, place = np.empty(data_at[-1], np.int32), np.empty(place_at[-1], np.int32)
    data[0], data[1] = words, single_root
    for a in range(count):
        data[2 + a], place[a] = arcs.head[a], a
    for i in range(len(sequence)):
        data[data_at[groups - 1] + i] = sequence[i]
    for a in range(count if len(sequence) else 0):
        place[place_at[groups - 1] + a] = a
    for u in range(used):
        k, above = automata.begin[u + 1] - automata.begin[u], automata.above[u]
        at = data_at[u + 1]
        data[at], data[at + 1], data[at + 2] = k, above, max(automata.tables[u], 1)
        at = place_at[u + 1]
        for b in range(k):
            place[at + b] = 2 * b + 1
        for g in range(above):
            place[at + k + g] = 2 * k + g
    return Models(
        address, data, data_at, place, place_at, np.zeros(base_at[-1]), base_at,
        np.full(groups, NONE, np.int64), np.zeros(groups + 1, np.int64),
    )  # fmt: skip


@jit_internal_no_allocation
def _packed(rows):
    return rows * (rows + 3) // 2


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
        row[t + 1] = row[t] + _packed(min(room[t], KEPT_ROWS))
    return Layout(
        start, room, vertex, place, row, np.zeros(groups, np.bool_), np.zeros(0), np.zeros(0)
    )
