"""Accelerated smoothed dual decomposition (Jojic et al. 2010): marginals in place of vertices.

With entropy at temperature T added to every factor, the dual is smooth: its gradient in a factor's
link scores is the factor's marginals ``q``, and it changes by at most ``L / T`` of any step, ``L``
a quarter of the factor's squared diameter.  Steps of ``T / L`` per factor, projected so that link
scores go on sharing out all of a coordinate's score, with Nesterov's momentum:

1. ``q``: marginals of all factors at the point ``y`` ahead of ``s``;
2. ``p``: their mean at each coordinate, a factor weighted by its ``1 / L``;
3. ``s <- y - (T / L) (q - p)``;
4. ``y``: ahead of ``s`` by momentum, which starts afresh when it no longer points downhill
   (O'Donoghue and Candes 2015).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.core.factor_list import ACROSS, ALONG, COUNT, FACTOR, LINK, SIZE
from assent.kernels.core.factor_oracles import gather, marginals_factor
from assent.kernels.jit import jit, jit_internal_no_allocation

# Places in ``state``.
TEMPERATURE = 0
MOMENTUM = 1
DONE = 2
SPREAD = 3  # mean square of q - p
CALLS = 4
STATES = 5


class AcceleratedPoint(NamedTuple):
    """Link scores and marginals of a running solve; all but the weights written."""

    weight: np.ndarray  # float64[factors] 1 / L
    mass: np.ndarray  # float64[n] weight of each coordinate's links
    s: np.ndarray  # float64[links]
    y: np.ndarray  # float64[links] ahead of s
    q: np.ndarray  # float64[links] the factors' marginals
    p: np.ndarray  # float64[n] their means
    total: np.ndarray  # float64[n] weighted sum of the copies
    state: np.ndarray  # float64[STATES]


@jit_internal_no_allocation
def ask_group(row, factors, point, work):
    """Steps 1 and 2 for a group: fills ``q`` and adds to ``total[n]``."""
    flat, q, total, temperature = factors.flat, point.q, point.total, point.state[TEMPERATURE]
    size, across = row[SIZE], row[ACROSS]
    for f in range(row[COUNT]):
        first = row[LINK] + f * row[ALONG]
        a = gather(row, flat, f, point.y, work.a)
        value = marginals_factor(row, flat, factors.inner, f, a, temperature, work)
        good = np.isfinite(value)
        for j in range(size):
            good = good and np.isfinite(work.z[j])
        own = point.weight[row[FACTOR] + f]
        for j in range(size):
            link = first + j * across
            # An answer lost in rounding is left out: the last one stands.
            if good:
                q[link] = min(max(work.z[j], 0.0), 1.0)
            lit = flat.lits[link]
            if lit < 0:
                total[~lit] += own * (1.0 - q[link])
            else:
                total[lit] += own * q[link]


@jit_internal_no_allocation
def move_group(row, flat, ahead, point):
    """Steps 3 and 4 for a group; returns squares of ``q - p`` and how far momentum is uphill."""
    s, y, q, p = point.s, point.y, point.q, point.p
    temperature = point.state[TEMPERATURE]
    squares = 0.0
    uphill = 0.0
    size, across = row[SIZE], row[ACROSS]
    for f in range(row[COUNT]):
        first = row[LINK] + f * row[ALONG]
        step = temperature * point.weight[row[FACTOR] + f]
        for j in range(size):
            link = first + j * across
            lit = flat.lits[link]
            gap = q[link] - (1.0 - p[~lit] if lit < 0 else p[lit])
            squares += gap * gap
            moved = y[link] - step * gap
            change = moved - s[link]
            uphill += gap * change
            s[link] = moved
            y[link] = moved + ahead * change
    return squares, uphill


@jit
def advance(factors, point, work, iterations):
    """Do ``iterations`` more at one temperature."""
    flat, p, total, state = factors.flat, point.p, point.total, point.state
    for _ in range(iterations):
        total[:] = 0.0
        for g in range(len(flat.groups)):
            row = flat.groups[g]
            ask_group(row, factors, point, work)
            state[CALLS] += row[COUNT]
        for v in range(len(p)):
            if factors.degree[v] > 0:
                p[v] = total[v] / point.mass[v]
            else:
                p[v] = 1.0 if factors.theta[v] > 0.0 else 0.0
        before = state[MOMENTUM]
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * before * before))
        squares, uphill = 0.0, 0.0
        for g in range(len(flat.groups)):
            part = move_group(flat.groups[g], flat, (before - 1.0) / after, point)
            squares += part[0]
            uphill += part[1]
        state[MOMENTUM] = after
        if uphill > 0.0:
            state[MOMENTUM] = 1.0
            copy_values(point.s, point.y)
        state[SPREAD] = squares / len(point.s)
        state[DONE] += 1.0
