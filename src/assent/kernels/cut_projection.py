"""The nearest point of a cut polytope.

*Edges inner*: the nodes are found by total variation, see :mod:`assent.kernels.total_variation`.

*Edges shared* (Taskar, Lacoste-Julien and Jordan 2006, appendix A): minimise

    sum_i (x_i - a_i)^2 / 2 + sum_jk (z_jk - b_jk)^2 / 2  with  |x_j - x_k| <= z_jk, all in [0, 1].

For given ``x`` the best ``z`` is ``max(min(b, 1), |x_j - x_k|)``, so that an edge costs, up to a
constant and with ``d = x_j - x_k`` and ``b`` cut to 1 at most,

    (|d| - b)^2 / 2  where |d| > b >= 0, else 0;     d^2 / 2 + |b| |d|  where b < 0.

The absolute values are total variation, all else is smooth with pieces of constant curvature.
The method keeps groups of equal neighbours, which the absolute values hold together.

1. With every group as one node of a smaller graph, a step of the proximal gradient method, which
   takes total variation exactly, tells which nodes become equal, 0 or 1; groups grow.
2. Among all points where these are so, a step of Newton's method by conjugate gradients.
3. What pulls at the nodes of a group can be balanced by a flow within it, or else the cut found
   takes the group apart.  If all is balanced, this is the solution; else again from 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.cut import Graph, attraction, ends, graph_of
from assent.kernels.jit import jit
from assent.kernels.maxflow import SINK, SOURCE, Network, max_flow
from assent.kernels.propagate import lean
from assent.kernels.total_variation import CRUMBS, solve_total_variation

MOST_STEPS = 1000
MOST_HALVINGS = 20

# Conjugate gradients stop when the residual is this small, relative to the first one; the
# curvature is at least 1 and at most 1 + 2 · neighbours, so a few dozen rounds are enough.
RESIDUAL = 1e-10
MOST_ROUNDS = 500


# Pulls that do not cancel within a group count as balanced up to this, relative to the largest
# number; nodes are then as far from the solution at most.
LEFT_OVER = 1e-10

# Costs this close, relative to their size, count as equal.
ROUNDING = 1e-13


class Task(NamedTuple):
    """A projection with edges shared, on the graph or a contraction of it."""

    graph: Graph
    mass: np.ndarray  # float64[n]: nodes of the whole graph that this one stands for
    a: np.ndarray  # float64[n]: their mean
    b: np.ndarray  # float64[E], at most 1
    known: np.ndarray  # bool[n]: evidence tells x
    x: np.ndarray  # float64[n]
    flow: np.ndarray  # float64[E]: of the total variation, from first to second end
    edge: np.ndarray  # int64[E]: the edge of the whole graph


class Room(NamedTuple):
    """Scratch for tasks up to a size."""

    weight: np.ndarray  # float64[n]
    held: np.ndarray  # float64[n]
    before: np.ndarray  # float64[n]
    capacity: np.ndarray  # float64[E]
    flow_before: np.ndarray  # float64[E]


@lean
def read_nodes(base, a, v, x, block):
    """The point ``v[n]``, and ``x`` of known nodes; their block is 0, that of others 1."""
    for node in range(len(x)):
        v[node] = a[2 * node + 1]
        block[node] = 1
        if base[2 * node] == -np.inf or base[2 * node + 1] == -np.inf:
            x[node] = 1.0 if base[2 * node] == -np.inf else 0.0
            block[node] = 0


@lean
def start_flow(graph, capacity, flow, network, held, x):
    """Begin with a flow within the capacities; edges to known nodes are settled."""
    for edge in range(len(capacity)):
        j, k = ends(graph, edge)
        most = capacity[edge]
        own = min(max(flow[edge], -most), most)
        if network.block[j] == 0 or network.block[k] == 0:
            above = network.block[j] == 0 and x[j] == 1.0
            above = above or (network.block[k] == 0 and x[k] == 0.0)
            own = most if above else -most
        arc = graph.forward[edge]
        network.residual[arc] = most - own
        network.residual[graph.sister[arc]] = most + own
        held[j] -= own
        held[k] += own


@lean
def read_flow(graph, capacity, network, flow):
    """The flow that is left in the network."""
    for edge in range(len(flow)):
        flow[edge] = capacity[edge] - network.residual[graph.forward[edge]]


@jit(inline="always")
def empty_network(graph, n):
    """A network without capacities."""
    return Network(
        graph.first, graph.head, graph.sister, np.empty(len(graph.head)), np.empty(n),
        np.empty(n, np.int32),
    )  # fmt: skip


@jit
def project_nodes(data, base, a, inner, scale, memory, q):
    """Edges inner; ``memory[E]`` is the flow.  Returns the inner value."""
    n, edges = data[0], data[1]
    graph = graph_of(data)
    network = empty_network(graph, n)
    held, x, capacity = np.empty(n), np.empty(n), np.empty(edges)
    read_nodes(base, a, held, x, network.block)
    for edge in range(edges):
        j, k = ends(graph, edge)
        own, other, most = attraction(inner, edge)
        held[j] += scale * own
        held[k] += scale * other
        capacity[edge] = max(scale * most, 0.0)
    flow = memory[:edges]
    start_flow(graph, capacity, flow, network, held, x)
    solve_total_variation(network, np.ones(n), held, x)
    read_flow(graph, capacity, network, flow)
    for node in range(n):
        q[2 * node] = 1.0 - x[node]
        q[2 * node + 1] = x[node]
    earned = 0.0
    for edge in range(edges):
        j, k = ends(graph, edge)
        both = min(x[j], x[k])
        s00, s01, s10, s11 = inner[4 * edge : 4 * edge + 4]
        earned += s00 * (1.0 - max(x[j], x[k])) + s01 * (x[k] - both)
        earned += s10 * (x[j] - both) + s11 * both
    return earned


@lean
def pull(b, d):
    """Derivative of the smooth part of what an edge costs."""
    if b < 0.0:
        return d
    return d - b if d > b else (d + b if d < -b else 0.0)


@lean
def cost(task, x):
    """What ``x`` costs, up to a constant."""
    total = 0.0
    for node in range(len(x)):
        if not task.known[node]:
            total += 0.5 * task.mass[node] * (x[node] - task.a[node]) ** 2
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        d, b = abs(x[j] - x[k]), task.b[edge]
        if b < 0.0:
            total += (0.5 * d - b) * d
        elif d > b:
            total += 0.5 * (d - b) ** 2
    return total


@lean
def weigh(task, bold, weight):
    """The curvature that a proximal step assumes in every coordinate, ``weight[n]``.

    An upper limit, with which no step fails, or boldly the curvature there is in this place.
    """
    for node in range(len(task.x)):
        weight[node] = task.mass[node]
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        b = task.b[edge]
        own = 2.0 if b < 1.0 else 0.0
        if bold:
            own = 1.0 if b < 0.0 or abs(task.x[j] - task.x[k]) > b else 0.0
        weight[j] += own
        weight[k] += own


@lean
def prepare(task, weight, network, held):
    """What the nodes hold for a proximal step, and the flow to begin with."""
    x = task.x
    for node in range(len(x)):
        held[node] = weight[node] * x[node] - task.mass[node] * (x[node] - task.a[node])
        network.block[node] = 0 if task.known[node] else 1
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        own = pull(task.b[edge], x[j] - x[k])
        held[j] -= own
        held[k] += own


@jit
def proximal_step(task, network, room, bold):
    """Replace ``task.x`` by what one proximal gradient step makes of it.

    The network's blocks are those of equal values afterwards.
    """
    n, edges = len(task.x), len(task.b)
    weight, held, capacity = room.weight[:n], room.held[:n], room.capacity[:edges]
    before, flow_before = room.before[:n], room.flow_before[:edges]
    before[:] = task.x
    flow_before[:] = task.flow
    for edge in range(edges):
        capacity[edge] = max(-task.b[edge], 0.0)
    worth = cost(task, before)
    weigh(task, bold, weight)
    while True:
        prepare(task, weight, network, held)
        start_flow(task.graph, capacity, task.flow, network, held, task.x)
        solve_total_variation(network, weight, held, task.x)
        read_flow(task.graph, capacity, network, task.flow)
        if not bold or cost(task, task.x) <= worth + ROUNDING * abs(worth):
            break
        # It was too bold.
        bold = False
        task.x[:] = before
        task.flow[:] = flow_before
        weigh(task, bold, weight)


@lean
def find(group, node):
    """The node that stands for a node's group."""
    while group[node] != node:
        group[node] = group[group[node]]
        node = group[node]
    return node


