"""The AD3 iteration, fused: project every factor, average, move the multipliers.

Scaled form with over-relaxation ``alpha`` in (0, 2).  A link with multiplier ``u`` (its score
divided by ``rho``) keeps one number, ``w = u - p``.  One iteration is

1. project:    ``q = argmin ||q - a||^2 / 2 - (factor score) / rho`` at ``a = u + p = w + 2 p``,
2. multiplier: ``w += alpha * (p - q)``,
3. consensus:  ``p += alpha * (mean(q) - p)`` over the links of each coordinate.

Step 3 keeps ``sum u = theta / rho`` at every coordinate, so the multipliers are always a point
of the dual.  The links of negated literals live in literal space, where ``p`` is ``1 - p``.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.projections import (
    CEILING,
    LANES,
    OUTPUT,
    SQUARES,
    TAU,
    clip01,
    find_thresholds,
    gather_block,
    project_pair,
)
from assent.problem import ANYOF


@jit
def step_pairs(pair_var, pair, inverse_rho, alpha, w, p, total):
    """Steps 1 and 2 for all pairs; adds ``q`` to ``total[n]``, returns the sum of (p - q)^2."""
    squares = 0.0
    for e in range(len(pair_var)):
        # Unsigned: a negative index would have to be checked for at every access.
        i = np.uint32(pair_var[e, 0])
        j = np.uint32(pair_var[e, 1])
        pi = p[i]
        pj = p[j]
        wi = w[e, 0]
        wj = w[e, 1]
        qi, qj = project_pair(wi + 2.0 * pi, wj + 2.0 * pj, pair[e] * inverse_rho)
        w[e, 0] = wi + alpha * (pi - qi)
        w[e, 1] = wj + alpha * (pj - qj)
        total[i] += qi
        total[j] += qj
        squares += (pi - qi) ** 2 + (pj - qj) ** 2
    return squares


@jit
def apply_thresholds(kind, alpha, first, stride, size, width, w, a, lanes):
    """Steps 1 and 2 of a block once its thresholds are known; leaves ``q`` in ``a``."""
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
            a[j, lane] = q


@jit
def scatter_block(lits, first, stride, size, width, a, total):
    """Add a block's ``q`` (literal space) to the coordinates' ``total``."""
    for j in range(size):
        link = first + j * stride
        row_lits = lits[link : link + width]
        for lane in range(width):
            lit = row_lits[lane]
            q = a[j, lane]
            total[np.uint32(lit ^ (lit >> 31))] += 1.0 - q if lit < 0 else q


@jit
def step_group(kind, size, count, link, factor, lits, k, alpha, w, tau, p, total, a, ks, lanes):
    """Steps 1 and 2 for one group of logic factors, ``LANES`` at a time; sum of (p - q)^2."""
    for lane in range(LANES):
        lanes[SQUARES, lane] = 0.0
    for start in range(0, count, LANES):
        width = min(LANES, count - start)
        first = link + start
        for lane in range(width):
            ks[lane] = k[factor + start + lane]
            lanes[TAU, lane] = tau[factor + start + lane]
        gather_block(lits, w, 2.0, p, first, count, size, width, a)
        find_thresholds(kind, size, ks, a, lanes)
        for lane in range(width):
            tau[factor + start + lane] = lanes[TAU, lane]
        apply_thresholds(kind, alpha, first, count, size, width, w, a, lanes)
        scatter_block(lits, first, count, size, width, a, total)
    squares = 0.0
    for lane in range(LANES):
        squares += lanes[SQUARES, lane]
    return squares


# Reassociated sums are vectorised: without it this loop would wait for its own additions.
@jit(fastmath={"reassoc"})
def consensus(degree, alpha, p, total):
    """Step 3; clears ``total``, returns the sum over links of ``(mean(q) - p)^2``, p the old one.

    A coordinate without links keeps its value.
    """
    offsets = 0.0
    for v in range(len(p)):
        d = degree[v]
        offset = (total[v] - d * p[v]) / max(d, 1)
        offsets += d * offset * offset
        p[v] += alpha * offset
        total[v] = 0.0
    return offsets


@jit
def advance(
    pair_var, group_kind, group_size, group_count, group_link, group_factor, lits, k, degree,
    pair, rho, alpha, iterations, w_pair, w_logic, tau, p, total, a, lanes,
):  # fmt: skip
    """Run ``iterations`` of AD3 in place; returns the last root-mean-square residuals.

    The primal residual is over links of ``q - p``, the dual one of ``p - p_old``.
    ``a[largest size, LANES]``, ``lanes`` and ``total[n]`` (zero) are scratch.
    """
    ks = np.ones(LANES, np.int32)
    links = max(2 * len(pair_var) + len(lits), 1)
    squares = 0.0
    offsets = 0.0
    for _ in range(iterations):
        squares = step_pairs(pair_var, pair, 1.0 / rho, alpha, w_pair, p, total)
        for i in range(len(group_kind)):
            squares += step_group(
                group_kind[i], group_size[i], group_count[i], group_link[i], group_factor[i],
                lits, k, alpha, w_logic, tau, p, total, a, ks, lanes,
            )  # fmt: skip
        offsets = consensus(degree, alpha, p, total)
    # sum (q - p_new)^2 = sum (q - p_old)^2 - alpha * (2 - alpha) * sum (mean(q) - p_old)^2
    primal = max(squares - alpha * (2.0 - alpha) * offsets, 0.0)
    return sqrt(primal / links), alpha * sqrt(offsets / links)
