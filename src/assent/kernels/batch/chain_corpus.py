"""Many chains in one compiled loop: a corpus with the same transitions throughout.

``ends[n + 1]`` says where the positions of each chain begin and end, ``scores[positions * K]``
scores their states.  ``data[kind[c]]`` are the constants of chain ``c``'s length (see
``kernels.tree``), of which ``data_start`` gives the places; ``start`` belongs to the longest chain,
and so does ``inner``: its tables all are the same, so a shorter chain takes the last ones.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.kinds.sequences.tree_recursion import marginals_tree, maximize_tree


@jit
def maximize_chains(data, data_start, kind, start, ends, scores, inner, states):
    """The best states of every chain, into ``states[positions]``."""
    width = start[1]
    longest = len(start) - 1
    for c in range(len(kind)):
        first, last = ends[c], ends[c + 1]
        n = last - first
        own = data[data_start[kind[c]] : data_start[kind[c] + 1]]
        maximize_tree(
            start[: n + 1], own, scores[first * width : last * width],
            inner[(longest - n) * width * width :], 1.0, states[first:last],
        )  # fmt: skip


@jit
def marginals_chains(data, data_start, kind, start, ends, scores, inner, out, out_edges):
    """Probabilities of states, into ``out[positions * K]``; those of transitions are added up.

    ``out_edges[K * K]`` gets the expected number of each transition in all chains.  Returns the
    sum of the log-partitions.
    """
    width = start[1]
    area = width * width
    longest = len(start) - 1
    parts = np.empty(len(inner))
    out_edges[:] = 0.0
    total = 0.0
    for c in range(len(kind)):
        first, last = ends[c], ends[c + 1]
        n = last - first
        own = data[data_start[kind[c]] : data_start[kind[c] + 1]]
        tables = inner[(longest - n) * area :]
        used = parts[: len(tables)]
        total += marginals_tree(
            start[: n + 1], own, scores[first * width : last * width], tables, 1.0,
            out[first * width : last * width], used,
        )  # fmt: skip
        for t in range(n - 1):
            for j in range(area):
                out_edges[j] += used[t * area + j]
    return total
