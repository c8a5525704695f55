"""Odd cycles of least cost: where a relaxation's opinions about pairs contradict each other.

Every edge between two nodes has a number ``d`` in [0, 1], how far its ends are said to differ.
Round a cycle the number of edges whose ends differ is even, so for every choice ``F`` of an odd
number of its edges ``sum over F of (1 - d) + sum over the others of d`` is at least 1 for whole
values.  To find cycles that fall short of it, the graph is doubled (Barahona and Mahjoub, 1986):
an edge keeps to its layer at cost ``d``, or changes the layer at cost ``1 - d``, and belongs to
``F`` then.  The shortest way from a node to its twin in the other layer is an odd closed walk.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import Float, Int64

# Cost of a step besides its own: of two walks equally cheap the shorter one is found.
STEP = 1e-7


class CycleNetwork(NamedTuple):
    """A graph as lists of neighbours.

    Attributes:
        start: ``[n + 1]`` the neighbours of each node begin here.
        other: ``[2 E]`` the neighbours, ``edge``: ``[2 E]`` by which edge.
    """

    start: Int64
    other: Int64
    edge: Int64


class CycleWalk(NamedTuple):
    """Scratch of one search over ``2 n`` nodes: node ``v`` in layer ``l`` is ``2 v + l``."""

    dist: Float
    before: Int64  # the node a shortest way comes from, and
    by: Int64  # by which edge: twice its number, plus 1 if it changes the layer
    seen: Int64


def network_of(n: int, ends: Int64) -> CycleNetwork:
    """The graph of edges ``ends[E, 2]`` over ``n`` nodes.

    Example:
        >>> network_of(3, np.array([[0, 1], [1, 2]])).other.tolist()
        [1, 2, 0, 1]
    """
    origin = ends.ravel(order="F")
    order = np.argsort(origin, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(origin, minlength=n))])
    other, edge = ends[:, ::-1].ravel(order="F"), np.tile(np.arange(len(ends)), 2)
    return CycleNetwork(start.astype(np.int64), other[order], edge[order])


@jit
def search(network, d, source, once, limit, walk):
    """Shortest way from ``source`` to its twin, if below ``limit``; ``once``: one change only.

    Seen from the twin all distances are the same in the other layer, so both ends meet halfway:
    nothing beyond half the way is looked at.  Returns whether there is one, and how many nodes are
    to be cleared.
    """
    dist, seen = walk.dist, walk.seen
    dist[2 * source] = 0.0
    heap = [(0.0, 2 * source)]
    seen[0] = 2 * source
    n_seen, middle, least = 1, -1, limit
    while len(heap):
        near, node = heappop(heap)
        if 2.0 * near >= least:
            break
        if near > dist[node]:  # a shorter way was found since
            continue
        layer = node & 1
        for p in range(network.start[node >> 1], network.start[(node >> 1) + 1]):
            apart = d[network.edge[p]]
            for change in range(1 if once and layer == 1 else 2):
                far = near + STEP + (1.0 - apart if change else apart)
                target = 2 * network.other[p] + (layer ^ change)
                if far >= least or far >= dist[target]:
                    continue
                if np.isinf(dist[target]):
                    seen[n_seen] = target
                    n_seen += 1
                dist[target] = far
                walk.before[target] = node
                walk.by[target] = 2 * network.edge[p] + change
                if far + dist[target ^ 1] < least:
                    least, middle = far + dist[target ^ 1], target
                if 2.0 * far < least:
                    heappush(heap, (far, target))
    if middle >= 0:
        mirror(walk, source, middle)
    return middle >= 0, n_seen


@jit_internal_no_allocation
def mirror(walk, source, middle):
    """Let the way to ``middle`` go on to the twin: back the way to its own twin, in mirror image.

    A shortest way passes no node twice, so nothing of its first half is overwritten.
    """
    node = middle ^ 1
    while node != 2 * source:
        before = walk.before[node]
        walk.before[before ^ 1], walk.by[before ^ 1] = node ^ 1, walk.by[node]
        node = before


@jit_internal_no_allocation
def simple_part(walk, source, at, nodes, codes):
    """An odd cycle without repeated nodes in the walk found: ``codes[begin:end]``.

    ``at[n]`` is -1 everywhere, before and after.  Even detours are cut off; as a whole the walk
    is odd, so some part that returns to its own beginning is.
    """
    nodes[0] = source
    at[source] = 0
    length, begin, end = 1, 0, 0
    here = 2 * source + 1
    while end == 0:
        codes[length - 1] = walk.by[here]
        here = walk.before[here]
        node = here >> 1
        if at[node] < 0:
            nodes[length] = node
            at[node] = length
            length += 1
            continue
        odd = 0
        for i in range(at[node], length):
            odd ^= codes[i] & 1
        if odd:
            begin, end = at[node], length
        else:
            for i in range(at[node] + 1, length):
                at[nodes[i]] = -1
            length = at[node] + 1
    for i in range(length):
        at[nodes[i]] = -1
    return begin, end


@jit
def odd_cycles(network, d, sources, once, limit, start, codes):
    """A cheapest odd cycle from every source, where it costs less than ``limit``; how many.

    Cycle ``c`` is ``codes[start[c] : start[c + 1]]``, in order: twice the edge, plus 1 for those
    in F.  Two edges between the same nodes are a cycle too.  Ends where ``codes`` is full.
    """
    n = len(network.start) - 1
    walk = CycleWalk(
        np.full(2 * n, np.inf), np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64),
        np.zeros(2 * n, np.int64),
    )  # fmt: skip
    at, nodes, found = np.full(n, -1), np.zeros(n, np.int64), np.zeros(n, np.int64)
    count = 0
    start[0] = 0
    for source in sources:
        there, n_seen = search(network, d, source, once, limit, walk)
        if there:
            begin, end = simple_part(walk, source, at, nodes, found)
            if start[count] + end - begin > len(codes):
                return count
            copy_values(found[begin:end], codes[start[count] :])
            start[count + 1] = start[count] + end - begin
            count += 1
        for i in range(n_seen):
            walk.dist[walk.seen[i]] = np.inf
    return count
