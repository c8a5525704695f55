"""Factors given by a table of scores: Dense (any entries) and Potts (a reward per equal label).

A table over ``d`` slots has one entry per joint state, the last slot running fastest.  Scores of
single states arrive as one vector ``scores``, slot after slot: state ``s`` of slot ``i`` stands
at ``start[i] + s``, and the entries of ``start[d + 1]`` tell the slots' numbers of states apart.
Table entries are multiplied by ``scale``; an entry of -inf is a joint state that cannot be.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from assent.kernels.jit import jit, jit_inline_llvm, jit_inline_llvm_vector_sums, jit_no_allocation


@jit_inline_llvm
def row_maximum(table, first, scale, scores, begin, end):
    """Largest ``scale * table[first + j] + scores[begin + j]`` of one row of a table."""
    # Slices spare the test for negative indices that every sum of indices would need.
    row = table[first : first + end - begin]
    own = scores[begin:end]
    best = -np.inf
    for j in range(len(row)):
        best = max(best, scale * row[j] + own[j])
    return best


@jit_inline_llvm
def next_row(start, states):
    """Turn ``states[:d - 1]`` to the following row, the last of these slots fastest."""
    slot = len(states) - 2
    while slot >= 0:
        states[slot] += 1
        if states[slot] < start[slot + 1] - start[slot]:
            return
        states[slot] = 0
        slot -= 1


@jit_inline_llvm
def prefix_score(start, scores, states):
    """Score of the states of all slots but the last."""
    total = 0.0
    for slot in range(len(states) - 1):
        total += scores[start[slot] + states[slot]]
    return total


@jit_inline_llvm
def dense_entry(start, table, states):
    """The table's entry at a joint state."""
    place = 0
    for slot in range(len(states)):
        place = place * (start[slot + 1] - start[slot]) + states[slot]
    return table[place]


@jit_inline_llvm
def potts_entry(diagonal, states):
    """The reward of a pair of labels."""
    return diagonal[states[0]] if states[0] == states[1] else 0.0