@lean
def number_groups(task, block, group, number):
    """Join neighbours of one block that total variation can hold together at the same value.

    ``number[n]`` tells the group; returns how many there are.
    """
    for node in range(len(group)):
        group[node] = node
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        joined = block[j] == block[k] and block[j] > 0 and task.x[j] == task.x[k]
        if task.b[edge] < 0.0 and joined:
            group[find(group, j)] = find(group, k)
    count = 0
    for node in range(len(group)):
        if group[node] == node:
            number[node] = count
            count += 1
    for node in range(len(group)):
        number[node] = number[find(group, node)]
    return count


@jit
def arcs_between(n, tails, heads):
    """As :func:`assent.kernels.maxflow.make_arcs`, compiled."""
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


@jit
def contract(task, block, number):
    """The task with the nodes of every group as one; ``number[n]`` tells which one."""
    n = len(task.x)
    count = number_groups(task, block, np.empty(n, np.int64), number)
    mass, a, x = np.zeros(count), np.zeros(count), np.empty(count)
    known = np.empty(count, np.bool_)
    for node in range(n):
        own = number[node]
        mass[own] += task.mass[node]
        a[own] += task.mass[node] * task.a[node]
        x[own] = task.x[node]
        known[own] = task.known[node]
    a /= mass
    kept = 0
    tails, heads = np.empty(len(task.b), np.int32), np.empty(len(task.b), np.int32)
    b, flow, edge_of = np.empty(len(task.b)), np.empty(len(task.b)), np.empty(len(task.b), np.int64)
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        if number[j] != number[k]:
            tails[kept], heads[kept] = number[j], number[k]
            b[kept], flow[kept], edge_of[kept] = task.b[edge], task.flow[edge], task.edge[edge]
            kept += 1
    graph = arcs_between(count, tails[:kept], heads[:kept])
    return Task(graph, mass, a, b[:kept], known, x, flow[:kept], edge_of[:kept])


