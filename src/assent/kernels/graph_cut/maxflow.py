"""Maximum flow and minimum cut on real capacities, by two growing trees (Boykov, Kolmogorov 2004).

The arcs of node ``i`` are ``first[i]`` to ``first[i + 1]``; arc ``a`` leads to ``head[a]`` and has
the opposite arc ``sister[a]``.  ``residual[arcs]`` is what an arc can still carry,
``terminal[nodes]`` what is left of the link to the source (positive) or to the sink (negative).
A flow changes both in place, so a further call, after capacities or terminals were changed, goes
on from where the last one stopped.

One tree grows from the source, one towards the sink.  Where they touch, flow is pushed along the
path found; nodes whose link to their tree is saturated by it are *orphans*, which look for a new
parent in their tree or leave it.  Trees are kept from path to path, which on grids and other sparse
graphs of short paths makes this quicker than methods of better worst cases.

Capacities and terminals may be infinite; where a path of infinite ones joins source and sink, there
is no cut.

A capacity of ``tiny`` or less counts as none: differences of real numbers leave rounding errors,
and paths of these are not worth finding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_internal_no_allocation

# The parent of a node is an arc, or one of these.
TERMINAL = -1  # its link to the source or the sink
NO_PARENT = -2

SOURCE, FREE, SINK = 1, 0, -1


class Graph(NamedTuple):
    """The arcs of a graph, and the arc from the first end of every edge to the second."""

    first: np.ndarray  # int32[n + 1]
    head: np.ndarray  # int32[2 E]
    sister: np.ndarray  # int32[2 E]
    forward: np.ndarray  # int32[E]


class Network(NamedTuple):
    """A graph and what it can still carry."""

    first: np.ndarray  # int32[n + 1]
    head: np.ndarray  # int32[arcs]
    sister: np.ndarray  # int32[arcs]
    residual: np.ndarray  # float64[arcs]
    terminal: np.ndarray  # float64[n]
    block: np.ndarray  # int32[n]: arcs between nodes of different blocks are left out


class Forest(NamedTuple):
    """The two trees, and queues of nodes that wait: a ring of ``n + 1`` places each."""

    side: np.ndarray  # int8[n]: SOURCE, SINK, or FREE
    parent: np.ndarray  # int32[n]: the arc to the parent
    depth: np.ndarray  # int32[n]: number of arcs to the terminal, as of ``stamp``
    stamp: np.ndarray  # int64[n]: when the depth was found out
    active: np.ndarray  # int32[n + 1]: nodes that may grow
    waiting: np.ndarray  # bool[n]: whether a node is among them
    orphans: np.ndarray  # int32[n + 1]
    ring: np.ndarray  # int64[5]: begin and end of active, of orphans; the time


ACTIVE, ORPHANS, TIME = 0, 2, 4


@jit_internal_no_allocation
def push_back(queue, ring, which, node):
    """Put a node at the end of a ring."""
    queue[ring[which + 1]] = node
    ring[which + 1] = (ring[which + 1] + 1) % len(queue)


@jit_internal_no_allocation
def push_front(queue, ring, which, node):
    """Put a node at the front of a ring."""
    ring[which] = (ring[which] - 1) % len(queue)
    queue[ring[which]] = node


@jit_internal_no_allocation
def pop_front(queue, ring, which):
    """Take the node at the front of a ring."""
    node = queue[ring[which]]
    ring[which] = (ring[which] + 1) % len(queue)
    return node


@jit_internal_no_allocation
def activate(forest, node):
    """Let a node grow, in its turn."""
    if not forest.waiting[node]:
        forest.waiting[node] = True
        push_back(forest.active, forest.ring, ACTIVE, node)


@jit_internal_no_allocation
def capacity_outwards(network, side, arc):
    """What an arc of a node in the tree ``side`` can carry away from the tree's root."""
    return network.residual[arc] if side == SOURCE else network.residual[network.sister[arc]]


