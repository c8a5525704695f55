"""Projections for every structure that can maximise: the active set method.

A structure has ``d`` slots; a vertex gives every slot a state, and has an inner score.  State
``s`` of slot ``i`` is number ``start[i] + s``; it is a coordinate if ``s >= first[i]``
(``first = 0`` for a categorical slot, 1 for a binary one, whose state 0 has no coordinate).  With
``M`` the matrix whose columns are the vertices' coordinates, the subproblem is

    minimise  ||M q - a||^2 / 2 - b . q   over distributions q on the vertices.

A solution needs few vertices (Martins et al. 2015, Proposition 1.7: no more than there are
states, less the slots, plus one), so the method (their Algorithm 1.3) keeps a support of
affinely independent vertices and asks the structure's ``maximize`` for the one to add.

The KKT system is solved with ``H = L D L'``, where ``H = M'M + 1`` on the support: as the weights
sum to one, the added ones change no solution, and they make ``H`` positive definite exactly when
the support is affinely independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.oracle import call_compiled, call_python
from assent.kernels.tables import (
    dense_entry,
    helper,
    maximize_dense,
    maximize_potts,
    potts_ceiling,
    potts_entry,
    quick,
)
from assent.problem import POTTS, STRUCTURE

# Functions that people call alone only in tests: inlined before compilation, which otherwise would
# optimise them again at every level of the call tree.
inlined = jit(_nrt=False, inline="always")

# A vertex enters only if it beats the support by more than rounding, relative to the scores.
TOLERANCE = 1e-12

# Entries of H are small integers, so pivots are ratios of integer determinants: far above this,
# or zero up to rounding.
SMALLEST_PIVOT = 1e-9

# Rows of L and D that a factor keeps from one projection to the next.  Supports are rarely larger
# (a handful of vertices on Potts grids of 8 labels); what is beyond is computed anew each time.
KEPT_ROWS = 16

# Vertices to try when a projection must be exact.  Supports settle after a few times their own
# size; the limit only keeps a defect from running for ever.
EXACT = 100_000


class Slots(NamedTuple):
    """The shape of a structure's vertices and, where they are searched, how."""

    start: np.ndarray  # int32[d + 1]: number of each slot's state 0; all states at the end
    first: np.ndarray  # int32[d]: the first state of each slot that is a coordinate
    address: int  # of the function that searches; see ``kernels.oracle``
    data: np.ndarray  # int32: its constants
    base: np.ndarray  # float64[states]: -inf for a state that cannot be, else 0
    masked: np.ndarray  # float64[states]: scratch
    runs: bool  # whether every state is a coordinate, and those of a slot follow each other


class Support(NamedTuple):
    """Vertices in use by each of ``m`` factors, kept from one projection to the next."""

    size: np.ndarray  # int32[m]
    states: np.ndarray  # int32[m, room, d]
    weight: np.ndarray  # float64[m, room]
    inner: np.ndarray  # float64[m, room] inner scores, not scaled
    kept: np.ndarray  # int32[m] leading vertices whose rows of L and D are kept
    rows: np.ndarray  # float64[m, packed] those rows; see ``row_place``


class Work(NamedTuple):
    """What one projection reads (``a``), writes (``q``) and needs on the way."""

    a: np.ndarray  # float64[states] the point to project, 0 where there is no coordinate
    q: np.ndarray  # float64[states] probabilities of the states: the solution
    residual: np.ndarray  # float64[states] a - M q, 0 where there is no coordinate
    score: np.ndarray  # float64[room] M'a + b, of the vertices in the support
    target: np.ndarray  # float64[room] weights that solve the KKT system
    right: np.ndarray  # float64[room]
    rows: np.ndarray  # float64[packed] the factors of H; see ``row_place``


def make_slots(counts: Sequence[int], first: Sequence[int]) -> Slots:
    """Slots with ``counts[d]`` states, of which coordinates from ``first[d]`` on.

    Example:
        >>> make_slots([3, 2], [0, 1]).start.tolist()
        [0, 3, 5]
    """
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    start.flags.writeable = False
    base = np.zeros(0)
    base.flags.writeable = False
    return Slots(start, np.asarray(first, np.int32), 0, start[:0], base, np.zeros(0), False)


def support_room(slots: Slots) -> int:
    """Vertices to keep room for: Proposition 1.7's, and the one about to enter.

    Example:
        >>> support_room(make_slots([3, 2], [0, 1]))
        5
    """
    return int(slots.start[-1]) - len(slots.first) + 2


