"""The best tags of many sentences, in one compiled loop over chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from assent.kernels.linear.chain_perceptron import Chains, SparseRows


def corpus_chains(ends: NDArray[np.int64], states: int) -> Chains:
    """A chain for each sentence, all with one table of transitions.

    Args:
        ends: ``[n + 1]`` where sentences begin and end; none is empty.
        states: number of states of each word.
    """
    from assent.kernels.kinds.sequences.tree_recursion import TABLE, edges_of, tree_data
    from assent.kernels.linear.chain_perceptron import Chains

    lengths, kind = np.unique(np.diff(ends), return_inverse=True)
    data = []
    for n in lengths.tolist():
        own = tree_data([states] * n, [*range(1, n), -1])
        edges = edges_of(own)
        edges[:-1, TABLE] = 0  # every edge reads the same table
        edges[-1, TABLE] = states * states  # the root's own scores, which stand behind it
        data.append(own)
    start = np.arange(int(lengths[-1]) + 1, dtype=np.int32) * np.int32(states)
    data_start = np.cumsum([0, *map(len, data)])
    return Chains(ends, kind.astype(np.int64), np.concatenate(data), data_start, start)


def decode_sentences(
    weights: SparseRows,
    transitions: NDArray[np.float64],
    rows: NDArray[np.int32],
    ends: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The best states ``[words]`` of all sentences.

    Args:
        weights: of features.
        transitions: ``[K, K]`` scores of a state and the next.
        rows: ``[words, F]`` which rows of weights belong to each word.
        ends: ``[n + 1]`` where sentences begin and end; none is empty.
    """
    from assent.kernels.linear.chain_perceptron import decode_chains

    states = np.empty(len(rows), np.int32)
    if len(rows):
        chains = corpus_chains(ends, len(transitions))
        inner = np.concatenate([transitions.ravel(), np.zeros(len(transitions) + 1)])
        decode_chains(chains, weights, inner, rows, states)
    return states
