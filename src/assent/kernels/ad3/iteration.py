"""The AD3 iteration, fused: project every factor, average, move the multipliers.

Scaled form with over-relaxation ``alpha`` in (0, 2).  Factors of group g have the penalty
``rho * weight[g]``, pairs ``rho``.  A link with multiplier ``u`` (its score divided by the
penalty) keeps one number, ``w = u - p``.  One iteration is

1. project:    ``q = argmin ||q - a||^2 / 2 - (factor score) / rho`` at ``a = u + p = w + 2 p``,
2. multiplier: ``w += alpha * (p - q)``,
3. consensus:  ``p += alpha * (mean(q) - p)``, the weighted mean over a coordinate's links.

Step 3 keeps ``sum weight * u = theta / rho`` at every coordinate, so that the multipliers are
always a point of the dual.  The links of negated literals live in literal space, where ``p``
is ``1 - p``.

Two things happen every ``ROUND`` iterations.  The state is folded into a running average: the
iterates circle around their limit, and the bound at the average is often several times closer.
And blocks of factors whose copies agree with the consensus are inactive for the next round:
such a block stands for ``q = p``, which changes neither its ``w`` nor the invariant of step
3, so a late activation costs iterations but never correctness.

*Gauss-Seidel order.*  Step 3 may also follow each block of factors, so that the next block sees
what the last one said.  Blocks that have not been visited stand for ``q = p`` as if inactive, which
keeps the invariant; a fifth to a third of the iterations is saved, at the same cost.  Convergence
is proven for the plain order only, so :mod:`assent.kernels.ad3.ad3_schedule` ends this after a
while.

Several threads can run the loop together.  Each takes a share of the blocks, adds up ``q - p``
apart from the others, and after a barrier takes the consensus of a share of the coordinates.
All sums have a fixed order, so that the outcome depends on the number of threads but on
nothing else.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from assent.kernels.core.barrier import gather_totals
from assent.kernels.core.copies import flat_view
from assent.kernels.core.thread_shares import BLOCKS, LINKS, PAIR_BLOCK, PAIRS, SEGMENT, SEGMENTS
from assent.kernels.jit import (
    jit,
    jit_inline,
    jit_internal_no_allocation,
    jit_internal_vector_sums,
)
from assent.kernels.kinds.logic_projections import (
    CEILING,
    LANES,
    OUTPUT,
    SQUARES,
    STEP_ABSOLUTE,
    TAU,
    clip01,
    count_common,
    find_thresholds,
    gather_block,
    project_pair,
    project_two,
)
from assent.kernels.problem import ANYOF

# Iterations between two full sweeps.  Odd: over-relaxed iterates alternate, and an average of
# even-numbered ones alone would keep the alternation.
ROUND = 5

# A block is idle when its root-mean-square disagreement is this small relative to all links'.
IDLE = 1e-3

# Over-relaxation in Gauss-Seidel order: with 1.8 some timetables run in circles, up to 1.75
# none of those tried did.
MOST_IN_ORDER = 1.7

# Thresholds found in Gauss-Seidel order are good enough after a Newton step this short: the next
# iteration goes on from there.  No problem tried needs more iterations for it, nor with ten times
# as much.
HASTY = 1e-3

# Mean squares this small are rounding: the balance of two such numbers says nothing.
SILENCE = 1e-24

# Average with weights growing like t^5: the first iterates are far off and soon forgotten.
MEMORY = 6.0


class Group(NamedTuple):
    """One group of logic factors; names as in ``problem.LogicGroups``."""

    kind: int
    size: int
    members: int
    link: int
    factor: int
    weight: float
    ones: bool  # whether k = 1 for all
    block: int  # its first block of ``LANES`` factors among those of all groups


class LogicState(NamedTuple):
    """Literals and state of the logic factors."""

    lits: np.ndarray
    k: np.ndarray
    w: np.ndarray
    tau: np.ndarray
    inactive: np.ndarray


class StepScratch(NamedTuple):
    """Room of one thread."""

    ends: np.ndarray  # float64[2 * PAIR_BLOCK]
    block: np.ndarray
    lanes: np.ndarray
    ks: np.ndarray  # int32[LANES]


class IterationBuffers(NamedTuple):
    """What iterations between two reports need beside the state, made once for all of them."""

    ends: np.ndarray  # float64[2 * PAIR_BLOCK]
    ks: np.ndarray  # int32[LANES]
    ones: np.ndarray  # bool, of each group that the blockwise kernels take: whether k = 1 for all
    rate: np.ndarray  # float64[n] in Gauss-Seidel order, else empty
    before: np.ndarray  # float64[n] the same: where the consensus was


@jit_internal_vector_sums
def move_pairs(pair, inverse_rho, alpha, w, ends):
    """Steps 1 and 2 for a block of pairs; returns the sum of ``(p - q)^2``.

    ``w`` alternates between first and second ends.  ``ends`` holds ``p`` at all first ends, from
    ``PAIR_BLOCK`` on at all second ends, and is left with ``p - q``.
    """
    squares = 0.0
    for e in range(len(pair)):
        pi = ends[e]
        pj = ends[PAIR_BLOCK + e]
        wi = w[2 * e]
        wj = w[2 * e + 1]
        qi, qj = project_pair(wi + 2.0 * pi, wj + 2.0 * pj, pair[e] * inverse_rho)
        gap_i = pi - qi
        gap_j = pj - qj
        w[2 * e] = wi + alpha * gap_i
        w[2 * e + 1] = wj + alpha * gap_j
        ends[e] = gap_i
        ends[PAIR_BLOCK + e] = gap_j
        squares += gap_i * gap_i + gap_j * gap_j
    return squares


@jit_inline
def step_pairs(problem, blocks, sweep, w, inactive, consensus, ends):
    """Steps 1 and 2 for the active pairs (all in a full sweep) in some blocks.

    Adds ``q - p`` to the consensus and returns the sum of its squares.  A full sweep decides who
    is inactive: blocks with a mean square of at most the limit.  Reading ``p`` and adding to
    ``total`` stand apart from the arithmetic, which then compiles to vector instructions;
    ``ends[2 * PAIR_BLOCK]`` is room for that.
    """
    squares = 0.0
    pair_var, pair = problem.pair_var, problem.pair
    p, rate, total = consensus.p, consensus.rate, consensus.total
    in_order = len(rate) > 0
    flat_w = flat_view(w)  # a row length unknown to the compiler would keep it from vectorising
    for block in blocks:
        if inactive[block] and not sweep.full:
            continue
        first = block * PAIR_BLOCK
        width = min(PAIR_BLOCK, len(pair) - first)
        for lane in range(width):
            e = np.uint64(first + lane)  # a signed index would be checked at every access
            ends[lane] = p[np.uint32(pair_var[e, 0])]
            ends[PAIR_BLOCK + lane] = p[np.uint32(pair_var[e, 1])]
        last = first + width
        own = move_pairs(
            pair[first:last], sweep.inverse_rho, sweep.alpha, flat_w[2 * first : 2 * last], ends
        )
        for lane in range(width):
            e = np.uint64(first + lane)
            i = np.uint32(pair_var[e, 0])
            j = np.uint32(pair_var[e, 1])
            total[i] -= ends[lane] * (rate[i] if in_order else 1.0)
            total[j] -= ends[PAIR_BLOCK + lane] * (rate[j] if in_order else 1.0)
        if sweep.full:
            inactive[block] = own <= sweep.limit * 2 * width
        squares += own
    return squares


@jit_internal_vector_sums
def move_twos(kind, alpha, row1, row2, a):
    """Steps 1 and 2 for a block of factors of two literals; see apply_thresholds."""
    squares = 0.0
    for f in range(len(row1)):
        q1, q2 = project_two(kind, a[0, f], a[1, f])
        gap1 = 0.5 * (a[0, f] - row1[f]) - q1  # p - q, since a = w + 2 p
        gap2 = 0.5 * (a[1, f] - row2[f]) - q2
        row1[f] += alpha * gap1
        row2[f] += alpha * gap2
        a[0, f] = gap1
        a[1, f] = gap2
        squares += gap1 * gap1 + gap2 * gap2
    return squares


@jit_inline
def scatter_twos(lits, first, stride, width, a, rate, total):
    """Add ``q - p`` of a block of factors of two literals, as coordinates see it, to ``total``.

    Neighbouring rules often share a literal.  Its terms are summed before they are added:
    additions to one place in memory would each wait for the one before.
    """
    in_order = len(rate) > 0
    for j in range(2):
        link = first + j * stride
        row_lits = lits[link : link + width]
        lit = row_lits[0]
        gap = 0.0
        for lane in range(width):
            if row_lits[lane] != lit:
                v = np.uint32(lit ^ (lit >> 31))
                total[v] += (gap if lit < 0 else -gap) * (rate[v] if in_order else 1.0)
                lit = row_lits[lane]
                gap = 0.0
            gap += a[j, lane]
        v = np.uint32(lit ^ (lit >> 31))
        total[v] += (gap if lit < 0 else -gap) * (rate[v] if in_order else 1.0)


@jit_inline
def step_twos(group, logic, begin, end, sweep, consensus, a):
    """Steps 1 and 2 for CAP or SUM factors ``begin:end`` of two literals; see step_pairs."""
    squares = 0.0
    lits, w, count, inactive = logic.lits, logic.w, group.members, logic.inactive[group.block :]
    for start in range(begin, end, PAIR_BLOCK):
        if inactive[start // LANES] and not sweep.full:
            continue
        width = min(PAIR_BLOCK, end - start)
        first = group.link + start
        last = first + width
        gather_block(lits, w, 2.0, consensus.p, first, count, 2, width, a)
        own = move_twos(group.kind, sweep.alpha, w[first:last], w[first + count : last + count], a)
        scatter_twos(lits, first, count, width, a, consensus.rate, consensus.total)
        if sweep.full:
            inactive[start // LANES] = own <= sweep.limit * 2 * width
        squares += own
    return squares


@jit_inline
def apply_thresholds(kind, alpha, first, stride, size, width, w, a, lanes):
    """Steps 1 and 2 of a block once its thresholds are known.

    Leaves ``p - q`` in ``a`` and returns the sum of its squares.
    """
    for lane in range(width):
        lanes[SQUARES, lane] = 0.0
    for j in range(size):
        link = first + j * stride
        row = w[link : link + width]
        if kind == ANYOF and j == size - 1:
            for lane in range(width):
                lanes[TAU, lane] = a[j, lane] - lanes[OUTPUT, lane]
                lanes[CEILING, lane] = 1.0
        for lane in range(width):
            q = clip01(min(a[j, lane] - lanes[TAU, lane], lanes[CEILING, lane]))
            gap = 0.5 * (a[j, lane] - row[lane]) - q  # p - q, since a = w + 2 p
            lanes[SQUARES, lane] += gap * gap
            row[lane] += alpha * gap
            a[j, lane] = gap
    squares = 0.0
    for lane in range(width):
        squares += lanes[SQUARES, lane]
    return squares


@jit_inline
def scatter_block(lits, weight, first, stride, size, width, a, rate, total):
    """Add a block's weighted ``q - p``, as coordinates see it, to ``total``; see step_pairs."""
    in_order = len(rate) > 0
    for j in range(size):
        link = first + j * stride
        row_lits = lits[link : link + width]
        for lane in range(width):
            lit = row_lits[lane]
            v = np.uint32(lit ^ (lit >> 31))
            gap = weight * a[j, lane] * (rate[v] if in_order else 1.0)
            total[v] += gap if lit < 0 else -gap


