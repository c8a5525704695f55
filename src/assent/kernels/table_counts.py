"""Constraints and pairs beside tables: their joint states are not written out.

A slot of such a factor is one literal: a state that it names, or any other state if it is negated.
It has two messages, the first for other states and the second for the named one.  Factors of two
literals have four entries (FOUR), by whether each variable is in its named state.  All other forms
look only at the *load*, a sum of weights of true literals:

    CAP, SUM, PARITY   1 each
    ANYOF              2 for an input, 1 for the output
    KNAPSACK           the weights

A factor may name several states of a variable.  It takes them for independent, as link scores do.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.propagate import lean
from assent.kernels.table_scopes import FOUR, WRITTEN
from assent.kernels.tabulate import BRIM
from assent.problem import ANYOF, CAP, KNAPSACK, PARITY, SUM

# The same as ``lean``, written out where it is called: handing over a dozen arrays takes longer
# than a small table does.
inlined = jit(inline="always", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

# Ratios of a gain to a tiny weight stay below this.
LARGEST_RATIO = 1e300

# What is known of a literal.
OPEN, FALSE, TRUE = 0, 1, 2


@inlined
def verdict(net, f, load):
    """What a constraint says of a load: the further off it is, the worse, so that steps help."""
    form, limit = net.form[f], net.limit[f]
    if form == CAP:
        excess = load - limit
    elif form == KNAPSACK:
        excess = load - limit * (1.0 + BRIM)
    elif form == SUM:
        excess = abs(load - limit)
    elif form == PARITY:
        excess = load % 2.0
    else:
        excess = 0.0 if load == 0.0 or (load > 1.0 and load % 2.0 == 1.0) else 1.0
    return net.table[net.entry[f]] * (1.0 + excess) if excess > 0.0 else 0.0


@inlined
def is_true(net, slot, state):
    """Whether the literal of a slot is true where its variable has a state."""
    return (state == net.named[slot]) != net.negated[slot]


@inlined
def worth_of(net, f, x):
    """What a factor says of states ``x[V]``."""
    begin = net.start[f]
    if net.form[f] == FOUR:
        entry = net.entry[f]
        for k in range(begin, begin + 2):
            entry += net.stride[k] if x[net.scope[k]] == net.named[k] else 0
        return net.table[entry]
    load = 0.0
    for k in range(begin, net.start[f + 1]):
        if is_true(net, k, x[net.scope[k]]):
            load += net.weight[k]
    return verdict(net, f, load)


# ---------------------------------------------------------------- what a factor reports


@inlined
def may_be(net, domains, slot, before, x):
    """Whether the variable of a slot may be in other states than the named one, and in that.

    With ``x[V]`` variables before the one called ``before`` are as there.
    """
    w, named = net.scope[slot], net.named[slot]
    if len(x) > 0 and w < before:
        own = x[w] == named
        others = not own
    else:
        own = domains.place[net.first[w] + named] < domains.size[w]
        others = domains.size[w] > (1 if own else 0)
    return others, own


@inlined
def report_two(net, domains, point, slot, x):
    """The best of a factor's four entries, less messages, with the slot's two."""
    f = net.factor[slot]
    begin = net.start[f]
    second = 2 * begin + 1 - slot
    others, own = may_be(net, domains, second, net.scope[slot], x)
    charged, charged_own = point[net.at[second]], point[net.at[second] + 1]
    entry, step, stride = net.entry[f], net.stride[second], net.stride[slot]
    best, best_own = -np.inf, -np.inf
    if others:
        best, best_own = net.table[entry] - charged, net.table[entry + stride] - charged
    if own:
        best = max(best, net.table[entry + step] - charged_own)
        best_own = max(best_own, net.table[entry + stride + step] - charged_own)
    at = net.at[slot]
    return best - point[at], best_own - point[at + 1]


@inlined
def if_true_if_false(net, point, slot):
    """What a factor gets for a literal that is true, and for one that is false."""
    at = net.at[slot]
    if net.negated[slot]:
        return -point[at], -point[at + 1]
    return -point[at + 1], -point[at]


@inlined
def key_of(net, slot, gain):
    """What literals are sorted by: what they gain, in a knapsack for their weight."""
    if net.form[net.factor[slot]] != KNAPSACK:
        return gain
    weight = net.weight[slot]
    if weight > 0.0:
        return min(gain / weight, LARGEST_RATIO)
    return LARGEST_RATIO if gain > 0.0 else 0.0


@lean
def read_constraints(net, domains, point, work):
    """Read all literals of constraints, for as long as no state is put away or taken back."""
    for f in range(len(work.base)):
        if net.form[f] == WRITTEN or net.form[f] == FOUR:
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


@lean
def move_up(order, rank, key, begin, i):
    """Move a literal forward among those of its factor until all before it have as great a key."""
    one = order[i]
    while i > begin and key[order[i - 1]] < key[one]:
        order[i] = order[i - 1]
        rank[order[i]] = i
        i -= 1
    order[i] = one
    rank[one] = i


@lean
def move(order, rank, key, begin, end, i):
    """Move a literal to where it belongs."""
    one = order[i]
    while i + 1 < end and key[order[i + 1]] > key[one]:
        order[i] = order[i + 1]
        rank[order[i]] = i
        i += 1
    order[i] = one
    move_up(order, rank, key, begin, i)


@inlined
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


@lean
def tell_all(work):
    """Begin to tell constraints of an answer, with what is known of literals."""
    for k in range(len(work.truth)):
        work.told[k] = work.truth[k]
    for f in range(len(work.base)):
        work.told_base[f], work.told_held[f] = work.base[f], work.held[f]


@lean
def tell(net, v, state, work):
    """Tell constraints around a variable that it is in a state."""
    for a in range(net.literals[v], net.around_start[v + 1]):
        slot = net.around[a]
        f = net.factor[slot]
        if net.form[f] == FOUR or work.told[slot] != OPEN:
            continue
        work.told[slot] = TRUE if is_true(net, slot, state) else FALSE
        if work.told[slot] == TRUE:
            work.told_base[f] += work.gain[slot]
            work.told_held[f] += net.weight[slot]


@lean
def best_numbers(form, limit, load, slot, order, truth, gain):
    """The most that others gain, with a literal of a CAP, SUM or PARITY false, and true."""
    if_false, if_true = -np.inf, -np.inf
    total, number = 0.0, load
    i = -1
    while form == PARITY or number <= limit:
        if form == CAP:
            fine, fine_with = True, number < limit
        elif form == SUM:
            fine, fine_with = number == limit, number + 1.0 == limit
        else:
            fine = number % 2.0 == 0.0
            fine_with = not fine
        if fine:
            if_false = max(if_false, total)
        if fine_with:
            if_true = max(if_true, total)
        i += 1
        while i < len(order) and (truth[order[i]] != OPEN or order[i] == slot):
            i += 1
        if i == len(order) or (form == CAP and gain[order[i]] <= 0.0):
            break
        total += gain[order[i]]
        number += 1.0
    return if_false, if_true


@lean
def best_any(load, slot, begin, last, truth, gain):
    """The same for an ANYOF with inputs from ``begin`` and the output ``last``."""
    positive, best = 0.0, -np.inf
    for k in range(begin, last):
        if truth[k] == OPEN and k != slot:
            positive += max(gain[k], 0.0)
            best = max(best, gain[k])
    known = load > 1.0
    none = -np.inf if known else 0.0
    some = positive if known or best > 0.0 else best
    if slot == last:
        return none, some
    if truth[last] == OPEN:
        return max(none, some + gain[last]), positive + gain[last]
    if load % 2.0 == 1.0:
        return some, positive
    return none, -np.inf


@lean
def fill(room, but, order, truth, gain, weight):
    """The most that open literals gain in a room, one of them possibly in part."""
    if room < 0.0:
        return -np.inf
    value = 0.0
    for k in order:
        if truth[k] != OPEN or k == but or gain[k] <= 0.0:
            continue
        if weight[k] > room:
            return value + gain[k] * (room / weight[k])
        value += gain[k]
        room -= weight[k]
    return value


@lean
def fill_with(room, slot, order, truth, gain, weight, key):
    """The same with a literal of the knapsack, as a line above all shares of it.

    A knapsack may be filled with part of a literal: the most that is gained is concave in its
    share.  The line touches it where it is greatest; returns its ends, where the literal is false
    and where it is true.
    """
    if room < 0.0:
        return -np.inf, -np.inf
    value, taken, loss, rise = 0.0, False, 0.0, 0.0  # by less room, by more
    full = False
    for k in order:
        if truth[k] != OPEN or gain[k] <= 0.0:
            continue
        if weight[k] > room:
            value += gain[k] * (room / weight[k])
            if k == slot:
                return value, value
            full, rise = True, key[k]
            loss = key[k] if room > 0.0 else loss
            break
        value += gain[k]
        room -= weight[k]
        taken = taken or k == slot
        loss = key[k] if weight[k] > 0.0 else loss
    loss = loss if full or room == 0.0 else 0.0
    if taken:
        return value - gain[slot] + weight[slot] * rise, value
    return value, value + gain[slot] - weight[slot] * loss


@inlined
def best_filling(room, slot, lines, order, truth, gain, weight, key):
    """The most that others gain with a literal of a KNAPSACK false, and true."""
    if lines and truth[slot] == OPEN:
        if_false, if_true = fill_with(room, slot, order, truth, gain, weight, key)
        return if_false, if_true - gain[slot]
    if_false = fill(room, slot, order, truth, gain, weight)
    return if_false, fill(room - weight[slot], slot, order, truth, gain, weight)


@inlined
def report_count(net, point, slot, lines, truth, base, held, work):
    """The same as :func:`report_two` for a constraint over any number of literals.

    What is known of them stands in ``truth[slots]``, ``base[F]`` and ``held[F]``.  What cannot be
    is worth as much less as a table's forbidden entry.
    """
    f, at = net.factor[slot], net.at[slot]
    begin, end = net.start[f], net.start[f + 1]
    rest = base[f] - work.part[slot]
    load = held[f] - (net.weight[slot] if truth[slot] == TRUE else 0.0)
    if net.form[f] == ANYOF:
        if_false, if_true = best_any(load, slot, begin, end - 1, truth, work.gain)
    elif net.form[f] == KNAPSACK:
        room = net.limit[f] - load
        room = max(room, 0.0) if room >= -BRIM * net.limit[f] else room
        if_false, if_true = best_filling(
            room, slot, lines, work.order[begin:end], truth, work.gain, net.weight, work.key
        )
    else:
        order = work.order[begin:end]
        if_false, if_true = best_numbers(
            net.form[f], net.limit[f], load, slot, order, truth, work.gain
        )
    if if_false == -np.inf or if_true == -np.inf:
        broken = net.table[net.entry[f]]
        for k in range(begin, end):
            if truth[k] == OPEN and k != slot:
                broken += max(work.gain[k], 0.0)
        if_false = broken if if_false == -np.inf else if_false
        if_true = broken if if_true == -np.inf else if_true
    if net.negated[slot]:
        if_false, if_true = if_true, if_false
    return rest + if_false - point[at], rest + if_true - point[at + 1]


@inlined
def report_literal(net, domains, point, slot, x, lines, truth, base, held, work):
    """The best of a factor, less messages: with its variable in other states, in the named one.

    Where only one of the two is left, it speaks for both.  With ``lines`` messages may be set by
    it; else a knapsack tells more.
    """
    if net.form[net.factor[slot]] == FOUR:
        rest, best = report_two(net, domains, point, slot, x)
    else:
        rest, best = report_count(net, point, slot, lines, truth, base, held, work)
    others, own = may_be(net, domains, slot, 0, x)
    return rest if others else best, best if own else rest
