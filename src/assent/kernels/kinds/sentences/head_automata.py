"""Head automata: a head takes its modifiers one after the other, each scored beside the one before.

The ``k`` literals, from the head outwards, say which words are modifiers.  Positions are ``0`` (no
modifier yet), ``1 … k``, and ``k + 1`` (no more); ``pair[a, b]`` with ``a < b`` is earned where b
follows a with none in between.  In a grandparent automaton a further slot says which of ``G`` words
is the head of the head; ``bonus[g, b]`` is earned by modifier b below grandparent g, and pairs may
have a table for every grandparent.

``data`` is ``[k, G, tables]``, with 0 grandparents where there is no such slot.  ``inner`` holds
``bonus[G, k]``, then ``tables`` tables of pairs, each the pairs that end in 1, in 2, …; see
:func:`pair_place`.

The recursion: ``up[b]`` is the soft maximum of all ways from 0 to b, with b's own score, and
``down[b]`` that of all ways from b to ``k + 1``.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.jit import (
    jit,
    jit_inline,
    jit_inline_llvm,
    jit_internal_no_allocation,
    jit_structure,
)
from assent.kernels.kinds.soft_maximum import join, join_sums


def pair_place(a, b):
    """Where the pair of positions ``a < b`` stands in a table; works on arrays as well.

    Example:
        >>> [pair_place(a, b) for b in (1, 2, 3) for a in range(b)]
        [0, 1, 2, 3, 4, 5]
    """
    return b * (b - 1) // 2 + a


@jit_inline_llvm
def read_gains(data, scores, gain, since):
    """What each position adds when it is a modifier, and what all the others earn.

    ``since[b]`` is the last position before b that must be a modifier, or 0.  A literal that must
    be true gains nothing beyond what is returned; -inf where one can be neither true nor false.
    """
    k = data[0]
    base = 0.0
    forced = 0
    gain[0] = gain[k + 1] = 0.0
    since[0] = 0
    for b in range(1, k + 1):
        false, true = scores[2 * b - 2], scores[2 * b - 1]
        since[b] = forced
        if false == -np.inf:
            base += true
            gain[b] = 0.0
            forced = b
        else:
            base += false
            gain[b] = true - false
    since[k + 1] = forced
    return base


@jit_inline
def table_of(data, inner, g):
    """The pairs below grandparent ``g``."""
    size = (data[0] + 1) * (data[0] + 2) // 2
    begin = data[1] * data[0] + (g if data[2] > 1 else 0) * size
    return inner[begin : begin + size]


@jit_inline_llvm
def add_bonus(data, inner, scale, g, gain, own):
    """What each position adds below grandparent ``g``, into ``own``."""
    k = data[0]
    for b in range(k + 2):
        own[b] = gain[b]
    if data[1]:
        bonus = inner[g * k : g * k + k]
        for b in range(k):
            own[b + 1] += scale * bonus[b]


@jit_internal_no_allocation
def forward(gain, since, table, scale, temperature, up):
    """Fill ``up[k + 2]``; returns the soft maximum of all ways."""
    up[0] = 0.0
    for b in range(1, len(up)):
        first = since[b]
        begin = b * (b - 1) // 2
        pairs = table[begin + first : begin + b]
        up[b] = gain[b] + join_sums(up[first:b], pairs, scale, temperature)
    return up[len(up) - 1]


@jit_internal_no_allocation
def backward(gain, since, table, temperature, down):
    """Fill ``down[k + 2]``."""
    down[:] = -np.inf
    down[len(down) - 1] = 0.0
    for b in range(len(down) - 1, 0, -1):
        begin = b * (b - 1) // 2
        for a in range(since[b], b):
            down[a] = join(down[a], table[begin + a] + gain[b] + down[b], temperature)


@jit_internal_no_allocation
def trace_back(data, gain, since, table, scale, up, states):
    """Follow the best way back from the end; returns the score of its pairs."""
    b = len(up) - 1
    total = 0.0
    while b > 0:
        begin = b * (b - 1) // 2
        best, before = -np.inf, since[b]
        for a in range(since[b], b):
            value = up[a] + scale * table[begin + a]
            if value > best:
                best, before = value, a
        total += table[begin + before]
        if before > 0:
            states[before - 1] = 1
        b = before
    return total


@jit_structure
def maximize_automaton(start, data, scores, inner, scale, states):
    """Best vertex, into ``states``; returns its value and its inner score (not scaled)."""
    k, grandparents = data[0], data[1]
    heads = max(grandparents, 1)
    room = np.empty((heads + 2, k + 2))  # one piece: every allocation takes its time
    gain, own, up = room[0], room[1], room[2:]
    since = np.empty(k + 2, np.int64)
    states[:] = 0
    base = read_gains(data, scores, gain, since)
    best, chosen = -np.inf, 0
    for g in range(heads):
        value = base + (scores[2 * k + g] if grandparents else 0.0)
        if value > -np.inf:
            add_bonus(data, inner, scale, g, gain, own)
            value += forward(own, since, table_of(data, inner, g), scale, 0.0, up[g])
        if value > best:
            best, chosen = value, g
    if best == -np.inf:
        return best, best
    total = trace_back(data, gain, since, table_of(data, inner, chosen), scale, up[chosen], states)
    if grandparents:
        states[k] = chosen
        for b in range(k):
            if states[b]:
                total += inner[chosen * k + b]
    return best, total


@jit_structure
def parts_automaton(start, data, states, weight, out_inner):
    """Add ``weight`` to the inner parts a vertex uses; every joint state is a vertex."""
    k = data[0]
    g = states[k] if data[1] else 0
    table = table_of(data, out_inner, g)
    last = 0
    for b in range(1, k + 2):
        if b == k + 1 or states[b - 1]:
            table[b * (b - 1) // 2 + last] += weight
            last = b
        if data[1] and b <= k and states[b - 1]:
            out_inner[g * k + b - 1] += weight
    return True


@jit_internal_no_allocation
def through_places(since, gain, table, up, down, around, temperature, over, out):
    """Join the soft maxima of the ways with each literal false and true into ``out``.

    ``around`` is the score of everything else, ``over`` scratch: the ways that pass over what is
    between position a, for each a, and some position behind the one looked at.
    """
    over[:] = -np.inf
    for c in range(len(up) - 2, 0, -1):
        b = c + 1
        begin = b * (b - 1) // 2
        skipped = -np.inf
        for a in range(since[b], b):
            way = up[a] + table[begin + a] + gain[b] + down[b]
            over[a] = join(over[a], way, temperature)
        for a in range(c):
            skipped = join(skipped, over[a], temperature)
        out[2 * c - 2] = join(out[2 * c - 2], around + skipped, temperature)
        out[2 * c - 1] = join(out[2 * c - 1], around + up[c] + down[c], temperature)


@jit_internal_no_allocation
def add_parts(data, since, gain, inner, up, down, around, temperature, g, out_inner):
    """Add the probabilities of the ways below grandparent ``g`` to the inner parts they use.

    ``around`` is the score of everything else, less the log-partition.
    """
    k, table, out_table = data[0], table_of(data, inner, g), table_of(data, out_inner, g)
    for b in range(1, k + 2):
        begin = b * (b - 1) // 2
        behind = around + gain[b] + down[b]
        for a in range(since[b], b):
            out_table[begin + a] += exp((up[a] + table[begin + a] + behind) / temperature)
        if data[1] and b <= k:
            out_inner[g * k + b - 1] = exp((around + up[b] + down[b]) / temperature)


@jit
def answer(data, scores, inner, temperature, out, out_inner):
    """Soft maxima of the vertices through each place, into ``out[places]``; and of all.

    Probabilities of inner parts go to ``out_inner``, if it is not empty.
    """
    k, grandparents = data[0], data[1]
    heads = max(grandparents, 1)
    gain, over, down = np.empty(k + 2), np.empty(k + 2), np.empty(k + 2)
    since = np.empty(k + 2, np.int64)
    up, own, around = np.empty((heads, k + 2)), np.empty((heads, k + 2)), np.empty(heads)
    out[:] = -np.inf
    out_inner[:] = 0.0
    base = read_gains(data, scores, gain, since)
    total = -np.inf
    for g in range(heads):
        table = table_of(data, inner, g)
        add_bonus(data, inner, 1.0, g, gain, own[g])
        around[g] = base + (scores[2 * k + g] if grandparents else 0.0)
        value = around[g] + forward(own[g], since, table, 1.0, temperature, up[g])
        total = join(total, value, temperature)
        if grandparents:
            out[2 * k + g] = value
    for g in range(heads):
        if total == -np.inf or around[g] == -np.inf:
            continue
        table = table_of(data, inner, g)
        backward(own[g], since, table, temperature, down)
        through_places(since, own[g], table, up[g], down, around[g], temperature, over, out)
        if len(out_inner):
            add_parts(
                data, since, own[g], inner, up[g], down, around[g] - total, temperature, g,
                out_inner,
            )  # fmt: skip
    return total


@jit_structure
def max_marginals_automaton(start, data, scores, inner, out):
    """Best value with each place chosen, into ``out[places]``; -inf where there is none."""
    answer(data, scores, inner, 0.0, out, np.empty(0))


@jit_structure
def marginals_automaton(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and inner parts; returns ``temperature`` times the log-partition."""
    total = answer(data, scores, inner, temperature, out, out_inner)
    for place in range(len(out)):
        out[place] = 0.0 if total == -np.inf else exp((out[place] - total) / temperature)
    return total
