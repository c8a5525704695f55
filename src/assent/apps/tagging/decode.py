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
    """The best states ``[words]`` of all sentences, none of which is empty.

    Each word has some ``rows[words, F]`` of weights; ``transitions[K, K]`` score a state and the
    next; ``ends[n + 1]`` say where sentences begin and end.
    """
    from assent.kernels.linear.chain_perceptron import decode_chains

    states = np.empty(len(rows), np.int32)
    decode_chains(ends, weights, np.array(transitions, order="C"), rows, states)
    return states
