"""A neighbourhood of an answer: some variables open, all others as they are, in a small net.

What a table says once its other variables are decided is a smaller table, which begins at another
entry and keeps its steps: nothing is copied.  Of one open variable it is added to the scores.
Constraints keep all their literals; those of decided variables come along with one state left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.direct.table_scopes import FOUR, TABULATED
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import KNAPSACK
from assent.kernels.random_numbers import next_random_state
from assent.kernels.search.table_sweeps import Domains, Net

# What a variable is to a neighbourhood.
OUTSIDE, OPEN, DECIDED = 0, 1, 2

# Places in ``NeighbourhoodPart.sizes``.
VARIABLES, STATES, FACTORS, SLOTS, ENTRIES, LITERALS = 0, 1, 2, 3, 4, 5
SIZES = 6

advance_random_state = jit_internal_no_allocation(next_random_state)


class NeighbourhoodPart(NamedTuple):
    """Room for a neighbourhood as large as the whole net, and what is in it."""

    net: Net
    domains: Domains
    variables: np.ndarray  # int32[V]: those in it, in their order
    x: np.ndarray  # int32[V]: their states
    queue: np.ndarray  # int32[V]: open ones first, nearest first
    role: np.ndarray  # int8[V]: OUTSIDE between two calls
    place: np.ndarray  # int32[V]: where each stands among those in it
    factors: np.ndarray  # int32[F]
    seen: np.ndarray  # bool[F]: False between two calls
    cursor: np.ndarray  # int64[V]
    sizes: np.ndarray  # int64[SIZES]


@jit
def grow(net, part, centre, most, random_state):
    """Open the variables nearest to a centre, ``most`` of them, those equally near at random.

    Variables that share a table are nearer than those that share a constraint, which may be over
    nearly all of them; those that nothing ties to the centre come last.  Returns how many were
    opened, and the next state of the random numbers.
    """
    queue, role = part.queue, part.role
    queue[0] = centre
    role[centre] = OPEN
    count, head, following = 1, 0, centre
    while count < most:
        if head == count:  # all that is tied to them is open: go on elsewhere
            while role[following] == OPEN:
                following = (following + 1) % len(role)
            queue[count], role[following] = following, OPEN
            count += 1
        v = queue[head]
        head += 1
        for begin, end in (
            (net.around_start[v], net.literals[v]),
            (net.literals[v], net.around_start[v + 1]),
        ):
            before = count
            for a in range(begin, end):
                f = net.factor[net.around[a]]
                for k in range(net.start[f], net.start[f + 1]):
                    w = net.scope[k]
                    if role[w] == OUTSIDE:
                        role[w] = OPEN
                        queue[count] = w
                        count += 1
            for i in range(count - 1, before, -1):
                random_state = advance_random_state(random_state)
                j = before + random_state % (i + 1 - before)
                queue[i], queue[j] = queue[j], queue[i]
            if count >= most:
                break
    for i in range(most, count):
        role[queue[i]] = OUTSIDE
    return min(count, most), random_state


@jit
def restrict(net, x, part, count):
    """Write the net of the first ``count`` variables of the queue, all others as in ``x[V]``."""
    found = list_factors(net, part, count)
    write_variables(net, x, part)
    part.sizes[ENTRIES], part.sizes[LITERALS] = 0, 0
    kept, slots, messages = 0, 0, 0
    to = part.net
    for i in range(found):
        f = part.factors[i]
        part.seen[f] = False
        entry, opened, last = net.entry[f], 0, -1
        is_constraint = net.form[f] != TABULATED and net.form[f] != FOUR
        for k in range(net.start[f], net.start[f + 1]):
            v = net.scope[k]
            if part.role[v] == OPEN:
                opened, last = opened + 1, k
            elif net.form[f] == TABULATED:
                entry += x[v] * net.stride[k]
            elif net.form[f] == FOUR and x[v] == net.named[k]:
                entry += net.stride[k]
        if opened == 1 and not is_constraint:
            add_to_scores(net, part, last, entry)
            continue
        begin, size = slots, 1
        to.start[kept], to.entry[kept], to.form[kept] = slots, entry, net.form[f]
        to.limit[kept] = net.limit[f]
        for k in range(net.start[f], net.start[f + 1]):
            v = net.scope[k]
            if not is_constraint and part.role[v] != OPEN:
                continue
            to.scope[slots], to.factor[slots] = part.place[v], kept
            to.stride[slots], to.weight[slots] = net.stride[k], net.weight[k]
            to.named[slots], to.other[slots] = net.named[k], net.other[k]
            to.negated[slots], to.several[slots] = net.negated[k], net.several[k]
            to.at[slots] = messages
            messages += net.card[v] if net.form[f] == TABULATED else 2
            size *= net.card[v] if net.form[f] == TABULATED else 1
            slots += 1
        if net.form[f] == TABULATED:
            part.sizes[ENTRIES] += size * (slots - begin) * (slots - begin - 1)
        else:
            part.sizes[LITERALS] += slots - begin
        if net.form[f] == KNAPSACK:
            part.sizes[ENTRIES] += (slots - begin) ** 2
        kept += 1
    to.start[kept], to.entry[kept], to.at[slots] = slots, len(net.table), messages
    part.sizes[FACTORS], part.sizes[SLOTS] = kept, slots
    list_slots(part)
    for i in range(part.sizes[VARIABLES]):
        part.role[part.variables[i]] = OUTSIDE


@jit_internal_no_allocation
def list_factors(net, part, count):
    """List the factors around open variables; variables of constraints are in it, though decided.

    Returns how many there are.
    """
    found = 0
    for i in range(count):
        v = part.queue[i]
        for a in range(net.around_start[v], net.around_start[v + 1]):
            f = net.factor[net.around[a]]
            if part.seen[f]:
                continue
            part.seen[f] = True
            part.factors[found] = f
            found += 1
            if net.form[f] != TABULATED and net.form[f] != FOUR:
                for k in range(net.start[f], net.start[f + 1]):
                    w = net.scope[k]
                    if part.role[w] == OUTSIDE:
                        part.role[w] = DECIDED
    return found


@jit_internal_no_allocation
def write_variables(net, x, part):
    """Write variables in their order, with all states or with the one that they have."""
    to, domains = part.net, part.domains
    count, states = 0, 0
    for v in range(len(net.card)):
        if part.role[v] == OUTSIDE:
            continue
        part.variables[count], part.place[v], part.x[count] = v, count, x[v]
        to.card[count], to.first[count] = net.card[v], states
        domains.size[count] = net.card[v] if part.role[v] == OPEN else 1
        for s in range(net.card[v]):
            to.theta[states + s] = net.theta[net.first[v] + s]
            domains.states[states + s] = domains.place[states + s] = s
        if part.role[v] == DECIDED:
            domains.states[states + x[v]] = domains.place[states + x[v]] = 0
            domains.states[states] = domains.place[states] = x[v]
        states += net.card[v]
        count += 1
    to.first[count] = states
    part.sizes[VARIABLES], part.sizes[STATES] = count, states


@jit_internal_no_allocation
def add_to_scores(net, part, slot, entry):
    """Add what a factor says of its one open variable to that one's scores."""
    v = net.scope[slot]
    first = part.net.first[part.place[v]]
    is_table = net.form[net.factor[slot]] == TABULATED
    for s in range(net.card[v]):
        step = s if is_table else int(s == net.named[slot])
        part.net.theta[first + s] += net.table[entry + step * net.stride[slot]]


@jit_internal_no_allocation
def list_slots(part):
    """List the slots of each variable, those of tables first."""
    to, cursor = part.net, part.cursor
    variables, slots = part.sizes[VARIABLES], part.sizes[SLOTS]
    for v in range(variables + 1):
        to.around_start[v] = 0
    for k in range(slots):
        to.around_start[to.scope[k] + 1] += 1
    for v in range(variables):
        to.around_start[v + 1] += to.around_start[v]
        cursor[v] = to.around_start[v]
    for tables in (True, False):
        for k in range(slots):
            if (to.form[to.factor[k]] == TABULATED) == tables:
                v = to.scope[k]
                to.around[cursor[v]] = k
                cursor[v] += 1
        for v in range(variables if tables else 0):
            to.literals[v] = cursor[v]
