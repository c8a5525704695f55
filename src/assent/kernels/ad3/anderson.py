"""Anderson's acceleration of AD3 on small problems: each iteration begins where the last ones lead.

Once every factor knows its face, an iteration is an affine map of the state, ``y = F(z)``.  From
the last few states and moves ``f = y - z`` follows the combination whose move would be the least,
were the map the same for all of them: the next iteration starts there.  An affine combination
keeps the multipliers a point of the dual, so that bounds stay bounds wherever it leads.

A point that makes the next move twice as long is taken back, and everything known is forgotten.
The state is read as one vector: multipliers of pairs, logic and tables, then the consensus.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import (
    jit,
    jit_internal,
    jit_internal_no_allocation,
    jit_internal_vector_sums,
)

# How many earlier moves are combined.  Of 5, 10 and 20 the last needed the fewest iterations.
MEMORY = 20
# Moves that are nearly combinations of others count less: this much is added to their squares,
# relatively.
DAMPING = 1e-10
# The square of how much longer a move may become.
GROWTH = 4.0
# Weights that add up to more than this come from rounding.
LARGEST_WEIGHTS = 1e4

# Places in ``History.counts``: differences kept, where the next one goes, how much is known, and
# whether the last iteration began at such a point.
KEPT, NEXT, KNOWN, EXTRAPOLATED = 0, 1, 2, 3
NOTHING, START, MOVE = 0, 1, 2  # values of KNOWN: also where the last iteration began, and its move


class History(NamedTuple):
    """What is remembered of earlier iterations, for a state of ``S`` numbers."""

    z: np.ndarray  # [S] where the last iteration began
    y: np.ndarray  # [S] where the one before ended
    f: np.ndarray  # [S] its move
    moves: np.ndarray  # [MEMORY, S] differences of successive moves
    ends: np.ndarray  # [MEMORY, S] differences of successive ends
    products: np.ndarray  # [MEMORY, MEMORY] inner products of ``moves``
    onto: np.ndarray  # [MEMORY] inner products of ``moves`` with ``f``
    factor: np.ndarray  # [MEMORY, MEMORY] scratch
    weights: np.ndarray  # [MEMORY]
    counts: np.ndarray  # int64[4]
    square: np.ndarray  # [1] of the length of ``f``


@jit
def make_history(size):
    """Room for states of ``size`` numbers; nothing is known yet."""
    return History(
        np.zeros(size), np.zeros(size), np.zeros(size), np.empty((MEMORY, size)),
        np.empty((MEMORY, size)), np.empty((MEMORY, MEMORY)), np.zeros(MEMORY),
        np.empty((MEMORY, MEMORY)), np.empty(MEMORY), np.zeros(4, np.int64), np.zeros(1),
    )  # fmt: skip


@jit_internal
def forget(history):
    """Begin anew: the state has changed by something other than an iteration."""
    history.counts[:] = 0


@jit_internal_no_allocation
def read_state(w_pair, w_logic, w_table, p, out):
    """The state as one vector."""
    at = 0
    for part in (w_pair, w_logic, w_table, p):
        for i in range(part.size):
            out[at + i] = part[i]
        at += part.size


@jit_internal
def write_state(values, w_pair, w_logic, w_table, p):
    """The state from one vector."""
    at = 0
    for part in (w_pair, w_logic, w_table, p):
        for i in range(part.size):
            part[i] = values[at + i]
        at += part.size


@jit_internal_vector_sums
def inner_product(a, b):
    """Sum of the products of two vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@jit_internal_no_allocation
def note_move(history):
    """Keep this iteration's end and move, and how they differ from those before, if there were any.

    The end stands where the difference of ends will.
    """
    z, y, f, counts = history.z, history.y, history.f, history.counts
    new = counts[NEXT]
    moves, ends = history.moves[new], history.ends[new]
    for i in range(z.size):
        end = ends[i]
        move = end - z[i]
        moves[i] = move - f[i]
        ends[i] = end - y[i]
        f[i] = move
        y[i] = end
    if counts[KNOWN] < MOVE:
        counts[KNOWN] = MOVE
        return
    counts[KEPT] = min(counts[KEPT] + 1, MEMORY)
    counts[NEXT] = (new + 1) % MEMORY
    for j in range(counts[KEPT]):
        product = inner_product(moves, history.moves[j])
        history.products[new, j] = product
        history.products[j, new] = product
        history.onto[j] += product  # f has grown by this difference
    history.onto[new] = inner_product(moves, f)


@jit_internal
def factorise(products, kept, factor):
    """Cholesky's factor of the damped products; whether there is one."""
    for i in range(kept):
        for j in range(i + 1):
            total = products[i, j]
            if i == j:
                total *= 1.0 + DAMPING
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = total / factor[j, j]
            elif total > 0.0:
                factor[i, i] = sqrt(total)
            else:
                return False
    return True


@jit_internal
def find_weights(history):
    """Weights of the differences in the combination with the least move; whether they serve."""
    kept, factor, weights = history.counts[KEPT], history.factor, history.weights
    if kept < 2 or not factorise(history.products, kept, factor):
        return False
    for i in range(kept):
        total = history.onto[i]
        for k in range(i):
            total -= factor[i, k] * weights[k]
        weights[i] = total / factor[i, i]
    size = 0.0
    for back in range(kept):
        i = kept - 1 - back
        total = weights[i]
        for k in range(i + 1, kept):
            total -= factor[k, i] * weights[k]
        weights[i] = total / factor[i, i]
        size += abs(weights[i])
    return size <= LARGEST_WEIGHTS


@jit
def accelerate(history, w_pair, w_logic, w_table, p):
    """Between two iterations: move the state to where it seems to lead."""
    counts, z = history.counts, history.z
    if counts[KNOWN] == NOTHING:
        read_state(w_pair, w_logic, w_table, p, z)
        counts[KNOWN] = START
        return
    end = history.ends[counts[NEXT]]
    read_state(w_pair, w_logic, w_table, p, end)
    square = 0.0
    for i in range(z.size):
        square += (end[i] - z[i]) ** 2
    if counts[EXTRAPOLATED] == 1 and not square <= GROWTH * history.square[0]:
        forget(history)
        write_state(history.y, w_pair, w_logic, w_table, p)
        read_state(w_pair, w_logic, w_table, p, z)
        counts[KNOWN] = START
        return
    history.square[0] = square
    note_move(history)
    counts[EXTRAPOLATED] = 0
    copy_values(history.y, z)
    if find_weights(history):
        counts[EXTRAPOLATED] = 1
        for j in range(counts[KEPT]):
            weight, ends = history.weights[j], history.ends[j]
            for i in range(z.size):
                z[i] -= weight * ends[i]
        write_state(z, w_pair, w_logic, w_table, p)
