"""Variable elimination on tables, in a given order: what it costs, the best value and an answer.

Eliminating a variable adds up all tables that hold it and keeps, for every state of the others (its
*neighbours* at that moment), the best of its own states: a *message*, which is a table again.
Messages go to the neighbour that is eliminated next.  In the order used, all that a variable waits
for comes right before it, so that messages wait on a stack.

The axes of a message are the neighbours in the order of elimination, the next one slowest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation

# Entries of a message that are worked on together: they stay in the nearest cache.
BLOCK = 1024


class EliminationModel(NamedTuple):
    """Tables over variables."""

    card: np.ndarray  # int32[V]: states of each variable
    start: np.ndarray  # int64[F + 1]: scopes of the tables
    scope: np.ndarray  # int32[...]: distinct variables
    entry: np.ndarray  # int64[F + 1]: where tables begin
    table: np.ndarray  # float64[...]: entries, the last variable of the scope fastest


class Plan(NamedTuple):
    """An order of elimination, and what follows from it."""

    order: np.ndarray  # int32[V]
    near_start: np.ndarray  # int64[V + 1], by place in the order
    near: np.ndarray  # int32[...]: neighbours, the next to be eliminated first
    size: np.ndarray  # int64[V]: entries of each message
    table_start: np.ndarray  # int64[V + 1]: which tables each variable joins
    table: np.ndarray  # int32[F]
    below: np.ndarray  # int32[V]: how many messages it takes from the top of the stack
    choice: np.ndarray  # int64[V + 1]: where its choices begin, in bytes


@jit
def make_plan(model, order, near_start, near):
    """Reorder so that messages can wait on a stack, and lay everything out.

    Returns the plan, how long the stack gets, and how many entries are looked at in all.
    """
    n = len(order)
    place = np.empty(n, np.int64)
    for b in range(n):
        place[order[b]] = b
    parent = np.full(n, -1, np.int64)
    for b in range(n):
        for at in range(near_start[b], near_start[b + 1]):
            if parent[b] < 0 or place[near[at]] < parent[b]:
                parent[b] = place[near[at]]
    old = postorder(parent)
    new = np.empty(n, np.int64)
    below = np.zeros(n, np.int32)
    for b in range(n):
        new[old[b]] = b
    for b in range(n):
        if parent[b] >= 0:
            below[new[parent[b]]] += 1
    starts = np.zeros(n + 1, np.int64)
    sorted_near = np.empty(len(near), np.int32)
    size, choice = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    top, deepest, cost = 0, 0, 0
    waiting = np.empty(n, np.int64)  # sizes of the messages on the stack
    n_waiting = 0
    for b in range(n):
        was = old[b]
        own = near[near_start[was] : near_start[was + 1]]
        starts[b + 1] = starts[b] + len(own)
        total = 1
        for i in range(len(own)):  # few enough to be sorted by insertion
            at = starts[b] + i
            while at > starts[b] and new[place[sorted_near[at - 1]]] > new[place[own[i]]]:
                sorted_near[at] = sorted_near[at - 1]
                at -= 1
            sorted_near[at] = own[i]
            total *= model.card[own[i]]
        size[b] = total
        states = model.card[order[was]]
        cost += total * states
        choice[b + 1] = choice[b] + (total * choice_bits(np.int64(states)) + 7) // 8
        deepest = max(deepest, top + total)
        for _ in range(below[b]):
            n_waiting -= 1
            top -= waiting[n_waiting]
        waiting[n_waiting] = total
        n_waiting += 1
        top += total
    table_start, table = tables_of(model, new[place])
    plan = Plan(order[old], starts, sorted_near, size, table_start, table, below, choice)
    return plan, deepest, cost


@jit_internal
def postorder(parent):
    """Places in an order in which children come right before their parent (-1: none)."""
    n = len(parent)
    first, following = np.full(n + 1, -1, np.int64), np.full(n, -1, np.int64)
    for b in range(n - 1, -1, -1):
        p = parent[b] if parent[b] >= 0 else n
        following[b] = first[p]
        first[p] = b
    out, path = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count, depth = 0, 0
    path[0] = n
    while depth >= 0:
        node = path[depth]
        child = first[node]
        if child >= 0:
            first[node] = following[child]
            depth += 1
            path[depth] = child
            continue
        if node < n:
            out[count] = node
            count += 1
        depth -= 1
    return out


@jit
def tables_of(model, place):
    """Which tables each variable joins: those in which no other variable comes before it."""
    n, n_tables = len(place), len(model.start) - 1
    owner = np.full(n_tables, n, np.int64)
    for f in range(n_tables):
        for at in range(model.start[f], model.start[f + 1]):
            owner[f] = min(owner[f], place[model.scope[at]])
    start = np.zeros(n + 2, np.int64)
    for f in range(n_tables):
        start[owner[f] + 1] += 1
    for b in range(n + 1):
        start[b + 1] += start[b]
    table, at = np.empty(n_tables, np.int32), start[: n + 1].copy()
    for f in range(n_tables):
        table[at[owner[f]]] = f
        at[owner[f]] += 1
    return start[: n + 1], table


@jit_internal_no_allocation
def choice_bits(states):
    """Bits in which the choice among ``states`` is kept: a power of two."""
    bits = 1
    while (1 << bits) < states:
        bits *= 2
    return bits


# ---------------------------------------------------------------- values


class Parts(NamedTuple):
    """Everything that a variable joins, tables first, then messages from the stack."""

    base: np.ndarray  # int64[parts]: where it begins
    on_stack: np.ndarray  # bool[parts]
    step: np.ndarray  # int64[parts, axes]: from an entry to the next along each axis


@jit
def eliminate(model, plan, begin, end, stack, top, waiting, choice):
    """Eliminate the variables at ``begin`` to ``end`` in the order; returns the stack's new top.

    ``stack[:top]`` holds the messages that wait, ``waiting[2, V]`` where each begins and whose it
    is.  ``choice`` is filled with the best states.
    """
    n_waiting = 0
    while n_waiting < len(waiting[0]) and waiting[1, n_waiting] >= 0:
        n_waiting += 1
    axis_of = np.full(len(model.card), -1, np.int32)
    acc = np.empty(0)
    for b in range(begin, end):
        near = plan.near[plan.near_start[b] : plan.near_start[b + 1]]
        card = np.empty(len(near) + 1, np.int64)
        card[0] = model.card[plan.order[b]]
        axis_of[plan.order[b]] = 0
        for i in range(len(near)):
            card[i + 1] = model.card[near[i]]
            axis_of[near[i]] = i + 1
        # 1. Everything that is joined.
        parts = gather_parts(model, plan, b, axis_of, waiting, n_waiting)
        n_waiting -= plan.below[b]
        lowest = parts.base[-1] if plan.below[b] else top
        # 2. The message, a block at a time.
        split, block = len(card), 1
        while split > 1 and block * card[split - 1] <= BLOCK:
            split -= 1
            block *= card[split]
        if len(acc) < block * card[0]:
            acc = np.empty(block * card[0])
        own = choice[plan.choice[b] : plan.choice[b + 1]]
        join_blocks(model.table, stack, parts, card, split, block, acc, top, own)
        # 3. It takes the place of what it was made from.
        for i in range(plan.size[b]):
            stack[lowest + i] = stack[top + i]
        waiting[0, n_waiting], waiting[1, n_waiting] = lowest, b
        n_waiting += 1
        top = lowest + plan.size[b]
    return top


@jit_internal
def gather_parts(model, plan, b, axis_of, waiting, n_waiting):
    """The tables and messages that the variable at ``b`` joins; messages wait no longer."""
    first, last = plan.table_start[b], plan.table_start[b + 1]
    axes = plan.near_start[b + 1] - plan.near_start[b] + 1
    count = last - first + plan.below[b]
    base, on_stack = np.empty(count, np.int64), np.zeros(count, np.bool_)
    step = np.zeros((count, axes), np.int64)
    for p in range(last - first):
        f = plan.table[first + p]
        base[p] = model.entry[f]
        set_steps(model.card, model.scope[model.start[f] : model.start[f + 1]], axis_of, step[p])
    for i in range(plan.below[b]):
        p = last - first + i
        n_waiting -= 1
        child = waiting[1, n_waiting]
        base[p], on_stack[p] = waiting[0, n_waiting], True
        waiting[1, n_waiting] = -1
        own = plan.near[plan.near_start[child] : plan.near_start[child + 1]]
        set_steps(model.card, own, axis_of, step[p])
    return Parts(base, on_stack, step)


@jit_internal_no_allocation
def set_steps(card, scope, axis_of, step):
    """How far apart neighbouring entries of a table are, along each axis."""
    along = 1
    for i in range(len(scope) - 1, -1, -1):
        step[axis_of[scope[i]]] = along
        along *= card[scope[i]]


@jit_internal
def join_blocks(table, stack, parts, card, split, block, acc, top, choice):
    """Add up parts over all axes and keep the best along the first, at ``stack[top:]``.

    ``split`` is the first of the axes that make up a block.
    """
    step, on_stack = parts.step, parts.on_stack
    count, axes = step.shape
    states = card[0]
    inner = np.zeros((count, block), np.int64)
    varies = np.zeros(count, np.bool_)
    for p in range(count):
        for axis in range(split, axes):
            varies[p] = varies[p] or step[p, axis] != 0
        fill_offsets(step[p], card, split, inner[p])
    at = parts.base.copy()
    counter = np.zeros(axes, np.int64)
    bits = choice_bits(states)
    done = 0
    while True:
        for k in range(states):
            row = acc[k * block : (k + 1) * block]
            row[:] = 0.0
            for p in range(count):
                source = stack if on_stack[p] else table
                add_part(source, at[p] + k * step[p, 0], inner[p], varies[p], row)
        keep_best(acc, states, block, stack, top + done, choice, done, bits)
        done += block
        axis = split - 1
        while axis > 0:
            counter[axis] += 1
            for p in range(count):
                at[p] += step[p, axis]
            if counter[axis] < card[axis]:
                break
            for p in range(count):
                at[p] -= card[axis] * step[p, axis]
            counter[axis] = 0
            axis -= 1
        if axis <= 0:
            return


@jit_internal_no_allocation
def fill_offsets(step, card, split, offsets):
    """Offsets of the entries of a block, the last axis fastest."""
    filled = 1
    offsets[0] = 0
    for axis in range(len(card) - 1, split - 1, -1):
        for state in range(1, card[axis]):
            for i in range(filled):
                offsets[state * filled + i] = offsets[i] + state * step[axis]
        filled *= card[axis]


@jit_internal_no_allocation
def add_part(source, first, offsets, varies, row):
    """Add a part's entries to a row."""
    if not varies:
        value = source[first]
        for i in range(len(row)):
            row[i] += value
        return
    for i in range(len(row)):
        row[i] += source[first + offsets[i]]