@jit_internal_no_allocation
def plant(network, forest, tiny):
    """Begin both trees with the nodes that have a link to the terminals."""
    for node in range(len(forest.side)):
        left = network.terminal[node]
        if left > tiny or left < -tiny:
            forest.side[node] = SOURCE if left > 0.0 else SINK
            forest.parent[node] = TERMINAL
            forest.depth[node] = 1
            activate(forest, node)
        else:
            forest.side[node] = FREE
            forest.parent[node] = NO_PARENT
            forest.depth[node] = 0
        forest.stamp[node] = 0


@jit_internal_no_allocation
def grow(network, forest, tiny):
    """Grow the trees until they touch; returns the arc from source tree to sink tree, or -1."""
    ring = forest.ring
    while ring[ACTIVE] != ring[ACTIVE + 1]:
        node = forest.active[ring[ACTIVE]]
        side = forest.side[node]
        if side != FREE:
            for arc in range(network.first[node], network.first[node + 1]):
                if capacity_outwards(network, side, arc) <= tiny:
                    continue
                other = network.head[arc]
                if network.block[other] != network.block[node]:
                    continue
                if forest.side[other] == FREE:
                    forest.side[other] = side
                    adopt(forest, other, network.sister[arc], node)
                    activate(forest, other)
                elif forest.side[other] != side:
                    return arc if side == SOURCE else network.sister[arc]
                elif (
                    forest.stamp[other] <= forest.stamp[node]
                    and forest.depth[other] > forest.depth[node] + 1
                ):
                    adopt(forest, other, network.sister[arc], node)  # a shorter way to the root
        forest.waiting[node] = False
        pop_front(forest.active, ring, ACTIVE)
    return -1


@jit_internal_no_allocation
def adopt(forest, node, arc, parent):
    """Hang a node below a parent."""
    forest.parent[node] = arc
    forest.stamp[node] = forest.stamp[parent]
    forest.depth[node] = forest.depth[parent] + 1


@jit_internal_no_allocation
def bottleneck(network, forest, middle):
    """What the path through the arc ``middle`` can carry."""
    most = network.residual[middle]
    node = network.head[network.sister[middle]]
    while forest.parent[node] != TERMINAL:
        most = min(most, network.residual[network.sister[forest.parent[node]]])
        node = network.head[forest.parent[node]]
    most = min(most, network.terminal[node])
    node = network.head[middle]
    while forest.parent[node] != TERMINAL:
        most = min(most, network.residual[forest.parent[node]])
        node = network.head[forest.parent[node]]
    return min(most, -network.terminal[node])


@jit_internal_no_allocation
def orphan(forest, node):
    """A node has lost its parent."""
    forest.parent[node] = NO_PARENT
    push_front(forest.orphans, forest.ring, ORPHANS, node)


@jit_internal_no_allocation
def augment(network, forest, middle, tiny):
    """Push flow along the path through the arc ``middle``; returns how much (inf: none)."""
    amount = bottleneck(network, forest, middle)
    if amount == np.inf:
        return amount
    residual, terminal = network.residual, network.terminal
    residual[middle] -= amount
    residual[network.sister[middle]] += amount
    for side in (SOURCE, SINK):
        node = network.head[network.sister[middle]] if side == SOURCE else network.head[middle]
        while forest.parent[node] != TERMINAL:
            back = forest.parent[node]
            arc = network.sister[back] if side == SOURCE else back
            residual[arc] -= amount
            residual[network.sister[arc]] += amount
            following = network.head[back]
            if residual[arc] <= tiny:
                orphan(forest, node)
            node = following
        terminal[node] -= side * amount
        if side * terminal[node] <= tiny:
            orphan(forest, node)
    return amount


@jit_internal_no_allocation
def distance_to_root(network, forest, node):
    """Arcs between a node and its terminal; -1 if its tree has lost it.

    Nodes on the way remember the answer until the next path.
    """
    time = forest.ring[TIME]
    depth = 0
    at = node
    while True:
        if forest.stamp[at] == time:
            depth += forest.depth[at]
            break
        depth += 1
        if forest.parent[at] == TERMINAL:
            forest.stamp[at] = time
            forest.depth[at] = 1
            break
        if forest.parent[at] == NO_PARENT:
            return -1
        at = network.head[forest.parent[at]]
    left = depth
    at = node
    while forest.stamp[at] != time:
        forest.stamp[at] = time
        forest.depth[at] = left
        left -= 1
        at = network.head[forest.parent[at]]
    return depth


