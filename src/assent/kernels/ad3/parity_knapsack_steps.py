"""Parity and knapsack factors, projected one at a time: an AD3 step and a bound.

They are rare beside the forms that :mod:`assent.kernels.ad3.iteration` handles in blocks.  A
compiled step of their own spares everyone else the time to compile them.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.bound_sweep import add_compensated
from assent.kernels.jit import jit, jit_inline, jit_internal
from assent.kernels.kinds.knapsack_relaxation import maximize_knapsack, project_knapsack
from assent.kernels.kinds.logic_projections import count_common
from assent.kernels.kinds.parity_hull import maximize_parity, project_parity
from assent.kernels.problem import PARITY

# Rows of the scratch, as long as the longest factor.
POINT = 0
SOLUTION = 1
WEIGHTS = 2
ROWS = 3


@jit_inline
def gather_single(lits, values, factor, p, first, stride, point):
    """``point[j] = values + factor * p`` of one factor, in literal space."""
    for j in range(len(point)):
        link = first + j * stride
        lit = lits[link]
        own = 1.0 - p[~lit] if lit < 0 else p[lit]
        point[j] = values[link] + factor * own


@jit_inline
def gather_weights(weights, first, stride, own):
    """The weights of one knapsack; ``first`` counts from the first knapsack's link."""
    for j in range(len(own)):
        own[j] = weights[first + j * stride]


@jit_inline
def move_single(lits, alpha, weight, first, stride, point, q, w, total):
    """``w += alpha * (p - q)`` for one factor; returns the sum of (p - q)^2."""
    squares = 0.0
    for j in range(len(point)):
        link = first + j * stride
        lit = lits[link]
        gap = 0.5 * (point[j] - w[link]) - q[j]  # p - q, since point = w + 2 p
        squares += gap * gap
        w[link] += alpha * gap
        total[~lit if lit < 0 else lit] += weight * (gap if lit < 0 else -gap)
    return squares


@jit_internal
def step_singles(groups, weight, sweep, w, tau, inactive, consensus, scratch):
    """Steps 1 and 2 of AD3 for the groups of PARITY and KNAPSACK; see ``iteration.step_pairs``.

    ``inactive`` has an entry per factor of theirs.  A factor's threshold is remembered in ``tau``;
    ``scratch[ROWS, longest]``.
    """
    squares = 0.0
    lits, p, total = groups.lits, consensus.p, consensus.total
    heavy_link = len(lits) - len(groups.weights)
    heavy_factor = len(tau) - len(groups.capacity)
    begin = count_common(groups.kind)
    for g in range(begin, len(groups.kind)):
        size, stride = groups.size[g], groups.members[g]
        point, q = scratch[POINT, :size], scratch[SOLUTION, :size]
        load = scratch[WEIGHTS, :size]
        for f in range(stride):
            number = groups.factor[g] + f
            rest = number - groups.factor[begin]
            if inactive[rest] and not sweep.full:
                continue
            first = groups.link[g] + f
            gather_single(lits, w, 2.0, p, first, stride, point)
            if groups.kind[g] == PARITY:
                tau[number] = project_parity(point, q, tau[number])
            else:
                gather_weights(groups.weights, first - heavy_link, stride, load)
                room = groups.capacity[number - heavy_factor]
                tau[number] = project_knapsack(point, load, room, q, tau[number])
            own = move_single(lits, sweep.alpha, weight[g], first, stride, point, q, w, total)
            if sweep.full:
                inactive[rest] = own <= sweep.limit * size
            squares += weight[g] * own
    return squares


@jit
def bound_singles(groups, dual, residual):
    """Best values of the groups of PARITY and KNAPSACK at a ``bound_sweep.DualState``.

    Takes the link scores off ``residual[n]``.
    """
    total = 0.0
    carry = 0.0
    lits = groups.lits
    heavy_link = len(lits) - len(groups.weights)
    heavy_factor = len(groups.k) - len(groups.capacity)
    for g in range(count_common(groups.kind), len(groups.kind)):
        size, stride, scale = groups.size[g], groups.members[g], dual.scales[g]
        point, vertex, load = np.empty(size), np.empty(size), np.empty(size)
        for f in range(stride):
            first = groups.link[g] + f
            gather_single(lits, dual.logic, dual.factor, dual.p, first, stride, point)
            if groups.kind[g] == PARITY:
                part = maximize_parity(point, vertex)
            else:
                gather_weights(groups.weights, first - heavy_link, stride, load)
                room = groups.capacity[groups.factor[g] + f - heavy_factor]
                part = maximize_knapsack(point, load, room, vertex)
            for j in range(size):
                # score * (1 - x) = score - score * x
                lit = lits[first + j * stride]
                score = scale * point[j]
                residual[~lit if lit < 0 else lit] += score if lit < 0 else -score
                part -= point[j] if lit < 0 else 0.0
            total, carry = add_compensated(total, carry, scale * part)
    return total + carry
