"""Factors written out as tables over variables: every joint state, and what it is worth.

A variable is a block of coordinates of which one is true (its states), or a coordinate of its own
(state 1 is true).  ``var_of[n]`` and ``state_of[n]`` tell the variable and state of a coordinate.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.propagate import lean
from assent.problem import ANYOF, CAP, KNAPSACK, PARITY, POTTS, SUM

# Sums of weights are rounded: a knapsack filled to the brim is not overfull.
BRIM = 1e-9


@jit
def find_blocks(lits, k, count, var_of, state_of, is_block):
    """Make variables of the sums ``lits[m, links]`` of which exactly one coordinate is true.

    None shares a coordinate with an earlier one; ``count`` variables are known before, the number
    with these is returned.
    """
    for f in range(len(lits)):
        free = k[f] == 1
        for j in range(lits.shape[1]):
            free = free and lits[f, j] >= 0 and var_of[lits[f, j]] < 0
        if free:
            for j in range(lits.shape[1]):
                var_of[lits[f, j]] = count
                state_of[lits[f, j]] = j
            is_block[f] = True
            count += 1
    return count


@jit
def find_scopes(lits, var_of, card, most, scope, arity, size):
    """The distinct variables of every factor with ``lits[m, links]``, in ``scope[m, links]``.

    ``arity[m]`` counts them, ``size[m]`` their joint states, no further than beyond ``most``.
    """
    for f in range(len(lits)):
        count, total = 0, 1
        for j in range(lits.shape[1]):
            lit = lits[f, j]
            v = var_of[lit if lit >= 0 else ~lit]
            known = False
            for i in range(count):
                known = known or scope[f, i] == v
            if not known:
                scope[f, count] = v
                count += 1
                total = min(total * card[v], most + 1)
        arity[f] = count
        size[f] = total


@lean
def next_state(card, scope, arity, states):
    """The following joint state, the last variable fastest."""
    for i in range(arity - 1, -1, -1):
        states[i] += 1
        if states[i] < card[scope[i]]:
            return
        states[i] = 0


@lean
def read_truths(lits, var_of, state_of, scope, arity, states, truth):
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


@jit
def fill_logic(
    kind, lits, k, weights, capacity, var_of, state_of, card, scope, arity, first, table
):
    """Tables of logic factors: 0 where they hold, ``-inf`` elsewhere; ``first[m]`` is where."""
    truth, states = np.zeros(lits.shape[1], np.bool_), np.zeros(lits.shape[1], np.int64)
    for f in range(len(lits)):
        states[:] = 0
        for entry in range(first[f], first[f + 1]):
            read_truths(lits[f], var_of, state_of, scope[f], arity[f], states, truth)
            fine = holds(kind, k[f], weights[f], capacity[f], truth)
            table[entry] = 0.0 if fine else -np.inf
            next_state(card, scope[f], arity[f], states)


@jit
def fill_pairs(pair_var, score, var_of, state_of, card, scope, arity, first, table):
    """Tables of pairs: the score where both are true."""
    truth, states = np.zeros(2, np.bool_), np.zeros(2, np.int64)
    for f in range(len(pair_var)):
        states[:] = 0
        for entry in range(first[f], first[f + 1]):
            read_truths(pair_var[f], var_of, state_of, scope[f], arity[f], states, truth)
            table[entry] = score[f] if truth[0] and truth[1] else 0.0
            next_state(card, scope[f], arity[f], states)


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


@jit
def fill_tables(
    kind, slot_states, slot_first, lits, entries, var_of, state_of, card, scope, arity, first,
    table,
):  # fmt: skip
    """Tables over slots, read by variables; ``entries[m, ...]`` are as they were written.

    Most slots are over one variable: what each shows is then looked up by its state.
    """
    truth, slots = np.zeros(lits.shape[1], np.bool_), len(slot_states)
    states, shown = np.zeros(lits.shape[1], np.int64), np.zeros(slots, np.int64)
    read, axis = np.zeros((slots, card.max()), np.int64), np.zeros(slots, np.int64)
    for f in range(len(lits)):
        begin, simple = 0, True
        for s in range(slots):
            end = begin + slot_states[s] - slot_first[s]
            own = lits[f, begin:end]
            begin = end
            axis[s] = 0
            if not len(own):  # a single state
                read[s, :] = 0
                continue
            simple = simple and read_slot(own, slot_first[s], var_of, state_of, card, read[s])
            v = var_of[own[0] if own[0] >= 0 else ~own[0]]
            for i in range(arity[f]):
                if scope[f, i] == v:
                    axis[s] = i
        states[:] = 0
        for entry in range(first[f], first[f + 1]):
            if simple:
                for s in range(slots):
                    shown[s] = read[s, states[axis[s]]]
            else:
                read_truths(lits[f], var_of, state_of, scope[f], arity[f], states, truth)
                show_slots(slot_states, slot_first, truth, shown)
            table[entry] = look_up(kind, slot_states, shown, entries[f])
            next_state(card, scope[f], arity[f], states)


@jit
def is_written_so(lits, states, first, var_of, state_of, card, scope):
    """Whether tables with these slots are over whole variables, all states in their order."""
    for f in range(len(lits)):
        at = 0
        for slot in range(len(states)):
            v = scope[f, slot]
            if card[v] != states[slot]:
                return False
            for s in range(first[slot], states[slot]):
                lit = lits[f, at]
                at += 1
                if lit < 0 or var_of[lit] != v or state_of[lit] != s:
                    return False
    return True