@helper
def row_place(i):
    """Where row ``i`` of the factors of H begins: L left of its diagonal, 1 / D, ``L^-1 1``.

    Each row is as long as its number and two; kept rows are then one stretch of memory.
    """
    return i * (i + 3) // 2


@jit
def packed_length(rows):
    """Length of so many rows; see ``row_place``.

    Example:
        >>> packed_length(2)
        5
    """
    return rows * (rows + 3) // 2


def make_support(slots: Slots, factors: int, room: int | None = None) -> Support:
    """Empty supports of ``factors`` factors; a smaller ``room`` makes projections inexact."""
    if room is None:
        room = support_room(slots)
    return Support(
        np.zeros(factors, np.int32),
        np.zeros((factors, room, len(slots.first)), np.int32),
        np.zeros((factors, room)),
        np.zeros((factors, room)),
        np.zeros(factors, np.int32),
        np.zeros((factors, packed_length(min(room, KEPT_ROWS)))),
    )


def make_work(slots: Slots, room: int) -> Work:
    """Scratch for supports of ``room`` vertices."""
    a, q, residual = np.zeros((3, slots.start[-1]))
    score, target, right = np.zeros((3, room))
    return Work(a, q, residual, score, target, right, np.zeros(packed_length(room)))


@helper
def maximize(kind, slots, scores, table, scale, states):
    """The best vertex, into ``states[d]``; returns its score and its inner score (not scaled)."""
    if kind >= STRUCTURE:
        for place in range(len(slots.base)):
            slots.masked[place] = scores[place] + slots.base[place]
        if kind == STRUCTURE:
            return call_compiled(
                slots.address, slots.start, slots.data, slots.masked, table, scale, states
            )
        inner = call_python(slots.address, slots.masked, table, scale, states)
        total = scale * inner
        for slot in range(len(states)):
            total += slots.masked[slots.start[slot] + states[slot]]
        return total, inner
    if kind == POTTS:
        return maximize_potts(slots.start, scores, table, scale, states)
    return maximize_dense(slots.start, scores, table, scale, states)


@jit(_nrt=False)
def rescore(kind, slots, tables, support):
    """Give the supports the inner scores of new tables ``[m, entries]``.

    A support with a vertex that is now forbidden is emptied.
    """
    for f in range(len(tables)):
        for i in range(support.size[f]):
            if kind == POTTS:
                entry = potts_entry(tables[f], support.states[f, i])
            else:
                entry = dense_entry(slots.start, tables[f], support.states[f, i])
            support.inner[f, i] = entry
            if entry == -np.inf:
                support.size[f] = 0
                support.kept[f] = 0
                break


@helper
def back_substitute(rows, size, x):
    """Solve ``L' x = x`` in place."""
    for i in range(size - 1, 0, -1):
        place = row_place(i)
        row = rows[place : place + i]
        for j in range(i):
            x[j] -= row[j] * x[i]


@helper
def append_row(slots, states, size, work):
    """Extend the factors of H by vertex ``size``; returns whether it is independent of the others.

    If it is not, ``work.target`` holds its affine combination of them.
    """
    product = work.right  # of the new row of L with D
    place = row_place(size)
    new = work.rows[place : place + size + 2]
    pivot = 1.0
    one = 1.0
    for slot in range(len(slots.first)):
        pivot += 1.0 if states[size, slot] >= slots.first[slot] else 0.0
    for i in range(size):
        entry = 1.0  # of H: one more than the coordinates in common
        for slot in range(len(slots.first)):
            state = states[i, slot]
            if state == states[size, slot] and state >= slots.first[slot]:
                entry += 1.0
        place = row_place(i)
        row = work.rows[place : place + i + 2]
        for j in range(i):
            entry -= row[j] * product[j]
        product[i] = entry
        new[i] = entry * row[i]
        pivot -= entry * new[i]
        one -= new[i] * row[i + 1]
    if pivot > SMALLEST_PIVOT * (len(slots.first) + 1):
        new[size] = 1.0 / pivot
        new[size + 1] = one
        return True
    for i in range(size):
        work.target[i] = new[i]
    back_substitute(work.rows, size, work.target)
    return False