@lean
def newton_system(task, moves, curved, gradient, diagonal):
    """Gradient and diagonal of the second derivatives; which nodes move, which edges curve."""
    x = task.x
    for node in range(len(x)):
        moves[node] = not task.known[node] and 0.0 < x[node] < 1.0
        gradient[node] = task.mass[node] * (x[node] - task.a[node])
        diagonal[node] = task.mass[node]
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        d, b = x[j] - x[k], task.b[edge]
        own = pull(b, d)
        if b < 0.0:
            own += -b if d > 0.0 else b
        curved[edge] = (b < 0.0 or abs(d) > b) and (moves[j] or moves[k])
        gradient[j] += own
        gradient[k] -= own
        if curved[edge]:
            diagonal[j] += 1.0
            diagonal[k] += 1.0


@lean
def multiply(task, moves, curved, y, out):
    """``out = H y``; ``y`` is zero on nodes that do not move."""
    for node in range(len(y)):
        out[node] = task.mass[node] * y[node]
    for edge in range(len(curved)):
        if curved[edge]:
            j, k = ends(task.graph, edge)
            own = y[j] - y[k]
            out[j] += own
            out[k] -= own
    for node in range(len(y)):
        if not moves[node]:
            out[node] = 0.0


@jit
def newton_step(task):
    """Improve ``task.x`` where it is not at 0 or 1, as long as the cost falls."""
    x = task.x
    n = len(x)
    moves, curved = np.empty(n, np.bool_), np.empty(len(task.b), np.bool_)
    residual, diagonal = np.empty(n), np.empty(n)
    step, search, product = np.zeros(n), np.zeros(n), np.empty(n)
    newton_system(task, moves, curved, residual, diagonal)
    for node in range(n):
        residual[node] = -residual[node] if moves[node] else 0.0
    length, least = 0.0, 0.0
    for turn in range(MOST_ROUNDS):
        new = 0.0
        for node in range(n):
            new += residual[node] * residual[node] / diagonal[node]
        if turn == 0:
            least = RESIDUAL * RESIDUAL * new
        if new <= least:
            break
        for node in range(n):
            turned = 0.0 if turn == 0 else new / length * search[node]
            search[node] = residual[node] / diagonal[node] + turned
        length = new
        multiply(task, moves, curved, search, product)
        along = 0.0
        for node in range(n):
            along += search[node] * product[node]
        for node in range(n):
            step[node] += new / along * search[node]
            residual[node] -= new / along * product[node]
    worth = cost(task, x)
    trial, share = product, 1.0
    for _ in range(MOST_HALVINGS):
        for node in range(n):
            trial[node] = x[node]
            if moves[node]:
                trial[node] = min(max(x[node] + share * step[node], 0.0), 1.0)
        if cost(task, trial) < worth:
            x[:] = trial
            return
        share *= 0.5


