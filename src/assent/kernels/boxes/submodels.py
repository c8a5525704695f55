"""Submodels linked by soft constraints alone: what is left to them, and their best vertices.

``r[n]`` is what multipliers leave of every coordinate's score; a submodel's link scores are just
that.  See :mod:`assent.solvers.boxes.box_dual` for the arrays.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    CODE,
    ENTRY,
    FACTOR,
    LINK,
    PAIR,
    SIZE,
    TABLE,
)
from assent.kernels.core.factor_oracles import gather, maximize_logic, maximize_table
from assent.kernels.core.residual_scores import settle
from assent.kernels.jit import jit, jit_internal_no_allocation


@jit_internal_no_allocation
def charge(boxes, t, amount, r):
    """Raise a multiplier by ``amount``: its literals are worth that much less; returns constants.

    ``nu * (1 - x) = nu - nu * x``: a negated literal leaves a constant behind.
    """
    constant = amount * boxes.offset[t]
    for term in range(boxes.term[t], boxes.term[t + 1]):
        own = amount * boxes.sign[term]
        if own != 0.0:
            settle(boxes.lits[term], own, r)
            if boxes.lits[term] < 0:
                constant -= own
    return constant


@jit
def charge_all(boxes, nu, theta, r):
    """``r[n]`` for all multipliers, computed anew; returns the constants they leave."""
    copy_values(theta, r)
    constant = 0.0
    for t in range(len(nu)):
        constant += charge(boxes, t, nu[t], r)
    return constant


@jit
def soft_links(boxes, nu, s):
    """Link scores of the soft factors, added to ``s`` (zero there)."""
    for t in range(len(nu)):
        for term in range(boxes.term[t], boxes.term[t + 1]):
            link, own = boxes.link_of[term], nu[t] * boxes.sign[term]
            if own == 0.0:
                continue
            if link < 0:
                s[~link] -= own
            else:
                s[link] += own


@jit
def submodel_links(flat, submodels, r, s):
    """Link scores of the submodels: all that is left to their coordinates."""
    for v in range(len(r)):
        link = submodels.link[v]
        if link >= 0:
            s[link] = -r[v] if flat.lits[link] < 0 else r[v]


@jit_internal_no_allocation
def load(row, flat, f, r, s):
    """Link scores of one submodel; returns what negated literals leave behind."""
    constant = 0.0
    for j in range(row[SIZE]):
        link = row[LINK] + f * row[ALONG] + j * row[ACROSS]
        lit = flat.lits[link]
        if lit < 0:
            s[link] = -r[~lit]
            constant += r[~lit]
        else:
            s[link] = r[lit]
    return constant


@jit_internal_no_allocation
def maximize_pair(a, score, z):
    """Best vertex of a pair; returns its value."""
    both = a[0] + a[1] + score
    one = max(a[0], a[1])
    together = both >= one and both > 0.0
    z[0] = 1.0 if together or (a[0] >= a[1] and a[0] > 0.0) else 0.0
    z[1] = 1.0 if together or (a[1] > a[0] and a[1] > 0.0) else 0.0
    return max(both, one, 0.0)


@jit_internal_no_allocation
def solve_submodel(flat, submodels, inner, factor, r, s, x, work):
    """Best vertex of a submodel, written to ``x[n]``; returns its value."""
    row = flat.groups[submodels.group[factor]]
    f = factor - row[FACTOR]
    value = load(row, flat, f, r, s)
    a = gather(row, flat, f, s, work.a)
    if row[CODE] == PAIR:
        value += maximize_pair(a, inner[row[ENTRY] + f], work.z)
    elif row[CODE] < TABLE:
        value += maximize_logic(row, flat, f, a, work)
    else:
        value += maximize_table(row, flat, inner, f, a, work)[0]
    for j in range(row[SIZE]):
        lit = flat.lits[row[LINK] + f * row[ALONG] + j * row[ACROSS]]
        if lit < 0:
            x[~lit] = 1.0 - work.z[j]
        else:
            x[lit] = work.z[j]
    return value


@jit
def solve_all(flat, submodels, inner, r, s, x, work):
    """Best vertices of all submodels, and of coordinates in none, into ``x[n]``; their value."""
    asked = np.zeros(len(submodels.group), np.bool_)
    value = 0.0
    for v in range(len(x)):
        factor = submodels.owner[v]
        if factor < 0:
            x[v] = 1.0 if r[v] > 0.0 else 0.0
            value += max(0.0, r[v])
        elif not asked[factor]:
            asked[factor] = True
            value += solve_submodel(flat, submodels, inner, factor, r, s, x, work)
    return value


@jit_internal_no_allocation
def excess_of(boxes, t, x):
    """``g`` at the assignment ``x[n]``: terms of literals less the offset."""
    total = -boxes.offset[t]
    for term in range(boxes.term[t], boxes.term[t + 1]):
        lit = boxes.lits[term]
        if boxes.sign[term] != 0.0:
            total += boxes.sign[term] * (1.0 - x[~lit] if lit < 0 else x[lit])
    return total


@jit_internal_no_allocation
def cost_of(boxes, t, excess):
    """What a penalty charges for ``g``: the most a multiplier can make of it."""
    if np.abs(excess) < 1e-9:
        return 0.0
    return excess * (boxes.upper[t] if excess > 0.0 else boxes.lower[t])
