"""The dual bound: one full sweep of exact local maximisation at any point of the dual.

Link scores split every coordinate's score among its factors.  Whatever the split, the sum of
the factors' best values and of what the coordinates keep for themselves bounds the optimum.
Link scores are read as ``scale * (values[link] + factor * p[v])``, with ``1 - p[v]`` on negated
literals and a scale for the pairs and for every group: the state of AD3 has this form
(``factor = 1``) and needs no copy; plain link scores are ``scale = 1, factor = 0``.

Several threads can work together, each on its share (:mod:`assent.kernels.core.thread_shares`) of
the factors, then of the coordinates; partial sums are added in a fixed order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.barrier import gather_totals, wait_for_all
from assent.kernels.core.thread_shares import BLOCKS, LINKS, PAIR_BLOCK, PAIRS, SEGMENT, SEGMENTS
from assent.kernels.jit import (
    jit_inline,
    jit_internal_no_allocation,
    jit_no_allocation,
)
from assent.kernels.kinds.logic_projections import LANES, count_common, gather_block
from assent.kernels.problem import ANYOF, CAP, SUM

# Plain sums run over at most this many terms; the partial sums are added with compensation, so
# that the rounding error of a bound does not grow with the number of factors.
CHUNK = 128


class DualState(NamedTuple):
    """Link scores ``scale * (values + factor * p)``, a form AD3's state has without a copy.

    ``1 - p`` stands in place of ``p`` on negated literals.
    """

    scales: np.ndarray  # float64[G + 1]: of each group of logic factors; of pairs and tables
    pair: np.ndarray  # float64[P, 2]
    logic: np.ndarray  # float64[L]
    table: np.ndarray  # one per link of a table
    factor: float
    p: np.ndarray  # float64[n]


@jit_internal_no_allocation
def add_compensated(total, carry, term):
    """One step of Neumaier's summation: returns the new ``(total, carry)``."""
    following = total + term
    if abs(total) >= abs(term):
        return following, carry + ((total - following) + term)
    return following, carry + ((term - following) + total)


@jit_internal_no_allocation
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


@jit_internal_no_allocation
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


@jit_internal_no_allocation
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


@jit_internal_no_allocation
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


@jit_internal_no_allocation
def block_bound(groups, g, first, width, scale, a, residual):
    """Best values of ``width`` logic factors, less the scores of their negated literals.

    Their first links begin at ``first``; ``a[size, LANES]`` are the scores of their literals.
    """
    kind, size, lits = groups.kind[g], groups.size[g], groups.lits
    number = groups.factor[g] + first - groups.link[g]
    partial = 0.0
    for j in range(size):
        link = first + j * groups.members[g]
        for lane in range(width):
            score = scale * a[j, lane]
            lit = lits[link + lane]
            # score * (1 - x) = score - score * x
            residual[np.uint32(lit ^ (lit >> 31))] += score if lit < 0 else -score
            partial -= score if lit < 0 else 0.0
    for lane in range(width):
        partial += scale * lane_maximum(kind, size, groups.k[number + lane], a, lane)
    return partial


@jit_inline
def add_group(groups, g, begin, end, state, a, residual, total, carry):
    """Add the bound of a group's factors ``begin:end`` to the compensated sum."""
    kind, size, count, link = groups.kind[g], groups.size[g], groups.members[g], groups.link[g]
    lits, values, scale = groups.lits, state.logic, state.scales[g]
    if size == 2 and kind != ANYOF:
        for start in range(begin, end, CHUNK):
            first = link + start
            last = link + min(start + CHUNK, end)
            part = two_chunk(
                kind, lits[first:last], lits[first + count : last + count],
                values[first:last], values[first + count : last + count],
                scale, state.factor, state.p, residual,
            )  # fmt: skip
            total, carry = add_compensated(total, carry, part)
    else:
        for start in range(begin, end, LANES):
            first = link + start
            width = min(LANES, end - start)
            gather_block(lits, values, state.factor, state.p, first, count, size, width, a)
            part = block_bound(groups, g, first, width, scale, a, residual)
            total, carry = add_compensated(total, carry, part)
    return total, carry


