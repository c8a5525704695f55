"""The dual bound: one full sweep of exact local maximisation at any point of the dual.

Link scores split every coordinate's score among its factors.  Whatever the split, the sum of
the factors' best values and of what the coordinates keep for themselves bounds the optimum.
Link scores are read as ``scale * (values[link] + shift[v])``, on negated literals as
``scale * (values[link] + base - shift[v])``: the state of AD3 is one such form and needs no
copy; plain link scores are the other (``scale = 1``, ``shift = 0``, ``base = 0``).
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
            if a[j * LANES + lane] > a[top * LANES + lane]:
                top = j
        value = a[top * LANES + lane]
        a[top * LANES + lane] = a[i * LANES + lane]
        a[i * LANES + lane] = value
        if value <= floor:
            break
        best += value
    return best


@jit
def lane_maximum(kind, size, k, a, lane):
    """Best value of one factor whose literals score ``a[j * LANES + lane]``."""
    inputs = size - 1 if kind == ANYOF else size
    top = a[lane]
    bottom = a[lane]
    positive = 0.0
    total = 0.0
    for j in range(inputs):
        value = a[j * LANES + lane]
        top = max(top, value)
        bottom = min(bottom, value)
        positive += max(value, 0.0)
        total += value
    if kind == ANYOF:
        # All false, or the output with every input that helps (at least the best one).
        return max(0.0, a[inputs * LANES + lane] + positive + min(top, 0.0))
    if k == 1:
        return top if kind == SUM else max(top, 0.0)
    if k == size - 1:
        return total - bottom if kind == SUM else positive - max(bottom, 0.0)
    return sum_of_best(a, size, lane, k, 0.0 if kind == CAP else -np.inf)


@jit
def pair_chunk(pair_var, pair, first, last, scale, values, shift, residual):
    """Best values of pairs ``first:last``, summed; takes their link scores off ``residual``."""
    partial = 0.0
    for e in range(first, last):
        i = pair_var[e, 0]
        j = pair_var[e, 1]
        si = scale * (values[e, 0] + shift[i])
        sj = scale * (values[e, 1] + shift[j])
        residual[i] -= si
        residual[j] -= sj
        partial += max(max(0.0, si + sj + pair[e]), max(si, sj))
    return partial


@jit
def block_bound(kind, size, lits, k, factor, first, stride, width, scale, a, residual):
    """Best values of a block of logic factors, less the scores of its negated literals."""
    partial = 0.0
    for j in range(size):
        link = first + j * stride
        for lane in range(width):
            score = scale * a[j * LANES + lane]
            lit = lits[link + lane]
            # score * (1 - x) = score - score * x
            residual[lit ^ (lit >> 31)] += score if lit < 0 else -score
            partial -= score if lit < 0 else 0.0
    for lane in range(width):
        partial += scale * lane_maximum(kind, size, k[factor + lane], a, lane)
    return partial


@jit
def bound(
    pair_var, group_kind, group_size, group_count, group_link, group_factor, lits, k,
    theta, pair, constant, scale, pair_values, logic_values, base, shift,
):  # fmt: skip
    """Upper bound on the optimum at the dual point described above (``shift[n]``)."""
    residual = theta.copy()
    total = constant
    carry = 0.0
    for first in range(0, len(pair_var), CHUNK):
        last = min(first + CHUNK, len(pair_var))
        part = pair_chunk(pair_var, pair, first, last, scale, pair_values, shift, residual)
        total, carry = add_compensated(total, carry, part)
    largest = 1
    for size in group_size:
        largest = max(largest, size)
    a = np.zeros(largest * LANES)
    for i in range(len(group_kind)):
        for start in range(0, group_count[i], LANES):
            width = min(LANES, group_count[i] - start)
            first = group_link[i] + start
            stride = group_count[i]
            size = group_size[i]
            gather_block(lits, logic_values, base, shift, first, stride, size, width, a)
            part = block_bound(
                group_kind[i], size, lits, k, group_factor[i] + start, first, stride, width,
                scale, a, residual,
            )  # fmt: skip
            total, carry = add_compensated(total, carry, part)
    for v in range(len(residual)):
        total, carry = add_compensated(total, carry, max(residual[v], 0.0))
    return total + carry


@jit
def link_scores(pair_var, lits, scale, pair_values, logic_values, base, shift, pair, logic):
    """Write the dual point out: ``pair[P, 2]`` on coordinates, ``logic[L]`` on literals."""
    for e in range(len(pair_var)):
        pair[e, 0] = scale * (pair_values[e, 0] + shift[pair_var[e, 0]])
        pair[e, 1] = scale * (pair_values[e, 1] + shift[pair_var[e, 1]])
    for link in range(len(lits)):
        lit = lits[link]
        own = shift[lit ^ (lit >> 31)]
        logic[link] = scale * (logic_values[link] + (base - own if lit < 0 else own))