@jit_no_allocation
def maximize_dense(start, scores, table, scale, states):
    """Best joint state of a table, into ``states[d]``.

    Returns its score, ``scores`` included, and its table entry (not scaled); -inf twice when no
    joint state is allowed.
    """
    d = len(states)
    begin, end = start[d - 1], start[d]
    width = end - begin
    states[:] = 0
    best = -np.inf
    best_row = 0
    for row in range(len(table) // width):
        value = row_maximum(table, row * width, scale, scores, begin, end)
        value += prefix_score(start, scores, states)
        if value > best:
            best = value
            best_row = row
        next_row(start, states)
    top = -np.inf
    for j in range(width):
        value = scale * table[best_row * width + j] + scores[begin + j]
        if value > top:
            top = value
            states[d - 1] = j
    entry = table[best_row * width + states[d - 1]]
    for slot in range(d - 2, -1, -1):
        count = start[slot + 1] - start[slot]
        states[slot] = best_row % count
        best_row //= count
    return best, entry


@jit_inline_llvm
def two_largest(scores, begin, end):
    """Place of the largest of ``scores[begin:end]``, and of the second (-1 if there is none)."""
    first = begin
    second = -1
    for s in range(begin + 1, end):
        if scores[s] > scores[first]:
            second = first
            first = s
        elif second < 0 or scores[s] > scores[second]:
            second = s
    return first, second


@jit_inline_llvm
def best_equal_and_apart(left, right, diagonal, scale):
    """The labels of the best equal pair, of the best left and of the best right state."""
    equal = -np.inf
    top_left = -np.inf
    top_right = -np.inf
    best, first_left, first_right = 0, 0, 0
    for k in range(len(diagonal)):
        both = left[k] + right[k] + scale * diagonal[k]
        if both > equal:
            equal = both
            best = k
        if left[k] > top_left:
            top_left = left[k]
            first_left = k
        if right[k] > top_right:
            top_right = right[k]
            first_right = k
    return best, first_left, first_right


@jit_inline_llvm
def best_other(scores, label):
    """The best state but ``label``, of two at least."""
    best = -np.inf
    place = 1 if label == 0 else 0
    for k in range(len(scores)):
        if k != label and scores[k] > best:
            best = scores[k]
            place = k
    return place


@jit_inline_llvm_vector_sums
def potts_ceiling(scores, diagonal, scale):
    """At least the score of the best joint state: unequal labels may both be the best ones."""
    count = len(diagonal)
    left, right = scores[:count], scores[count : 2 * count]
    equal = -np.inf
    top_left = -np.inf
    top_right = -np.inf
    for k in range(count):
        equal = max(equal, left[k] + right[k] + scale * diagonal[k])
        top_left = max(top_left, left[k])
        top_right = max(top_right, right[k])
    return max(equal, top_left + top_right)


@jit_no_allocation
def maximize_potts(start, scores, diagonal, scale, states):
    """Best joint state of a Potts factor, into ``states[2]``, in O(K).

    ``diagonal[K]`` holds the reward of both slots taking label k; unequal labels score 0.
    Returns the score, ``scores`` included, and the reward (not scaled).
    """
    count = len(diagonal)
    left, right = scores[:count], scores[count : 2 * count]
    k, i, j = best_equal_and_apart(left, right, diagonal, scale)
    equal = left[k] + right[k] + scale * diagonal[k]
    apart = left[i] + right[j]
    if i == j:
        # Both favour the same label: the best unequal pair gives way on one side.
        apart = -np.inf
        if count > 1:
            other_left, other_right = best_other(left, i), best_other(right, j)
            apart = left[other_left] + right[j]
            if left[i] + right[other_right] > apart:
                apart = left[i] + right[other_right]
                j = other_right
            else:
                i = other_left
    if equal > apart or count == 1:
        states[0] = k
        states[1] = k
        return equal, diagonal[k]
    states[0] = i
    states[1] = j
    return apart, 0.0


@jit
def max_marginals_dense(start, scores, table, scale, out):
    """Best score with each state fixed, into ``out`` (laid out as ``scores``).

    Returns the maximum; -inf stands where a state allows no joint state.
    """
    d = len(start) - 1
    begin, end = start[d - 1], start[d]
    width = end - begin
    states = np.zeros(d, np.int32)
    out[:] = -np.inf
    for row in range(len(table) // width):
        prefix = prefix_score(start, scores, states)
        best = prefix + row_maximum(table, row * width, scale, scores, begin, end)
        for slot in range(d - 1):
            place = start[slot] + states[slot]
            out[place] = max(out[place], best)
        for j in range(width):
            value = prefix + scale * table[row * width + j] + scores[begin + j]
            out[begin + j] = max(out[begin + j], value)
        next_row(start, states)
    return np.max(out[begin:end])


@jit_no_allocation
def max_marginals_potts(start, scores, diagonal, scale, out):
    """Best score with each label of each side fixed, into ``out[2 K]``; returns the maximum."""
    count = start[1]
    top = -np.inf
    for side in range(2):
        begin, other = side * count, count - side * count
        first, second = two_largest(scores, other, other + count)
        for k in range(count):
            partner = second if first == other + k else first
            best = scores[other + k] + scale * diagonal[k]
            if partner >= 0:
                best = max(best, scores[partner])
            out[begin + k] = scores[begin + k] + best
            top = max(top, out[begin + k])
    return top


@jit
def marginals_dense(start, scores, table, scale, temperature, out):
    """Probabilities of the states under ``exp(score / temperature)``, into ``out``.

    Returns ``temperature * log(sum of the exponentials)``.  Exponents are taken relative to the
    best joint state, so no temperature above zero overflows.
    """
    d = len(start) - 1
    begin, end = start[d - 1], start[d]
    width = end - begin
    states = np.zeros(d, np.int32)
    best, _ = maximize_dense(start, scores, table, scale, states)
    states[:] = 0
    out[:] = 0.0
    total = 0.0
    for row in range(len(table) // width):
        prefix = prefix_score(start, scores, states)
        row_total = 0.0
        for j in range(width):
            value = prefix + scale * table[row * width + j] + scores[begin + j]
            weight = exp((value - best) / temperature)
            out[begin + j] += weight
            row_total += weight
        for slot in range(d - 1):
            out[start[slot] + states[slot]] += row_total
        total += row_total
        next_row(start, states)
    for place in range(len(out)):
        out[place] /= total
    return best + temperature * log(total)


@jit
def potts_table(diagonal):
    """The table ``[K * K]`` of a Potts factor, for questions that need no shortcut."""
    count = len(diagonal)
    table = np.zeros(count * count)
    for k in range(count):
        table[k * count + k] = diagonal[k]
    return table
