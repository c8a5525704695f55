"""Where entries and messages of tables over variables stand, and which links they speak for."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.propagate import lean


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
