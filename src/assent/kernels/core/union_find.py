"""Sets that are joined one by one: every node points to another of its set, the root to itself."""

from __future__ import annotations

from assent.kernels.jit import jit_internal_no_allocation


@jit_internal_no_allocation
def root_of(parent, node):
    """The node that stands for a node's set; the way there is halved."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