@helper
def delete_row(rows, size, k):
    """Remove vertex ``k`` from the factors of H: a positive rank-one update of the rows below.

    Row and column ``k`` are gone after it; the rows below have moved up.
    """
    strength = 1.0 / rows[row_place(k) + k]
    for j in range(k + 1, size):
        place = row_place(j)
        step = rows[place + k]
        d_old = 1.0 / rows[place + j]
        d_new = d_old + strength * step * step
        gain = strength * step / d_new
        strength *= d_old / d_new
        rows[place + j] = 1.0 / d_new
        for i in range(j + 1, size):
            place = row_place(i)
            rows[place + k] -= step * rows[place + j]
            rows[place + j] += gain * rows[place + k]
    for i in range(k + 1, size):
        old = row_place(i)
        new = row_place(i - 1)
        for j in range(k):
            rows[new + j] = rows[old + j]
        for j in range(k + 1, i + 1):
            rows[new + j - 1] = rows[old + j]
        one = 1.0
        for j in range(i - 1):
            one -= rows[new + j] * rows[row_place(j) + j + 1]
        rows[new + i] = one


@helper
def drop_vertex(states, weight, inner, score, k, size):
    """Remove entry ``k`` from the lists of a support that reaches up to ``size``."""
    for i in range(k, size - 1):
        weight[i] = weight[i + 1]
        inner[i] = inner[i + 1]
        score[i] = score[i + 1]
        for slot in range(states.shape[1]):
            states[i, slot] = states[i + 1, slot]


@helper
def shift_weight(size, weight, inner, combination):
    """Move weight between vertex ``size`` and the combination of others that equals it.

    The coordinates stay, the inner score does not fall; the move ends when a vertex, the one
    that is returned, has no weight left.
    """
    gain = inner[size]
    for i in range(size):
        gain -= combination[i] * inner[i]
    sign = 1.0 if gain > 0.0 else -1.0
    leaving = size
    step = np.inf if gain > 0.0 else weight[size]
    for i in range(size):
        loss = sign * combination[i]
        if loss > SMALLEST_PIVOT and weight[i] < step * loss:
            step = weight[i] / loss
            leaving = i
    weight[size] += sign * step
    for i in range(size):
        weight[i] -= sign * step * combination[i]
    return leaving


@helper
def solve_kkt(size, work):
    """Weights on the support that are optimal but for their signs, into ``work.target``.

    Returns the multiplier tau: the score of every vertex of the support at the residual.
    """
    score, x = work.score, work.target
    # Relative to the first score: a common shift moves tau only, and small numbers stay exact.
    base = score[0]
    mass = 0.0
    pull = 0.0
    for i in range(size):
        place = row_place(i)
        row = work.rows[place : place + i + 2]
        xi = score[i] - base
        for j in range(i):
            xi -= row[j] * x[j]
        x[i] = xi
        scaled = row[i + 1] * row[i]
        mass += row[i + 1] * scaled
        pull += xi * scaled
    tau = (pull - 1.0) / mass
    for i in range(size):
        place = row_place(i) + i
        x[i] = (x[i] - tau * work.rows[place + 1]) * work.rows[place]
    back_substitute(work.rows, size, x)
    return tau + base + 1.0


@helper
def step_to_target(size, weight, target):
    """Move the weights to the target, or until one is zero; returns which one, else -1."""
    # The longest step that keeps every weight non-negative, (1.33).
    beta = 1.0
    blocking = -1
    for i in range(size):
        if target[i] < 0.0 and weight[i] <= beta * (weight[i] - target[i]):
            beta = weight[i] / (weight[i] - target[i])
            blocking = i
    for i in range(size):
        weight[i] += beta * (target[i] - weight[i])
    return blocking


@helper
def copy_rows(source, first, last, target):
    """Copy the rows of the factors of H of vertices ``first`` to ``last``."""
    begin, end = row_place(first), row_place(last)
    old, new = source[begin:end], target[begin:end]
    for i in range(len(new)):
        new[i] = old[i]


@helper
def score_vertices(slots, scale, states, inner, first, last, work):
    """Scores ``M'a + b`` of the vertices from ``first`` to ``last``."""
    for i in range(first, last):
        total = scale * inner[i]
        for slot in range(len(slots.first)):
            # Where there is no coordinate, a is 0.
            total += work.a[slots.start[slot] + states[i, slot]]
        work.score[i] = total