@jit
def improve(whole, block, room):
    """A proximal step with equal neighbours of one block held together, then a Newton step with
    those that it has joined.
    """
    n = len(whole.x)
    first = np.empty(n, np.int64)
    task = contract(whole, block, first)
    network = empty_network(task.graph, len(task.x))
    proximal_step(task, network, room, True)
    second = np.empty(len(task.x), np.int64)
    smaller = contract(task, network.block, second)
    newton_step(smaller)
    for node in range(n):
        whole.x[node] = smaller.x[second[first[node]]]
    for edge in range(len(task.edge)):
        whole.flow[task.edge[edge]] = task.flow[edge]


@lean
def settle_forces(task, network, capacity):
    """What pulls at every node, less total variation between groups: terminals and a flow."""
    x, held = task.x, network.terminal
    for node in range(len(x)):
        held[node] = 0.0 if task.known[node] else task.a[node] - x[node]
    for edge in range(len(task.b)):
        j, k = ends(task.graph, edge)
        d = x[j] - x[k]
        own = pull(task.b[edge], d)
        held[j] -= own
        held[k] += own
        most = capacity[edge]
        if d != 0.0:
            task.flow[edge] = most if d > 0.0 else -most
    start_flow(task.graph, capacity, task.flow, network, held, x)
    for node in range(len(x)):
        if task.known[node]:
            held[node] = 0.0


@jit
def split_groups(task, network, room):
    """Take apart groups of equal neighbours that no flow holds together; returns how many.

    ``network.block`` tells the parts: of a group that has to be split those above, at and below its
    value, as the flow has left them.  Without such a group ``task.x`` is the solution.
    """
    n, edges = len(task.x), len(task.b)
    capacity, side = room.capacity[:edges], np.empty(n, np.int8)
    group, number = np.empty(n, np.int64), np.empty(n, np.int64)
    block = network.block
    largest = 1.0
    for node in range(n):
        block[node] = 0 if task.known[node] else 1
        largest = max(largest, abs(task.a[node]))
    for edge in range(edges):
        capacity[edge] = max(-task.b[edge], 0.0)
    count = number_groups(task, block, group, number)
    settle_forces(task, network, capacity)
    for node in range(n):
        block[node] = 3 * number[node] + 3  # 0 is for known nodes
    max_flow(network, CRUMBS * largest, side)
    read_flow(task.graph, capacity, network, task.flow)
    up, down = np.zeros(count), np.zeros(count)
    for node in range(n):
        up[number[node]] += max(network.terminal[node], 0.0)
        down[number[node]] -= min(network.terminal[node], 0.0)
    limit, found = LEFT_OVER * largest, 0
    for node in range(n):
        own = number[node]
        if task.known[node]:
            block[node] = 0
            continue
        # At 1 nothing can rise, at 0 nothing can fall.
        rises = task.x[node] < 1.0 and up[own] > limit and side[node] == SOURCE
        falls = task.x[node] > 0.0 and down[own] > limit and side[node] == SINK
        block[node] += 1 if rises else (2 if falls else 0)
        found += rises or falls
    return found


