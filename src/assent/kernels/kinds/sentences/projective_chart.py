"""Projective trees: arcs that do not cross when drawn above the sentence.

See :mod:`assent.kernels.kinds.sentences.arcs` for words, arcs and ``data``.  The dynamic programme
of Eisner (1996) works on *spans* i … j of the sentence, the root being its word 0:

    right[i, j]     i with modifiers up to j, all of whose descendants are in the span
    left[j, i]      the same for j to the left, down to i
    reach[i, j]     right, with an arc from i to j, of which j's right side is still to come
    reach[j, i]     left, with an arc from j to i

An arc is made where ``right[i, k]`` and ``left[j, k + 1]`` meet; a half with an arc is completed
by the far side of its modifier.  Every array is read along its rows, so right and left are kept a
second time with their ends exchanged.  ``chart[CHARTS, n + 1, n + 1]`` holds them all.

With soft maxima for maxima (:mod:`assent.kernels.kinds.soft_maximum`) the same recursion sums over
all trees.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import (
    jit_inline_llvm,
    jit_internal,
    jit_internal_no_allocation,
    jit_structure,
)
from assent.kernels.kinds.sentences.arcs import (
    SINGLE_ROOT,
    is_tree,
    read_arcs,
    read_heads,
    write_places,
    write_states,
)
from assent.kernels.kinds.sentences.spanning_trees import arcs_to_probabilities
from assent.kernels.kinds.soft_maximum import join, join_sums

# The second index of an array is the end that its name speaks about; BY_END exchanges the two.
RIGHT, LEFT, REACH, RIGHT_BY_END, LEFT_BY_END = range(5)
CHARTS = 5


@jit_inline_llvm
def last_split(i, j, single_root):
    """One more than the last k at which an arc between i and j may be made.

    A root with a single word has no modifiers before it.
    """
    return 1 if i == 0 and single_root else j


@jit_internal
def inside(arcs, single_root, temperature, chart):
    """Fill the chart, from short spans to long ones; returns the soft maximum of all trees.

    What no arc can be made of (-inf) is not looked at: few arcs of a long sentence are possible,
    most of them short, and the time is then far from cubic.
    """
    right, left, reach = chart[RIGHT], chart[LEFT], chart[REACH]
    right_by_end, left_by_end = chart[RIGHT_BY_END], chart[LEFT_BY_END]
    farthest = np.arange(len(right))  # the last word that a word takes on its right so far
    for j in range(len(right)):
        right[j, j] = left[j, j] = right_by_end[j, j] = left_by_end[j, j] = 0.0
        first = j  # the first word that j takes on its left so far
        for i in range(j - 1, -1, -1):
            splits = -np.inf
            if arcs[j - 1, i] > -np.inf or (i > 0 and arcs[i - 1, j] > -np.inf):
                last = last_split(i, j, single_root)
                splits = join_sums(right[i, i:last], left[j, i + 1 : last + 1], 1.0, temperature)
            # i takes j, and what j has on its right
            reach[i, j] = splits + arcs[j - 1, i]
            if reach[i, j] > -np.inf:
                farthest[i] = j
            end = farthest[i] + 1
            own = join_sums(reach[i, i + 1 : end], right_by_end[j, i + 1 : end], 1.0, temperature)
            right[i, j] = right_by_end[j, i] = own
            if i == 0:
                break
            # j takes i, and what i has on its left
            reach[j, i] = splits + arcs[i - 1, j]
            if reach[j, i] > -np.inf:
                first = i
            own = join_sums(reach[j, first:j], left_by_end[i, first:j], 1.0, temperature)
            left[j, i] = left_by_end[i, j] = own
    return right[0, len(right) - 1]


@jit_inline_llvm
def push_sums(first, second, whole, temperature, out_first, out_second):
    """What is around each term of a soft maximum of sums, from what is around the ``whole``."""
    for i in range(len(first)):
        out_first[i] = join(out_first[i], whole + second[i], temperature)
        out_second[i] = join(out_second[i], whole + first[i], temperature)


@jit_internal_no_allocation
def outside(arcs, single_root, temperature, chart, around):
    """Fill ``around``: for every part of the chart the soft maximum of what surrounds it.

    The steps of :func:`inside` backwards; right and left are here by their ends only where it
    reads them so, and what was written twice is joined when its turn comes.
    """
    n = len(arcs)
    for c in range(CHARTS):
        for i in range(n + 1):
            for j in range(n + 1):
                around[c, i, j] = -np.inf
    around[RIGHT, 0, n] = 0.0
    for j in range(n, 0, -1):
        for i in range(j):
            if i > 0:
                own = join(around[LEFT, j, i], around[LEFT_BY_END, i, j], temperature)
                push_sums(
                    chart[REACH, j, i:j], chart[LEFT_BY_END, i, i:j], own, temperature,
                    around[REACH, j, i:j], around[LEFT_BY_END, i, i:j],
                )  # fmt: skip
            own = join(around[RIGHT, i, j], around[RIGHT_BY_END, j, i], temperature)
            push_sums(
                chart[REACH, i, i + 1 : j + 1], chart[RIGHT_BY_END, j, i + 1 : j + 1], own,
                temperature,
                around[REACH, i, i + 1 : j + 1], around[RIGHT_BY_END, j, i + 1 : j + 1],
            )  # fmt: skip
            through = around[REACH, i, j] + arcs[j - 1, i]
            if i > 0:
                through = join(through, around[REACH, j, i] + arcs[i - 1, j], temperature)
            last = last_split(i, j, single_root)
            push_sums(
                chart[RIGHT, i, i:last], chart[LEFT, j, i + 1 : last + 1], through, temperature,
                around[RIGHT, i, i:last], around[LEFT, j, i + 1 : last + 1],
            )  # fmt: skip


@jit_inline_llvm
def best_term(first, second):
    """The place of the largest ``first[i] + second[i]``."""
    best, place = -np.inf, 0
    for i in range(len(first)):
        value = first[i] + second[i]
        if value > best:
            best, place = value, i
    return place


@jit_internal_no_allocation
def trace_back(chart, single_root, spans, heads):
    """Follow the best choices down from the whole sentence, into ``heads[n]``.

    ``spans[2 n + 2, 3]`` is scratch: what is still to be followed, its array and its ends.
    """
    n = len(heads)
    spans[0, 0], spans[0, 1], spans[0, 2] = RIGHT, 0, n
    size = 1
    while size > 0:
        size -= 1
        kind, head, end = spans[size]
        if head == end:
            continue
        if kind == REACH:
            heads[end - 1] = head
            i, j = min(head, end), max(head, end)
            last = last_split(i, j, single_root)
            k = i + best_term(chart[RIGHT, i, i:last], chart[LEFT, j, i + 1 : last + 1])
            spans[size, 0], spans[size, 1], spans[size, 2] = RIGHT, i, k
            size += 1
            spans[size, 0], spans[size, 1], spans[size, 2] = LEFT, j, k + 1
            size += 1
            continue
        if kind == RIGHT:
            first = head + 1
            k = first + best_term(
                chart[REACH, head, first : end + 1], chart[RIGHT_BY_END, end, first : end + 1]
            )
        else:
            k = end + best_term(chart[REACH, head, end:head], chart[LEFT_BY_END, end, end:head])
        spans[size, 0], spans[size, 1], spans[size, 2] = kind, k, end
        size += 1
        spans[size, 0], spans[size, 1], spans[size, 2] = REACH, head, k
        size += 1


@jit_structure
def maximize_projective(start, data, scores, inner, scale, states):
    """Best vertex, into ``states[n]``; returns its value, and 0 for the inner parts."""
    n = data[0]
    arcs, chart = np.empty((n, n + 1)), np.empty((CHARTS, n + 1, n + 1))
    states[:] = 0
    read_arcs(start, data, scores, arcs)
    if inside(arcs, data[SINGLE_ROOT] > 0, 0.0, chart) == -np.inf:
        return -np.inf, -np.inf
    heads = np.empty(n, np.int64)
    trace_back(chart, data[SINGLE_ROOT] > 0, np.empty((2 * n + 2, 3), np.int64), heads)
    return write_states(start, data, scores, heads, states), 0.0


@jit_structure
def parts_projective(start, data, states, weight, out_inner):
    """Whether the states are a tree without arcs that cross; there are no inner parts."""
    heads = np.empty((2, data[0]), np.int64)
    read_heads(start, data, states, heads[0])
    if not is_tree(heads[0], data[SINGLE_ROOT] > 0, heads[1]):
        return False
    for word in range(data[0]):
        low, high = min(word + 1, heads[0, word]), max(word + 1, heads[0, word])
        for other in range(low, high - 1):  # words strictly between the ends of the arc
            if not low <= heads[0, other] <= high:
                return False
    return True


@jit_internal
def through_projective(start, data, scores, temperature, out):
    """Soft maximum of the trees with each place, into ``out[places]``; returns that of all."""
    n = data[0]
    arcs, through = np.empty((n, n + 1)), np.empty((n, n + 1))
    chart, around = np.empty((CHARTS, n + 1, n + 1)), np.empty((CHARTS, n + 1, n + 1))
    read_arcs(start, data, scores, arcs)
    total = inside(arcs, data[SINGLE_ROOT] > 0, temperature, chart)
    outside(arcs, data[SINGLE_ROOT] > 0, temperature, chart, around)
    for word in range(n):
        for head in range(n + 1):
            through[word, head] = -np.inf
            if head != word + 1:
                through[word, head] = chart[REACH, head, word + 1] + around[REACH, head, word + 1]
    write_places(start, data, through, out)
    return total


@jit_structure
def max_marginals_projective(start, data, scores, inner, out):
    """Best value with each place chosen, into ``out[places]``; -inf where there is none."""
    through_projective(start, data, scores, 0.0, out)


@jit_structure
def marginals_projective(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places; returns ``temperature`` times the log-partition."""
    total = through_projective(start, data, scores, temperature, out)
    arcs_to_probabilities(start, total, temperature, out)
    return total