@jit_internal_no_allocation
def keep_best(acc, states, block, out, first, choice, place, bits):
    """The best of all states for each entry of a block, and which it is."""
    for i in range(block):
        best, value = 0, acc[i]
        for k in range(1, states):
            if acc[k * block + i] > value:
                best, value = k, acc[k * block + i]
        out[first + i] = value
        put_choice(choice, place + i, bits, best)


@jit_internal_no_allocation
def put_choice(choice, place, bits, state):
    """Keep a state; the bits are zero before."""
    if bits < 8:
        bit = place * bits
        choice[bit >> 3] |= np.uint8(state << (bit & 7))
        return
    for byte in range(bits // 8):
        choice[place * (bits // 8) + byte] = np.uint8((state >> (8 * byte)) & 255)


@jit_internal_no_allocation
def get_choice(choice, place, bits):
    """A state that was kept."""
    if bits < 8:
        bit = place * bits
        return (np.int64(choice[bit >> 3]) >> (bit & 7)) & ((1 << bits) - 1)
    state = 0
    for byte in range(bits // 8):
        state |= np.int64(choice[place * (bits // 8) + byte]) << (8 * byte)
    return state


@jit
def read_choices(model, plan, choice, states):
    """The best ``states[V]``, from the last variable back to the first."""
    for b in range(len(plan.order) - 1, -1, -1):
        place = 0
        for at in range(plan.near_start[b], plan.near_start[b + 1]):
            place = place * model.card[plan.near[at]] + states[plan.near[at]]
        v = plan.order[b]
        own = choice[plan.choice[b] : plan.choice[b + 1]]
        states[v] = get_choice(own, place, choice_bits(np.int64(model.card[v])))
