"""Sequences that a deterministic automaton accepts, with a score for every arc it takes.

The automaton reads one slot after the other.  ``data`` is ``[Q, A, initial state]``, then
``accepts[Q]``, ``origin[A]`` and ``target[A]`` of the arcs, and ``place[T, A]``: the place that arc
``a`` reads in slot ``t``, -1 if that slot has no such state.  ``inner[T, A]`` scores arcs.

The recursion: ``up[t, q]`` is the soft maximum of all ways to be in state ``q`` before slot ``t``,
and ``down[t, q]`` that of all ways from there to the end.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.jit import jit_inline, jit_internal_no_allocation, jit_structure
from assent.kernels.kinds.soft_maximum import join

HEADER = 3


@jit_inline
def arcs_of(data):
    """Origins, targets and places ``[T * A]`` of the arcs."""
    begin, arcs = HEADER + data[0], data[1]
    return (
        data[begin : begin + arcs],
        data[begin + arcs : begin + 2 * arcs],
        data[begin + 2 * arcs :],
    )


@jit_internal_no_allocation
def forward(data, scores, inner, temperature, up):
    """Fill ``up[T + 1, Q]``; returns the soft maximum of all ways."""
    origin, target, place = arcs_of(data)
    up[:] = -np.inf
    up[0, data[2]] = 0.0
    for t in range(len(up) - 1):
        for a in range(len(origin)):
            i = t * len(origin) + a
            if place[i] >= 0:
                value = up[t, origin[a]] + scores[place[i]] + inner[i]
                up[t + 1, target[a]] = join(up[t + 1, target[a]], value, temperature)
    total = -np.inf
    for q in range(data[0]):
        if data[HEADER + q]:
            total = join(total, up[len(up) - 1, q], temperature)
    return total


@jit_internal_no_allocation
def backward(data, scores, inner, temperature, down):
    """Fill ``down[T + 1, Q]``."""
    origin, target, place = arcs_of(data)
    down[:] = -np.inf
    for q in range(data[0]):
        if data[HEADER + q]:
            down[len(down) - 1, q] = 0.0
    for t in range(len(down) - 2, -1, -1):
        for a in range(len(origin)):
            i = t * len(origin) + a
            if place[i] >= 0:
                value = scores[place[i]] + inner[i] + down[t + 1, target[a]]
                down[t, origin[a]] = join(down[t, origin[a]], value, temperature)


@jit_structure
def maximize_sequence(start, data, scores, inner, scale, states):
    """Best vertex, into ``states[T]``; returns its value and its inner score (not scaled)."""
    length = len(states)
    origin, target, place = arcs_of(data)
    arcs = len(origin)
    best = np.full((length + 1, data[0]), -np.inf)
    taken = np.zeros((length + 1, data[0]), np.int32)  # the arc that leads to the best
    best[0, data[2]] = 0.0
    for t in range(length):
        for a in range(arcs):
            i = t * arcs + a
            if place[i] >= 0:
                # Unsigned, so that nobody asks whether they count from the end: a sixth is saved.
                q, before, at = np.uint32(target[a]), np.uint32(origin[a]), np.uint32(place[i])
                value = best[t, before] + scores[at] + scale * inner[i]
                if value > best[t + 1, q]:
                    best[t + 1, q] = value
                    taken[t + 1, q] = a
    here, value = 0, -np.inf
    for last in range(data[0]):
        if data[HEADER + last] and best[length, last] > value:
            here, value = last, best[length, last]
    states[:] = 0
    if value == -np.inf:
        return value, value
    total = 0.0
    for t in range(length - 1, -1, -1):
        a = taken[t + 1, here]
        states[t] = place[t * arcs + a] - start[t]
        total += inner[t * arcs + a]
        here = origin[a]
    return value, total


@jit_structure
def max_marginals_sequence(start, data, scores, inner, out):
    """Best value with each place chosen, into ``out[places]``; -inf where there is none."""
    length = len(start) - 1
    up, down = np.empty((length + 1, data[0])), np.empty((length + 1, data[0]))
    forward(data, scores, inner, 0.0, up)
    backward(data, scores, inner, 0.0, down)
    origin, target, place = arcs_of(data)
    out[:] = -np.inf
    for t in range(length):
        for a in range(len(origin)):
            i = t * len(origin) + a
            if place[i] >= 0:
                value = up[t, origin[a]] + scores[place[i]] + inner[i] + down[t + 1, target[a]]
                out[place[i]] = max(out[place[i]], value)


@jit_structure
def marginals_sequence(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and arcs; returns ``temperature`` times the log-partition."""
    length = len(start) - 1
    up, down = np.empty((length + 1, data[0])), np.empty((length + 1, data[0]))
    total = forward(data, scores, inner, temperature, up)
    backward(data, scores, inner, temperature, down)
    origin, target, place = arcs_of(data)
    out[:] = 0.0
    out_inner[:] = 0.0
    if total == -np.inf:
        return total
    for t in range(length):
        for a in range(len(origin)):
            i = t * len(origin) + a
            if place[i] >= 0:
                value = up[t, origin[a]] + scores[place[i]] + inner[i] + down[t + 1, target[a]]
                out_inner[i] = exp((value - total) / temperature)
                out[place[i]] += out_inner[i]
    return total


@jit_structure
def parts_sequence(start, data, states, weight, out_inner):
    """Add ``weight`` to the arcs that a sequence takes; False if it is not accepted."""
    origin, target, place = arcs_of(data)
    arcs = len(origin)
    q = data[2]
    for t in range(len(states)):
        found = -1
        for a in range(arcs):
            if origin[a] == q and place[t * arcs + a] == start[t] + states[t]:
                found = a
        if found < 0:
            return False
        out_inner[t * arcs + found] += weight
        q = target[found]
    return data[HEADER + q] != 0
