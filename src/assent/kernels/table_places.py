"""Where entries and messages of tables over variables stand, and which links they speak for."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.propagate import lean
from assent.kernels.table_scopes import (
    ACROSS,
    ALONG,
    COUNT,
    LINK,
    SIZE,
    SLOT,
    SLOTS,
    is_written,
)


@jit
def find_strides(start, scope, card, stride):
    """From an entry to that of the next state of each slot, the last slot fastest."""
    for f in range(len(start) - 1):
        step = 1
        for k in range(start[f + 1] - 1, start[f] - 1, -1):
            stride[k] = step
            step *= card[scope[k]]


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
    at, named, other, places,
):  # fmt: skip
    """Which messages the links of all factors stand for, ``places[n_links, 2]``.

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
