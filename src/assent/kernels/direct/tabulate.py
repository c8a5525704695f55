"""Factors written out as tables over variables: every joint state, and what it is worth.

A variable is a block of coordinates of which one is true (its states), or a coordinate of its own
(state 1 is true).  ``var_of[n]`` and ``state_of[n]`` tell the variable and state of a coordinate.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import lean
from assent.kernels.direct.table_scopes import (
    ACROSS,
    CAPACITY,
    CODE,
    COUNT,
    ENTRIES,
    ENTRY,
    FACTOR,
    FOUR,
    PAIR,
    SIZE,
    SLOT,
    SLOTS,
    TABLE,
    WEIGHT,
    WRITTEN,
    is_written,
    read_lits,
)
from assent.kernels.jit import jit
from assent.kernels.problem import ANYOF, CAP, DENSE, KNAPSACK, PARITY, POTTS, SUM

# Sums of weights are rounded: a knapsack filled to the brim is not overfull.
BRIM = 1e-9


@lean
def next_state(card, scope, states):
    """The following joint state, the last variable fastest."""
    for i in range(len(scope) - 1, -1, -1):
        states[i] += 1
        if states[i] < card[scope[i]]:
            return
        states[i] = 0


@lean
def read_truths(lits, var_of, state_of, scope, states, truth):
    """Truth of each literal in a joint state."""
    for j in range(len(lits)):
        lit = lits[j]
        coordinate = lit if lit >= 0 else ~lit
        at = 0
        while scope[at] != var_of[coordinate]:
            at += 1
        truth[j] = (states[at] == state_of[coordinate]) != (lit < 0)


@lean
def holds(kind, k, weights, capacity, truth):
    """Whether literal truths satisfy a logic factor."""
    n = len(truth)
    if kind == KNAPSACK:
        load = 0.0
        for j in range(n):
            if truth[j]:
                load += weights[j]
        return load <= capacity * (1.0 + BRIM)
    count = 0
    for j in range(n):
        if truth[j]:
            count += 1
    if kind == CAP:
        return count <= k
    if kind == SUM:
        return count == k
    if kind == PARITY:
        return count % 2 == 0
    assert kind == ANYOF
    inputs = count - 1 if truth[n - 1] else count
    return truth[n - 1] == (inputs > 0)


@lean
def fill_logic(kind, k, weights, capacity, lits, var_of, state_of, card, scope, states, truth, out):
    """The table of a logic factor: 0 where it holds, ``-inf`` elsewhere."""
    states[:] = 0
    for entry in range(len(out)):
        read_truths(lits, var_of, state_of, scope, states, truth)
        fine = holds(kind, k, weights, capacity, truth)
        out[entry] = 0.0 if fine else -np.inf
        next_state(card, scope, states)


@lean
def fill_pair(score, lits, var_of, state_of, card, scope, states, truth, out):
    """The table of a pair: its score where both are true."""
    states[:] = 0
    for entry in range(len(out)):
        read_truths(lits, var_of, state_of, scope, states, truth)
        out[entry] = score if truth[0] and truth[1] else 0.0
        next_state(card, scope, states)


@lean
def fill_four(code, k, factor, pair, row, lits, truth, out):
    """What a pair or a constraint says of two literals, each false and true as coordinates."""
    for entry in range(4):
        for j in range(2):
            truth[j] = ((entry >> (1 - j)) & 1 == 1) != (lits[j] < 0)
        if code == PAIR:
            out[entry] = pair[row] if truth[0] and truth[1] else 0.0
        else:
            fine = holds(code, k[factor], pair, 0.0, truth)
            out[entry] = 0.0 if fine else -np.inf


@lean
def read_slot(lits, first, var_of, state_of, card, read):
    """What a slot shows by the state of its variable, in ``read``; False if it has several."""
    coordinate = lits[0] if lits[0] >= 0 else ~lits[0]
    v = var_of[coordinate]
    for state in range(card[v]):
        read[state] = 0
    for j in range(len(lits)):
        lit = lits[j]
        coordinate = lit if lit >= 0 else ~lit
        if var_of[coordinate] != v:
            return False
        if lit >= 0:
            read[state_of[coordinate]] = j + first
        else:
            for state in range(card[v]):
                if state != state_of[coordinate]:
                    read[state] = j + first
    return True


@lean
def look_up(kind, slot_states, shown, entries):
    """The entry for what the slots show."""
    joint, equal = 0, True
    for s in range(len(slot_states)):
        joint = joint * slot_states[s] + shown[s]
        equal = equal and shown[s] == shown[0]
    if kind == POTTS:
        return entries[shown[0]] if equal else 0.0
    return entries[joint]


@lean
def show_slots(slot_states, slot_first, truth, shown):
    """What the slots show by the truth of their literals."""
    at = 0
    for s in range(len(slot_states)):
        width = slot_states[s] - slot_first[s]
        shown[s] = 0
        for j in range(width):
            if truth[at + j]:
                shown[s] = j + slot_first[s]
        at += width


@lean
def is_written_so(lits, slot_states, slot_first, var_of, state_of, card, scope):
    """Whether a table with these slots is over whole variables, all states in their order."""
    at = 0
    if len(scope) != len(slot_states):
        return False
    for slot in range(len(slot_states)):
        v = scope[slot]
        if card[v] != slot_states[slot]:
            return False
        for s in range(slot_first[slot], slot_states[slot]):
            lit = lits[at]
            at += 1
            if lit < 0 or var_of[lit] != v or state_of[lit] != s:
                return False
    return True


@lean
def fill_table(
    kind, slot_states, slot_first, entries, lits, var_of, state_of, card, scope, states, truth,
    shown, axis, read, out,
):  # fmt: skip
    """A table over slots, read by variables; ``entries`` are as they were written.

    Most slots are over one variable: what each shows is then looked up by its state.
    """
    if kind == DENSE and is_written_so(
        lits, slot_states, slot_first, var_of, state_of, card, scope
    ):
        for entry in range(len(out)):
            out[entry] = entries[entry]
        return
    begin, simple = 0, True
    for s in range(len(slot_states)):
        end = begin + slot_states[s] - slot_first[s]
        own = lits[begin:end]
        begin = end
        axis[s] = 0
        if not len(own):  # a single state
            read[s, :] = 0
            continue
        simple = simple and read_slot(own, slot_first[s], var_of, state_of, card, read[s])
        v = var_of[own[0] if own[0] >= 0 else ~own[0]]
        for i in range(len(scope)):
            if scope[i] == v:
                axis[s] = i
    states[:] = 0
    for entry in range(len(out)):
        if simple:
            for s in range(len(slot_states)):
                shown[s] = read[s, states[axis[s]]]
        else:
            read_truths(lits, var_of, state_of, scope, states, truth)
            show_slots(slot_states, slot_first, truth, shown)
        out[entry] = look_up(kind, slot_states, shown, entries)
        next_state(card, scope, states)


@jit
def are_written_so(groups, lits, is_block, slot_states, slot_first, var_of, state_of, card, start,
                   scope):  # fmt: skip
    """Whether all factors are tables over whole variables, all states in their order."""
    own, table = np.zeros(groups[:, SIZE].max(), lits.dtype), len(card)
    for g in range(len(groups)):
        group = groups[g]
        slots = slice(group[SLOT], group[SLOT] + group[SLOTS])
        for f in range(group[COUNT]):
            if not is_written(group, f, is_block):
                continue
            if group[CODE] != TABLE + DENSE:
                return False
            read_lits(group, f, lits, own)
            over = scope[start[table] : start[table + 1]]
            if not is_written_so(
                own, slot_states[slots], slot_first[slots], var_of, state_of, card, over
            ):
                return False
            table += 1
    return True


@lean
def read_weights(group, f, weights, out):
    """The weights of a knapsack, end to end."""
    for j in range(group[SIZE]):
        out[j] = weights[group[WEIGHT] + f + j * group[ACROSS]]


@jit
def fill(
    groups, lits, is_block, k, weights, capacity, slot_states, slot_first, var_of, state_of, card,
    start, scope, entry, form, pair, table, out,
):  # fmt: skip
    """All factors as tables over variables, end to end in ``out``; see `find_scopes`."""
    links, slots = groups[:, SIZE].max(), max(groups[:, SLOTS].max(), 1)
    literals, truths = np.zeros(links, lits.dtype), np.zeros(links, np.bool_)
    states, heavy = np.zeros(links, np.int64), np.zeros(links)
    shown, axis = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    read = np.zeros((slots, card.max()), np.int64)
    t, first = len(card), entry[len(card)]
    for g in range(len(groups)):
        group = groups[g]
        code, own, truth = group[CODE], literals[: group[SIZE]], truths[: group[SIZE]]
        slot = slice(group[SLOT], group[SLOT] + group[SLOTS])
        for f in range(group[COUNT]):
            if not is_written(group, f, is_block):
                continue
            read_lits(group, f, lits, own)
            over, to = scope[start[t] : start[t + 1]], out[entry[t] - first : entry[t + 1] - first]
            if form[t - len(card)] == FOUR:
                fill_four(code, k, group[FACTOR] + f, pair, f, own, truth, to)
            elif form[t - len(card)] != WRITTEN:
                to[0] = -np.inf
            elif code == PAIR:
                fill_pair(pair[f], own, var_of, state_of, card, over, states, truth, to)
            elif code >= TABLE:
                begin = group[ENTRY] + f * group[ENTRIES]
                fill_table(
                    code - TABLE, slot_states[slot], slot_first[slot],
                    table[begin : begin + group[ENTRIES]], own, var_of, state_of, card, over,
                    states, truth, shown, axis, read, to,
                )  # fmt: skip
            else:
                limit = 0.0
                if code == KNAPSACK:
                    read_weights(group, f, weights, heavy)
                    limit = capacity[group[CAPACITY] + f]
                fill_logic(
                    code, k[group[FACTOR] + f], heavy, limit, own, var_of, state_of, card, over,
                    states, truth, to,
                )  # fmt: skip
            t += 1
