"""Sequential rounding where tables are: settle the surest variable, check what is left, go on."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.forward_checking import propagate_all
from assent.kernels.core.propagate import FREE, backtrack, coordinate
from assent.kernels.core.table_links import (
    enlist,
    locate,
    prepare_lists,
    row_start,
    slot_link,
    spread,
)
from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.rounding.sequential_rounding import (
    RESTARTS,
    UNDO_EFFORT,
    bring_forward,
    confidence_key,
    confidence_order,
    preferred,
    settle_against,
    settle_field,
    start_rounding,
)

# States whose marginals are this close to the largest leave the choice to the scores; for two
# states the same as an undecided binary coordinate.
UNDECIDED = 0.3

# An entry of -inf that the states of undecided variables may still avoid counts as this many
# times the largest finite entry.
LIKELY_CONFLICT = 2.0


@jit_internal
def settle_states(logic, tables, rounding):
    """Sequential rounding into the values of its trail.

    Visits sites and the coordinates outside of them by decreasing confidence of their marginals.
    """
    links = tables.links
    hard = np.zeros(links.factor[-1], np.uint8)
    penalty = LIKELY_CONFLICT * mark_hard(links.factor, links.entry, tables.table, hard)
    order = visits(links, rounding.p)
    outlook = np.empty_like(rounding.field)
    for _ in range(RESTARTS):
        stuck = settle_in_order(logic, tables, rounding, hard, penalty, order, outlook)
        if stuck < 0:
            break
        bring_forward(order, stuck)


@jit_internal
def visits(links, p):
    """Sites (as ``~s``) and lone coordinates by decreasing confidence, ties by index."""
    sites = links.site_link.size
    both = np.empty(sites + np.count_nonzero(links.site_of < 0), np.int32)
    doubt = np.empty(both.size, np.uint16)
    for s in range(sites):
        both[s] = ~s
        doubt[s] = confidence_key(site_lead(links.lits, links.site_link[s], links.site_size[s], p))
    at = sites
    for v in range(p.size):
        if links.site_of[v] < 0:
            both[at] = v
            doubt[at] = confidence_key(2.0 * abs(p[v] - 0.5))
            at += 1
    return both[confidence_order(doubt)]


@jit_internal_no_allocation
def mark_hard(factor, entry, table, hard):
    """Flag tables with an entry of -inf; returns the largest finite size of an entry."""
    largest = 0.0
    for t in range(factor.size - 1):
        members = factor[t + 1] - factor[t]
        width = (entry[t + 1] - entry[t]) // members
        for at in range(entry[t], entry[t + 1]):
            if table[at] == -np.inf:
                hard[factor[t] + (at - entry[t]) // width] = 1
            else:
                largest = max(largest, abs(table[at]))
    return largest


@jit_internal_no_allocation
def site_lead(lits, begin, size, p):
    """The lead of a site's likeliest state over the second."""
    best, second = 0.0, 0.0
    for at in range(begin, begin + size):
        likely = p[lits[at]]
        if likely > best:
            best, second = likely, best
        elif likely > second:
            second = likely
    return best - second


@jit_internal
def settle_in_order(logic, tables, rounding, hard, penalty, order, outlook):
    """Settle every variable in order; returns the first place that had no good state, or -1.

    1. Propagate what holds in every feasible assignment.
    2. Give the next variable the state its marginals ask for, or if they are undecided the one
       with the best expected score; on a conflict exclude that state and choose again.
    3. If no state is left, give up the factors in the way and go on.
    """
    tail = start_rounding(logic, rounding)
    effort = UNDO_EFFORT * (logic.uses.size + tables.table.size)
    stuck = -1
    for at in range(order.size):
        while True:
            v, wanted = next_choice(tables, rounding, penalty, order[at], outlook)
            if v < 0:
                break
            mark = tail
            lost, tail, effort = try_values(
                logic, tables, hard, v, wanted, rounding.trail, tail, effort
            )
            if lost:
                stuck = at if stuck < 0 else stuck
                tail = settle_against(logic, rounding, v, wanted, mark)
            settle_field(rounding, mark, tail)
    return stuck


