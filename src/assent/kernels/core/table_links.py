"""Which coordinate stands where in the tables, and sums over parts of a table.

A *site* is a categorical variable: the coordinates of a slot of which exactly one is 1.  All
slots that read the same variable are one site.

Sums are over weighted states.  A slot's list holds the states that count and their weights; the
table's score as a function of one slot is the sum over all others' lists.  With the states of an
assignment on the lists (weight 1) that is its score there, with marginals it is an expectation.
Entries of -inf are not added but counted, in ``blocked``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.core.propagate import coordinate, group_of
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.problem import POTTS


class TableLinks(NamedTuple):
    """The written tables of a problem and, per coordinate, its links in them.

    The first eight arrays are those of the compiled tables.  ``uses[start[v]:start[v + 1]]`` are
    the links of coordinate ``v``; the coordinates of site ``s`` are the ``site_size[s]`` entries
    of ``lits`` from ``site_link[s]`` on.
    """

    kind: np.ndarray  # int8[T]
    slot: np.ndarray  # int64[T + 1]
    states: np.ndarray  # int32[slots]
    first: np.ndarray  # int32[slots]
    link: np.ndarray  # int64[T + 1]
    entry: np.ndarray  # int64[T + 1]
    factor: np.ndarray  # int64[T + 1]
    lits: np.ndarray  # int32[links]
    start: np.ndarray  # int32[n + 1]
    uses: np.ndarray  # int32[links]
    site_of: np.ndarray  # int32[n], -1 outside of every site
    site_link: np.ndarray  # int32[S]
    site_size: np.ndarray  # int32[S]


class Lists(NamedTuple):
    """Room for one table's lists: slot ``i`` has ``chosen[begin[i]:begin[i] + length[i]]``."""

    chosen: np.ndarray  # int32[sum of states] states
    share: np.ndarray  # float64[sum of states] their weights
    begin: np.ndarray  # int32[slots]
    length: np.ndarray  # int32[slots]
    digit: np.ndarray  # int32[slots] which of them, while sums run
    stride: np.ndarray  # int64[slots]


class TableField(NamedTuple):
    """Tables with scores, and what they add to each coordinate's field.

    ``blocked[v]`` is the weight of tables that hit an entry of -inf if ``x[v]`` is 1.
    """

    links: TableLinks
    lists: Lists
    table: np.ndarray  # float64, the entries
    blocked: np.ndarray  # float64[n]


def build_table_links(problem: Any) -> TableLinks:
    """Index the tables of a compiled problem by coordinate, 4 bytes per link."""
    return index_tables(problem.written, problem.n)


@jit
def index_tables(tables, n):
    """The index of table links by coordinate; see :func:`build_table_links`."""
    start, uses = links_by_coordinate(tables.lits, n)
    site_of = np.full(n, -1, np.int32)
    site_link, site_size = np.empty(n, np.int32), np.empty(n, np.int32)
    count = find_sites(tables, site_of, site_link, site_size)
    return TableLinks(
        tables.kind, tables.slot, tables.states, tables.first, tables.link, tables.entry,
        tables.factor, tables.lits, start, uses, site_of, site_link[:count], site_size[:count],
    )  # fmt: skip


@jit
def table_field(links, table):
    """Room for the sums of tables whose entries are given."""
    slots, most = 1, 1
    for t in range(links.kind.size):
        states = 0
        for s in range(links.slot[t], links.slot[t + 1]):
            states += links.states[s]
        most = max(most, states)
        slots = max(slots, links.slot[t + 1] - links.slot[t])
    lists = Lists(
        np.empty(most, np.int32),
        np.empty(most),
        np.empty(slots, np.int32),
        np.empty(slots, np.int32),
        np.empty(slots, np.int32),
        np.empty(slots, np.int64),
    )
    return TableField(links, lists, table, np.zeros(len(links.site_of)))


