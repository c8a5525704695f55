"""Bipartite matchings with capacities: a slot per pair, literals of a table of rows and columns.

``data`` is ``[rows, columns, whether rows are filled, whether columns are]`` and then the
capacities of rows and of columns.  A row takes as many columns as its capacity says, at most or,
if filled, exactly; columns likewise.  There are no inner parts.

The best matching is a flow of greatest gain.  One side is inserted unit by unit, each along the
path that gains most (successive shortest paths, with potentials that keep Dijkstra's arcs
non-negative): O(n³) for n units on n nodes.  A unit ends at a node of the other side with
capacity left or, if its own side need not be filled, anywhere on its own side: it pushes another
unit out.  Both ends are the *sink*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import (
    jit_inline,
    jit_internal,
    jit_internal_no_allocation,
    jit_structure,
)

HEADER = 4


class Bipartite(NamedTuple):
    """A matching problem, its inserted side first, and a matching."""

    gain: np.ndarray  # float64[A, B]: what a pair earns; -inf: it cannot be matched
    room: np.ndarray  # int64[A]: units to insert
    capacity: np.ndarray  # int64[B]
    optional: bool  # whether a unit may stay out
    used: np.ndarray  # bool[A, B]: the matching
    load: np.ndarray  # int64[B]: units that ended here
    out: np.ndarray  # int64[A]: units that stay out
    height: np.ndarray  # float64[A + B + 1]: potentials, the sink's last


class Search(NamedTuple):
    """Shortest paths from one node."""

    distance: np.ndarray  # float64[A + B + 1], of reduced costs
    before: np.ndarray  # int64[A + B + 1]: the node before
    done: np.ndarray  # bool[A + B + 1]


@jit_inline
def inserted_rows(data):
    """Whether rows are inserted; where only columns are filled, columns are."""
    return data[2] == 1 or data[3] == 0


@jit_internal
def read_pairs(data, scores):
    """The problem of ``scores[places]``, with pairs that must be matched taken out.

    Returns it, what is earned by pairs as they are without a choice (all others being false),
    and whether the capacities allow them.
    """
    rows, columns = data[0], data[1]
    own = inserted_rows(data)
    a, b = (rows, columns) if own else (columns, rows)
    room, capacity = np.empty(a, np.int64), np.empty(b, np.int64)
    for i in range(a):
        room[i] = data[HEADER + i + (0 if own else rows)]
    for j in range(b):
        capacity[j] = data[HEADER + j + (rows if own else 0)]
    gain = np.empty((a, b))
    base = 0.0
    for i in range(a):
        for j in range(b):
            at = 2 * (i * columns + j if own else j * columns + i)
            false, true = scores[at], scores[at + 1]
            if false == -np.inf:
                base += true
                gain[i, j] = -np.inf
                room[i] -= 1
                capacity[j] -= 1
            else:
                base += false
                gain[i, j] = true - false
    fits = True
    for i in range(a):
        fits &= room[i] >= 0
    for j in range(b):
        fits &= capacity[j] >= 0
    problem = Bipartite(
        gain, room, capacity, data[2] + data[3] == 0, np.zeros((a, b), np.bool_),
        np.zeros(b, np.int64), np.zeros(a, np.int64), np.zeros(a + b + 1),
    )  # fmt: skip
    return problem, base, fits


@jit_internal_no_allocation
def relax(problem, search, node, to, cost):
    """A path through ``node`` to ``to`` over an arc of this cost: take it if it is shorter."""
    # Rounding can make a reduced cost a little negative.
    reduced = max(cost + problem.height[node] - problem.height[to], 0.0)
    if search.distance[node] + reduced < search.distance[to]:
        search.distance[to] = search.distance[node] + reduced
        search.before[to] = node


@jit_internal_no_allocation
def scan(problem, search, node):
    """Relax the arcs that leave a node."""
    a, b = problem.gain.shape
    sink = a + b
    if node < a:
        for j in range(b):
            gain = problem.gain[node, j]
            if not problem.used[node, j] and gain > -np.inf:
                relax(problem, search, node, a + j, -gain)
        if problem.optional:
            relax(problem, search, node, sink, 0.0)
    elif node < sink:
        j = node - a
        for i in range(a):
            if problem.used[i, j]:
                relax(problem, search, node, i, problem.gain[i, j])
        if problem.load[j] < problem.capacity[j]:
            relax(problem, search, node, sink, 0.0)
    else:
        for j in range(b):
            if problem.load[j] > 0:
                relax(problem, search, node, a + j, 0.0)
        for i in range(a):
            if problem.out[i] > 0:
                relax(problem, search, node, i, 0.0)


@jit_internal_no_allocation
def shortest_paths(problem, search, source, to_sink):
    """Dijkstra's algorithm from ``source``, to all nodes or until the sink is reached."""
    nodes = len(search.distance)
    for node in range(nodes):
        search.distance[node] = np.inf
        search.before[node] = -1
        search.done[node] = False
    search.distance[source] = 0.0
    while True:
        nearest, least = -1, np.inf
        for node in range(nodes):
            if not search.done[node] and search.distance[node] < least:
                nearest, least = node, search.distance[node]
        if nearest < 0 or (to_sink and nearest == nodes - 1):
            return
        search.done[nearest] = True
        scan(problem, search, nearest)


