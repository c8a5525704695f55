"""Soft agreement by a matrix: ``inner[i, j]`` (<= 0) where the first is i and the second is not j.

Two slots of K states; a pair of states (i, j) uses all parts of row i but (i, j).
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.jit import jit_internal, jit_structure
from assent.kernels.kinds.soft_agreement import log_add


@jit_internal
def row_sums(inner, k):
    """Sum of each row of the parts ``[k]``."""
    sums = np.zeros(k)
    for i in range(k):
        for j in range(k):
            sums[i] += inner[i * k + j]
    return sums


@jit_structure
def maximize_matrix(start, data, scores, inner, scale, states):
    """The best vertex: its value and the inner score it earns."""
    k = start[1]
    sums = row_sums(inner, k)
    best, earned = -np.inf, 0.0
    states[:] = 0
    for i in range(k):
        for j in range(k):
            own = sums[i] - inner[i * k + j]
            value = scores[i] + scores[k + j] + scale * own
            if value > best:
                best, earned = value, own
                states[0], states[1] = i, j
    return best, earned


@jit_structure
def parts_matrix(start, data, states, weight, out):
    """Add ``weight`` to all parts of the first one's row but one; every state is a vertex."""
    k = start[1]
    for j in range(k):
        if j != states[1]:
            out[states[0] * k + j] += weight
    return True


@jit_structure
def max_marginals_matrix(start, data, scores, inner, out):
    """Best value with each place chosen, ``out[places]``."""
    k = start[1]
    sums = row_sums(inner, k)
    out[:] = -np.inf
    for i in range(k):
        for j in range(k):
            value = scores[i] + scores[k + j] + sums[i] - inner[i * k + j]
            out[i] = max(out[i], value)
            out[k + j] = max(out[k + j], value)


@jit_structure
def marginals_matrix(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and of parts; returns the log-partition times temperature."""
    k = start[1]
    sums = row_sums(inner, k)
    total = -np.inf
    for i in range(k):
        for j in range(k):
            value = scores[i] + scores[k + j] + sums[i] - inner[i * k + j]
            total = log_add(total, value / temperature)
    out[:] = 0.0
    out_inner[:] = 0.0
    if total == -np.inf:
        return -np.inf
    for i in range(k):
        for j in range(k):
            value = scores[i] + scores[k + j] + sums[i] - inner[i * k + j]
            probability = exp(value / temperature - total)
            out[i] += probability
            out[k + j] += probability
            for other in range(k):
                if other != j:
                    out_inner[i * k + other] += probability
    return temperature * total
