"""Reduced costs: what the bound of a dual point loses when a coordinate is fixed.

With a coordinate's value given, every factor around it must choose among vertices that agree.  The
bound falls by the sum of what they lose, so that one pass over all factors gives the bound of
every single decision.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    CODE,
    COUNT,
    FACTOR,
    LINK,
    PLACE,
    SIZE,
    SLOTS,
    START,
    TABLE,
)
from assent.kernels.core.factor_oracles import gather, max_marginals_factor
from assent.kernels.core.propagate import coordinate
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import KNAPSACK

# Columns of ``losses[n, 2]``.
IF_FALSE = 0
IF_TRUE = 1


@jit_internal_no_allocation
def stands_twice(row, lits, f, seen):
    """Whether a coordinate stands in a factor twice: what its links lose must not be added up."""
    factor = row[FACTOR] + f
    first = row[LINK] + f * row[ALONG]
    for j in range(row[SIZE]):
        v = coordinate(lits[first + j * row[ACROSS]])
        if seen[v] == factor:
            return True
        seen[v] = factor
    return False


@jit_internal_no_allocation
def charge(literal, if_false, if_true, losses):
    """Add what a literal's false and true cost to its coordinate."""
    if literal >= 0:
        losses[literal, IF_FALSE] += if_false
        losses[literal, IF_TRUE] += if_true
    else:
        losses[~literal, IF_FALSE] += if_true
        losses[~literal, IF_TRUE] += if_false


@jit_internal_no_allocation
def charge_literals(row, lits, f, out, losses):
    """A pair or a logic factor: false and true of each literal stand side by side in ``out``."""
    first = row[LINK] + f * row[ALONG]
    for j in range(row[SIZE]):
        best = max(out[2 * j], out[2 * j + 1])
        if best > -np.inf:
            literal = lits[first + j * row[ACROSS]]
            charge(literal, best - out[2 * j], best - out[2 * j + 1], losses)


@jit_internal_no_allocation
def charge_states(row, flat, f, out, losses):
    """A table or structure: a state's false is the best of the others in its slot."""
    first = row[LINK] + f * row[ALONG]
    slot, begin, end = -1, 0, 0
    best, second = -np.inf, -np.inf
    for j in range(row[SIZE]):
        place = flat.integers[row[PLACE] + j]
        while place >= end and slot + 1 < row[SLOTS]:
            slot += 1
            begin, end = flat.integers[row[START] + slot], flat.integers[row[START] + slot + 1]
            best, second = -np.inf, -np.inf
            for at in range(begin, end):
                if out[at] > best:
                    second = best
                    best = out[at]
                elif out[at] > second:
                    second = out[at]
        if best > -np.inf:
            other = second if out[place] == best else best
            charge(flat.lits[first + j], best - other, best - out[place], losses)


@jit
def add_losses(flat, inner, s, seen, work, losses):
    """Add to ``losses[n, 2]`` what all factors lose at link scores ``s``; KNAPSACKs say nothing.

    ``seen[n]`` is scratch, -1 everywhere.
    """
    for g in range(len(flat.groups)):
        row = flat.groups[g]
        if row[CODE] == KNAPSACK:
            continue
        for f in range(row[COUNT]):
            if stands_twice(row, flat.lits, f, seen):
                continue
            a = gather(row, flat, f, s, work.a)
            max_marginals_factor(row, flat, inner, f, a, work)
            if row[CODE] < TABLE:
                charge_literals(row, flat.lits, f, work.out, losses)
            else:
                charge_states(row, flat, f, work.out, losses)
