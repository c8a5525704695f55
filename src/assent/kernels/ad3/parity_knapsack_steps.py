"""Parity and knapsack factors, projected one at a time: an AD3 step and a bound.

They are rare beside the forms that :mod:`assent.kernels.ad3.iteration` handles in blocks.  A
compiled step of their own spares everyone else the time to compile them.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.bound_sweep import add_compensated
from assent.kernels.jit import jit
from assent.kernels.kinds.knapsack_relaxation import maximize_knapsack, project_knapsack
from assent.kernels.kinds.parity_hull import maximize_parity, project_parity
from assent.kernels.problem import PARITY

# Rows of the scratch, as long as the longest factor.
POINT = 0
SOLUTION = 1
WEIGHTS = 2
ROWS = 3


@jit(inline="always")
def gather_single(lits, values, factor, p, first, stride, point):
    """``point[j] = values + factor * p`` of one factor, in literal space."""
    for j in range(len(point)):
        link = first + j * stride
        lit = lits[link]
        own = 1.0 - p[~lit] if lit < 0 else p[lit]
        point[j] = values[link] + factor * own


@jit(inline="always")
def gather_weights(weights, first, stride, own):
    """The weights of one knapsack; ``first`` counts from the first knapsack's link."""
    for j in range(len(own)):
        own[j] = weights[first + j * stride]


@jit(inline="always")
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


@jit
def step_singles(
    group_kind, group_size, group_count, group_link, group_factor, lits, weights, capacity,
    weight, alpha, full, limit, w, tau, asleep, p, total, scratch,
):  # fmt: skip
    """Steps 1 and 2 of AD3 for the groups of PARITY and KNAPSACK; see ``ad3.step_pairs``.

    The group arrays hold these groups only, ``asleep`` an entry per factor of theirs.  A
    factor's threshold is remembered in ``tau``; ``scratch[ROWS, longest]``.
    """
    squares = 0.0
    heavy_link = len(lits) - len(weights)
    heavy_factor = len(tau) - len(capacity)
    for i in range(len(group_kind)):
        size, stride = group_size[i], group_count[i]
        point, q = scratch[POINT, :size], scratch[SOLUTION, :size]
        load = scratch[WEIGHTS, :size]
        for f in range(stride):
            number = group_factor[i] + f
            rest = number - group_factor[0]
            if asleep[rest] and not full:
                continue
            first = group_link[i] + f
            gather_single(lits, w, 2.0, p, first, stride, point)
            if group_kind[i] == PARITY:
                tau[number] = project_parity(point, q, tau[number])
            else:
                gather_weights(weights, first - heavy_link, stride, load)
                room = capacity[number - heavy_factor]
                tau[number] = project_knapsack(point, load, room, q, tau[number])
            own = move_single(lits, alpha, weight[i], first, stride, point, q, w, total)
            if full:
                asleep[rest] = own <= limit * size
            squares += weight[i] * own
    return squares


@jit
def bound_singles(
    group_kind, group_size, group_count, group_link, group_factor, lits, weights, capacity, n_logic,
    scales, values, factor, p, residual,
):  # fmt: skip
    """Best values of the groups of PARITY and KNAPSACK at a dual point, ``scales`` one for each.

    Takes the link scores off ``residual[n]``; see :mod:`assent.kernels.core.bound_sweep`.
    """
    total = 0.0
    carry = 0.0
    heavy_link = len(lits) - len(weights)
    heavy_factor = n_logic - len(capacity)
    for i in range(len(group_kind)):
        size, stride = group_size[i], group_count[i]
        point, vertex, load = np.empty(size), np.empty(size), np.empty(size)
        for f in range(stride):
            first = group_link[i] + f
            gather_single(lits, values, factor, p, first, stride, point)
            if group_kind[i] == PARITY:
                part = maximize_parity(point, vertex)
            else:
                gather_weights(weights, first - heavy_link, stride, load)
                room = capacity[group_factor[i] + f - heavy_factor]
                part = maximize_knapsack(point, load, room, vertex)
            for j in range(size):
                # score * (1 - x) = score - score * x
                lit = lits[first + j * stride]
                score = scales[i] * point[j]
                residual[~lit if lit < 0 else lit] += score if lit < 0 else -score
                part -= point[j] if lit < 0 else 0.0
            total, carry = add_compensated(total, carry, scales[i] * part)
    return total + carry
