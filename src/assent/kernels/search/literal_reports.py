"""What constraints and pairs report to a variable about a state that one of their literals names.

A report is two numbers, the best of the factor, less messages: with the variable in other states,
and in the named one.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.direct.table_scopes import FOUR
from assent.kernels.jit import jit_inline
from assent.kernels.problem import ANYOF, KNAPSACK
from assent.kernels.search.literals import OPEN, TRUE, may_be
from assent.kernels.search.other_literals import best_any, best_filling, best_numbers


@jit_inline
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


@jit_inline
def report_count(net, point, slot, lines, truth, base, held, work):
    """The same as :func:`report_two` for a constraint over any number of literals.

    What is known of them stands in ``truth[slots]``, ``base[F]`` and ``held[F]``.  What cannot be
    is worth less than what can, by as much as a table's forbidden entry.
    """
    f, at = net.factor[slot], net.at[slot]
    begin, end = net.start[f], net.start[f + 1]
    rest = base[f] - work.part[slot]
    load = held[f] - (net.weight[slot] if truth[slot] == TRUE else 0.0)
    if net.form[f] == ANYOF:
        if_false, if_true = best_any(load, slot, begin, end - 1, truth, work.gain)
    elif net.form[f] == KNAPSACK:
        if_false, if_true = best_filling(
            net.limit[f] - load,
            slot,
            lines,
            work.order[begin:end],
            truth,
            work.gain,
            net.weight,
            work.key,
        )
    else:
        order = work.order[begin:end]
        if_false, if_true = best_numbers(
            net.form[f], net.limit[f], load, slot, order, truth, work.gain
        )
    never = net.table[net.entry[f]]
    if max(if_false, if_true) == -np.inf:
        for k in range(begin, end):
            if truth[k] == OPEN and k != slot:
                never += max(work.gain[k], 0.0)
        return rest + never - point[at], rest + never - point[at + 1]
    if net.negated[slot]:
        if_false, if_true = if_true, if_false
    others, own = rest + if_false - point[at], rest + if_true - point[at + 1]
    if others == -np.inf:
        return own + never, own
    return others, own if own > -np.inf else others + never


@jit_inline
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
