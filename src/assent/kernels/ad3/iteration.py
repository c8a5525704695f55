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
And blocks of factors whose copies agree with the consensus are put to sleep for the next round:
a sleeping block stands for ``q = p``, which changes neither its ``w`` nor the invariant of step
3, so a late awakening costs iterations but never correctness.

*In turn.*  Step 3 may also follow each block of factors, so that the next block sees what the
last one said.  Blocks that have not had their turn stand for ``q = p`` as if asleep, which keeps
the invariant; a fifth to a third of the iterations is saved, at the same cost.  Convergence is
proven for the plain order only, so :mod:`assent.kernels.core.schedule` ends this after a while.

Several threads can run the loop together.  Each takes a share of the blocks, adds up ``q - p``
apart from the others, and after a meeting takes the consensus of a share of the coordinates.
All sums have a fixed order, so that the outcome depends on the number of threads but on
nothing else.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from assent.kernels.core.barrier import gather_totals, meet
from assent.kernels.core.thread_shares import BLOCKS, LINKS, PAIR_BLOCK, PAIRS, SEGMENT, SEGMENTS
from assent.kernels.jit import jit
from assent.kernels.kinds.logic_projections import (
    CEILING,
    LANES,
    OUTPUT,
    SQUARES,
    STEP_ABSOLUTE,
    TAU,
    VECTOR_SUMS,
    clip01,
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

# Over-relaxation while blocks take turns: with 1.8 some timetables run in circles, up to 1.75
# none of those tried did.
MOST_IN_TURN = 1.7

# Thresholds found in turn are good enough after a Newton step this short: the next iteration goes
# on from there.  No problem tried needs more iterations for it, nor with ten times as much.
HASTY = 1e-3

# Mean squares this small are rounding: the balance of two such numbers says nothing.
SILENCE = 1e-24

# Numbers in a row of ``sums``: a thread writes alone to its cache lines.
SUMS = 16

# Average with weights growing like t^5: the first iterates are far off and soon forgotten.
MEMORY = 6.0


@jit(fastmath=VECTOR_SUMS)
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


@jit(inline="always")
def step_pairs(
    pair_var, pair, blocks, inverse_rho, alpha, full, limit,
    w, asleep, p, rate, total, ends,
):  # fmt: skip
    """Steps 1 and 2 for the pairs awake (all if ``full``) in some blocks.

    Adds ``q - p`` to ``total[n]`` and returns the sum of its squares.  In turn, ``total`` is
    ``p`` itself and ``rate[n]`` what makes this its step 3; otherwise ``rate`` is empty.  A full
    sweep decides who sleeps: blocks with a mean square of at most ``limit``.  Reading ``p`` and
    adding to ``total`` stand apart from the arithmetic, which then compiles to vector
    instructions; ``ends[2 * PAIR_BLOCK]`` is room for that.
    """
    squares = 0.0
    in_turn = len(rate) > 0
    flat_w = w.ravel()  # a row length unknown to the compiler would keep it from vectorising
    for block in blocks:
        if asleep[block] and not full:
            continue
        first = block * PAIR_BLOCK
        width = min(PAIR_BLOCK, len(pair) - first)
        for lane in range(width):
            e = np.uint64(first + lane)  # a signed index would be checked at every access
            ends[lane] = p[np.uint32(pair_var[e, 0])]
            ends[PAIR_BLOCK + lane] = p[np.uint32(pair_var[e, 1])]
        last = first + width
        own = move_pairs(pair[first:last], inverse_rho, alpha, flat_w[2 * first : 2 * last], ends)
        for lane in range(width):
            e = np.uint64(first + lane)
            i = np.uint32(pair_var[e, 0])
            j = np.uint32(pair_var[e, 1])
            total[i] -= ends[lane] * (rate[i] if in_turn else 1.0)
            total[j] -= ends[PAIR_BLOCK + lane] * (rate[j] if in_turn else 1.0)
        if full:
            asleep[block] = own <= limit * 2 * width
        squares += own
    return squares


@jit(fastmath=VECTOR_SUMS)
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


@jit(inline="always")
def scatter_twos(lits, first, stride, width, a, rate, total):
    """Add ``q - p`` of a block of factors of two literals, as coordinates see it, to ``total``.

    Neighbouring rules often share a literal.  Its terms are summed before they are added:
    additions to one place in memory would each wait for the one before.
    """
    in_turn = len(rate) > 0
    for j in range(2):
        link = first + j * stride
        row_lits = lits[link : link + width]
        lit = row_lits[0]
        gap = 0.0
        for lane in range(width):
            if row_lits[lane] != lit:
                v = np.uint32(lit ^ (lit >> 31))
                total[v] += (gap if lit < 0 else -gap) * (rate[v] if in_turn else 1.0)
                lit = row_lits[lane]
                gap = 0.0
            gap += a[j, lane]
        v = np.uint32(lit ^ (lit >> 31))
        total[v] += (gap if lit < 0 else -gap) * (rate[v] if in_turn else 1.0)


@jit(inline="always")
def step_twos(
    kind, count, begin, end, link, lits, alpha, full, limit, w, asleep, p, rate, total, a,
):  # fmt: skip
    """Steps 1 and 2 for CAP or SUM factors ``begin:end`` of two literals; see step_pairs."""
    squares = 0.0
    for start in range(begin, end, PAIR_BLOCK):
        if asleep[start // LANES] and not full:
            continue
        width = min(PAIR_BLOCK, end - start)
        first = link + start
        last = first + width
        gather_block(lits, w, 2.0, p, first, count, 2, width, a)
        own = move_twos(kind, alpha, w[first:last], w[first + count : last + count], a)
        scatter_twos(lits, first, count, width, a, rate, total)
        if full:
            asleep[start // LANES] = own <= limit * 2 * width
        squares += own
    return squares


@jit(inline="always")
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


@jit(inline="always")
def scatter_block(lits, weight, first, stride, size, width, a, rate, total):
    """Add a block's weighted ``q - p``, as coordinates see it, to ``total``; see step_pairs."""
    in_turn = len(rate) > 0
    for j in range(size):
        link = first + j * stride
        row_lits = lits[link : link + width]
        for lane in range(width):
            lit = row_lits[lane]
            v = np.uint32(lit ^ (lit >> 31))
            gap = weight * a[j, lane] * (rate[v] if in_turn else 1.0)
            total[v] += gap if lit < 0 else -gap


@jit
def step_group(
    kind, size, count, begin, end, link, factor, lits, ones, k, weight, alpha, full, limit,
    w, tau, asleep, p, rate, total, scratch, ks, lanes,
):  # fmt: skip
    """Steps 1 and 2 for factors ``begin:end`` of a group, ``LANES`` at a time; see step_pairs.

    ``asleep`` holds the group's own blocks, ``scratch`` room for one block.
    """
    squares = 0.0
    step_limit = HASTY if len(rate) > 0 else STEP_ABSOLUTE
    # A small group gets a narrower block: whole vectors of four lanes.
    lanes_used = min(LANES, (count + 3) // 4 * 4)
    a = scratch[: size * lanes_used].reshape(size, lanes_used)
    for start in range(begin, end, LANES):
        if asleep[start // LANES] and not full:
            continue
        width = min(LANES, end - start)
        first = link + start
        own_tau = tau[factor + start : factor + start + width]
        own_k = k[factor + start : factor + start + width]
        for lane in range(width):
            ks[lane] = own_k[lane]
            lanes[TAU, lane] = own_tau[lane]
        gather_block(lits, w, 2.0, p, first, count, size, width, a)
        find_thresholds(kind, size, ones, ks, step_limit, a, lanes)
        for lane in range(width):
            own_tau[lane] = lanes[TAU, lane]
        own = apply_thresholds(kind, alpha, first, count, size, width, w, a, lanes)
        scatter_block(lits, weight, first, count, size, width, a, rate, total)
        if full:
            asleep[start // LANES] = own <= limit * size * width
        squares += own
    return weight * squares


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


@jit
def take_move(mass, alpha, before, p):
    """What ``move_consensus`` returns, where the consensus has moved already from ``before``."""
    offsets = 0.0
    for v in range(len(p)):
        offset = (p[v] - before[v]) / alpha
        offsets += mass[v] * offset * offset
    return offsets


@jit
def consensus(mass, alpha, first, last, touched, p, totals):
    """Step 3 for the segments ``first:last`` of coordinates, from the totals of all threads."""
    if len(totals) == 1:
        return move_consensus(mass, alpha, p, totals[0])
    offsets = 0.0
    for segment in range(first, last):
        begin = segment * SEGMENT
        end = min(begin + SEGMENT, len(p))
        home = gather_totals(totals, touched, segment, begin, end)
        offsets += move_consensus(mass[begin:end], alpha, p[begin:end], totals[home, begin:end])
    return offsets


@jit(inline="always")
def all_ones(group_count, group_factor, k):
    """Whether every factor of a group has k = 1, ``[G]``."""
    ones = np.ones(len(group_count), np.bool_)
    for i in range(len(group_count)):
        for f in range(group_factor[i], group_factor[i] + group_count[i]):
            ones[i] = ones[i] and k[f] == 1
    return ones


@jit(inline="always")
def pull(t):
    """Weight of iteration ``t``, a whole number of rounds, in the running average."""
    return MEMORY / (t // ROUND + MEMORY - 1.0)


@jit
def fold(share, average, values):
    """Move a running average towards ``values``."""
    for i in range(len(values)):
        average[i] += share * (values[i] - average[i])


@jit
def fold_pairs(share, blocks, threads, average, values):
    """As ``fold``, for a thread's blocks of pairs, which it has in its cache."""
    if threads == 1:
        fold(share, average, values)
        return
    for block in blocks:
        first = 2 * PAIR_BLOCK * block
        last = min(first + 2 * PAIR_BLOCK, len(values))
        fold(share, average[first:last], values[first:last])


@jit(inline="always")
def step_groups(
    group_kind, group_size, group_count, group_link, group_factor, lits, k, ones, weight,
    first_block, last_block, alpha, full, limit,
    w, tau, asleep, p, rate, total, scratch, ks, lanes, ends,
):  # fmt: skip
    """Steps 1 and 2 for a range of blocks of logic factors, counted through all groups."""
    squares = 0.0
    block = 0
    for i in range(len(group_kind)):
        count = group_count[i]
        begin = max(0, (first_block - block) * LANES)
        end = min(count, (last_block - block) * LANES)
        if begin >= end:
            pass
        elif group_size[i] == 2 and group_kind[i] != ANYOF:
            squares += step_twos(
                group_kind[i], count, begin, end, group_link[i], lits, alpha, full, limit,
                w, asleep[block:], p, rate, total, ends.reshape(2, PAIR_BLOCK),
            )  # fmt: skip
        else:
            squares += step_group(
                group_kind[i], group_size[i], count, begin, end, group_link[i], group_factor[i],
                lits, ones[i], k, weight[i], alpha, full, limit,
                w, tau, asleep[block:], p, rate, total, scratch, ks, lanes,
            )  # fmt: skip
        block += (count + LANES - 1) // LANES
    return squares


@jit
def sum_of(sums, column):
    """Sum over threads."""
    total = 0.0
    for thread in range(len(sums)):
        total += sums[thread, column]
    return total


@jit(inline="always")
def balance_of(squares, offsets, links):
    """``log(spread / move)``: the copies about their mean against the move of the mean."""
    spread = max(squares - offsets, 0.0)
    return 0.5 * log((spread + SILENCE * links) / (offsets + SILENCE * links))


@jit(inline="always")
def residuals(squares, offsets, alpha, links):
    """Root-mean-square residuals, primal ``q - p`` and dual ``p - p_old``, of an iteration."""
    # sum (q - p_new)^2 = sum (q - p_old)^2 - alpha * (2 - alpha) * sum (mean(q) - p_old)^2
    primal = max(squares - alpha * (2.0 - alpha) * offsets, 0.0)
    return sqrt(primal / links), alpha * sqrt(offsets / links)


@jit
def advance(
    pair_var, group_kind, group_size, group_count, group_link, group_factor, lits, k,
    weight, mass, links, pair, rho, alpha, in_turn, cache, done, iterations, aside, limit,
    w_pair, w_logic, tau, p, mean_w_pair, mean_w_logic, mean_p, pairs_asleep, logic_asleep,
    totals, scratch, lanes, division, thread, gate, sums,
):  # fmt: skip
    """Run ``iterations`` of AD3 in place, after ``done`` earlier ones.

    Returns the last root-mean-square residuals over links (``links``: their total weight),
    primal ``q - p`` and dual ``p - p_old``, and the sum over rounds of ``log(spread / move)``:
    the spread of the copies about their mean against the move of the mean, which tells whether
    the penalty is right; and the ``limit`` on the mean squares of idle blocks to go on with.

    ``in_turn``, for one thread and nothing aside: each block's step 3 follows at once.  Residuals
    then compare a factor's copy with the consensus it met.

    Factors that are stepped elsewhere take part one iteration at a time: their ``q - p`` stands
    in ``totals[0]`` already, and ``aside`` is the weighted sum of its squares.

    All threads of the division call this at once, each with its number and the same arrays.
    ``totals[threads, n]`` (zero), ``sums[threads, SUMS]`` and a fresh gate are theirs in common,
    ``scratch[threads, largest size * LANES]`` and ``lanes[threads, ...]`` are scratch.
    """
    ks = np.ones(LANES, np.int32)
    ends = np.empty(2 * PAIR_BLOCK)
    ones = all_ones(group_count, group_factor, k)
    own = division.shares[thread]
    threads = len(division.shares)
    pair_blocks = division.order[own[PAIRS] : own[PAIRS + 1]]
    if in_turn:
        alpha = min(alpha, MOST_IN_TURN)
    rate = alpha / mass if in_turn else np.empty(0)
    before = np.empty_like(rate)
    total = p if in_turn else totals[thread]
    squares = 0.0
    offsets = 0.0
    balance = 0.0
    if not meet(gate, threads):
        return 0.0, 0.0, 0.0, limit
    for t in range(done + 1, done + iterations + 1):
        full = not cache or t % ROUND == 0
        measured = t % ROUND == 0 or t == done + iterations
        if in_turn and measured:
            before[:] = p
        sums[thread, 0] = step_pairs(
            pair_var, pair, pair_blocks, 1.0 / rho, alpha, full, limit,
            w_pair, pairs_asleep, p, rate, total, ends,
        ) + step_groups(
            group_kind, group_size, group_count, group_link, group_factor, lits, k, ones, weight,
            own[BLOCKS], own[BLOCKS + 1], alpha, full, limit,
            w_logic, tau, logic_asleep, p, rate, total, scratch[thread], ks, lanes[thread], ends,
        )  # fmt: skip
        meet(gate, threads)
        squares = aside + sum_of(sums, 0)
        limit = IDLE**2 * squares / links
        if in_turn and measured:
            sums[thread, 1] = take_move(mass, alpha, before, p)
        elif not in_turn:
            sums[thread, 1] = consensus(
                mass, alpha, own[SEGMENTS], own[SEGMENTS + 1], division.touched, p, totals
            )
        if t % ROUND == 0:
            # Nobody moves between the two meetings, whosever share a link is.
            share = pull(t)
            fold_pairs(share, pair_blocks, threads, mean_w_pair.ravel(), w_pair.ravel())
            first, last = own[LINKS], own[LINKS + 1]
            fold(share, mean_w_logic[first:last], w_logic[first:last])
            first, last = SEGMENT * own[SEGMENTS], SEGMENT * own[SEGMENTS + 1]
            fold(share, mean_p[first:last], p[first:last])
        meet(gate, threads)
        offsets = sum_of(sums, 1)
        if t % ROUND == 0:
            balance += balance_of(squares, offsets, links)
    primal, dual = residuals(squares, offsets, alpha, links)
    if in_turn:
        primal = sqrt(squares / links)
    return primal, dual, balance, limit


@jit
def rescale(pair_var, lits, ratio, w_pair, w_logic, p):
    """Change the penalty to ``rho / ratio``: multipliers ``u = w + p`` grow by ``ratio``."""
    for e in range(len(pair_var)):
        for i in range(2):
            own = p[pair_var[e, i]]
            w_pair[e, i] = ratio * (w_pair[e, i] + own) - own
    for link in range(len(lits)):
        lit = lits[link]
        own = 1.0 - p[~lit] if lit < 0 else p[lit]
        w_logic[link] = ratio * (w_logic[link] + own) - own