@helper
def settle(slots, states, weight, inner, size, waiting, clean, same, work):
    """Optimal weights on the support; vertices that lose their weight leave it.

    The first ``size`` vertices are in the factors of H, those up to ``waiting`` still have to
    enter.  The first ``clean`` rows of the factors come from appending alone, which is worth
    keeping: deletions add up rounding errors.  The first ``same`` rows are as they were kept.
    Returns the size of the support, tau, ``clean`` and ``same``.
    """
    while True:
        if size < waiting:
            if append_row(slots, states, size, work):
                clean += 1 if clean == size else 0
                size += 1
                continue
            leaving = shift_weight(size, weight, inner, work.target)
        else:
            tau = solve_kkt(size, work)
            leaving = step_to_target(size, weight, work.target)
            if leaving < 0:
                return size, tau, clean, same
        if leaving < size:
            delete_row(work.rows, size, leaving)
            size -= 1
            clean = min(clean, leaving)
            same = min(same, leaving)
        drop_vertex(states, weight, inner, work.score, leaving, waiting)
        waiting -= 1


@quick
def take_residual(slots, states, weight, size, work):
    """Fill ``q`` and ``residual = a - M q``; returns the largest magnitude of the latter."""
    q = work.q
    for place in range(len(q)):
        q[place] = 0.0
    for i in range(size):
        for slot in range(len(slots.first)):
            q[slots.start[slot] + states[i, slot]] += weight[i]
    largest = 0.0
    if slots.runs:
        for i in range(len(q)):
            work.residual[i] = work.a[i] - q[i]
            largest = max(largest, abs(work.residual[i]))
        return largest
    for slot in range(len(slots.first)):
        begin, end = slots.start[slot] + slots.first[slot], slots.start[slot + 1]
        residual, own, point = work.residual[begin:end], work.a[begin:end], q[begin:end]
        for i in range(len(residual)):
            residual[i] = own[i] - point[i]
            largest = max(largest, abs(residual[i]))
    return largest


@inlined
def project(kind, slots, table, scale, support, factor, work, max_inner):
    """Project ``work.a`` for one factor, into ``work.q``: Algorithm 1.3.

    Starts from the factor's support and leaves the new one there.  Returns whether the solution
    is exact: it is not after ``max_inner`` (at least 1) vertices, or when the support outgrew its
    room; it is then still a distribution, and the next call goes on from it.
    """
    states, weight = support.states[factor], support.weight[factor]
    inner = support.inner[factor]
    # 2. The support of the last solution; without one, tau = -inf lets any vertex enter.
    waiting = np.int64(support.size[factor])
    size = min(np.int64(support.kept[factor]), waiting)
    clean = same = size
    copy_rows(support.rows[factor], 0, size, work.rows)
    score_vertices(slots, scale, states, inner, 0, waiting, work)
    tau = -np.inf
    exact = False
    for _ in range(max_inner + 1):
        # 4., 14.-18. Optimal weights on the support.
        if waiting > 0:
            size, tau, clean, same = settle(
                slots, states, weight, inner, size, waiting, clean, same, work
            )
        # 6. w = a - M q
        largest = take_residual(slots, states, weight, size, work)
        if size == len(weight):
            break
        if kind == POTTS:
            # Most often not even a bound on the best vertex is better.
            ceiling = potts_ceiling(work.residual, table, scale)
            exact = ceiling - tau <= TOLERANCE * (1.0 + largest)
            if exact:
                break
        # 7. The best vertex at the residual,
        value, best = maximize(kind, slots, work.residual, table, scale, states[size])
        # 8. no better than the support: solved;
        exact = value - tau <= TOLERANCE * (1.0 + largest + abs(scale * best))
        if exact:
            break
        # 11. else it joins.
        inner[size] = best
        weight[size] = 1.0 if size == 0 else 0.0
        waiting = size + 1
        score_vertices(slots, scale, states, inner, size, waiting, work)
    support.size[factor] = size
    support.kept[factor] = min(clean, KEPT_ROWS)
    copy_rows(work.rows, same, min(clean, KEPT_ROWS), support.rows[factor])
    return exact


@helper
def gather(slots, lits, f, values, factor, p, a):
    """The point ``a = values + factor * p`` of factor ``f``, in literal space."""
    link = 0
    for slot in range(len(slots.first)):
        begin, end = slots.start[slot] + slots.first[slot], slots.start[slot + 1]
        point = a[begin:end]
        own_lits = lits[f, link : link + end - begin]
        own = values[f, link : link + end - begin]
        if slots.runs:
            marginals = p[own_lits[0] : own_lits[0] + len(point)]
            for i in range(len(point)):
                point[i] = own[i] + factor * marginals[i]
        else:
            for i in range(len(point)):
                lit = own_lits[i]
                at = factor * p[np.uint32(lit ^ (lit >> 31))]
                point[i] = own[i] + (factor - at if lit < 0 else at)
        link += end - begin


