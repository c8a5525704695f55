"""MPLP (Globerson and Jaakkola 2008): one factor at a time gives back all but what it needs.

Take all that the factor's coordinates have left back into its link scores, ``a = s + r``; let ``m``
be its max-marginals and ``n`` the number of its slots.  Then leave with the coordinates

    r = (m - c) / n,        s = a - r,

with, per slot, ``c`` the false of a literal, or a value between the best and the second best state.
Of any vertex each slot pays ``(m - c) / n >= (value - c) / n``, so the factor keeps at most the
mean of the ``c``; the coordinates keep the rest of the maximum.  The bound never rises, and no
other choice of this factor's link scores is better.

At most one and exactly one literal are a slot by themselves: one of n + 1 or n states.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    AS_PLACES,
    CODE,
    COUNT,
    ENTRIES,
    ENTRY,
    ITEM,
    LINK,
    PAIR,
    PLACE,
    SIZE,
    SLOTS,
    START,
    TABLE,
)
from assent.kernels.core.factor_oracles import gather, max_marginals_factor
from assent.kernels.core.residual_scores import settle
from assent.kernels.jit import jit, jit_inline_llvm, jit_internal_no_allocation
from assent.kernels.kinds.table_scores import two_largest
from assent.kernels.problem import CAP, DENSE, POTTS, SUM


@jit_internal_no_allocation
def take_back(lits, link, s, r):
    """Add to a link's score all that its coordinate has left; returns the sum."""
    lit = lits[link]
    if lit < 0:
        s[link] -= r[~lit]
        r[~lit] = 0.0
    else:
        s[link] += r[lit]
        r[lit] = 0.0
    return s[link]


@jit_internal_no_allocation
def leave(lits, link, rest, s, r):
    """Leave ``rest`` of a link's score with its coordinate."""
    s[link] -= rest
    settle(lits[link], -rest, r)


@jit_internal_no_allocation
def decided(best, second):
    """A value between the best state and the second best, whatever is infinite."""
    return 0.5 * (best + second) if second > -np.inf else best


@jit_internal_no_allocation
def remainder(value, reference, own, share):
    """What a coordinate keeps: its share of ``value - reference``.

    Where one of them is -inf any answer of the right sign will do.  Of the link's score ``own``
    the factor then keeps the part that costs it nothing: whatever it might earn by what is
    impossible, whatever it might lose by what is certain.
    """
    if value == -np.inf:
        return min(own, 0.0)
    if reference == -np.inf:
        return max(own, 0.0)
    return share * (value - reference)


@jit_internal_no_allocation
def sweep_pairs(row, lits, inner, s, r):
    """All pairs in turn."""
    for f in range(row[COUNT]):
        first = row[LINK] + 2 * f
        i, j = np.uint32(lits[first]), np.uint32(lits[first + 1])
        a1 = s[first] + r[i]
        a2 = s[first + 1] + r[j]
        score = inner[row[ENTRY] + f]
        keep1 = 0.5 * (a1 + max(0.0, a2 + score) - max(0.0, a2))
        keep2 = 0.5 * (a2 + max(0.0, a1 + score) - max(0.0, a1))
        r[i] = keep1
        r[j] = keep2
        s[first] = a1 - keep1
        s[first + 1] = a2 - keep2


@jit_internal_no_allocation
def one_of_many(row, lits, f, s, r):
    """A factor that lets at most one (CAP) or exactly one (SUM) literal be true."""
    first = row[LINK] + f * row[ALONG]
    best = 0.0 if row[CODE] == CAP else -np.inf
    second = -np.inf
    for j in range(row[SIZE]):
        value = take_back(lits, first + j * row[ACROSS], s, r)
        if value > best:
            second = best
            best = value
        elif value > second:
            second = value
    # With none true as one of the states, false is worth 0 and no value between is lower.
    reference = decided(best, second)
    if row[CODE] == CAP:
        reference = max(0.0, second)
    if row[SIZE] == 1 and row[CODE] == SUM:
        reference = -np.inf
    for j in range(row[SIZE]):
        link = first + j * row[ACROSS]
        leave(lits, link, remainder(s[link], reference, s[link], 1.0), s, r)


@jit_internal_no_allocation
def by_literal(row, flat, inner, f, s, r, work):
    """Any other logic factor: every literal is a slot."""
    first = row[LINK] + f * row[ALONG]
    for j in range(row[SIZE]):
        work.a[j] = take_back(flat.lits, first + j * row[ACROSS], s, r)
    max_marginals_factor(row, flat, inner, f, work.a, work)
    share = 1.0 / row[SIZE]
    for j in range(row[SIZE]):
        rest = remainder(work.out[2 * j + 1], work.out[2 * j], work.a[j], share)
        leave(flat.lits, first + j * row[ACROSS], rest, s, r)


@jit_internal_no_allocation
def slot_reference(row, flat, slot, out, linked):
    """The ``c`` of a slot with max-marginals ``out``; ``linked`` marks places with a link."""
    best = -np.inf
    second = -np.inf
    unlinked = -np.inf
    for at in range(flat.integers[row[START] + slot], flat.integers[row[START] + slot + 1]):
        value = out[at]
        if linked[at] == 0.0:
            unlinked = max(unlinked, value)
        elif value > best:
            second = best
            best = value
        elif value > second:
            second = value
    if unlinked > -np.inf:
        return max(unlinked, second)
    return decided(best, second) if second > -np.inf else -np.inf


