"""Factors tabulated over variables: every joint state, and what it is worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.factor_list import (
    ACROSS,
    CAPACITY,
    CODE,
    COUNT,
    ENTRIES,
    ENTRY,
    ITEM,
    PAIR,
    SIZE,
    SLOT,
    SLOTS,
    TABLE,
    WEIGHT,
)
from assent.kernels.core.propagate import coordinate
from assent.kernels.direct.table_scopes import FOUR, TABULATED, is_table, literal_of, most_in
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.problem import ANYOF, CAP, DENSE, KNAPSACK, PARITY, POTTS, SUM


class Scratch(NamedTuple):
    """Room for one factor."""

    lits: np.ndarray  # int32[size]
    truth: np.ndarray  # bool[size] of its literals
    weights: np.ndarray  # float64[size] of a knapsack
    states: np.ndarray  # int64[size] of its variables
    shown: np.ndarray  # int64[slots] states that the slots show
    axis: np.ndarray  # int64[slots] the variable of each, by its place in the scope
    read: np.ndarray  # int64[slots, states] what a slot shows by the state of its variable


@jit_internal
def make_scratch(factors):
    """Room for the largest factor."""
    flat, card = factors.flat, factors.variables.card
    links, slots = most_in(flat.groups, SIZE), most_in(flat.groups, SLOTS)
    states = 1
    for v in range(len(card)):
        states = max(states, card[v])
    return Scratch(
        np.zeros(links, np.int32), np.zeros(links, np.bool_), np.zeros(links),
        np.zeros(links, np.int64), np.zeros(slots, np.int64), np.zeros(slots, np.int64),
        np.zeros((slots, states), np.int64),
    )  # fmt: skip


@jit_internal
def part_of(scratch, size):
    """The room of a factor of ``size`` literals."""
    return Scratch(
        scratch.lits[:size], scratch.truth[:size], scratch.weights[:size], scratch.states,
        scratch.shown, scratch.axis, scratch.read,
    )  # fmt: skip


@jit_internal_no_allocation
def next_state(card, scope, states):
    """The following joint state, the last variable fastest."""
    for i in range(len(scope) - 1, -1, -1):
        states[i] += 1
        if states[i] < card[scope[i]]:
            return
        states[i] = 0


@jit_internal_no_allocation
def read_truths(variables, scope, scratch):
    """Truth of each literal in a joint state."""
    for j in range(len(scratch.lits)):
        lit = scratch.lits[j]
        c, at = coordinate(lit), 0
        while scope[at] != variables.var_of[c]:
            at += 1
        scratch.truth[j] = (scratch.states[at] == variables.state_of[c]) != (lit < 0)


@jit_internal_no_allocation
def holds(kind, k, weights, capacity, truth):
    """Whether literal truths satisfy a logic factor."""
    n = len(truth)
    if kind == KNAPSACK:
        load = 0.0
        for j in range(n):
            if truth[j]:
                load += weights[j]
        return load <= capacity
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


@jit_internal_no_allocation
def fill_literals(factors, row, f, score, is_four, scope, scratch, out):
    """The table of a pair (its score where both are true) or of a constraint (0, or ``-inf``).

    Four entries are for two literals, each false and true as coordinates.
    """
    flat, variables, truth = factors.flat, factors.variables, scratch.truth
    capacity, k = 0.0, np.int64(0)
    if row[CODE] != PAIR:
        k = np.int64(flat.k[row[ITEM] + f])
    if row[CODE] == KNAPSACK:
        for j in range(row[SIZE]):
            scratch.weights[j] = flat.numbers[row[WEIGHT] + f + j * row[ACROSS]]
        capacity = flat.numbers[row[CAPACITY] + f]
    scratch.states[:] = 0
    for entry in range(len(out)):
        if is_four:
            for j in range(2):
                truth[j] = ((entry >> (1 - j)) & 1 == 1) != (scratch.lits[j] < 0)
        else:
            read_truths(variables, scope, scratch)
            next_state(variables.card, scope, scratch.states)
        if row[CODE] == PAIR:
            out[entry] = score if truth[0] and truth[1] else 0.0
        else:
            out[entry] = 0.0 if holds(row[CODE], k, scratch.weights, capacity, truth) else -np.inf


@jit_internal_no_allocation
def read_slot(lits, first, variables, read):
    """What a slot shows by the state of its variable, in ``read``; False if it has several."""
    v = variables.var_of[coordinate(lits[0])]
    states = variables.card[v]
    for state in range(states):
        read[state] = 0
    for j in range(len(lits)):
        lit = lits[j]
        c = coordinate(lit)
        if variables.var_of[c] != v:
            return False
        if lit >= 0:
            read[variables.state_of[c]] = j + first
        else:
            for state in range(states):
                if state != variables.state_of[c]:
                    read[state] = j + first
    return True


@jit_internal_no_allocation
def look_up(kind, slot_states, shown, entries):
    """The entry for what the slots show."""
    joint, equal = 0, True
    for s in range(len(slot_states)):
        joint = joint * slot_states[s] + shown[s]
        equal = equal and shown[s] == shown[0]
    if kind == POTTS:
        return entries[shown[0]] if equal else 0.0
    return entries[joint]


@jit_internal_no_allocation
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


@jit_internal_no_allocation
def is_as_given(lits, slot_states, slot_first, variables, scope):
    """Whether a table with these slots is over complete variables, all states in their order."""
    at = 0
    if len(scope) != len(slot_states):
        return False
    for slot in range(len(slot_states)):
        v = scope[slot]
        if variables.card[v] != slot_states[slot]:
            return False
        for s in range(slot_first[slot], slot_states[slot]):
            lit = lits[at]
            at += 1
            if lit < 0 or variables.var_of[lit] != v or variables.state_of[lit] != s:
                return False
    return True


@jit_internal_no_allocation
def read_slots(slot_states, slot_first, variables, scope, scratch):
    """Look up what each slot shows by its variable's state; False if one has several variables."""
    begin, simple = 0, True
    for s in range(len(slot_states)):
        end = begin + slot_states[s] - slot_first[s]
        own = scratch.lits[begin:end]
        begin = end
        scratch.axis[s] = 0
        if not len(own):  # a single state
            scratch.read[s, :] = 0
            continue
        simple = simple and read_slot(own, slot_first[s], variables, scratch.read[s])
        v = variables.var_of[coordinate(own[0])]
        for i in range(len(scope)):
            if scope[i] == v:
                scratch.axis[s] = i
    return simple


