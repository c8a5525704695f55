"""Trees whose edges have slots of their own, behind the nodes': what learning projects.

An edge's slot has a state for every pair of states of its ends, child first, and no choice once
these are known.  A vertex then is a list of states like any other structure's, two vertices have as
many coordinates in common as states, and the active set method needs no other inner products.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit_structure
from assent.kernels.kinds.sequences.tree_recursion import (
    NODE,
    PARENT,
    TABLE,
    TOP,
    WIDTH,
    edges_of,
    maximize_tree,
)


@jit_structure
def maximize_marked_tree(start, data, scores, inner, scale, states):
    """The best vertex, into ``states[nodes + edges]``; ``data`` is the tree's, ``inner`` empty."""
    n = data[0]
    rows = edges_of(data)
    row_of = np.empty(n, np.int32)
    for i in range(n):
        row_of[rows[i, NODE]] = i
    # The tree's own tables: the edges' as they stand, the roots', and one score per count.
    tables = np.zeros(len(scores) + 1)
    place, length = start[n], 1
    for node in range(n):
        row = rows[row_of[node]]
        area = row[WIDTH] * row[TOP]
        length += area
        if row[PARENT] < n:
            copy_values(scores[place : place + area], tables[row[TABLE] :])
            place += area
    value, _ = maximize_tree(
        start[: n + 1], data, scores[: start[n]], tables[:length], 1.0, states[:n]
    )
    edge = n
    for node in range(n):
        row = rows[row_of[node]]
        if row[PARENT] < n:
            states[edge] = states[node] * row[TOP] + states[row[PARENT]]
            edge += 1
    return value, 0.0
