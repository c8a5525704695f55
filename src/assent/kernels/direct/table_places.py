"""Where entries and messages of tables over variables stand, and which links they speak for."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import lean
from assent.kernels.direct.table_scopes import (
    ACROSS,
    ALONG,
    CAPACITY,
    CODE,
    COUNT,
    FACTOR,
    FOUR,
    LINK,
    PAIR,
    SIZE,
    SLOT,
    SLOTS,
    WEIGHT,
    WRITTEN,
    is_written,
)
from assent.kernels.jit import jit
from assent.kernels.problem import ANYOF, KNAPSACK


@jit
def find_strides(start, scope, card, form, stride, at):
    """From an entry to that of the next state of each slot, and where its messages begin.

    The last slot is fastest.  A literal has two states: not named, and named.
    """
    at[0] = 0
    for f in range(len(start) - 1):
        step = 1
        for k in range(start[f], start[f + 1]):
            at[k + 1] = at[k] + (card[scope[k]] if form[f] == WRITTEN else 2)
        for k in range(start[f + 1] - 1, start[f] - 1, -1):
            stride[k] = step
            if form[f] == WRITTEN or form[f] == FOUR:
                step *= at[k + 1] - at[k]


@jit
def place_literals(
    groups, lits, is_block, k, weights, capacity, var_of, state_of, card, start, at, form, limit,
    weight, named, negated, several, places,
):  # fmt: skip
    """All about factors that are not written out: their links have two messages each."""
    factor = 0
    latest = np.full(len(card), -1)  # slot that spoke of each variable
    for g in range(len(groups)):
        group = groups[g]
        for f in range(group[COUNT]):
            if not is_written(group, f, is_block):
                continue
            begin, link = start[factor], group[LINK] + f * group[ALONG]
            if form[factor] == WRITTEN:
                factor += 1
                continue
            heavy = group[CODE] == KNAPSACK
            if heavy:
                limit[factor] = capacity[group[CAPACITY] + f]
            elif group[CODE] != PAIR:
                limit[factor] = k[group[FACTOR] + f]
            for j in range(group[SIZE]):
                lit, slot = lits[link + j * group[ACROSS]], begin + j
                c = lit if lit >= 0 else ~lit
                named[slot], negated[slot] = state_of[c], lit < 0
                if heavy:
                    weight[slot] = weights[group[WEIGHT] + f + j * group[ACROSS]]
                else:
                    weight[slot] = 2.0 if form[factor] == ANYOF and j + 1 < group[SIZE] else 1.0
                places[link + j * group[ACROSS], 0] = at[slot] + (1 if lit >= 0 else 0)
                places[link + j * group[ACROSS], 1] = at[slot] + (0 if lit >= 0 else 1)
                before = latest[var_of[c]]
                if before >= begin:
                    several[before], several[slot] = True, True
                latest[var_of[c]] = slot
            factor += 1


@lean
def are_variables(slot, uses, states, first):
    """Whether literals of each slot in turn are all those about one variable."""
    at = 0
    for s in range(len(states)):
        width = states[s] - first[s]
        if uses[slot[at]] != width:
            return False
        for j in range(at + 1, at + width):
            if slot[j] != slot[at]:
                return False
        at += width
    return len(states) > 0


@jit
def place_links(
    groups, lits, is_block, slot_states, slot_first, var_of, state_of, card, alone, start, scope,
    at, form, named, other, places,
):  # fmt: skip
    """Which messages the links of all tables stand for, ``places[n_links, 2]``.

    A link's score is the difference of two messages, the second less the first: for a positive
    literal that of its state and of another one, -1 where every state has a link of its own, as
    in tables whose slots are whole variables.  Factors that name one state of a variable of several
    are marked.  Returns False if one names more: it may take several for true, and messages do not.
    """
    slot = np.empty(groups[:, SIZE].max(), np.int64)  # of each literal
    uses = np.empty(len(slot), np.int64)  # literals of each slot
    factor = 0
    for g in range(len(groups)):
        group, size = groups[g], groups[g, SIZE]
        own = slice(group[SLOT], group[SLOT] + group[SLOTS])
        states, first = slot_states[own], slot_first[own]
        for f in range(group[COUNT]):
            if not is_written(group, f, is_block):
                continue
            link, begin = group[LINK] + f * group[ALONG], start[factor]
            if form[factor] != WRITTEN:
                factor += 1
                continue
            uses[:size] = 0
            for j in range(size):
                lit, k = lits[link + j * group[ACROSS]], 0
                while scope[begin + k] != var_of[lit if lit >= 0 else ~lit]:
                    k += 1
                slot[j] = k
                uses[k] += 1
            whole = are_variables(slot, uses, states, first)
            for j in range(size):
                here = link + j * group[ACROSS]
                lit, k, count = lits[here], begin + slot[j], uses[slot[j]]
                c = lit if lit >= 0 else ~lit
                v = var_of[c]
                mine, beside = at[k] + state_of[c], -1
                if count == 1 and alone[v]:
                    beside = at[k]
                elif count == 1 and card[v] > 1:
                    named[k], other[k] = state_of[c], 1 if state_of[c] == 0 else 0
                    beside = at[k] + other[k]
                elif not whole or count != card[v] or alone[v] or lit < 0:
                    return False
                places[here, 0] = mine if lit >= 0 else beside
                places[here, 1] = beside if lit >= 0 else mine
            factor += 1
    return True


@jit
def block_links(groups, is_block, out):
    """Links of the exactly-one factors that make variables whole, end to end."""
    count = 0
    for g in range(len(groups)):
        group = groups[g]
        for f in range(group[COUNT]):
            if is_written(group, f, is_block):
                continue
            for j in range(group[SIZE]):
                out[count] = group[LINK] + f * group[ALONG] + j * group[ACROSS]
                count += 1


@jit
def find_ranges(entry, entries, top, low, forbidden):
    """The largest and smallest possible entry of each table, and which forbid some.

    Both are 0 where no joint state is possible.
    """
    for f in range(len(entry) - 1):
        most, least, forbids = -np.inf, np.inf, False
        for e in range(entry[f], entry[f + 1]):
            value = entries[e]
            if value == -np.inf:
                forbids = True
            else:
                most, least = max(most, value), min(least, value)
        nothing = most == -np.inf
        top[f], low[f] = 0.0 if nothing else most, 0.0 if nothing else least
        forbidden[f] = forbids
