"""Bounds of small tables over variables whose states are pruned as a search goes on.

A *point* is one row of numbers: what every factor has passed on to the states of its variables
(its *messages*), what the states then have of their own, which variables are settled, and a
constant.  Own scores and messages move, their sum does not: the constant, the best entry of each
factor less its messages, and the best state of each variable together bound every assignment.

Sweeps visit one variable after the other, forward or backward.  A variable collects what its
factors report, moves the best of it to the constant, and hands equal shares of the rest to the
factors that lead on to others (Kolmogorov, 2006): the bound never rises.  A variable with one
state left is visited once more and then *settled*: it has nothing to hand on, and the variables
around it collect what is left.

A factor may name only some states of a variable, as a constraint does.  All others are one to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_inline, jit_internal_no_allocation
from assent.kernels.search.literal_order import assign, begin_assignment
from assent.kernels.search.literal_sweeps import add_literal_losses, give_literals, take_literals


class Net(NamedTuple):
    """Tables over variables; a *slot* is a variable of a factor."""

    card: np.ndarray  # int32[V]: states of each variable
    first: np.ndarray  # int64[V + 1]: where its states begin, among those of all
    theta: np.ndarray  # float64[S]: their scores
    start: np.ndarray  # int64[F + 1]: the slots of each factor
    scope: np.ndarray  # int32[slots]: variables
    factor: np.ndarray  # int32[slots]
    stride: np.ndarray  # int64[slots]: from an entry to that of the next state
    entry: np.ndarray  # int64[F + 1]: where tables begin
    table: np.ndarray  # float64[...]: finite
    at: np.ndarray  # int64[slots + 1]: where the messages of a slot begin
    named: np.ndarray  # int32[slots]: the one state that a factor tells from others, -1 if all
    other: np.ndarray  # int32[slots]: a state that it does not name
    form: np.ndarray  # int8[F]: TABULATED, or what a factor is if it is not
    limit: np.ndarray  # float64[F]: the right-hand side of such a constraint
    weight: np.ndarray  # float64[slots]: what its literals add to its load
    negated: np.ndarray  # bool[slots]
    several: np.ndarray  # bool[slots]: whether it names other states of the variable too
    around_start: np.ndarray  # int64[V + 1]
    around: np.ndarray  # int32[slots]: the slots of each variable, those of tables first
    literals: np.ndarray  # int64[V]: where others begin among them


class Domains(NamedTuple):
    """The states that are left, first in ``states``; those pruned last stand next to them."""

    states: np.ndarray  # int32[S]: states of every variable, in some order
    place: np.ndarray  # int32[S]: where each stands there
    size: np.ndarray  # int32[V]: how many are left
    trail: np.ndarray  # int32[S]: variables that lost a state, in order


class SweepWork(NamedTuple):
    """Scratch."""

    reports: np.ndarray  # float64[most slots around a variable + 1, most states]
    total: np.ndarray  # float64[most states]
    joint: np.ndarray  # int32[most slots of a factor]
    leads: np.ndarray  # bool[most slots around a variable]
    truth: np.ndarray  # int8[slots]: what is known of literals, ...
    gain: np.ndarray  # float64[slots]: ... what they gain by being true,
    part: np.ndarray  # float64[slots]: what they count while open ones are false,
    key: np.ndarray  # float64[slots]: their gain, by weight in a knapsack,
    order: np.ndarray  # int32[slots]: those of each factor by key,
    rank: np.ndarray  # int32[slots]: and where they stand there
    base: np.ndarray  # float64[F]: sums of parts
    held: np.ndarray  # float64[F]: loads of literals known to be true
    assigned: np.ndarray  # int8[slots]: literals under an assignment so far, ...
    assigned_base: np.ndarray  # float64[F]: ... and the same of it
    assigned_held: np.ndarray  # float64[F]
    lowest: np.ndarray  # int32[F]: the first variable of a constraint that is not decided
    highest: np.ndarray  # int32[F]: the last one
    load: np.ndarray  # float64[F]: that of an answer


@jit_internal_no_allocation
def prune_state(net, domains, v, s):
    """Take a state from a variable."""
    first = net.first[v]
    last = domains.size[v] - 1
    at, other = domains.place[first + s], domains.states[first + last]
    domains.states[first + at], domains.place[first + other] = other, at
    domains.states[first + last], domains.place[first + s] = s, last
    domains.size[v] = last


# ---------------------------------------------------------------- what a factor reports


@jit_inline
def left(net, domains, v):
    """The states of a variable that are left."""
    return domains.states[net.first[v] : net.first[v] + domains.size[v]]


@jit_internal_no_allocation
def report_rows(table, entry, stride, step, own, own_at, other, other_at, point, out):
    """The best entries for the states ``own``, whose entries are ``stride`` apart.

    ``other`` are the states of the other variable, ``step`` apart.
    """
    for s in own:
        row = entry + s * stride
        best = -np.inf
        for t in other:
            best = max(best, table[row + t * step] - point[other_at + t])
        out[s] = best - point[own_at + s]


@jit_internal_no_allocation
def report_columns(table, entry, step, own, own_at, other, other_at, point, out):
    """The same, where entries of the states ``own`` stand side by side."""
    for s in own:
        out[s] = -np.inf
    for t in other:
        row, charged = entry + t * step, point[other_at + t]
        for s in own:
            out[s] = max(out[s], table[row + s] - charged)
    for s in own:
        out[s] -= point[own_at + s]


@jit_inline
def report_four(table, entry, stride, step, own, own_at, other, other_at, point, out):
    """The same for two states each."""
    t, u = other[0], other[1]
    at, beside = entry + t * step, entry + u * step
    charged, charged_beside = point[other_at + t], point[other_at + u]
    for i in range(2):
        s = own[i]
        best = max(table[at + s * stride] - charged, table[beside + s * stride] - charged_beside)
        out[s] = best - point[own_at + s]


@jit_internal_no_allocation
def report_many(net, domains, point, slot, joint, x, out):
    """The same for any number of variables: joint state after joint state.

    With ``x[V]`` only those in which the variables before that of ``slot`` are as there.
    """
    f = net.factor[slot]
    begin, end = net.start[f], net.start[f + 1]
    v = net.scope[slot]
    for s in left(net, domains, v):
        out[s] = -np.inf
    joint[: end - begin] = 0
    while True:
        at, value, own = net.entry[f], 0.0, 0
        for k in range(begin, end):
            w = net.scope[k]
            is_assigned = len(x) > 0 and w < v
            s = x[w] if is_assigned else domains.states[net.first[w] + joint[k - begin]]
            at += s * net.stride[k]
            value -= point[net.at[k] + s]
            if k == slot:
                own = s
        out[own] = max(out[own], value + net.table[at])
        k = end - 1
        while k >= begin:
            w = net.scope[k]
            joint[k - begin] += 1
            if joint[k - begin] < domains.size[w] and not (len(x) > 0 and w < v):
                break
            joint[k - begin] = 0
            k -= 1
        if k < begin:
            return


@jit_inline
def report(net, domains, point, slot, joint, out):
    """The best entries of a factor, less messages, for the states left in ``slot``."""
    f = net.factor[slot]
    begin, end = net.start[f], net.start[f + 1]
    if end - begin != 2:
        report_many(net, domains, point, slot, joint, domains.states[:0], out)
        return
    other = begin + end - 1 - slot
    own_left, other_left = left(net, domains, net.scope[slot]), left(net, domains, net.scope[other])
    entry, stride, step = net.entry[f], net.stride[slot], net.stride[other]
    at, other_at = net.at[slot], net.at[other]
    if len(own_left) == 2 and len(other_left) == 2:
        report_four(net.table, entry, stride, step, own_left, at, other_left, other_at, point, out)
    elif stride == 1:
        report_columns(net.table, entry, step, own_left, at, other_left, other_at, point, out)
    else:
        report_rows(net.table, entry, stride, step, own_left, at, other_left, other_at, point, out)


# ---------------------------------------------------------------- sweeps


@jit_inline
def sides(net, domains, slot):
    """Whether the slot's factor has undecided variables before and behind its own."""
    f, v = net.factor[slot], net.scope[slot]
    before, behind = False, False
    for k in range(net.start[f], net.start[f + 1]):
        w = net.scope[k]
        if domains.size[w] > 1:
            before, behind = before or w < v, behind or w > v
    return before, behind


