"""Literals of constraints in the order of what they gain by being true, and what is known of them.

The order is kept while messages change, as most literals move a few places only.
"""

from __future__ import annotations

from assent.kernels.direct.table_scopes import FOUR, TABULATED
from assent.kernels.jit import jit_inline, jit_internal_no_allocation
from assent.kernels.problem import KNAPSACK
from assent.kernels.search.literals import FALSE, OPEN, TRUE, if_true_if_false, is_true, may_be

# Ratios of a gain to a tiny weight stay below this.
LARGEST_RATIO = 1e300


@jit_inline
def key_of(net, slot, gain):
    """What literals are sorted by: what they gain, in a knapsack for their weight."""
    if net.form[net.factor[slot]] != KNAPSACK:
        return gain
    weight = net.weight[slot]
    if weight > 0.0:
        return min(gain / weight, LARGEST_RATIO)
    return LARGEST_RATIO if gain > 0.0 else 0.0


@jit_internal_no_allocation
def read_constraints(net, domains, point, work):
    """Read all literals of constraints, for as long as no state is pruned or restored."""
    for f in range(len(work.base)):
        if net.form[f] == TABULATED or net.form[f] == FOUR:
            continue
        begin, end = net.start[f], net.start[f + 1]
        base, held, lowest, highest = 0.0, 0.0, len(net.card), -1
        for k in range(begin, end):
            others, own = may_be(net, domains, k, 0, domains.states[:0])
            if_true, if_false = if_true_if_false(net, point, k)
            if others and own:
                work.truth[k] = OPEN
            else:
                work.truth[k] = TRUE if own != net.negated[k] else FALSE
            work.gain[k] = if_true - if_false
            work.key[k] = key_of(net, k, work.gain[k])
            work.part[k] = if_true if work.truth[k] == TRUE else if_false
            base += work.part[k]
            held += net.weight[k] if work.truth[k] == TRUE else 0.0
            v = net.scope[k]
            if domains.size[v] > 1:
                lowest, highest = min(lowest, v), max(highest, v)
        work.base[f], work.held[f] = base, held
        work.lowest[f], work.highest[f] = lowest, highest
        for i in range(begin + 1, end):
            move_up(work.order, work.rank, work.key, begin, i)


@jit_internal_no_allocation
def move_up(order, rank, key, begin, i):
    """Move a literal forward among those of its factor until all before it have as great a key."""
    one = order[i]
    while i > begin and key[order[i - 1]] < key[one]:
        order[i] = order[i - 1]
        rank[order[i]] = i
        i -= 1
    order[i] = one
    rank[one] = i


@jit_internal_no_allocation
def move(order, rank, key, begin, end, i):
    """Move a literal to where it belongs."""
    one = order[i]
    while i + 1 < end and key[order[i + 1]] > key[one]:
        order[i] = order[i + 1]
        rank[order[i]] = i
        i += 1
    order[i] = one
    move_up(order, rank, key, begin, i)


@jit_inline
def read_again(net, point, slot, work):
    """Follow a change of the messages of a literal."""
    f = net.factor[slot]
    if_true, if_false = if_true_if_false(net, point, slot)
    part = if_true if work.truth[slot] == TRUE else if_false
    work.base[f] += part - work.part[slot]
    work.part[slot] = part
    work.gain[slot] = if_true - if_false
    work.key[slot] = key_of(net, slot, work.gain[slot])
    move(work.order, work.rank, work.key, net.start[f], net.start[f + 1], work.rank[slot])


@jit_internal_no_allocation
def begin_assignment(work):
    """Begin an assignment, with what is known of literals."""
    for k in range(len(work.truth)):
        work.assigned[k] = work.truth[k]
    for f in range(len(work.base)):
        work.assigned_base[f], work.assigned_held[f] = work.base[f], work.held[f]


@jit_internal_no_allocation
def assign(net, v, state, work):
    """Assign a state to a variable: constraints around it go by it from then on."""
    for a in range(net.literals[v], net.around_start[v + 1]):
        slot = net.around[a]
        f = net.factor[slot]
        if net.form[f] == FOUR or work.assigned[slot] != OPEN:
            continue
        work.assigned[slot] = TRUE if is_true(net, slot, state) else FALSE
        if work.assigned[slot] == TRUE:
            work.assigned_base[f] += work.gain[slot]
            work.assigned_held[f] += net.weight[slot]
