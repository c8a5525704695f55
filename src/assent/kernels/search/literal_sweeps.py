"""Sweeps around a variable as far as literals go; see :mod:`assent.kernels.search.literals`.

Their slots stand behind those of tables, from ``literals[v]`` on.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.direct.table_scopes import FOUR
from assent.kernels.jit import jit_inline, jit_internal_no_allocation
from assent.kernels.problem import KNAPSACK
from assent.kernels.search.literal_order import read_again
from assent.kernels.search.literal_reports import report_literal


@jit_inline
def leads_to(net, domains, slot, work):
    """Whether the slot's factor has undecided variables before and behind its own."""
    f, v = net.factor[slot], net.scope[slot]
    if net.form[f] != FOUR:
        return work.lowest[f] < v, work.highest[f] > v
    w = net.scope[2 * net.start[f] + 1 - slot]
    undecided = domains.size[w] > 1
    return undecided and w < v, undecided and w > v


@jit_internal_no_allocation
def take_literals(net, domains, point, v, forward, work):
    """Add to the total of a variable what its literals report, and leave their factors nothing.

    So the next literal of a factor that names several states may be asked.  Returns how many lead
    on to variables behind and before.
    """
    ahead, back, common = 0, 0, 0.0
    nothing = domains.states[:0]
    for a in range(net.literals[v], net.around_start[v + 1]):
        slot = net.around[a]
        rest, best = report_literal(
            net, domains, point, slot, nothing, True, work.truth, work.base, work.held, work
        )
        point[net.at[slot]] += rest
        point[net.at[slot] + 1] += best
        if net.several[slot] and net.form[net.factor[slot]] != FOUR:
            read_again(net, point, slot, work)
        work.total[net.named[slot]] += best - rest
        common += rest
        before, behind = leads_to(net, domains, slot, work)
        work.leads[a - net.around_start[v]] = behind if forward else before
        ahead += behind
        back += before
    for i in range(domains.size[v]):
        work.total[domains.states[net.first[v] + i]] += common
    return ahead, back


@jit_internal_no_allocation
def give_literals(net, domains, point, v, share, work):
    """Leave factors that lead on a share of the named state's total, and of the best of others."""
    first, own = net.first[v], net.at[len(net.scope)] + net.first[v]
    size, total, one, others, common = domains.size[v], work.total, -1, -np.inf, 0.0
    for i in range(size):
        s = domains.states[first + i]
        if one < 0 or total[s] > total[one]:
            others, one = (total[one] if one >= 0 else others), s
        else:
            others = max(others, total[s])
    for a in range(net.literals[v], net.around_start[v + 1]):
        slot = net.around[a]
        at, named = net.at[slot], net.named[slot]
        if work.leads[a - net.around_start[v]] and size > 1:
            given = share * (others if named == one else total[one])
            is_left = domains.place[first + named] < size
            given_own = share * total[named] if is_left else given
            point[at] -= given
            point[at + 1] -= given_own
            point[own + named] -= given_own - given
            common += given
        if net.form[net.factor[slot]] != FOUR:
            read_again(net, point, slot, work)
    for i in range(size):
        point[own + domains.states[first + i]] -= common


@jit_internal_no_allocation
def lose_together(net, domains, a, top, best, rest, kept, losses):
    """Add what states lose where a factor names several of a variable.

    Its literals (neighbours in ``around``) show the same loss: the largest counts, which is
    ``kept[states]``.
    """
    slot = net.around[a]
    v = net.scope[slot]
    first = net.first[v]
    again = a > net.around_start[v] and net.factor[net.around[a - 1]] == net.factor[slot]
    for i in range(domains.size[v]):
        s = domains.states[first + i]
        before = kept[s] if again else 0.0
        kept[s] = max(before, top - (best if s == net.named[slot] else rest))
        losses[first + s] += kept[s] - before


@jit_internal_no_allocation
def add_literal_losses(net, domains, point, v, x, work, losses):
    """Add what literals report to the total, given an assignment ``x[V]`` so far, and to losses.

    Returns the best of all factors that begin here.
    """
    bound, common, nothing = 0.0, 0.0, domains.states[:0]
    kept = work.reports[len(work.reports) - 1]
    for a in range(net.literals[v], net.around_start[v + 1]):
        slot = net.around[a]
        rest, best = 0.0, 0.0
        for is_assigned in (True, False):
            known, truth = (x, work.assigned) if is_assigned else (nothing, work.truth)
            base = work.assigned_base if is_assigned else work.base
            held = work.assigned_held if is_assigned else work.held
            rest, best = report_literal(
                net, domains, point, slot, known, False, truth, base, held, work
            )
            if is_assigned:  # only the difference matters
                work.total[net.named[slot]] += best - rest
        top = max(rest, best)
        if net.form[net.factor[slot]] == KNAPSACK:  # filled with part of the literal
            top = max(top, 0.0)  # sweeps leave no more to any factor
        if slot == net.start[net.factor[slot]]:
            bound += top
        if net.several[slot]:
            lose_together(net, domains, a, top, best, rest, kept, losses)
        else:
            losses[net.first[v] + net.named[slot]] += rest - best
            common += top - rest
    for i in range(domains.size[v]):
        losses[net.first[v] + domains.states[net.first[v] + i]] += common
    return bound