@lean
def read_edges(data, base, a, task):
    """Targets of the edges, cut to 1 at most; evidence makes them infinite, so to speak."""
    n, edges = data[0], data[1]
    reach = 1.0  # more than all nodes and edges together can pull at
    for node in range(n):
        reach += abs(task.a[node]) + 1.0
    for edge in range(edges):
        reach += abs(min(a[2 * (n + edge) + 1], 1.0)) + 1.0
    for edge in range(edges):
        slot = 2 * (n + edge)
        task.b[edge] = min(a[slot + 1], 1.0)
        task.edge[edge] = edge
        if base[slot] == -np.inf:
            task.b[edge] = 1.0  # it is true, and the ends are free
        elif base[slot + 1] == -np.inf:
            task.b[edge] = -reach  # it is false, and the ends are equal


@jit
def project_edges(data, base, a, memory, q):
    """Edges shared; ``memory[n + E]`` has the last nodes and the flow.

    Returns the number of steps.
    """
    n, edges = data[0], data[1]
    own = graph_of(data)
    # Copies: contracted graphs are not read-only, and functions are compiled for one type.
    graph = Graph(own.first.copy(), own.head.copy(), own.sister.copy(), own.forward.copy())
    network = empty_network(graph, n)
    task = Task(
        graph, np.ones(n), np.empty(n), np.empty(edges), np.empty(n, np.bool_), memory[:n],
        memory[n : n + edges], np.empty(edges, np.int64),
    )  # fmt: skip
    room = Room(np.empty(n), np.empty(n), np.empty(n), np.empty(edges), np.empty(edges))
    fresh = True
    for number in memory:
        fresh = fresh and number == 0.0
    read_nodes(base, a, task.a, task.x, network.block)
    for node in range(n):
        task.known[node] = network.block[node] == 0
        if fresh and not task.known[node]:
            task.x[node] = min(max(task.a[node], 0.0), 1.0)
    read_edges(data, base, a, task)
    steps = 0
    while steps < MOST_STEPS:
        steps += 1
        improve(task, network.block, room)
        if split_groups(task, network, room) == 0:
            break
    write_point(data, base, a, task, q)
    return steps


@lean
def write_point(data, base, a, task, q):
    """The solution as numbers of places."""
    n = data[0]
    for node in range(n):
        q[2 * node] = 1.0 - task.x[node]
        q[2 * node + 1] = task.x[node]
    for edge in range(data[1]):
        j, k = ends(task.graph, edge)
        slot = 2 * (n + edge)
        z = min(max(a[slot + 1], abs(task.x[j] - task.x[k])), 1.0)
        if base[slot] == -np.inf or base[slot + 1] == -np.inf:
            z = 1.0 if base[slot] == -np.inf else 0.0
        q[slot] = 1.0 - z
        q[slot + 1] = z


@jit
def project_cut(start, data, base, a, inner, scale, memory, q):
    """The nearest point ``q[places]`` to ``a[places]``; returns the inner value."""
    if data[2] == 1:
        project_edges(data, base, a, memory, q)
        return 0.0
    return project_nodes(data, base, a, inner, scale, memory, q)