@jit_internal_no_allocation
def by_slot(row, flat, inner, f, s, r, work):
    """A table or a structure."""
    first = row[LINK] + f * row[ALONG]
    for j in range(row[SIZE]):
        take_back(flat.lits, first + j, s, r)
    a = gather(row, flat, f, s, work.a)
    max_marginals_factor(row, flat, inner, f, a, work)
    linked = work.a
    for at in range(flat.integers[row[START] + row[SLOTS]]):
        linked[at] = 0.0
    for j in range(row[SIZE]):
        linked[flat.integers[row[PLACE] + j]] = 1.0
    share = 1.0 / row[SLOTS]
    slot = -1
    reference = 0.0
    for j in range(row[SIZE]):
        at = flat.integers[row[PLACE] + j]
        if slot < 0 or at >= flat.integers[row[START] + slot + 1]:
            while at >= flat.integers[row[START] + slot + 1]:
                slot += 1
            reference = slot_reference(row, flat, slot, work.out, linked)
        rest = remainder(work.out[at], reference, s[first + j], share)
        leave(flat.lits, first + j, rest, s, r)


@jit_inline_llvm
def give_half(lits, first, best, second, a, m, s, r):
    """One of two sides: half of what its states are worth above the reference stays behind."""
    reference = decided(best, second)
    for k in range(len(a)):
        rest = 0.5 * (m[k] - reference)
        s[first + k] = a[k] - rest
        r[np.uint32(lits[first + k])] = rest


@jit_inline_llvm
def potts_side(own, other, diagonal, out):
    """Max-marginals of one side of a Potts factor; returns the two largest."""
    top, rival = two_largest(other, 0, len(other))
    best, second = -np.inf, -np.inf
    for k in range(len(own)):
        partner = other[rival] if k == top else other[top]
        value = own[k] + max(partner, other[k] + diagonal[k])
        out[k] = value
        second = max(second, min(best, value))
        best = max(best, value)
    return best, second


@jit_inline_llvm
def dense_sides(left, right, table, m1, m2):
    """Max-marginals of a table of two slots, of both sides."""
    others = len(right)
    m2[:] = -np.inf
    for i in range(len(left)):
        row = table[i * others : (i + 1) * others]
        best = -np.inf
        for j in range(others):
            value = left[i] + (row[j] + right[j])
            best = max(best, value)
            m2[j] = max(m2[j], value)
        m1[i] = best


@jit_inline_llvm
def two_best(m):
    """The largest number and the one after it."""
    best = -np.inf
    second = -np.inf
    for k in range(len(m)):
        second = max(second, min(best, m[k]))
        best = max(best, m[k])
    return best, second


@jit_internal_no_allocation
def sweep_two(row, flat, inner, s, r, work):
    """All tables of a group over two slots, every joint state possible, in turn."""
    size, links = flat.integers[row[START] + 1], row[SIZE]
    both = work.a[:links]
    left, right, m1, m2 = both[:size], both[size:], work.out[:size], work.out[size:links]
    for f in range(row[COUNT]):
        first = row[LINK] + f * row[ALONG]
        for k in range(links):
            both[k] = s[first + k] + r[np.uint32(flat.lits[first + k])]
        entry = row[ENTRY] + f * row[ENTRIES]
        entries = inner[entry : entry + row[ENTRIES]]
        if row[CODE] == TABLE + POTTS:
            best1, second1 = potts_side(left, right, entries, m1)
            best2, second2 = potts_side(right, left, entries, m2)
        else:
            dense_sides(left, right, entries, m1, m2)
            best1, second1 = two_best(m1)
            best2, second2 = two_best(m2)
        give_half(flat.lits, first, best1, second1, left, m1, s, r)
        give_half(flat.lits, first + size, best2, second2, right, m2, s, r)


@jit_internal_no_allocation
def is_of_two(row, flat, inner):
    """Whether a group is tables of two slots of two or more states, all of them possible."""
    if row[CODE] not in (TABLE + DENSE, TABLE + POTTS) or row[AS_PLACES] != 1 or row[SLOTS] != 2:
        return False
    size = flat.integers[row[START] + 1]
    if size < 2 or row[SIZE] - size < 2:
        return False
    if row[CODE] == TABLE + POTTS:
        return True
    for entry in range(row[ENTRY], row[ENTRY] + row[COUNT] * row[ENTRIES]):
        if inner[entry] == -np.inf:
            return False
    return True


@jit
def sweep(flat, inner, iterations, s, r, work):
    """All factors in turn, ``iterations`` times; ``r[n]`` is what link scores ``s`` leave."""
    for _ in range(iterations):
        for g in range(len(flat.groups)):
            row = flat.groups[g]
            if row[CODE] == PAIR:
                sweep_pairs(row, flat.lits, inner, s, r)
                continue
            if is_of_two(row, flat, inner):
                sweep_two(row, flat, inner, s, r, work)
                continue
            for f in range(row[COUNT]):
                if row[CODE] >= TABLE:
                    by_slot(row, flat, inner, f, s, r, work)
                elif row[CODE] in (CAP, SUM) and flat.k[row[ITEM] + f] == 1:
                    one_of_many(row, flat.lits, f, s, r)
                else:
                    by_literal(row, flat, inner, f, s, r, work)
