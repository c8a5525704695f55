"""Chains with hashed features: scores, best states, and the averaged perceptron's updates.

Weights ``[R, K]`` have a row for every value of a hashed feature, ``rows[positions, F]`` are those
of each position; in training, negative ones are left out.  Chains end to end share transitions
``[K, K]``; ``ends[n + 1]`` says where each begins and ends, and none is empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.batch.chain_recursion import best_states, longest_of, new_scratch
from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_internal


class ChainWeights(NamedTuple):
    """Weights of rows ``[R, K]`` and of transitions ``[K, K]``."""

    rows: np.ndarray
    transitions: np.ndarray


class SparseRows(NamedTuple):
    """Weights that are not zero, row by row: those of row r are ``start[r] … start[r + 1] - 1``.

    Most rows have weights for a few states only, so that this takes a small part of the memory.
    """

    start: np.ndarray
    state: np.ndarray
    weight: np.ndarray


@jit_internal
def add_rows(weights, rows, scores):
    """Sums of weights, into ``scores[positions, K]``."""
    for t in range(len(rows)):
        scores[t, :] = 0.0
        for f in range(rows.shape[1]):
            row = rows[t, f]
            if row >= 0:
                for k in range(scores.shape[1]):
                    scores[t, k] += weights[row, k]


@jit
def add_sparse_rows(weights, rows, scores):
    """The same for weights that are mostly zero."""
    for t in range(len(rows)):
        scores[t, :] = 0.0
        for f in range(rows.shape[1]):
            row = rows[t, f]
            for i in range(weights.start[row], weights.start[row + 1]):
                scores[t, weights.state[i]] += weights.weight[i]


@looks_up("weights")
@jit
def decode_chains(ends, weights, transitions, rows, states):
    """Best states of all chains with sparse weights, into ``states[positions]``."""
    scratch = new_scratch(longest_of(ends), len(transitions))
    table = transitions.reshape(transitions.size)
    for c in range(len(ends) - 1):
        first, last = ends[c], ends[c + 1]
        nodes = scratch.nodes[: last - first]
        add_sparse_rows(weights, rows[first:last], nodes)
        best_states(nodes, table, scratch, states[first:last])


@jit_internal
def move_weights(weights, rows, states, first, last, amount):
    """Add ``amount`` to the weights of all that is true of a sequence with these states."""
    for t in range(first, last):
        for f in range(rows.shape[1]):
            if rows[t, f] >= 0:
                weights.rows[rows[t, f], states[t]] += amount
        if t > first:
            weights.transitions[states[t - 1], states[t]] += amount


@jit
def perceptron_epoch(ends, order, rows, gold, cost, weights, sums, step):
    """Go through the sequences once; returns the number of wrong states and the step reached.

    Wrong states are decoded with ``cost`` more than they score, so that right ones win by a margin.
    ``sums`` collects every change times the step at which it was made: the average of the weights
    over all steps is ``weights - sums / steps``.
    """
    scratch = new_scratch(longest_of(ends), len(weights.transitions))
    table = weights.transitions.reshape(weights.transitions.size)
    states = np.empty(len(gold), np.int32)
    wrong = 0
    for c in order:
        step += 1
        first, last = ends[c], ends[c + 1]
        nodes = scratch.nodes[: last - first]
        add_rows(weights.rows, rows[first:last], nodes)
        for t in range(first, last):
            nodes[t - first, gold[t]] -= cost
        best_states(nodes, table, scratch, states[first:last])
        mistakes = 0
        for t in range(first, last):
            mistakes += states[t] != gold[t]
        if mistakes:
            move_weights(weights, rows, gold, first, last, 1.0)
            move_weights(weights, rows, states, first, last, -1.0)
            move_weights(sums, rows, gold, first, last, np.float64(step))
            move_weights(sums, rows, states, first, last, -np.float64(step))
            wrong += mistakes
    return wrong, step
