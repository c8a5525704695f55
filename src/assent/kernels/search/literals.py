"""Literals of constraints and pairs beside tables: their joint states are not tabulated.

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

from assent.kernels.direct.table_scopes import FOUR
from assent.kernels.jit import jit_inline
from assent.kernels.problem import CAP, KNAPSACK, PARITY, SUM

# What is known of a literal.
OPEN, FALSE, TRUE = 0, 1, 2


@jit_inline
def verdict(net, f, load):
    """What a constraint says of a load: the further off it is, the worse, so that steps help."""
    form, limit = net.form[f], net.limit[f]
    if form in (CAP, KNAPSACK):
        excess = load - limit
    elif form == SUM:
        excess = abs(load - limit)
    elif form == PARITY:
        excess = load % 2.0
    else:
        excess = 0.0 if load == 0.0 or (load > 1.0 and load % 2.0 == 1.0) else 1.0
    return net.table[net.entry[f]] * (1.0 + excess) if excess > 0.0 else 0.0


@jit_inline
def is_true(net, slot, state):
    """Whether the literal of a slot is true where its variable has a state."""
    return (state == net.named[slot]) != net.negated[slot]


@jit_inline
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


@jit_inline
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


@jit_inline
def if_true_if_false(net, point, slot):
    """What a factor gets for a literal that is true, and for one that is false."""
    at = net.at[slot]
    if net.negated[slot]:
        return -point[at], -point[at + 1]
    return -point[at + 1], -point[at]
