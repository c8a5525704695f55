"""Rounding where pairs are all there is: nothing to propagate, no factor to break.

The steps are those of :mod:`assent.kernels.rounding.sequential_rounding` and
:mod:`assent.kernels.rounding.local_search`, in loops short enough for the compiler to see through.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.rounding.pair_clusters import flip_clusters
from assent.kernels.rounding.running_sums import other_end, rounding_noise
from assent.kernels.rounding.sequential_rounding import expected_field, preferred, surest_first


@jit
def round_pairs(pairs, theta, pair, p, held, max_sweeps, thorough):
    """The assignment ``int8[n]`` that marginals ``p`` are rounded and improved to.

    Coordinates with ``held >= 0`` are not moved by the local search.
    """
    x, field = np.empty(p.size, np.int8), np.empty(p.size)
    expected_field(theta, pairs.var, pair, p, field)
    settle_in_order(pairs, pair, p, surest_first(p), x, field)
    frozen = np.zeros(p.size, np.uint8)
    for v in range(held.size):
        frozen[v] = held[v] >= 0
    noise = rounding_noise(theta, pair, None)
    for _ in range(max_sweeps):
        if flip_sweep(pairs, pair, x, field, frozen, noise) == 0:
            break
    if thorough:
        flip_clusters(pairs, pair, x, field, frozen, noise, max_sweeps)
    return x


@jit_internal_no_allocation
def settle_in_order(pairs, pair, p, order, x, field):
    """Give every coordinate the value it would like, and tell those tied to it.

    ``field[n]`` is what being 1 adds to the score, first if all others equal their marginals.
    """
    for v in order:
        x[v] = preferred(p[v], field[v])
        step = x[v] - p[v]
        for place in range(pairs.start[v], pairs.start[v + 1]):
            field[other_end(pairs, place, v)] += step * pair[pairs.edges[place]]


@jit_internal_no_allocation
def flip_sweep(pairs, pair, x, field, frozen, noise):
    """Visit every coordinate once and flip it if that gains; returns the number of flips."""
    flips = 0
    for v in range(x.size):
        gain = field[v] if x[v] == 0 else -field[v]
        if gain > noise and not frozen[v]:
            step = 1 - 2 * x[v]
            x[v] += step
            for place in range(pairs.start[v], pairs.start[v + 1]):
                field[other_end(pairs, place, v)] += step * pair[pairs.edges[place]]
            flips += 1
    return flips