@jit_internal_no_allocation
def step_group(group, logic, begin, end, sweep, consensus, scratch):
    """Steps 1 and 2 for factors ``begin:end`` of a group, ``LANES`` at a time; see step_pairs."""
    squares = 0.0
    kind, size, count = group.kind, group.size, group.members
    lits, w, inactive = logic.lits, logic.w, logic.inactive[group.block :]
    p, rate, total = consensus.p, consensus.rate, consensus.total
    full, lanes, ks = sweep.full, scratch.lanes, scratch.ks
    step_limit = HASTY if len(rate) > 0 else STEP_ABSOLUTE
    # A small group gets a narrower block: whole vectors of four lanes.
    lanes_used = min(LANES, (count + 3) // 4 * 4)
    a = scratch.block[: size * lanes_used].reshape(size, lanes_used)
    for start in range(begin, end, LANES):
        if inactive[start // LANES] and not full:
            continue
        width = min(LANES, end - start)
        first = group.link + start
        own_tau = logic.tau[group.factor + start : group.factor + start + width]
        own_k = logic.k[group.factor + start : group.factor + start + width]
        for lane in range(width):
            ks[lane] = own_k[lane]
            lanes[TAU, lane] = own_tau[lane]
        gather_block(lits, w, 2.0, p, first, count, size, width, a)
        find_thresholds(kind, size, group.ones, ks, step_limit, a, lanes)
        for lane in range(width):
            own_tau[lane] = lanes[TAU, lane]
        own = apply_thresholds(kind, sweep.alpha, first, count, size, width, w, a, lanes)
        scatter_block(lits, group.weight, first, count, size, width, a, rate, total)
        if full:
            inactive[start // LANES] = own <= sweep.limit * size * width
        squares += own
    return group.weight * squares


@jit_inline
def step_groups(own, logic, ones, share, sweep, consensus, scratch):
    """Steps 1 and 2 for a thread's share of the blocks of logic factors."""
    groups = own.problem.groups
    squares = 0.0
    block = 0
    for g in range(len(ones)):
        count = groups.members[g]
        group = Group(
            groups.kind[g], groups.size[g], count, groups.link[g], groups.factor[g],
            own.weight[g], ones[g], block,
        )  # fmt: skip
        begin = max(0, (share[BLOCKS] - block) * LANES)
        end = min(count, (share[BLOCKS + 1] - block) * LANES)
        if begin >= end:
            pass
        elif group.size == 2 and group.kind != ANYOF:
            ends = scratch.ends.reshape(2, PAIR_BLOCK)
            squares += step_twos(group, logic, begin, end, sweep, consensus, ends)
        else:
            squares += step_group(group, logic, begin, end, sweep, consensus, scratch)
        block += (count + LANES - 1) // LANES
    return squares


# Reassociated sums are vectorised: without it this loop would wait for its own additions.
@jit(fastmath={"reassoc"})
def move_consensus(mass, alpha, p, total):
    """Step 3; clears ``total`` and returns the weighted sum over links of (mean(q) - p)^2.

    ``mass[n]`` is the total weight of each coordinate's links, 1 where there are none.
    """
    offsets = 0.0
    for v in range(len(p)):
        offset = total[v] / mass[v]
        offsets += offset * total[v]
        p[v] += alpha * offset
        total[v] = 0.0
    return offsets


@jit_internal_no_allocation
def take_move(mass, alpha, before, p):
    """What ``move_consensus`` returns, where the consensus has moved already from ``before``."""
    offsets = 0.0
    for v in range(len(p)):
        offset = (p[v] - before[v]) / alpha
        offsets += mass[v] * offset * offset
    return offsets


@jit_internal_no_allocation
def share_consensus(mass, alpha, share, touched, p, totals):
    """Step 3 for a thread's share of the coordinates, from the totals of all threads."""
    if len(totals) == 1:
        return move_consensus(mass, alpha, p, totals[0])
    offsets = 0.0
    for segment in range(share[SEGMENTS], share[SEGMENTS + 1]):
        begin = segment * SEGMENT
        end = min(begin + SEGMENT, len(p))
        home = gather_totals(totals, touched, segment, begin, end)
        offsets += move_consensus(mass[begin:end], alpha, p[begin:end], totals[home, begin:end])
    return offsets


@jit_inline
def make_buffers(groups, n, in_order):
    """Room for iterations of ``n`` coordinates."""
    common = count_common(groups.kind)
    ones = np.ones(common, np.bool_)
    for g in range(common):
        for f in range(groups.factor[g], groups.factor[g] + groups.members[g]):
            ones[g] = ones[g] and groups.k[f] == 1
    turns = n if in_order else 0
    return IterationBuffers(
        np.empty(2 * PAIR_BLOCK), np.ones(LANES, np.int32), ones, np.empty(turns), np.empty(turns)
    )


@jit_inline
def pull(t):
    """Weight of iteration ``t``, a whole number of rounds, in the running average."""
    return MEMORY / (t // ROUND + MEMORY - 1.0)


@jit_internal_no_allocation
def fold(share, average, values):
    """Move a running average towards ``values``."""
    for i in range(len(values)):
        average[i] += share * (values[i] - average[i])


@jit_internal_no_allocation
def fold_pairs(share, blocks, threads, average, values):
    """As ``fold``, for a thread's blocks of pairs, which it has in its cache."""
    if threads == 1:
        fold(share, average, values)
        return
    for block in blocks:
        first = 2 * PAIR_BLOCK * block
        last = min(first + 2 * PAIR_BLOCK, len(values))
        fold(share, average[first:last], values[first:last])


@jit_internal_no_allocation
def fold_point(share, average, values, division, thread):
    """Fold a thread's part of a dual point into a running average of such points."""
    own = division.shares[thread]
    blocks, threads = division.order[own[PAIRS] : own[PAIRS + 1]], len(division.shares)
    fold_pairs(share, blocks, threads, flat_view(average.pair), flat_view(values.pair))
    first, last = own[LINKS], own[LINKS + 1]
    fold(share, average.logic[first:last], values.logic[first:last])
    if thread == 0:  # tables have one thread
        fold(share, average.table, values.table)
    first, last = SEGMENT * own[SEGMENTS], SEGMENT * own[SEGMENTS + 1]
    fold(share, average.p[first:last], values.p[first:last])


@jit_internal_no_allocation
def sum_of(sums, column):
    """Sum over threads."""
    total = 0.0
    for thread in range(len(sums)):
        total += sums[thread, column]
    return total


@jit_inline
def balance_of(squares, offsets, links):
    """``log(spread / move)``: the copies about their mean against the move of the mean."""
    spread = max(squares - offsets, 0.0)
    return 0.5 * log((spread + SILENCE * links) / (offsets + SILENCE * links))


@jit_inline
def residuals(squares, offsets, alpha, links):
    """Root-mean-square residuals, primal ``q - p`` and dual ``p - p_old``, of an iteration."""
    # sum (q - p_new)^2 = sum (q - p_old)^2 - alpha * (2 - alpha) * sum (mean(q) - p_old)^2
    primal = max(squares - alpha * (2.0 - alpha) * offsets, 0.0)
    return sqrt(primal / links), alpha * sqrt(offsets / links)
