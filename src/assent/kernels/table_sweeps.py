"""Bounds of small tables over variables whose states are put away as a search goes on.

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

from assent.kernels.jit import jit
from assent.kernels.propagate import lean

# The same as ``lean``, written out where it is called: handing over a dozen arrays takes longer
# than a small table does.
inlined = jit(inline="always", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


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
    around_start: np.ndarray  # int64[V + 1]
    around: np.ndarray  # int32[slots]: the slots of each variable


class Domains(NamedTuple):
    """The states that are left, first in ``states``; those put away last stand next to them."""

    states: np.ndarray  # int32[S]: states of every variable, in some order
    place: np.ndarray  # int32[S]: where each stands there
    size: np.ndarray  # int32[V]: how many are left
    trail: np.ndarray  # int32[S]: variables that lost a state, in order


class Work(NamedTuple):
    """Scratch."""

    reports: np.ndarray  # float64[most slots around a variable, most states]
    total: np.ndarray  # float64[most states]
    joint: np.ndarray  # int32[most slots of a factor]
    leads: np.ndarray  # bool[most slots around a variable]


@lean
def put_away(net, domains, v, s):
    """Take a state from a variable."""
    first = net.first[v]
    last = domains.size[v] - 1
    at, other = domains.place[first + s], domains.states[first + last]
    domains.states[first + at], domains.place[first + other] = other, at
    domains.states[first + last], domains.place[first + s] = s, last
    domains.size[v] = last


# ---------------------------------------------------------------- what a factor reports


@inlined
def left(net, domains, v):
    """The states of a variable that are left."""
    return domains.states[net.first[v] : net.first[v] + domains.size[v]]


@lean
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


@lean
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


@inlined
def report_four(table, entry, stride, step, own, own_at, other, other_at, point, out):
    """The same for two states each."""
    t, u = other[0], other[1]
    at, beside = entry + t * step, entry + u * step
    charged, charged_beside = point[other_at + t], point[other_at + u]
    for i in range(2):
        s = own[i]
        best = max(table[at + s * stride] - charged, table[beside + s * stride] - charged_beside)
        out[s] = best - point[own_at + s]


@lean
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
            told = len(x) > 0 and w < v
            s = x[w] if told else domains.states[net.first[w] + joint[k - begin]]
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


@inlined
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


@inlined
def sides(net, domains, slot):
    """Whether the slot's factor has undecided variables before and behind its own."""
    f, v = net.factor[slot], net.scope[slot]
    before, behind = False, False
    for k in range(net.start[f], net.start[f + 1]):
        w = net.scope[k]
        if domains.size[w] > 1:
            before, behind = before or w < v, behind or w > v
    return before, behind


@inlined
def collect(net, domains, point, v, forward, work):
    """Add up what the factors around a variable report; returns the share of those that lead on."""
    own = net.at[len(net.scope)] + net.first[v]
    for s in left(net, domains, v):
        work.total[s] = point[own + s]
    ahead, back = 0, 0
    for a in range(net.around_start[v], net.around_start[v + 1]):
        number = a - net.around_start[v]
        out = work.reports[number]
        report(net, domains, point, net.around[a], work.joint, out)
        for s in left(net, domains, v):
            work.total[s] += out[s]
        before, behind = sides(net, domains, net.around[a])
        work.leads[number] = behind if forward else before
        ahead += behind
        back += before
    return 1.0 / max(ahead, back, 1)


@inlined
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


@lean
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


@inlined
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
    for a in range(net.around_start[v], net.around_start[v + 1]):
        number = a - net.around_start[v]
        leads = work.leads[number] and not decided
        given = share if leads else 0.0
        hand_on(net, domains, point, v, net.around[a], given, work.reports[number], work.total)


@inlined
def settled_at(net, v):
    """Where a point says whether a variable is settled."""
    return net.at[len(net.scope)] + net.first[len(net.card)] + v


@lean
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


@inlined
def lose(net, domains, v, out, losses):
    """Add what the states of a variable lose against the best; returns the best."""
    best = -np.inf
    for s in left(net, domains, v):
        best = max(best, out[s])
    for s in left(net, domains, v):
        losses[net.first[v] + s] += best - out[s]
    return best


@inlined
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


@lean
def look(net, domains, point, work, losses, x):
    """The bound of a point; what it loses with each state, ``losses[S]``; a likely answer ``x``.

    It comes after a sweep: variables that are settled have no more to add.
    """
    bound = point[len(point) - 1]
    messages = net.at[len(net.scope)]
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
        for a in range(net.around_start[v], net.around_start[v + 1]):
            slot, out = net.around[a], work.reports[0]
            report(net, domains, point, slot, work.joint, out)
            best = lose(net, domains, v, out, losses)
            if slot == net.start[net.factor[slot]]:
                bound += best
            prefer(net, domains, point, v, slot, x, work)
        for s in left(net, domains, v):
            if work.total[s] > work.total[x[v]]:
                x[v] = s
    return bound


# ---------------------------------------------------------------- answers


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
        if total[s] > total[best] + 1e-9 * (1.0 + abs(total[best])):
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


# ---------------------------------------------------------------- layout


@jit
def find_strides(start, scope, card, stride):
    """From an entry to that of the next state of each slot, the last slot fastest."""
    for f in range(len(start) - 1):
        step = 1
        for k in range(start[f + 1] - 1, start[f] - 1, -1):
            stride[k] = step
            step *= card[scope[k]]


@lean
def are_variables(slot, uses, width):
    """Whether literals of each ``width`` in turn are all those about one variable."""
    at = 0
    for w in width:
        if uses[slot[at]] != w:
            return False
        for j in range(at + 1, at + w):
            if slot[j] != slot[at]:
                return False
        at += w
    return len(width) > 0


@jit
def place_links(
    lits, links, factor, width, var_of, state_of, card, alone, start, scope, at, named, other,
    places,
):  # fmt: skip
    """Which messages the links ``links[m, size]`` of factors stand for, ``places[n_links, 2]``.

    A link's score is the difference of two messages, the second less the first: for a positive
    literal that of its state and of another one, -1 where every state has a link of its own, as
    in tables whose slots (``width[slots]`` literals each) are whole variables.  Factors that name
    one state of a variable of several are marked.  Returns False if one names more: it may take
    several for true, and messages do not.
    """
    slot = np.empty(lits.shape[1], np.int64)  # of each literal
    uses = np.empty(lits.shape[1], np.int64)  # literals of each slot
    for f in range(len(lits)):
        begin = start[factor + f]
        uses[:] = 0
        for j in range(lits.shape[1]):
            k = 0
            while scope[begin + k] != var_of[lits[f, j] if lits[f, j] >= 0 else ~lits[f, j]]:
                k += 1
            slot[j] = k
            uses[k] += 1
        whole = are_variables(slot, uses, width)
        for j in range(lits.shape[1]):
            lit, k, count = lits[f, j], begin + slot[j], uses[slot[j]]
            c = lit if lit >= 0 else ~lit
            v = var_of[c]
            own, beside = at[k] + state_of[c], -1
            if count == 1 and alone[v]:
                beside = at[k]
            elif count == 1 and card[v] > 1:
                named[k], other[k] = state_of[c], 1 if state_of[c] == 0 else 0
                beside = at[k] + other[k]
            elif not whole or count != card[v] or alone[v] or lit < 0:
                return False
            places[links[f, j], 0] = own if lit >= 0 else beside
            places[links[f, j], 1] = beside if lit >= 0 else own
    return True