@jit_internal_no_allocation
def insert_unit(problem, search, i):
    """Add one unit at node ``i``; returns whether there is room for it."""
    a, b = problem.gain.shape
    sink = a + b
    shortest_paths(problem, search, i, True)
    length = search.distance[sink]
    if length == np.inf:
        return False
    for node in range(sink + 1):
        problem.height[node] += min(search.distance[node], length)
    node = search.before[sink]
    if node < a:
        problem.out[node] += 1
    else:
        problem.load[node - a] += 1
    while node != i:
        other = search.before[node]
        if node < a:
            problem.used[node, other - a] = False
        else:
            problem.used[other, node - a] = True
        node = other
    return True


@jit_internal_no_allocation
def match(problem, search):
    """Find the matching of greatest gain; returns whether there is one."""
    a, b = problem.gain.shape
    height = problem.height
    for i in range(a):
        # High enough that no arc that leaves it costs less than nothing.
        height[i] = height[a + b] if problem.optional else -np.inf
        for j in range(b):
            height[i] = max(height[i], problem.gain[i, j] + height[a + j])
        for _ in range(problem.room[i]):
            if height[i] == -np.inf or not insert_unit(problem, search, i):
                return False
        if height[i] == -np.inf:
            height[i] = 0.0  # nothing leaves it, nothing comes
    return True


@jit_inline
def make_search(problem):
    """Room for shortest paths."""
    nodes = len(problem.height)
    return Search(np.empty(nodes), np.empty(nodes, np.int64), np.empty(nodes, np.bool_))


@jit_structure
def maximize_matching(start, data, scores, inner, scale, states):
    """The best vertex."""
    problem, _, fits = read_pairs(data, scores)
    own, columns = inserted_rows(data), data[1]
    fits = fits and match(problem, make_search(problem))
    value = 0.0 if fits else -np.inf
    for slot in range(len(states)):
        i, j = slot // columns, slot % columns
        chosen = problem.used[i, j] if own else problem.used[j, i]
        states[slot] = 1 if chosen or scores[2 * slot] == -np.inf else 0
        value += scores[2 * slot + states[slot]]
    return value, 0.0


@jit_structure
def parts_matching(start, data, states, weight, out):
    """Whether a joint state is a matching; there are no parts."""
    rows, columns = data[0], data[1]
    for i in range(rows):
        total = 0
        for j in range(columns):
            total += states[i * columns + j]
        if total > data[HEADER + i] or (data[2] == 1 and total < data[HEADER + i]):
            return False
    for j in range(columns):
        total = 0
        for i in range(rows):
            total += states[i * columns + j]
        most = data[HEADER + rows + j]
        if total > most or (data[3] == 1 and total < most):
            return False
    return True


@jit_structure
def max_marginals_matching(start, data, scores, inner, out):
    """Best value with each place chosen, ``out[places]``.

    A pair outside of the best matching enters it along the cheapest cycle through it, a path back
    from its one end to the other in what the flow leaves open; one in it leaves likewise.
    """
    problem, base, fits = read_pairs(data, scores)
    search = make_search(problem)
    out[:] = -np.inf
    if not (fits and match(problem, search)):
        return
    a, b = problem.gain.shape
    own, columns = inserted_rows(data), data[1]
    best = base
    for i in range(a):
        for j in range(b):
            best += problem.gain[i, j] if problem.used[i, j] else 0.0
    for slot in range(a * b):
        i, j = (slot // columns, slot % columns) if own else (slot % columns, slot // columns)
        chosen = problem.used[i, j] or scores[2 * slot] == -np.inf
        out[2 * slot + (1 if chosen else 0)] = best
    for source in range(a + b):
        shortest_paths(problem, search, source, False)
        for other in range(a if source >= a else b):
            i, j = (other, source - a) if source >= a else (source, other)
            target = i if source >= a else a + j
            gain = problem.gain[i, j]
            if gain == -np.inf or problem.used[i, j] != (source < a):
                continue
            slot = i * columns + j if own else j * columns + i
            path = search.distance[target] - problem.height[source] + problem.height[target]
            change = (gain if source < a else -gain) + path
            out[2 * slot + (0 if source < a else 1)] = best - max(change, 0.0)