@jit_inline
def collect(net, domains, point, v, forward, work):
    """Add up what the factors around a variable report; returns the share of those that lead on."""
    own = net.at[len(net.scope)] + net.first[v]
    for s in left(net, domains, v):
        work.total[s] = point[own + s]
    ahead, back = 0, 0
    for a in range(net.around_start[v], net.literals[v]):
        number = a - net.around_start[v]
        out = work.reports[number]
        report(net, domains, point, net.around[a], work.joint, out)
        for s in left(net, domains, v):
            work.total[s] += out[s]
        before, behind = sides(net, domains, net.around[a])
        work.leads[number] = behind if forward else before
        ahead += behind
        back += before
    if net.literals[v] < net.around_start[v + 1]:
        others = take_literals(net, domains, point, v, forward, work)
        ahead, back = ahead + others[0], back + others[1]
    return 1.0 / max(ahead, back, 1)


@jit_inline
def hand_on(net, domains, point, v, slot, share, out, total):
    """Leave a factor its share of the total, and take the rest of what it reported."""
    at, own = net.at[slot], net.at[len(net.scope)] + net.first[v]
    if net.named[slot] >= 0:
        hand_on_named(net, domains, point, v, slot, share, out, total)
        return
    for s in left(net, domains, v):
        given = share * total[s]
        point[at + s] += out[s] - given
        point[own + s] -= given


