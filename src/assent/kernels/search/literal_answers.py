"""What constraints and pairs say of an answer when one variable changes its state.

Loads ``load[F]`` of the answer are kept, so that no factor is read anew.
"""

from __future__ import annotations

from assent.kernels.direct.table_scopes import FOUR, TABULATED
from assent.kernels.jit import jit_inline, jit_internal_no_allocation
from assent.kernels.search.literals import is_true, verdict, worth_of


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
