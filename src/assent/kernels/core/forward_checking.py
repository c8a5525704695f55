"""Forward checking on tables: states without a finite entry among what is still possible go.

A table is looked at when one of its variables has just been decided, so that it is read at most
once per slot on the way to a full assignment.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import FREE, coordinate, propagate
from assent.kernels.core.table_links import (
    combination,
    enlist,
    entry_at,
    first_combination,
    locate,
    next_combination,
    prepare_lists,
    row_start,
    slot_link,
)
from assent.kernels.jit import jit_internal_no_allocation


@jit_internal_no_allocation
def propagate_all(logic, tables, hard, trail, head, tail):
    """Propagate ``order[head:tail]`` through logic and tables; stops at the first conflict.

    ``hard`` flags the tables with entries of -inf.  Returns whether there is a conflict, the
    trail's new head and tail, as :func:`~assent.kernels.core.propagate.propagate` does, and the
    number of entries looked at.
    """
    halt = np.bool_(True)
    seen, work = head, np.int64(0)
    while True:
        conflict, head, tail = propagate(logic, trail, head, tail, halt)
        if conflict >= 0:
            return True, head, tail, work
        if seen == tail:
            return False, head, tail, work
        while seen < tail:
            v = trail.order[seen]
            lost, tail, looked = check_tables_of(tables, hard, v, trail.values, trail.order, tail)
            work += looked
            if lost:
                return True, head, tail, work
            seen += 1


@jit_internal_no_allocation
def check_tables_of(tables, hard, v, values, trail, tail):
    """Check the hard tables in which ``v`` decides a slot.

    Returns whether there is a conflict, the trail's end and the number of entries looked at.
    """
    links, work = tables.links, np.int64(0)
    for place in range(links.start[v], links.start[v + 1]):
        group, row, slot, _ = locate(links, np.int64(links.uses[place]))
        decides = links.first[links.slot[group] + slot] == 1 or values[v] == 1
        if decides and hard[links.factor[group] + row]:
            lost, tail = check_table(tables, group, row, values, trail, tail)
            entries = links.entry[group + 1] - links.entry[group]
            work += entries // (links.factor[group + 1] - links.factor[group])
            if lost:
                return True, tail, work
    return False, tail, work


@jit_internal_no_allocation
def check_table(tables, group, row, values, trail, tail):
    """Make states false that no finite entry supports; a conflict?, and the trail's end."""
    links, lists = tables.links, tables.lists
    link, entry = row_start(links, group, row)
    slots = prepare_lists(links, lists, group)
    for s in range(slots):
        enlist_possible(links, lists, group, link, s, values)
    if not first_combination(lists, slots):
        return True, tail
    # 1. Mark what finite entries support.
    more = True
    while more:
        at, _ = combination(lists, slots)
        if entry_at(tables, group, entry, at) > -np.inf:
            for s in range(slots):
                lists.share[lists.begin[s] + lists.digit[s]] = 1.0
        more = next_combination(lists, slots)
    # 2. The others cannot be.
    for s in range(slots):
        kept = 0.0
        place = slot_link(links, group, link, s)
        for at in range(lists.begin[s], lists.begin[s] + lists.length[s]):
            kept += lists.share[at]
            if lists.share[at] == 0.0:
                first = links.first[links.slot[group] + s]
                tail = exclude(links, place, first, lists.chosen[at], values, trail, tail)
        if kept == 0.0:
            return True, tail
    return False, tail


@jit_internal_no_allocation
def enlist_possible(links, lists, group, link, slot, values):
    """Put the states of a slot that values leave open on its list, with weight 0."""
    at = links.slot[group] + slot
    place = slot_link(links, group, link, slot)
    for state in range(links.states[at]):
        literal = links.lits[place + (state if links.first[at] == 0 else 0)]
        value = values[coordinate(literal)]
        if value != FREE and links.first[at] == 1:
            holds = value if literal >= 0 else 1 - value
            value = 1 if holds == state else 0
        if value != 0:
            enlist(lists, slot, state, 0.0)


@jit_internal_no_allocation
def exclude(links, place, first, state, values, trail, tail):
    """Take a state from a slot; returns the trail's end.  A state already chosen stays."""
    literal = links.lits[place + (state if first == 0 else 0)]
    v = coordinate(literal)
    if values[v] == FREE:
        holds = 0 if first == 0 or state == 1 else 1
        values[v] = holds if literal >= 0 else 1 - holds
        trail[tail] = v
        tail += 1
    return tail