@jit_internal_no_allocation
def hand_on_named(net, domains, point, v, slot, share, out, total):
    """The same for a factor that names one state: the others share their best."""
    at, own = net.at[slot], net.at[len(net.scope)] + net.first[v]
    named, others, one = net.named[slot], -np.inf, net.other[slot]
    for s in left(net, domains, v):
        if s != named:
            others, one = max(others, total[s]), s
    for s in left(net, domains, v):
        given = share * (total[s] if s == named else others)
        point[at + s] += out[s] - given
        point[own + s] -= given
    point[at + net.other[slot]] = point[at + one]  # it speaks for all, even if it is gone


@jit_inline
def visit(net, domains, point, v, forward, work):
    """Collect, move the best to the constant, and hand on."""
    share = collect(net, domains, point, v, forward, work)
    own = net.at[len(net.scope)] + net.first[v]
    top = -np.inf
    for s in left(net, domains, v):
        top = max(top, work.total[s])
    for s in left(net, domains, v):
        work.total[s] -= top
        point[own + s] = work.total[s]
    point[len(point) - 1] += top
    decided = domains.size[v] == 1
    for a in range(net.around_start[v], net.literals[v]):
        number = a - net.around_start[v]
        leads = work.leads[number] and not decided
        given = share if leads else 0.0
        hand_on(net, domains, point, v, net.around[a], given, work.reports[number], work.total)
    if net.literals[v] < net.around_start[v + 1]:
        give_literals(net, domains, point, v, share, work)


@jit_inline
def settled_at(net, v):
    """Where a point says whether a variable is settled."""
    return net.at[len(net.scope)] + net.first[len(net.card)] + v


@jit_internal_no_allocation
def sweep(net, domains, point, forward, work):
    """Visit all variables that are not settled; returns a bound."""
    n = len(net.card)
    for i in range(n):
        v = i if forward else n - 1 - i
        if point[settled_at(net, v)] == 0.0:
            visit(net, domains, point, v, forward, work)
            if domains.size[v] == 1:
                point[settled_at(net, v)] = 1.0
    return point[len(point) - 1]


# ---------------------------------------------------------------- what a point says


@jit_inline
def lose(net, domains, v, out, losses):
    """Add what the states of a variable lose against the best; returns the best."""
    best = -np.inf
    for s in left(net, domains, v):
        best = max(best, out[s])
    for s in left(net, domains, v):
        losses[net.first[v] + s] += best - out[s]
    return best


@jit_inline
def prefer(net, domains, point, v, slot, x, work):
    """Add a factor's word about the states of ``v``, once the variables before it are decided."""
    f = net.factor[slot]
    begin, end = net.start[f], net.start[f + 1]
    other, out = begin + end - 1 - slot, work.reports[0]
    if end - begin > 2:
        report_many(net, domains, point, slot, work.joint, x, out)
    elif end - begin == 2 and net.scope[other] < v:
        t = x[net.scope[other]]
        at = net.entry[f] + t * net.stride[other]
        for s in left(net, domains, v):
            charged = point[net.at[slot] + s] + point[net.at[other] + t]
            out[s] = net.table[at + s * net.stride[slot]] - charged
    for s in left(net, domains, v):
        work.total[s] += out[s]


@jit_internal_no_allocation
def probe(net, domains, point, work, losses, x):
    """The bound of a point; what it loses with each state, ``losses[S]``; a likely answer ``x``.

    It comes after a sweep: variables that are settled have no more to add.
    """
    bound = point[len(point) - 1]
    messages = net.at[len(net.scope)]
    begin_assignment(work)
    for v in range(len(net.card)):
        x[v] = domains.states[net.first[v]]
        if point[settled_at(net, v)] != 0.0:
            losses[net.first[v] + x[v]] = 0.0
            continue
        own = point[messages + net.first[v] : messages + net.first[v + 1]]
        losses[net.first[v] : net.first[v + 1]] = 0.0
        bound += lose(net, domains, v, own, losses)
        for s in left(net, domains, v):
            work.total[s] = own[s]
        has_literals = net.literals[v] < net.around_start[v + 1]
        if has_literals:
            bound += add_literal_losses(net, domains, point, v, x, work, losses)
        for a in range(net.around_start[v], net.literals[v]):
            slot, out = net.around[a], work.reports[0]
            report(net, domains, point, slot, work.joint, out)
            best = lose(net, domains, v, out, losses)
            if slot == net.start[net.factor[slot]]:
                bound += best
            prefer(net, domains, point, v, slot, x, work)
        for s in left(net, domains, v):
            if work.total[s] > work.total[x[v]]:
                x[v] = s
        if has_literals:
            assign(net, v, x[v], work)
    return bound
