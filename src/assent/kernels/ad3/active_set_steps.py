"""AD3's steps of factors that project by their support, and their part of a bound."""

from __future__ import annotations

import numpy as np

from assent.kernels.ad3.active_set import project
from assent.kernels.core.vertices import maximize
from assent.kernels.jit import jit_inline, jit_inline_llvm, jit_inline_llvm_vector_sums


@jit_inline
def step_structures(kind, slots, lits, tables, sweep, w, inactive, consensus, support, work):
    """Steps 1 and 2 of AD3 for ``m`` factors of one shape, the active ones (all in a full sweep).

    ``lits[m, links]`` and ``w[m, links]`` have a row per factor, ``tables[m, entries]`` too.
    Adds ``q - p`` to the consensus; returns the sum of its squares over links.  A full sweep makes
    the factors inactive whose mean square is at most the limit.
    """
    squares = 0.0
    for f in range(len(lits)):
        if inactive[f] and not sweep.full:
            continue
        gather(slots, lits, f, w, 2.0, consensus.p, work.a)
        project(kind, slots, tables[f], sweep.inverse_rho, support, f, work, sweep.vertices)
        own = move_multipliers(slots, lits, f, sweep.alpha, work, w, consensus.total)
        if sweep.full:
            inactive[f] = own <= sweep.limit * lits.shape[1]
        squares += own
    return squares


@jit_inline_llvm
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


@jit_inline_llvm_vector_sums
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


@jit_inline_llvm_vector_sums
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


@jit_inline
def structure_chunk(kind, slots, lits, tables, dual, values, residual, states, work):
    """Best values of factors of one shape at a dual point, less their negated links' scores.

    Link scores are ``scale * (values[m, links] + factor * p)`` with the scale, factor and ``p`` of
    a ``bound_sweep.DualState``; they are taken off ``residual[n]``.  ``states[d]`` and ``work`` are
    scratch.
    """
    partial, scale = 0.0, dual.scales[-1]
    for f in range(len(lits)):
        gather(slots, lits, f, values, dual.factor, dual.p, work.a)
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
