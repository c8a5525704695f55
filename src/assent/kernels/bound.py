"""The dual bound: one full sweep of exact local maximisation at any point of the dual.

Link scores split every coordinate's score among its factors.  Whatever the split, the sum of
the factors' best values and of what the coordinates keep for themselves bounds the optimum.
Link scores are read as ``scale * (values[link] + factor * p[v])``, with ``1 - p[v]`` on negated
literals and a scale for the pairs and for every group: the state of AD3 has this form
(``factor = 1``) and needs no copy; plain link scores are ``scale = 1, factor = 0``.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.projections import LANES, gather_block
from assent.problem import ANYOF, CAP, SUM

# Plain sums run over at most this many terms; the partial sums are added with compensation, so
# that the rounding error of a bound does not grow with the number of factors.
CHUNK = 128


@jit
def add_compensated(total, carry, term):
    """One step of Neumaier's summation: returns the new ``(total, carry)``."""
    following = total + term
    if abs(total) >= abs(term):
        return following, carry + ((total - following) + term)
    return following, carry + ((term - following) + total)


@jit
def sum_of_best(a, size, lane, k, floor):
    """Sum of the ``k`` greatest of ``max(a, floor)`` in one lane; partially sorts the lane."""
    best = 0.0
    for i in range(k):
        top = i
        for j in range(i + 1, size):
            if a[j, lane] > a[top, lane]:
                top = j
        value = a[top, lane]
        a[top, lane] = a[i, lane]
        a[i, lane] = value
        if value <= floor:
            break
        best += value
    return best


@jit
def lane_maximum(kind, size, k, a, lane):
    """Best value of one factor whose literals score ``a[j, lane]``."""
    inputs = size - 1 if kind == ANYOF else size
    top = a[0, lane]
    bottom = a[0, lane]
    positive = 0.0
    total = 0.0
    for j in range(inputs):
        value = a[j, lane]
        top = max(top, value)
        bottom = min(bottom, value)
        positive += max(value, 0.0)
        total += value
    if kind == ANYOF:
        # All false, or the output with every input that helps (at least the best one).
        return max(0.0, a[inputs, lane] + positive + min(top, 0.0))
    if k == 1:
        return top if kind == SUM else max(top, 0.0)
    if k == size - 1:
        return total - bottom if kind == SUM else positive - max(bottom, 0.0)
    return sum_of_best(a, size, lane, k, 0.0 if kind == CAP else -np.inf)


@jit
def pair_chunk(pair_var, pair, first, last, scale, values, factor, p, residual):
    """Best values of pairs ``first:last``, summed; takes their link scores off ``residual``."""
    partial = 0.0
    for e in range(first, last):
        i = np.uint32(pair_var[e, 0])
        j = np.uint32(pair_var[e, 1])
        si = scale * (values[e, 0] + factor * p[i])
        sj = scale * (values[e, 1] + factor * p[j])
        residual[i] -= si
        residual[j] -= sj
        partial += max(max(0.0, si + sj + pair[e]), max(si, sj))
    return partial


@jit
def two_chunk(kind, lits1, lits2, row1, row2, scale, factor, p, residual):
    """Best values of CAP or SUM factors of two literals; see block_bound."""
    partial = 0.0
    for f in range(len(lits1)):
        negated1 = lits1[f] < 0
        negated2 = lits2[f] < 0
        i = np.uint32(lits1[f] ^ (lits1[f] >> 31))
        j = np.uint32(lits2[f] ^ (lits2[f] >> 31))
        s1 = scale * (row1[f] + factor * (1.0 - p[i] if negated1 else p[i]))
        s2 = scale * (row2[f] + factor * (1.0 - p[j] if negated2 else p[j]))
        residual[i] += s1 if negated1 else -s1
        residual[j] += s2 if negated2 else -s2
        taken = (s1 if negated1 else 0.0) + (s2 if negated2 else 0.0)
        best = max(s1, s2)
        partial += (best if kind == SUM else max(best, 0.0)) - taken
    return partial


@jit
def block_bound(kind, size, lits, k, number, first, stride, width, scale, a, residual):
    """Best values of a block of logic factors, less the scores of its negated literals."""
    partial = 0.0
    for j in range(size):
        link = first + j * stride
        for lane in range(width):
            score = scale * a[j, lane]
            lit = lits[link + lane]
            # score * (1 - x) = score - score * x
            residual[np.uint32(lit ^ (lit >> 31))] += score if lit < 0 else -score
            partial -= score if lit < 0 else 0.0
    for lane in range(width):
        partial += scale * lane_maximum(kind, size, k[number + lane], a, lane)
    return partial


@jit(inline="always")
def add_group(
    kind, size, count, link, number, lits, k, scale, values, factor, p, a, residual, total, carry
):
    """Add the bound of one group of logic factors to the compensated sum ``(total, carry)``."""
    if size == 2 and kind != ANYOF:
        for start in range(0, count, CHUNK):
            first = link + start
            last = link + min(start + CHUNK, count)
            part = two_chunk(
                kind, lits[first:last], lits[first + count : last + count],
                values[first:last], values[first + count : last + count],
                scale, factor, p, residual,
            )  # fmt: skip
            total, carry = add_compensated(total, carry, part)
    else:
        for start in range(0, count, LANES):
            first = link + start
            width = min(LANES, count - start)
            gather_block(lits, values, factor, p, first, count, size, width, a)
            part = block_bound(
                kind, size, lits, k, number + start, first, count, width, scale, a, residual
            )
            total, carry = add_compensated(total, carry, part)
    return total, carry


@jit
def scaled_bound(
    pair_var, group_kind, group_size, group_count, group_link, group_factor, lits, k,
    theta, pair, constant, scales, pair_values, logic_values, factor, p,
):  # fmt: skip
    """Upper bound on the optimum at the dual point described above.

    ``scales[G + 1]``: one for each group and, last, the pairs' own.
    """
    residual = theta.copy()
    total = constant
    carry = 0.0
    for first in range(0, len(pair_var), CHUNK):
        last = min(first + CHUNK, len(pair_var))
        part = pair_chunk(pair_var, pair, first, last, scales[-1], pair_values, factor, p, residual)
        total, carry = add_compensated(total, carry, part)
    largest = 1
    for size in group_size:
        largest = max(largest, size)
    a = np.zeros((largest, LANES))
    for i in range(len(group_kind)):
        total, carry = add_group(
            group_kind[i], group_size[i], group_count[i], group_link[i], group_factor[i],
            lits, k, scales[i], logic_values, factor, p, a, residual, total, carry,
        )  # fmt: skip
    for first in range(0, len(residual), CHUNK):
        part = 0.0
        for own in residual[first : first + CHUNK]:
            part += max(own, 0.0)
        total, carry = add_compensated(total, carry, part)
    return total + carry


@jit
def link_scores(
    pair_var, group_size, group_count, group_link, lits,
    scales, pair_values, logic_values, factor, p, pair, logic,
):  # fmt: skip
    """Write the dual point out: ``pair[P, 2]`` on coordinates, ``logic[L]`` on literals."""
    for e in range(len(pair_var)):
        for i in range(2):
            pair[e, i] = scales[-1] * (pair_values[e, i] + factor * p[pair_var[e, i]])
    for i in range(len(group_size)):
        for link in range(group_link[i], group_link[i] + group_size[i] * group_count[i]):
            lit = lits[link]
            own = 1.0 - p[~lit] if lit < 0 else p[lit]
            logic[link] = scales[i] * (logic_values[link] + factor * own)
