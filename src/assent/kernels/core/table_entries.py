"""Scores of chosen entries of tables, and how large they are."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit


@jit
def pick_entries(scores, rows, entries, out):
    """``scores[rows[i], entries[i, j]]`` in ``out[i, j]``, 0 for entry -1."""
    for i in range(len(rows)):
        own = scores[rows[i]]
        for j in range(entries.shape[1]):
            entry = entries[i, j]
            out[i, j] = own[entry] if entry >= 0 else 0.0


@jit
def sum_of_largest(scores):
    """The sum over factors of what is largest in ``scores[m, entries]``, whatever its sign.

    What is forbidden does not count.
    """
    total = 0.0
    for i in range(len(scores)):
        largest = 0.0
        for j in range(scores.shape[1]):
            size = abs(scores[i, j])
            if size > largest and size < np.inf:
                largest = size
        total += largest
    return total
