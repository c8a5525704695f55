"""Head automata that remember two modifiers: every three in a row are scored together.

Positions are those of :mod:`assent.kernels.kinds.sentences.head_automata`: ``0`` (no modifier yet),
the ``k`` modifiers from the head outwards, and ``k + 1`` (no more).  ``pair[a, b]`` is earned where
b follows a, and ``triple[a, b, c]`` where c follows b as well; of a head without modifiers only
``pair[0, k + 1]``.

``data`` is ``[k]``.  ``inner`` holds the pairs as :func:`pair_place` counts them, then the triples:
those that end in 2, in 3, …, of these by b, then by a; see :func:`triple_place`.

The recursion is over pairs: ``up[a, b]`` is the soft maximum of all ways from 0 to b that come from
a, with the scores of b and of the pair, and ``down[a, b]`` that of all ways on to ``k + 1``.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.jit import jit, jit_inline_llvm, jit_internal_no_allocation, jit_structure
from assent.kernels.kinds.sentences.head_automata import read_gains
from assent.kernels.kinds.soft_maximum import join


def triple_place(a, b, c):
    """Where the triple of positions ``a < b < c`` stands; works on arrays as well.

    Example:
        >>> [triple_place(a, b, c) for c in (2, 3) for b in range(1, c) for a in range(b)]
        [0, 1, 2, 3]
    """
    return c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a


@jit_inline_llvm
def first_pair(b):
    """Where the pairs that end in b begin."""
    return b * (b - 1) // 2


@jit_inline_llvm
def first_triple(data, b, c):
    """Where the triples that end in b and c begin in ``inner``."""
    k = data[0]
    pairs = (k + 1) * (k + 2) // 2
    return pairs + c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2


@jit_internal_no_allocation
def forward(data, gain, since, inner, scale, temperature, up):
    """Fill ``up[pairs]``; returns the soft maximum of all ways."""
    k = data[0]
    for c in range(1, k + 2):
        for b in range(c):
            at = first_pair(c) + b
            up[at] = -np.inf
            if b < since[c]:
                continue
            best = 0.0 if b == 0 else -np.inf
            triples = first_triple(data, b, c)
            for a in range(b):
                way = up[first_pair(b) + a] + scale * inner[triples + a]
                best = join(best, way, temperature)
            up[at] = best + scale * inner[at] + gain[c]
    total = -np.inf
    for a in range(k + 1):
        total = join(total, up[first_pair(k + 1) + a], temperature)
    return total


@jit_internal_no_allocation
def backward(data, gain, since, inner, temperature, down):
    """Fill ``down[pairs]``."""
    k = data[0]
    for a in range(k + 1):
        down[first_pair(k + 1) + a] = 0.0
    for b in range(k, 0, -1):
        for a in range(b):
            best = -np.inf
            for c in range(b + 1, k + 2):
                if b < since[c]:
                    break  # what must be a modifier is not passed over
                pair = first_pair(c) + b
                way = inner[first_triple(data, b, c) + a] + inner[pair] + gain[c] + down[pair]
                best = join(best, way, temperature)
            down[first_pair(b) + a] = best


@jit_internal_no_allocation
def trace_back(data, inner, scale, up, states):
    """Follow the best way back from the end; returns its inner score."""
    k = data[0]
    c, b = k + 1, 0
    for a in range(k + 1):
        if up[first_pair(c) + a] > up[first_pair(c) + b]:
            b = a
    total = inner[first_pair(c) + b]
    while b > 0:
        states[b - 1] = 1
        triples, best, before = first_triple(data, b, c), -np.inf, 0
        for a in range(b):
            way = up[first_pair(b) + a] + scale * inner[triples + a]
            if way > best:
                best, before = way, a
        total += inner[triples + before] + inner[first_pair(b) + before]
        c, b = b, before
    return total


@jit_structure
def maximize_triples(start, data, scores, inner, scale, states):
    """Best vertex, into ``states[k]``; returns its value and its inner score (not scaled)."""
    k = data[0]
    gain, since = np.empty(k + 2), np.empty(k + 2, np.int64)
    up = np.empty((k + 1) * (k + 2) // 2)
    states[:] = 0
    base = read_gains(data, scores, gain, since)
    best = base
    if base > -np.inf:
        best += forward(data, gain, since, inner, scale, 0.0, up)
    if best == -np.inf:
        return best, best
    return best, trace_back(data, inner, scale, up, states)


@jit_structure
def parts_triples(start, data, states, weight, out_inner):
    """Add ``weight`` to the inner parts a vertex uses; every joint state is a vertex."""
    k = data[0]
    before, last = -1, 0
    for c in range(1, k + 2):
        if c == k + 1 or states[c - 1]:
            out_inner[first_pair(c) + last] += weight
            if before >= 0:
                out_inner[first_triple(data, last, c) + before] += weight
            before, last = last, c
    return True


@jit_internal_no_allocation
def through_places(data, up, down, base, temperature, out):
    """Soft maxima of the ways with each literal false and true, into ``out[places]``."""
    k = data[0]
    out[:] = -np.inf
    for b in range(1, k + 2):
        for a in range(b):
            at = first_pair(b) + a
            way = base + up[at] + down[at]
            if b <= k:
                out[2 * b - 1] = join(out[2 * b - 1], way, temperature)
            for passed in range(a + 1, b):
                out[2 * passed - 2] = join(out[2 * passed - 2], way, temperature)


@jit_internal_no_allocation
def weigh_triples(data, gain, since, inner, up, down, around, temperature, out_inner):
    """Probabilities of pairs and triples; ``around`` is the base less the log-partition."""
    k = data[0]
    out_inner[:] = 0.0
    for c in range(1, k + 2):
        for b in range(since[c], c):
            pair, triples = first_pair(c) + b, first_triple(data, b, c)
            out_inner[pair] = exp((around + up[pair] + down[pair]) / temperature)
            behind = around + inner[pair] + gain[c] + down[pair]
            for a in range(b):
                way = up[first_pair(b) + a] + inner[triples + a] + behind
                out_inner[triples + a] = exp(way / temperature)


@jit
def answer_triples(data, scores, inner, temperature, out, out_inner):
    """Soft maxima of the vertices through each place, into ``out[places]``; and of all.

    Probabilities of inner parts go to ``out_inner``, if it is not empty.
    """
    k = data[0]
    gain, since = np.empty(k + 2), np.empty(k + 2, np.int64)
    up, down = np.empty((2, (k + 1) * (k + 2) // 2))
    base = read_gains(data, scores, gain, since)
    total = base
    if base > -np.inf:
        total += forward(data, gain, since, inner, 1.0, temperature, up)
    if total == -np.inf:
        out[:] = -np.inf
        out_inner[:] = 0.0
        return total
    backward(data, gain, since, inner, temperature, down)
    through_places(data, up, down, base, temperature, out)
    if len(out_inner):
        weigh_triples(data, gain, since, inner, up, down, base - total, temperature, out_inner)
    return total


@jit_structure
def max_marginals_triples(start, data, scores, inner, out):
    """Best value with each place chosen, into ``out[places]``; -inf where there is none."""
    answer_triples(data, scores, inner, 0.0, out, np.empty(0))


@jit_structure
def marginals_triples(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and inner parts; returns ``temperature`` times the log-partition."""
    total = answer_triples(data, scores, inner, temperature, out, out_inner)
    for place in range(len(out)):
        out[place] = 0.0 if total == -np.inf else exp((out[place] - total) / temperature)
    return total
