"""Many chains in one compiled loop: a corpus with the same transitions throughout.

``ends[n + 1]`` says where the positions of each chain begin and end, ``nodes[positions, S]``
scores their states and ``table[S * S]`` (from, to) the transitions.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.batch.chain_recursion import (
    best_states,
    chain_marginals,
    exponentials,
    longest_of,
    new_scratch,
)
from assent.kernels.jit import jit


@jit
def maximize_chains(ends, nodes, table, states):
    """The best states of every chain, into ``states[positions]``."""
    scratch = new_scratch(longest_of(ends), nodes.shape[1])
    for c in range(len(ends) - 1):
        first, last = ends[c], ends[c + 1]
        best_states(nodes[first:last], table, scratch, states[first:last])


@jit
def marginals_chains(ends, counts, nodes, table, out, out_edges):
    """Probabilities of states, into ``out[positions, S]``; those of transitions are added up.

    ``out_edges[S, S]`` gets the expected number of each transition in all chains.  Returns the
    sum of the log-partitions.  Every chain counts ``counts[n]`` times.
    """
    width = nodes.shape[1]
    scratch = new_scratch(longest_of(ends), width)
    factors, transposed = np.empty((width, width)), np.empty((width, width))
    weights = exponentials(table, factors, transposed), factors, transposed
    out_edges[:] = 0.0
    total = 0.0
    for c in range(len(ends) - 1):
        own = slice(ends[c], ends[c + 1])
        total += counts[c] * chain_marginals(
            nodes[own], table, weights, counts[c], scratch, out[own], out_edges
        )
    return total
