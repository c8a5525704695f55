"""Clusters of coordinates that pairs tie together, flipped one after the other.

A variable-depth local search in the manner of Kernighan and Lin: a coordinate flips although it
loses; then those tied to it that would now gain follow, the best one first.  The whole is kept if
it is better than before and taken back otherwise.  What a coordinate has tried in vain it tries
again only once something has moved near enough to make a difference, so that all but the first
sweeps are short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.rounding.running_sums import other_end

# Coordinates in one cluster.  Most that pay on grids have two to five, hardly any ten.
MAX_CLUSTER = 32

# Pairs and waiting coordinates one sweep may look at, as a multiple of all pairs.
EFFORT = 64

# In place of a coordinate's reach: it has moved since the sweep began.
MOVED = MAX_CLUSTER + 1


class Clusters(NamedTuple):
    """What sweeps remember of every coordinate, and scratch."""

    members: np.ndarray  # int32[MAX_CLUSTER] the latest cluster
    frontier: np.ndarray  # int32[n] coordinates tied to it
    seen: np.ndarray  # uint8[n] in the cluster or its frontier: 0 between clusters
    reach: np.ndarray  # uint8[n] size of the last cluster that began here, or MOVED
    active: np.ndarray  # uint8[n] worth a try
    moved: np.ndarray  # int32[n] coordinates that have moved in this sweep


@jit_internal
def flip_clusters(pairs, pair, x, field, frozen, noise, max_sweeps):
    """Flip clusters until none gains; ``x[n]`` and ``field[n]`` are kept right."""
    n = x.size
    clusters = Clusters(
        np.empty(MAX_CLUSTER, np.int32), np.empty(n, np.int32), np.zeros(n, np.uint8),
        np.zeros(n, np.uint8), np.ones(n, np.uint8), np.empty(n, np.int32),
    )  # fmt: skip
    cursor = np.int64(-1)
    for _ in range(max_sweeps):
        count, cursor = cluster_sweep(pairs, pair, x, field, frozen, noise, cursor, clusters)
        if count == 0:
            break
        reactivate(pairs, clusters, count)


@jit_internal_no_allocation
def cluster_sweep(pairs, pair, x, field, frozen, noise, after, clusters):
    """Try a cluster from every active coordinate, beginning after the given one.

    Ends when all were visited or the effort is spent.  Returns how many coordinates have moved,
    which ``moved`` lists, and where to go on.
    """
    members, reach, active = clusters.members, clusters.reach, clusters.active
    effort = EFFORT * pair.size
    count, v = 0, after
    for _ in range(x.size):
        v = v + 1 if v + 1 < x.size else np.int64(0)
        if not active[v] or frozen[v]:
            continue
        length, gain, work = try_cluster(pairs, pair, x, field, frozen, noise, v, clusters)
        active[v] = 0
        if reach[v] != MOVED:
            reach[v] = length
        if gain > noise:
            for c in range(length):
                if reach[members[c]] != MOVED:
                    reach[members[c]] = MOVED
                    clusters.moved[count] = members[c]
                    count += 1
        effort -= work
        if effort < 0:
            break
    return count, v


@jit_internal_no_allocation
def try_cluster(pairs, pair, x, field, frozen, noise, first, clusters):
    """Flip ``first`` and whoever gains by following; take it back unless that is better.

    Returns the size of the cluster, left in ``members``, what it gains, and the work done.
    """
    members, frontier, seen = clusters.members, clusters.frontier, clusters.seen
    v, length, waiting = np.int64(first), 0, 0
    gain, work = 0.0, np.int64(0)
    seen[v] = 1
    while True:
        # 1. Flip, and list whom this concerns.
        step = 1 - 2 * x[v]
        gain += step * field[v]
        x[v] += step
        for place in range(pairs.start[v], pairs.start[v + 1]):
            u = other_end(pairs, place, v)
            field[u] += step * pair[pairs.edges[place]]
            if not seen[u] and not frozen[u]:
                seen[u] = 1
                frontier[waiting] = u
                waiting += 1
        members[length] = v
        length += 1
        work += pairs.start[v + 1] - pairs.start[v] + waiting
        # 2. The one among them who gains most is next.
        place = most_gaining(x, field, noise, frontier, waiting)
        if place < 0 or length == members.size:
            break
        v = np.int64(frontier[place])
        waiting -= 1
        frontier[place] = frontier[waiting]
    for c in range(length):
        seen[members[c]] = 0
    for place in range(waiting):
        seen[frontier[place]] = 0
    # 3. Not better: take the flips back.
    if gain <= noise:
        for c in range(length):
            take_back(pairs, pair, x, field, np.int64(members[c]))
    return length, gain, work


@jit_internal_no_allocation
def most_gaining(x, field, noise, frontier, waiting):
    """Place in ``frontier`` of the coordinate that gains most by a flip, or -1."""
    best, best_gain = -1, noise
    for place in range(waiting):
        u = frontier[place]
        gain = field[u] if x[u] == 0 else -field[u]
        if gain > best_gain:
            best, best_gain = place, gain
    return best


@jit_internal_no_allocation
def take_back(pairs, pair, x, field, v):
    """Flip ``v``."""
    step = 1 - 2 * x[v]
    x[v] += step
    for place in range(pairs.start[v], pairs.start[v + 1]):
        field[other_end(pairs, place, v)] += step * pair[pairs.edges[place]]


@jit_internal_no_allocation
def reactivate(pairs, clusters, count):
    """Activate the coordinates that may do better since ``moved[:count]`` have moved.

    A cluster of m members was chosen by fields up to m steps away, which depend on coordinates
    one step further.  ``moved[n]`` serves as the queue of a search by distance.
    """
    moved, seen, reach = clusters.moved, clusters.seen, clusters.reach
    active = clusters.active
    for place in range(count):
        v = moved[place]
        seen[v], reach[v], active[v] = 1, 0, 1
    longest = 0
    for length in reach:
        longest = max(longest, length)
    begin, end, distance = 0, count, 0
    while begin < end and distance <= longest:
        distance += 1
        last = end
        for tail in range(begin, last):
            v = moved[tail]
            for place in range(pairs.start[v], pairs.start[v + 1]):
                u = other_end(pairs, place, v)
                if not seen[u]:
                    seen[u] = 1
                    active[u] |= distance <= reach[u] + 1
                    moved[end] = u
                    end += 1
        begin = last
    for place in range(end):
        seen[moved[place]] = 0