@jit_internal
def links_by_coordinate(lits, n):
    """A CSR from coordinates to links by a counting sort: ``start[n + 1]`` and ``uses[links]``."""
    start, uses = np.zeros(n + 1, np.int32), np.empty(lits.size, np.int32)
    for link in range(lits.size):
        start[coordinate(lits[link]) + 1] += 1
    for v in range(start.size - 1):
        start[v + 1] += start[v]
    # start[v] serves as the place of v's next link, which leaves it where v + 1 begins ...
    for link in range(lits.size):
        v = coordinate(lits[link])
        uses[start[v]] = link
        start[v] += 1
    # ... so everything moves up by one.
    for v in range(start.size - 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = 0
    return start, uses


@jit_internal
def find_sites(tables, site_of, site_link, site_size):
    """Give every categorical variable read by a table a number; returns how many there are."""
    states, first, lits = tables.states, tables.first, tables.lits
    count = 0
    for t in range(tables.factor.size - 1):
        place = tables.link[t]
        for _ in range(tables.factor[t], tables.factor[t + 1]):
            for s in range(tables.slot[t], tables.slot[t + 1]):
                if first[s] == 0 and site_of[lits[place]] < 0:
                    site_link[count] = place
                    site_size[count] = states[s]
                    for at in range(place, place + states[s]):
                        site_of[lits[at]] = count
                    count += 1
                place += states[s] - first[s]
    return count


@jit_internal_no_allocation
def locate(links, place):
    """Group, factor in the group, slot in the factor and state that a link stands for."""
    group = group_of(links.link[:-1], place)
    members = links.factor[group + 1] - links.factor[group]
    width = (links.link[group + 1] - links.link[group]) // members
    row = (place - links.link[group]) // width
    rest = (place - links.link[group]) % width
    slot = links.slot[group]
    while rest >= links.states[slot] - links.first[slot]:
        rest -= links.states[slot] - links.first[slot]
        slot += 1
    return group, row, slot - links.slot[group], rest + links.first[slot]


@jit_internal_no_allocation
def row_start(links, group, row):
    """First link and first entry of a factor."""
    members = links.factor[group + 1] - links.factor[group]
    link = links.link[group] + row * ((links.link[group + 1] - links.link[group]) // members)
    entry = links.entry[group] + row * ((links.entry[group + 1] - links.entry[group]) // members)
    return link, entry


@jit_internal_no_allocation
def prepare_lists(links, lists, group):
    """Empty lists and the strides of a group's tables."""
    first = links.slot[group]
    slots = links.slot[group + 1] - first
    begin = 0
    for s in range(slots):
        lists.begin[s] = begin
        lists.length[s] = 0
        begin += links.states[first + s]
    stride = 1
    for s in range(slots - 1, -1, -1):
        lists.stride[s] = stride
        stride *= links.states[first + s]
    return slots


@jit_internal_no_allocation
def enlist(lists, slot, state, share):
    """Put a state on a slot's list."""
    place = lists.begin[slot] + lists.length[slot]
    lists.chosen[place] = state
    lists.share[place] = share
    lists.length[slot] += 1


@jit_internal_no_allocation
def slot_link(links, group, link, slot):
    """First link of a slot, from the first link of its factor."""
    for s in range(links.slot[group], links.slot[group] + slot):
        link += links.states[s] - links.first[s]
    return link


@jit_internal_no_allocation
def add_entry(links, first, place, state, weight, entry, field, blocked):
    """Add a weighted entry to the field of the coordinate that a slot's state stands for.

    ``first`` and ``place`` are the slot's first state with a coordinate and its first link.  A
    binary slot's coordinate gains from one state what it loses from the other.
    """
    literal = links.lits[place + (state if first == 0 else 0)]
    if first == 1 and (state == 1) != (literal >= 0):
        weight = -weight
    v = coordinate(literal)
    if entry == -np.inf:
        blocked[v] += weight
    else:
        field[v] += weight * entry


@jit_internal_no_allocation
def spread(tables, group, row, target, weight, field):
    """Add the weighted sum over the others' lists to the fields of the target slot's states.

    The lists of all slots but the target's must be filled.
    """
    links, lists, table = tables.links, tables.lists, tables.table
    link, entry = row_start(links, group, row)
    place = slot_link(links, group, link, target)
    first = links.first[links.slot[group] + target]
    if links.kind[group] == POTTS:
        other = 1 - target
        for at in range(lists.begin[other], lists.begin[other] + lists.length[other]):
            state = lists.chosen[at]
            share = weight * lists.share[at]
            score = table[entry + state]
            add_entry(links, first, place, state, share, score, field, tables.blocked)
        return
    slots = links.slot[group + 1] - links.slot[group]
    lists.length[target] = 0
    enlist(lists, target, 0, 1.0)
    if not first_combination(lists, slots):
        return
    more = True
    while more:
        row_entry, share = combination(lists, slots)
        for state in range(links.states[links.slot[group] + target]):
            score = table[entry + row_entry + state * lists.stride[target]]
            add_entry(links, first, place, state, weight * share, score, field, tables.blocked)
        more = next_combination(lists, slots)


@jit_internal_no_allocation
def first_combination(lists, slots):
    """Start with the first state on every list; false if a list is empty."""
    full = True
    for s in range(slots):
        lists.digit[s] = 0
        full &= lists.length[s] > 0
    return full


@jit_internal_no_allocation
def next_combination(lists, slots):
    """Go on to the next choice of one state per list; false after the last."""
    for s in range(slots - 1, -1, -1):
        lists.digit[s] += 1
        if lists.digit[s] < lists.length[s]:
            return True
        lists.digit[s] = 0
    return False


@jit_internal_no_allocation
def combination(lists, slots):
    """Entry (from the factor's first) and weight of the present choice."""
    entry, share = np.int64(0), 1.0
    for s in range(slots):
        at = lists.begin[s] + lists.digit[s]
        entry += lists.stride[s] * lists.chosen[at]
        share *= lists.share[at]
    return entry, share


@jit_internal_no_allocation
def entry_at(tables, group, first, place):
    """The entry at a place of the full table whose entries begin at ``first``."""
    if tables.links.kind[group] == POTTS:
        left, right = place // tables.lists.stride[0], place % tables.lists.stride[0]
        return tables.table[first + left] if left == right else 0.0
    return tables.table[first + place]


@jit_internal_no_allocation
def enlist_assigned(links, lists, group, link, slot, x):
    """Put the states that an assignment chooses on a slot's list: one, if it is sound."""
    at = links.slot[group] + slot
    place = slot_link(links, group, link, slot)
    if links.first[at] == 1:
        literal = links.lits[place]
        enlist(lists, slot, x[literal] if literal >= 0 else 1 - x[~literal], 1.0)
        return
    for state in range(links.states[at]):
        if x[links.lits[place + state]] == 1:
            enlist(lists, slot, state, 1.0)


@jit_internal_no_allocation
def fill_table_field(tables, x, field):
    """Add what tables add to every coordinate's field at ``x``; returns how many forbid it."""
    links, lists = tables.links, tables.lists
    tables.blocked[:] = 0.0
    forbidding = 0
    for group in range(links.kind.size):
        for row in range(links.factor[group + 1] - links.factor[group]):
            link, entry = row_start(links, group, row)
            slots = prepare_lists(links, lists, group)
            for s in range(slots):
                enlist_assigned(links, lists, group, link, s, x)
            more = first_combination(lists, slots)
            while more:
                at, _ = combination(lists, slots)
                forbidding += entry_at(tables, group, entry, at) == -np.inf
                more = next_combination(lists, slots)
            for target in range(slots):
                spread(tables, group, row, target, 1.0, field)
                lists.length[target] = 0
                enlist_assigned(links, lists, group, link, target, x)
    return forbidding


@jit_internal_no_allocation
def shift_state(tables, group, row, slot, state, weight, x, field):
    """Fields of a table's other slots after a slot's state gained or lost ``weight``."""
    links, lists = tables.links, tables.lists
    slots = prepare_lists(links, lists, group)
    enlist(lists, slot, state, 1.0)
    link, _ = row_start(links, group, row)
    if slots > 2:
        for s in range(slots):
            if s != slot:
                enlist_assigned(links, lists, group, link, s, x)
    for target in range(slots):
        if target != slot:
            spread(tables, group, row, target, weight, field)
            if slots > 2:
                lists.length[target] = 0
                enlist_assigned(links, lists, group, link, target, x)


@jit_internal_no_allocation
def flip_in_tables(tables, v, step, x, field):
    """Keep the fields right when ``x[v]`` changes by ``step``."""
    links = tables.links
    for place in range(links.start[v], links.start[v + 1]):
        at = np.int64(links.uses[place])
        group, row, slot, state = locate(links, at)
        if links.first[links.slot[group] + slot] == 0:
            shift_state(tables, group, row, slot, state, 1.0 * step, x, field)
        else:
            turn = 1.0 * step if links.lits[at] >= 0 else -1.0 * step
            shift_state(tables, group, row, slot, 1, turn, x, field)
            shift_state(tables, group, row, slot, 0, -turn, x, field)
