"""AD3's steps of factors that project by their support, and their part of a bound."""

from __future__ import annotations

import numpy as np

from assent.kernels.ad3.active_set import inlined, project
from assent.kernels.core.vertices import maximize
from assent.kernels.kinds.table_scores import helper, quick


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
