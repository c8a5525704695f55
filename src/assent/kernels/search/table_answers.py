"""What answers are worth, and better ones by single switches.

Loads ``load[F]`` of the constraints at an answer are kept, so that none is read anew.
"""

from __future__ import annotations

from assent.kernels.direct.table_scopes import FOUR, TABULATED
from assent.kernels.jit import jit_inline, jit_internal_no_allocation, jit_no_allocation
from assent.kernels.search.literals import is_true, verdict, worth_of

# A switch has to gain more than rounding, relative to the total.
GAIN = 1e-9


@jit_internal_no_allocation
def entry_at(net, f, x):
    """Where a factor's entry for states ``x[V]`` stands."""
    at = net.entry[f]
    for k in range(net.start[f], net.start[f + 1]):
        at += x[net.scope[k]] * net.stride[k]
    return at


@jit_no_allocation
def worth(net, x):
    """The value of states ``x[V]``; what is forbidden counts as worse than anything else."""
    value = 0.0
    for v in range(len(net.card)):
        value += net.theta[net.first[v] + x[v]]
    for f in range(len(net.start) - 1):
        if net.form[f] == TABULATED:
            value += net.table[entry_at(net, f, x)]
        else:
            value += worth_of(net, f, x)
    return value


@jit_inline
def add_word(net, a, x, total, load):
    """Add what the factor of ``around[a]`` says of states of its variable, less a common number.

    All others are as in ``x[V]``, which has the loads ``load[F]``.
    """
    slot = net.around[a]
    f, v, named = net.factor[slot], net.scope[slot], net.named[slot]
    if net.several[slot]:
        if a == net.around_start[v] or net.factor[net.around[a - 1]] != f:
            before = x[v]
            for s in range(net.card[v]):
                x[v] = s
                total[s] += worth_of(net, f, x)
            x[v] = before
        return
    if net.form[f] == FOUR:
        second = 2 * net.start[f] + 1 - slot
        at = net.entry[f]
        at += net.stride[second] if x[net.scope[second]] == net.named[second] else 0
        rest, best = net.table[at], net.table[at + net.stride[slot]]
    else:
        weight = net.weight[slot]
        others = load[f] - (weight if is_true(net, slot, x[v]) else 0.0)
        rest = verdict(net, f, others + (weight if net.negated[slot] else 0.0))
        best = verdict(net, f, others + (0.0 if net.negated[slot] else weight))
    total[named] += best - rest


@jit_internal_no_allocation
def add_words(net, v, x, total, load):
    """The same of all literals of a variable."""
    for a in range(net.literals[v], net.around_start[v + 1]):
        add_word(net, a, x, total, load)


@jit_internal_no_allocation
def count_loads(net, x, load):
    """Loads ``load[F]`` of states ``x[V]``; no room means that there are none."""
    load[:] = 0.0
    for k in range(len(net.scope) if len(load) else 0):
        if net.form[net.factor[k]] != TABULATED and is_true(net, k, x[net.scope[k]]):
            load[net.factor[k]] += net.weight[k]


@jit_internal_no_allocation
def change_loads(net, v, before, after, load):
    """Follow a variable from one state to another."""
    for a in range(net.literals[v], net.around_start[v + 1]):
        slot = net.around[a]
        was, now = is_true(net, slot, before), is_true(net, slot, after)
        if was != now:
            load[net.factor[slot]] += net.weight[slot] if now else -net.weight[slot]


@jit_internal_no_allocation
def switch(net, v, x, total, load):
    """Give a variable its best state, all others as they are; whether that is another."""
    for s in range(net.card[v]):
        total[s] = net.theta[net.first[v] + s]
    if net.literals[v] < net.around_start[v + 1]:
        add_words(net, v, x, total, load)
    for a in range(net.around_start[v], net.literals[v]):
        slot = net.around[a]
        at = entry_at(net, net.factor[slot], x) - x[v] * net.stride[slot]
        for s in range(net.card[v]):
            total[s] += net.table[at + s * net.stride[slot]]
    best = x[v]
    for s in range(net.card[v]):
        if total[s] > total[best] + GAIN * (1.0 + abs(total[best])):
            best = s
    if best == x[v]:
        return False
    if net.literals[v] < net.around_start[v + 1]:
        change_loads(net, v, x[v], best, load)
    x[v] = best
    return True


@jit_internal_no_allocation
def improve(net, x, total, load, most):
    """Switch single variables while that helps, in at most ``most`` rounds."""
    count_loads(net, x, load)
    for _ in range(most):
        changed = False
        for v in range(len(net.card)):
            if switch(net, v, x, total, load):
                changed = True
        if not changed:
            return
