"""Soft agreement: two slots of K states; ``inner[i]`` (<= 0) where they differ, the first being i.

Disagreement needs no care to be one: with penalties, agreeing in a state is worth at least as
much as what is charged for leaving it.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from assent.kernels.jit import jit_internal, jit_structure


@jit_structure
def maximize_agree(start, data, scores, inner, scale, states):
    """The best vertex: its value and the inner score it earns."""
    k = start[1]
    best, first, second = -np.inf, 0, 0
    alone, leaving, joining = -np.inf, 0, 0
    for i in range(k):
        if scores[i] + scores[k + i] > best:
            best, first, second = scores[i] + scores[k + i], i, i
        if scores[i] + scale * inner[i] > alone:
            alone, leaving = scores[i] + scale * inner[i], i
        if scores[k + i] > scores[k + joining]:
            joining = i
    if alone + scores[k + joining] > best:
        best, first, second = alone + scores[k + joining], leaving, joining
    states[0], states[1] = first, second
    return best, 0.0 if first == second else inner[first]


@jit_structure
def parts_agree(start, data, states, weight, out):
    """Add ``weight`` to the first one's state where they differ; every state is a vertex."""
    if states[0] != states[1]:
        out[states[0]] += weight
    return True


@jit_structure
def max_marginals_agree(start, data, scores, inner, out):
    """Best value with each place chosen, ``out[places]``."""
    k = start[1]
    alone, joining = -np.inf, -np.inf
    for i in range(k):
        alone = max(alone, scores[i] + inner[i])
        joining = max(joining, scores[k + i])
    for i in range(k):
        same = scores[i] + scores[k + i]
        out[i] = max(same, scores[i] + inner[i] + joining)
        out[k + i] = max(same, alone + scores[k + i])


@jit_internal
def log_add(a, b):
    """``log(exp a + exp b)``."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + log(1.0 + exp(b - a))


@jit_structure
def marginals_agree(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and of disagreement; returns the log-partition times temperature.

    What all others weigh is added up from both ends, because the total less a state's own weight
    would lose its digits at low temperatures.
    """
    k = start[1]
    others = np.empty(k)  # log weight of the second slot's other states, then of the first's
    same = np.empty(k)
    leave = np.empty(k)
    total = -np.inf
    for i in range(k):
        same[i] = (scores[i] + scores[k + i]) / temperature
        leave[i] = (scores[i] + inner[i]) / temperature
        total = log_add(total, same[i])
    sum_others(scores[k : 2 * k], 1.0 / temperature, others)
    for i in range(k):
        total = log_add(total, leave[i] + others[i])
    if total == -np.inf:
        out[:] = 0.0
        out_inner[:] = 0.0
        return -np.inf
    for i in range(k):
        out_inner[i] = exp(leave[i] + others[i] - total)
        out[i] = exp(same[i] - total) + out_inner[i]
    sum_others(leave, 1.0, others)
    for i in range(k):
        other = scores[k + i] / temperature + others[i]
        out[k + i] = exp(same[i] - total) + exp(other - total)
    return temperature * total


@jit_internal
def sum_others(values, factor, out):
    """``out[i]``: log of the sum of ``exp(factor * values[j])`` over all j other than i."""
    running = -np.inf
    for i in range(len(values)):
        out[i] = running
        running = log_add(running, factor * values[i])
    running = -np.inf
    for i in range(len(values) - 1, -1, -1):
        out[i] = log_add(out[i], running)
        running = log_add(running, factor * values[i])