@jit_internal_no_allocation
def next_choice(tables, rounding, penalty, visit, outlook):
    """The next coordinate to settle of a visited variable and its value; -1 if all is settled."""
    p, field, values = rounding.p, rounding.field, rounding.trail.values
    if visit >= 0:
        v = np.int64(visit)
        if values[v] != FREE:
            return np.int64(-1), 0
        outlook[v] = field[v]
        tables.blocked[v] = 0.0
        look_ahead(tables, v, False, p, values, outlook)
        return v, preferred(p[v], outlook[v] - penalty * tables.blocked[v])
    return best_state(tables, penalty, p, ~visit, values, field, outlook), 1


@jit_internal_no_allocation
def best_state(tables, penalty, p, site, values, field, outlook):
    """The free coordinate of a site with the best outlook among its likeliest; -1 if none is."""
    links = tables.links
    begin = np.int64(links.site_link[site])
    end = begin + links.site_size[site]
    likeliest, competing = -1.0, 0
    for at in range(begin, end):
        v = links.lits[at]
        if values[v] == FREE:
            likeliest = max(likeliest, p[v])
    for at in range(begin, end):
        v = links.lits[at]
        outlook[v] = field[v]
        tables.blocked[v] = 0.0
        competing += values[v] == FREE and p[v] >= likeliest - UNDECIDED
    if competing > 1:
        look_ahead(tables, np.int64(links.lits[begin]), True, p, values, outlook)
    best, best_score = np.int64(-1), -np.inf
    for at in range(begin, end):
        v = np.int64(links.lits[at])
        if values[v] == FREE and p[v] >= likeliest - UNDECIDED:
            if competing > 1:
                look_ahead(tables, v, False, p, values, outlook)
            score = outlook[v] - penalty * tables.blocked[v]
            if best < 0 or score > best_score or (score == best_score and p[v] > p[best]):
                best, best_score = v, score
    return best


@jit_internal_no_allocation
def look_ahead(tables, v, in_sites, p, values, outlook):
    """Add what tables promise, given values and else marginals, to the outlook.

    Either through the slots that read ``v``'s whole site or through binary slots that read ``v``.
    """
    links, lists = tables.links, tables.lists
    for place in range(links.start[v], links.start[v + 1]):
        group, row, slot, _ = locate(links, np.int64(links.uses[place]))
        if (links.first[links.slot[group] + slot] == 0) != in_sites:
            continue
        link, _ = row_start(links, group, row)
        slots = prepare_lists(links, lists, group)
        for s in range(slots):
            if s != slot:
                enlist_expected(links, lists, group, link, s, p, values)
        spread(tables, group, row, slot, 1.0, outlook)


@jit_internal_no_allocation
def enlist_expected(links, lists, group, link, slot, p, values):
    """Put the open states of a slot on its list with their marginals, scaled to sum to one."""
    at = links.slot[group] + slot
    place = slot_link(links, group, link, slot)
    total = 0.0
    for state in range(links.states[at]):
        literal = links.lits[place + (state if links.first[at] == 0 else 0)]
        v = coordinate(literal)
        likely = p[v] if values[v] == FREE else 1.0 * values[v]
        if links.first[at] == 1 and (literal >= 0) != (state == 1):
            likely = 1.0 - likely
        if likely > 0.0:
            enlist(lists, slot, state, likely)
            total += likely
    for item in range(lists.begin[slot], lists.begin[slot] + lists.length[slot]):
        lists.share[item] /= total


@jit_internal_no_allocation
def try_values(logic, tables, hard, v, wanted, trail, tail, effort):
    """Settle ``v`` as wanted, or else to the opposite; lost?, the trail's end and effort left."""
    mark = tail
    lost, attempt = True, 0
    while lost and attempt < 2 and effort >= 0:
        trail.values[v] = wanted if attempt == 0 else 1 - wanted
        trail.order[mark] = v
        lost, head, tail, looked = propagate_all(logic, tables, hard, trail, mark, mark + 1)
        if lost:
            effort -= looked
            effort -= backtrack(logic, trail, mark, head, tail)
            tail = mark
        attempt += 1
    return lost, tail, effort
