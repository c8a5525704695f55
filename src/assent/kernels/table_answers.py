"""What answers of tables over variables are worth, and better ones by single switches."""

from __future__ import annotations

from assent.kernels.propagate import lean

# A switch has to gain more than rounding, relative to the total.
GAIN = 1e-9


@lean
def entry_at(net, f, x):
    """Where a factor's entry for states ``x[V]`` stands."""
    at = net.entry[f]
    for k in range(net.start[f], net.start[f + 1]):
        at += x[net.scope[k]] * net.stride[k]
    return at


@lean
def worth(net, x):
    """The value of states ``x[V]``."""
    value = 0.0
    for v in range(len(net.card)):
        value += net.theta[net.first[v] + x[v]]
    for f in range(len(net.start) - 1):
        value += net.table[entry_at(net, f, x)]
    return value


@lean
def switch(net, v, x, total):
    """Give a variable its best state, all others as they are; whether that is another."""
    for s in range(net.card[v]):
        total[s] = net.theta[net.first[v] + s]
    for a in range(net.around_start[v], net.around_start[v + 1]):
        slot = net.around[a]
        at = entry_at(net, net.factor[slot], x) - x[v] * net.stride[slot]
        for s in range(net.card[v]):
            total[s] += net.table[at + s * net.stride[slot]]
    best = x[v]
    for s in range(net.card[v]):
        if total[s] > total[best] + GAIN * (1.0 + abs(total[best])):
            best = s
    changed = best != x[v]
    x[v] = best
    return changed


@lean
def improve(net, x, total, most):
    """Switch single variables while that helps, in at most so many rounds."""
    for _ in range(most):
        changed = False
        for v in range(len(net.card)):
            if switch(net, v, x, total):
                changed = True
        if not changed:
            return
