"""Chains with hashed features: scores, best states, and the averaged perceptron's updates.

Weights ``[R, K]`` have a row for every value of a hashed feature, ``rows[positions, F]`` are those
of each position; in training, negative ones are left out.  ``inner`` are the tables of a tree (see
``kernels.kinds.sequences.tree_recursion``): all edges share one table ``[K, K]`` of transitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_internal
from assent.kernels.kinds.sequences.tree_recursion import maximize_tree


class Chains(NamedTuple):
    """Sequences of a corpus: where they end, and the constants of each length.

    Attributes:
        ends: ``[n + 1]`` where the positions of each sequence begin and end.
        kind: ``[n]`` index of its length among the lengths that occur.
        data: constants of a chain, one length after the other.
        data_start: where those of each length begin.
        start: ``[longest + 1]`` where the states of positions begin.
    """

    ends: np.ndarray
    kind: np.ndarray
    data: np.ndarray
    data_start: np.ndarray
    start: np.ndarray


class ChainWeights(NamedTuple):
    """Weights of rows ``[R, K]`` and the tables, ``[K * K + K + 1]`` with zeros at the end."""

    rows: np.ndarray
    inner: np.ndarray


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


@jit_internal
def best_states(chains, c, inner, scores, states):
    """Best states of one chain with these scores, into ``states[positions]``."""
    first, last = chains.ends[c], chains.ends[c + 1]
    n = last - first
    kind = chains.kind[c]
    maximize_tree(
        chains.start[: n + 1], chains.data[chains.data_start[kind] : chains.data_start[kind + 1]],
        scores[:n].reshape(n * scores.shape[1]), inner, 1.0, states[first:last],
    )  # fmt: skip


@looks_up("weights")
@jit
def decode_chains(chains, weights, inner, rows, states):
    """Best states of all chains with sparse weights, into ``states[positions]``."""
    scores = np.empty((len(chains.start) - 1, chains.start[1]))
    for c in range(len(chains.kind)):
        add_sparse_rows(weights, rows[chains.ends[c] : chains.ends[c + 1]], scores)
        best_states(chains, c, inner, scores, states)


@jit_internal
def move_weights(weights, rows, states, first, last, amount):
    """Add ``amount`` to the weights of all that is true of a sequence with these states."""
    width = weights.rows.shape[1]
    for t in range(first, last):
        for f in range(rows.shape[1]):
            if rows[t, f] >= 0:
                weights.rows[rows[t, f], states[t]] += amount
        if t > first:
            weights.inner[states[t - 1] * width + states[t]] += amount


@jit
def perceptron_epoch(chains, order, rows, gold, cost, weights, sums, step):
    """Go through the sequences once; returns the number of wrong states and the step reached.

    Wrong states are decoded with ``cost`` more than they score, so that right ones win by a margin.
    ``sums`` collects every change times the step at which it was made: the average of the weights
    over all steps is ``weights - sums / steps``.
    """
    scores = np.empty((len(chains.start) - 1, weights.rows.shape[1]))
    states = np.empty(len(gold), np.int32)
    wrong = 0
    for c in order:
        step += 1
        first, last = chains.ends[c], chains.ends[c + 1]
        add_rows(weights.rows, rows[first:last], scores)
        for t in range(first, last):
            scores[t - first, gold[t]] -= cost
        best_states(chains, c, weights.inner, scores, states)
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