@quick
def move_runs(slots, lits, alpha, work, w, total):
    """As ``move_multipliers``, where coordinates follow each other: vectors throughout."""
    squares = 0.0
    a, q, gaps = work.a, work.q, work.residual
    for i in range(len(w)):
        gap = 0.5 * (a[i] - w[i]) - q[i]  # p - q, since a = w + 2 p
        squares += gap * gap
        w[i] += alpha * gap
        gaps[i] = gap
    for slot in range(len(slots.first)):
        begin, end = slots.start[slot], slots.start[slot + 1]
        own, first = gaps[begin:end], lits[begin]
        sums = total[first : first + end - begin]
        for i in range(len(own)):
            sums[i] -= own[i]
    return squares


@quick
def move_multipliers(slots, lits, f, alpha, work, w, total):
    """``w += alpha * (p - q)`` for factor ``f``; returns the sum of (p - q)^2.

    Reads ``work.a`` and ``work.q`` and leaves ``p - q`` in ``work.residual``.
    """
    if slots.runs:
        return move_runs(slots, lits[f], alpha, work, w[f], total)
    squares = 0.0
    link = 0
    for slot in range(len(slots.first)):
        begin, end = slots.start[slot] + slots.first[slot], slots.start[slot + 1]
        a, q, gaps = work.a[begin:end], work.q[begin:end], work.residual[begin:end]
        own = w[f, link : link + end - begin]
        own_lits = lits[f, link : link + end - begin]
        # Apart from the additions to total, which no vector instruction does.
        for i in range(len(own)):
            gap = 0.5 * (a[i] - own[i]) - q[i]  # p - q, since a = w + 2 p
            squares += gap * gap
            own[i] += alpha * gap
            gaps[i] = gap
        for i in range(len(own)):
            lit = own_lits[i]
            total[np.uint32(lit ^ (lit >> 31))] += gaps[i] if lit < 0 else -gaps[i]
        link += end - begin
    return squares


@inlined
def step_structures(
    kind, slots, lits, tables, inverse_rho, alpha, max_inner, full, limit,
    w, asleep, p, total, support, work,
):  # fmt: skip
    """Steps 1 and 2 of AD3 for ``m`` factors of one shape, those awake (all if ``full``).

    ``lits[m, links]`` and ``w[m, links]`` have a row per factor, ``tables[m, entries]`` too.
    Adds ``q - p`` to ``total[n]``; returns the sum of its squares over links.  If ``full``, the
    factors whose mean square is at most ``limit`` are put to sleep.
    """
    squares = 0.0
    for f in range(len(lits)):
        if asleep[f] and not full:
            continue
        gather(slots, lits, f, w, 2.0, p, work.a)
        project(kind, slots, tables[f], inverse_rho, support, f, work, max_inner)
        own = move_multipliers(slots, lits, f, alpha, work, w, total)
        if full:
            asleep[f] = own <= limit * lits.shape[1]
        squares += own
    return squares


@inlined
def structure_chunk(
    kind,
    slots,
    lits,
    tables,
    first,
    last,
    scale,
    values,
    factor,
    p,
    residual,
    states,
    work,
):
    """Best values of factors ``first:last`` at a dual point, less their negated links' scores.

    Link scores are ``scale * (values[m, links] + factor * p)``, as in ``kernels.bound``; they
    are taken off ``residual[n]``.  ``states[d]`` and ``work`` are scratch.
    """
    partial = 0.0
    for f in range(first, last):
        gather(slots, lits, f, values, factor, p, work.a)
        best, _ = maximize(kind, slots, work.a, tables[f], 1.0 / scale, states)
        partial += scale * best
        link = 0
        for slot in range(len(slots.first)):
            for place in range(slots.start[slot] + slots.first[slot], slots.start[slot + 1]):
                lit = lits[f, link]
                score = scale * work.a[place]
                # score * (1 - x) = score - score * x
                residual[np.uint32(lit ^ (lit >> 31))] += score if lit < 0 else -score
                partial -= score if lit < 0 else 0.0
                link += 1
    return partial