@jit_internal_no_allocation
def find_parent(network, forest, node, tiny):
    """Hang an orphan into its tree again, as high as possible, or set it and its children free."""
    side = forest.side[node]
    best, best_depth = -1, -1
    for arc in range(network.first[node], network.first[node + 1]):
        if capacity_outwards(network, -side, arc) <= tiny:  # towards the node
            continue
        other = network.head[arc]
        if forest.side[other] != side or network.block[other] != network.block[node]:
            continue
        depth = distance_to_root(network, forest, other)
        if depth >= 0 and (best < 0 or depth < best_depth):
            best, best_depth = arc, depth
    if best >= 0:
        forest.parent[node] = best
        forest.stamp[node] = forest.ring[TIME]
        forest.depth[node] = best_depth + 1
        return
    for arc in range(network.first[node], network.first[node + 1]):
        other = network.head[arc]
        if forest.side[other] != side or network.block[other] != network.block[node]:
            continue
        if capacity_outwards(network, -side, arc) > tiny:
            activate(forest, other)
        if forest.parent[other] == network.sister[arc]:
            forest.parent[other] = NO_PARENT
            push_back(forest.orphans, forest.ring, ORPHANS, other)
    forest.side[node] = FREE


@jit
def max_flow(network, tiny, side):
    """Push as much flow from source to sink as the network carries; returns how much.

    It is infinite if there is no cut.  The residual capacities are changed in place.
    ``side[n]`` tells the minimum cuts: ``SOURCE`` (1) for nodes that the source still reaches,
    ``SINK`` (-1) for those that still reach the sink, ``FREE`` (0) for all others, which may stand
    on either side.

    Example:
        >>> import numpy as np
        >>> ends = np.arange(2, dtype=np.int32)
        >>> first, head, sister, _ = make_arcs(2, ends[:1], ends[1:])
        >>> capacity, terminal = np.array([2.0, 0.0]), np.array([3.0, -4.0])
        >>> network = Network(first, head, sister, capacity, terminal, np.zeros(2, np.int32))
        >>> side = np.empty(2, np.int8)
        >>> max_flow(network, 0.0, side), side.tolist()
        (2.0, [1, -1])
    """
    n = len(side)
    forest = Forest(
        side, np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64),
        np.empty(n + 1, np.int32), np.zeros(n, np.bool_), np.empty(n + 1, np.int32),
        np.zeros(5, np.int64),
    )  # fmt: skip
    plant(network, forest, tiny)
    ring = forest.ring
    total = 0.0
    while True:
        middle = grow(network, forest, tiny)
        if middle < 0:
            return total
        ring[TIME] += 1
        total += augment(network, forest, middle, tiny)
        if total == np.inf:
            return total
        while ring[ORPHANS] != ring[ORPHANS + 1]:
            node = pop_front(forest.orphans, ring, ORPHANS)
            find_parent(network, forest, node, tiny)


@jit
def make_arcs(n, tails, heads):
    """The graph of ``n`` nodes whose edges lead from ``tails[E]`` to ``heads[E]``, both int32.

    Example:
        >>> import numpy as np
        >>> tails, heads = np.array([0, 2], np.int32), np.array([1, 1], np.int32)
        >>> [part.tolist() for part in make_arcs(3, tails, heads)]
        [[0, 1, 3, 4], [1, 0, 2, 1], [1, 0, 3, 2], [0, 3]]
    """
    edges = len(tails)
    first, head = np.zeros(n + 1, np.int32), np.empty(2 * edges, np.int32)
    sister, forward = np.empty(2 * edges, np.int32), np.empty(edges, np.int32)
    for edge in range(edges):
        first[tails[edge] + 1] += 1
        first[heads[edge] + 1] += 1
    for node in range(n):
        first[node + 1] += first[node]
    place = first[:n].copy()
    for edge in range(edges):
        j, k = tails[edge], heads[edge]
        one, two = place[j], place[k]
        place[j] += 1
        place[k] += 1
        head[one], head[two] = k, j
        sister[one], sister[two] = two, one
        forward[edge] = one
    return Graph(first, head, sister, forward)
