"""Factors given by a table of scores: Dense (any entries) and Potts (a reward per equal label).

A table over ``d`` slots has one entry per joint state, the last slot running fastest.  Scores of
single states arrive as one vector ``scores``, slot after slot: state ``s`` of slot ``i`` stands
at ``start[i] + s``, and the entries of ``start[d + 1]`` tell the slots' numbers of states apart.
Table entries are multiplied by ``scale``; an entry of -inf is a joint state that cannot be.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from assent.kernels.jit import jit

# For functions that only kernels call.  They need no entry from Python, which takes longer to
# compile than most of their bodies.  Factors are small and their kernels pass many arrays: calls
# not inlined, and counting the references to those arrays, would take most of the time.
helper = jit(forceinline=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@helper
def row_maximum(table, first, scale, scores, begin, end):
    """Largest ``scale * table[first + j] + scores[begin + j]`` of one row of a table."""
    # Slices spare the test for negative indices that every sum of indices would need.
    row = table[first : first + end - begin]
    own = scores[begin:end]
    best = -np.inf
    for j in range(len(row)):
        best = max(best, scale * row[j] + own[j])
    return best


@helper
def next_row(start, states):
    """Turn ``states[:d - 1]`` to the following row, the last of these slots fastest."""
    slot = len(states) - 2
    while slot >= 0:
        states[slot] += 1
        if states[slot] < start[slot + 1] - start[slot]:
            return
        states[slot] = 0
        slot -= 1


@helper
def prefix_score(start, scores, states):
    """Score of the states of all slots but the last."""
    total = 0.0
    for slot in range(len(states) - 1):
        total += scores[start[slot] + states[slot]]
    return total


@helper
def dense_entry(start, table, states):
    """The table's entry at a joint state."""
    place = 0
    for slot in range(len(states)):
        place = place * (start[slot + 1] - start[slot]) + states[slot]
    return table[place]


@helper
def potts_entry(diagonal, states):
    """The reward of a pair of labels."""
    return diagonal[states[0]] if states[0] == states[1] else 0.0


@jit(_nrt=False)
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


@helper
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


@jit(_nrt=False)
def maximize_potts(start, scores, diagonal, scale, states):
    """Best joint state of a Potts factor, into ``states[2]``, in O(K).

    ``diagonal[K]`` holds the reward of both slots taking label k; unequal labels score 0.
    Returns the score, ``scores`` included, and the reward (not scaled).
    """
    count = start[1]
    first_left, second_left = two_largest(scores, start[0], start[1])
    first_right, second_right = two_largest(scores, start[1], start[2])
    left, right = first_left, first_right
    best = scores[left] + scores[right]
    if left + count == right:
        # Both favour the same label: the best unequal pair gives way on one side.
        best = -np.inf
        if count > 1:
            best = scores[second_left] + scores[first_right]
            left = second_left
            if scores[first_left] + scores[second_right] > best:
                best = scores[first_left] + scores[second_right]
                left, right = first_left, second_right
    reward = 0.0 if count > 1 else -np.inf
    for k in range(count):
        value = scores[k] + scores[count + k] + scale * diagonal[k]
        if value > best:
            best = value
            left, right = k, count + k
            reward = diagonal[k]
    states[0] = left
    states[1] = right - count
    return best, reward


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


@jit(_nrt=False)
def max_marginals_potts(start, scores, diagonal, scale, out):
    """Best score with each label of each side fixed, into ``out[2 K]``; returns the maximum."""
    count = start[1]
    for side in range(2):
        begin, other = side * count, count - side * count
        first, second = two_largest(scores, other, other + count)
        for k in range(count):
            partner = second if first == other + k else first
            best = scores[other + k] + scale * diagonal[k]
            if partner >= 0:
                best = max(best, scores[partner])
            out[begin + k] = scores[begin + k] + best
    return np.max(out[:count])


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
