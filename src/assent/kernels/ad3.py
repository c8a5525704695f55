"""The AD3 iteration, fused: project every factor, average, move the multipliers.

Scaled form with over-relaxation ``alpha`` in (0, 2).  A link's input is ``a = p + u`` with the
scaled multiplier ``u = score / rho``.  One iteration is

1. project:    ``q = argmin ||q - a||^2 / 2 - (factor score) / rho`` over the factor's hull,
2. consensus:  ``p_new = alpha * mean(q) + (1 - alpha) * p``,
3. multiplier: ``u_new = u - alpha * q - (1 - alpha) * p + p_new``.

Steps 2 and 3 give ``a_new = (a - alpha * q) + g`` with ``g = 2 p_new - (2 - alpha) p`` per
coordinate.  So a link keeps one number, ``y = a - alpha * q``, and the next input is one gather
away.  A negated literal lives in its own space: there ``g`` becomes ``alpha - g``.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.projections import (
    CEILING,
    LANES,
    OUTPUT,
    TAU,
    clip01,
    find_thresholds,
    gather_block,
    project_pair,
)
from assent.problem import ANYOF


@jit
def step_pairs(pair_var, pair, inverse_rho, alpha, y, g, total):
    """Step 1 for all pairs; adds their ``q`` to ``total[n]``, returns the squared change of y."""
    change = 0.0
    for e in range(len(pair_var)):
        i = pair_var[e, 0]
        j = pair_var[e, 1]
        gi = g[i]
        gj = g[j]
        ai = y[e, 0] + gi
        aj = y[e, 1] + gj
        qi, qj = project_pair(ai, aj, pair[e] * inverse_rho)
        y[e, 0] = ai - alpha * qi
        y[e, 1] = aj - alpha * qj
        total[i] += qi
        total[j] += qj
        change += (gi - alpha * qi) ** 2 + (gj - alpha * qj) ** 2
    return change


@jit
def scatter_block(kind, lits, y, alpha, first, stride, size, width, a, lanes, total):
    """Apply the thresholds to a block: new y, ``q`` added to ``total``; squared change of y."""
    change = 0.0
    for j in range(size):
        link = first + j * stride
        is_output = kind == ANYOF and j == size - 1
        for lane in range(width):
            value = a[j * LANES + lane]
            if is_output:
                q = clip01(lanes[OUTPUT * LANES + lane])
            else:
                q = min(value - lanes[TAU * LANES + lane], lanes[CEILING * LANES + lane])
                q = clip01(q)
            moved = value - alpha * q
            difference = moved - y[link + lane]
            change += difference * difference
            y[link + lane] = moved
            lit = lits[link + lane]
            total[lit ^ (lit >> 31)] += 1.0 - q if lit < 0 else q
    return change


@jit
def step_group(kind, size, count, link, factor, lits, k, alpha, y, tau, g, total, a, ks, lanes):
    """Step 1 for one group of logic factors, ``LANES`` at a time."""
    change = 0.0
    for start in range(0, count, LANES):
        width = min(LANES, count - start)
        for lane in range(LANES):
            f = factor + start + min(lane, width - 1)
            ks[lane] = k[f]
            lanes[TAU * LANES + lane] = tau[f]
        gather_block(lits, y, alpha, g, link + start, count, size, width, a)
        find_thresholds(kind, size, ks, a, lanes)
        for lane in range(width):
            tau[factor + start + lane] = lanes[TAU * LANES + lane]
        change += scatter_block(
            kind, lits, y, alpha, link + start, count, size, width, a, lanes, total
        )
    return change


@jit
def consensus(degree, alpha, p, g, total, change):
    """Steps 2 and 3; clears ``total`` and returns the squared residuals (primal, dual).

    ``change`` is the sum over links of ``(g - alpha*q)^2``.  With ``drift = g - alpha*p`` it
    yields ``sum (q - p_new)^2`` without ever subtracting numbers larger than the residuals.
    """
    cross = 0.0
    dual = 0.0
    for v in range(len(p)):
        d = degree[v]
        mean = total[v] / d if d > 0 else p[v]
        old = p[v]
        drift = g[v] - alpha * old
        offset = mean - old
        move = alpha * offset
        # sum (q-p)^2 = (change + 2*alpha*sum drift*(q-p) - sum drift^2) / alpha^2, and then
        # sum (q-p_new)^2 = sum (q-p)^2 - 2*move*sum (q-p) + d*move^2
        cross += d * drift * (2.0 * alpha * offset - drift) / (alpha * alpha)
        cross += d * move * (move - 2.0 * offset)
        dual += d * move * move
        p[v] = old + move
        g[v] = alpha * old + 2.0 * move
        total[v] = 0.0
    return max(change / (alpha * alpha) + cross, 0.0), dual


@jit
def advance(
    pair_var, group_kind, group_size, group_count, group_link, group_factor, lits, k, degree,
    pair, rho, alpha, iterations, y_pair, y_logic, tau, p, g, total, a, lanes,
):  # fmt: skip
    """Run ``iterations`` of AD3 in place; returns the last root-mean-square residuals.

    The primal residual is over links of ``q - p``, the dual one of ``p - p_old``.
    ``a[LANES * largest size]``, ``lanes`` and ``total[n]`` (zero) are scratch.
    """
    ks = np.ones(LANES, np.int32)
    links = max(2 * len(pair_var) + len(lits), 1)
    primal = 0.0
    dual = 0.0
    for _ in range(iterations):
        change = step_pairs(pair_var, pair, 1.0 / rho, alpha, y_pair, g, total)
        for i in range(len(group_kind)):
            change += step_group(
                group_kind[i], group_size[i], group_count[i], group_link[i], group_factor[i],
                lits, k, alpha, y_logic, tau, g, total, a, ks, lanes,
            )  # fmt: skip
        primal, dual = consensus(degree, alpha, p, g, total, change)
    return sqrt(primal / links), sqrt(dual / links)
