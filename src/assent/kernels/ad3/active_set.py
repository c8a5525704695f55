"""Projections for every structure that can maximise: the active set method.

With ``M`` the matrix whose columns are the coordinates of a structure's vertices, the subproblem is

    minimise  ||M q - a||^2 / 2 - b . q   over distributions q on the vertices.

A solution needs few vertices (Martins et al. 2015, Proposition 1.7: no more than there are
states, less the slots, plus one), so the method (their Algorithm 1.3) keeps a support of
affinely independent vertices and asks the structure's ``maximize`` for the one to add.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.ad3.active_set_system import (
    SMALLEST_PIVOT,
    append_row,
    copy_rows,
    delete_row,
    solve_kkt,
)
from assent.kernels.core.vertices import KEPT_ROWS, maximize
from assent.kernels.jit import jit_inline, jit_inline_llvm, jit_inline_llvm_vector_sums
from assent.kernels.kinds.table_scores import potts_ceiling
from assent.kernels.problem import POTTS

# A vertex enters only if it beats the support by more than rounding, relative to the scores.
TOLERANCE = 1e-12

# Vertices to try when a projection must be exact.  Supports settle after a few times their own
# size; the limit only keeps a defect from running for ever.
EXACT = 100_000


@jit_inline
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


@jit_inline_llvm
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


@jit_inline_llvm
def score_vertices(slots, scale, states, inner, first, last, work):
    """Scores ``M'a + b`` of the vertices from ``first`` to ``last``."""
    for i in range(first, last):
        total = scale * inner[i]
        for slot in range(len(slots.first)):
            # Where there is no coordinate, a is 0.
            total += work.a[slots.start[slot] + states[i, slot]]
        work.score[i] = total


@jit_inline_llvm
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


@jit_inline_llvm
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


@jit_inline_llvm
def drop_vertex(states, weight, inner, score, k, size):
    """Remove entry ``k`` from the lists of a support that reaches up to ``size``."""
    for i in range(k, size - 1):
        weight[i] = weight[i + 1]
        inner[i] = inner[i + 1]
        score[i] = score[i + 1]
        for slot in range(states.shape[1]):
            states[i, slot] = states[i + 1, slot]


@jit_inline_llvm_vector_sums
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