@jit_internal_no_allocation
def fill_table(kind, slot_states, slot_first, entries, variables, scope, scratch, out):
    """A table over slots, read by variables; ``entries`` are as they were given."""
    if kind == DENSE and is_as_given(scratch.lits, slot_states, slot_first, variables, scope):
        for entry in range(len(out)):
            out[entry] = entries[entry]
        return
    simple = read_slots(slot_states, slot_first, variables, scope, scratch)
    states, shown = scratch.states, scratch.shown
    states[:] = 0
    for entry in range(len(out)):
        if simple:
            for s in range(len(slot_states)):
                shown[s] = scratch.read[s, states[scratch.axis[s]]]
        else:
            read_truths(variables, scope, scratch)
            show_slots(slot_states, slot_first, scratch.truth, shown)
        out[entry] = look_up(kind, slot_states, shown, entries)
        next_state(variables.card, scope, states)


@jit_internal_no_allocation
def read_lits(flat, row, f, out):
    """The literals of a factor, end to end."""
    for j in range(row[SIZE]):
        out[j] = literal_of(flat, row, f, j)


@jit
def are_as_given(factors, start, scope):
    """Whether all factors are tables over complete variables, all states in their order."""
    flat, variables = factors.flat, factors.variables
    lits, table = np.zeros(most_in(flat.groups, SIZE), np.int32), len(variables.card)
    for g in range(len(flat.groups)):
        row = flat.groups[g]
        slots = slice(row[SLOT], row[SLOT] + row[SLOTS])
        states, first = factors.slot_states[slots], factors.slot_first[slots]
        for f in range(row[COUNT]):
            if not is_table(row, f, variables.is_block):
                continue
            if row[CODE] != TABLE + DENSE:
                return False
            read_lits(flat, row, f, lits)
            over = scope[start[table] : start[table + 1]]
            if not is_as_given(lits, states, first, variables, over):
                return False
            table += 1
    return True


@jit
def fill(factors, model, form, pair, table, out):
    """All factors as tables over variables, end to end in ``out``; see `find_scopes`.

    ``model`` has the scopes, ``pair[P]`` and ``table`` are the scores.
    """
    flat, variables = factors.flat, factors.variables
    start, entry, n = model.start, model.entry, len(variables.card)
    room, t = make_scratch(factors), n
    for g in range(len(flat.groups)):
        row = flat.groups[g]
        code, scratch = row[CODE], part_of(room, row[SIZE])
        slots = slice(row[SLOT], row[SLOT] + row[SLOTS])
        states, first = factors.slot_states[slots], factors.slot_first[slots]
        for f in range(row[COUNT]):
            if not is_table(row, f, variables.is_block):
                continue
            read_lits(flat, row, f, scratch.lits)
            scope = model.scope[start[t] : start[t + 1]]
            own = out[entry[t] - entry[n] : entry[t + 1] - entry[n]]
            is_four = form[t - n] == FOUR
            if code >= TABLE:
                begin = row[ENTRY] - len(pair) + f * row[ENTRIES]
                entries = table[begin : begin + row[ENTRIES]]
                fill_table(code - TABLE, states, first, entries, variables, scope, scratch, own)
            elif is_four or form[t - n] == TABULATED:
                score = pair[f] if code == PAIR else 0.0
                fill_literals(factors, row, f, score, is_four, scope, scratch, own)
            else:
                own[0] = -np.inf
            t += 1
