"""What answers of tables over variables are worth, and better ones by single switches."""

from __future__ import annotations

from assent.kernels.direct.table_scopes import TABULATED
from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.search.literal_answers import add_words, change_loads, count_loads
from assent.kernels.search.literals import worth_of

# A switch has to gain more than rounding, relative to the total.
GAIN = 1e-9


@jit_internal_no_allocation
def entry_at(net, f, x):
    """Where a factor's entry for states ``x[V]`` stands."""
    at = net.entry[f]
    for k in range(net.start[f], net.start[f + 1]):
        at += x[net.scope[k]] * net.stride[k]
    return at


@jit_internal_no_allocation
def worth(net, x):
    """The value of states ``x[V]``."""
    value = 0.0
    for v in range(len(net.card)):
        value += net.theta[net.first[v] + x[v]]
    for f in range(len(net.start) - 1):
        if net.form[f] == TABULATED:
            value += net.table[entry_at(net, f, x)]
        else:
            value += worth_of(net, f, x)
    return value


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
