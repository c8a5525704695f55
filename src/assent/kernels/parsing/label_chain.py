"""The best labels of neighbours: a chain, by Viterbi's algorithm."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_no_allocation


@jit_no_allocation
def best_chain(scores, pairs, best, out):
    """Labels ``out[k]`` of most score, where ``scores[k, L]`` belong to single labels.

    ``pairs[k + 1, (L + 1)^2]`` belong to a label and the next, row by row; number L stands before
    the first and after the last one.  ``best[k, L]`` is scratch.
    """
    labels = scores.shape[1]
    width = labels + 1
    for i in range(len(out)):
        for b in range(labels):
            best[i, b] = pairs[0, labels * width + b] if i == 0 else -np.inf
            if i > 0:
                for a in range(labels):
                    best[i, b] = max(best[i, b], best[i - 1, a] + pairs[i, a * width + b])
            best[i, b] += scores[i, b]
    following = labels
    for i in range(len(out) - 1, -1, -1):
        total = -np.inf
        for a in range(labels):
            value = best[i, a] + pairs[i + 1, a * width + following]
            if value > total:
                out[i], total = a, value
        following = out[i]
