"""The best tags of many sentences, in one compiled loop over chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from assent.kernels.linear.chain_perceptron import SparseRows


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
    decode_chains(ends, weights, np.array(transitions, order="C"), rows, states)
    return states