@jit_inline
def add_factors(problem, state, own, order, scratch, residual, total, carry):
    """Add the best values of one thread's factors; takes their link scores off ``residual``."""
    groups, pair_var = problem.groups, problem.pair_var
    for block in order[own[PAIRS] : own[PAIRS + 1]]:
        first = PAIR_BLOCK * block
        last = min(first + PAIR_BLOCK, len(pair_var))
        part = pair_chunk(
            pair_var, problem.pair, first, last, state.scales[-1], state.pair, state.factor,
            state.p, residual,
        )  # fmt: skip
        total, carry = add_compensated(total, carry, part)
    a = scratch.reshape(scratch.size // LANES, LANES)
    block = 0
    for g in range(count_common(groups.kind)):
        total, carry = add_group(
            groups, g,
            max(0, (own[BLOCKS] - block) * LANES),
            min(groups.members[g], (own[BLOCKS + 1] - block) * LANES),
            state, a, residual, total, carry,
        )  # fmt: skip
        block += (groups.members[g] + LANES - 1) // LANES
    return total, carry


@jit_no_allocation
def scaled_bound(problem, state, division, thread, barrier, residuals, parts, scratch):
    """Upper bound on the optimum of a ``ScoredProblem`` at the dual point described above.

    PARITY and KNAPSACK factors are left out.  All threads of the division call this at once.
    ``residuals[threads, n]`` are zero, but for what other factors have taken from coordinates;
    ``parts[threads, 2]`` and ``scratch[threads, largest size * LANES]`` are room.
    """
    threads = len(division.shares)
    own = division.shares[thread]
    if not wait_for_all(barrier, threads):
        return np.inf
    theta, constant = problem.theta, problem.constant if thread == 0 else 0.0
    total, carry = add_factors(
        problem, state, own, division.order, scratch[thread], residuals[thread], constant, 0.0
    )
    wait_for_all(barrier, threads)
    for segment in range(own[SEGMENTS], own[SEGMENTS + 1]):
        first = SEGMENT * segment
        last = min(first + SEGMENT, len(theta))
        home = gather_totals(residuals, division.touched, segment, first, last)
        part = 0.0
        for v in range(first, last):
            part += max(theta[v] + residuals[home, v], 0.0)
        total, carry = add_compensated(total, carry, part)
    parts[thread, 0], parts[thread, 1] = total, carry
    wait_for_all(barrier, threads)
    total, carry = 0.0, 0.0
    for part, its_carry in parts:
        total, carry = add_compensated(total, carry, part)
        carry += its_carry
    return total + carry


@jit_no_allocation
def link_scores(pair_var, groups, state, division, thread, barrier, pair, logic):
    """Write the dual point out: ``pair[P, 2]`` on coordinates, ``logic[L]`` on literals."""
    scales, factor, p = state.scales, state.factor, state.p
    threads = len(division.shares)
    own = division.shares[thread]
    if not wait_for_all(barrier, threads):
        return
    for block in division.order[own[PAIRS] : own[PAIRS + 1]]:
        first = PAIR_BLOCK * block
        for e in range(first, min(first + PAIR_BLOCK, len(pair_var))):
            for i in range(2):
                pair[e, i] = scales[-1] * (state.pair[e, i] + factor * p[pair_var[e, i]])
    for g in range(len(groups.size)):
        first = max(groups.link[g], own[LINKS])
        last = min(groups.link[g] + groups.size[g] * groups.members[g], own[LINKS + 1])
        for link in range(first, last):
            lit = groups.lits[link]
            value = 1.0 - p[~lit] if lit < 0 else p[lit]
            logic[link] = scales[g] * (state.logic[link] + factor * value)
    wait_for_all(barrier, threads)
