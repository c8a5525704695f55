"""The nearest point of a cut polytope.

*Edges inner*: the nodes are found by total variation, see :mod:`assent.kernels.total_variation`.

*Edges shared* (Taskar, Lacoste-Julien and Jordan 2006, appendix A): minimise

    sum_i (x_i - a_i)^2 / 2 + sum_jk (z_jk - b_jk)^2 / 2  with  |x_j - x_k| <= z_jk, all in [0, 1].

For given ``x`` the best ``z`` is ``max(min(b, 1), |x_j - x_k|)``, so that an edge costs, up to a
constant and with ``d = x_j - x_k`` and ``b`` cut to 1 at most,

    (|d| - b)^2 / 2  where |d| > b >= 0, else 0;     d^2 / 2 + |b| |d|  where b < 0.

The absolute values are total variation, all else is smooth with pieces of constant curvature.
A step of the proximal gradient method makes total variation exact and finds which nodes are equal
and which are at 0 or 1; a step of Newton's method among all points where these are so, by conjugate
gradients, then ends at the solution as soon as they are the right ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.cut import attraction, ends, graph_of
from assent.kernels.jit import jit
from assent.kernels.maxflow import Network
from assent.kernels.propagate import lean
from assent.kernels.total_variation import solve_total_variation

# A proximal step that moves no node by more than this has found its fixed point.
TOLERANCE = 1e-11

MOST_STEPS = 1000
MOST_HALVINGS = 20

# Conjugate gradients stop when the residual is this small, relative to the first one; the
# curvature is at least 1 and at most 1 + 2 · neighbours, so a few dozen rounds are enough.
RESIDUAL = 1e-13
MOST_ROUNDS = 500


# Costs this close, relative to their size, count as equal.
ROUNDING = 1e-13


class Task(NamedTuple):
    """A projection with edges shared."""

    a: np.ndarray  # float64[n]
    b: np.ndarray  # float64[E], at most 1
    known: np.ndarray  # bool[n]: evidence tells x
    x: np.ndarray  # float64[n]
    flow: np.ndarray  # float64[E]: of the total variation, from first to second end


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
def cost(task, graph, x):
    """What ``x`` costs."""
    total = 0.0
    for node in range(len(x)):
        if not task.known[node]:
            total += 0.5 * (x[node] - task.a[node]) ** 2
    for edge in range(len(task.b)):
        j, k = ends(graph, edge)
        d, b = abs(x[j] - x[k]), task.b[edge]
        if b < 0.0:
            total += (0.5 * d - b) * d
        elif d > b:
            total += 0.5 * (d - b) ** 2
    return total


@lean
def weigh(task, graph, bold, weight):
    """The curvature that a proximal step assumes in every coordinate, ``weight[n]``.

    An upper limit, with which no step fails, or boldly the curvature there is in this place.
    """
    for node in range(len(weight)):
        weight[node] = 1.0
    for edge in range(len(task.b)):
        j, k = ends(graph, edge)
        b = task.b[edge]
        own = 2.0 if b < 1.0 else 0.0
        if bold:
            own = 1.0 if b < 0.0 or abs(task.x[j] - task.x[k]) > b else 0.0
        weight[j] += own
        weight[k] += own


@jit
def proximal_step(task, graph, network, weight, capacity, held):
    """Replace ``task.x`` by what one proximal gradient step makes of it; returns the largest move.

    ``weight[n]`` is the curvature it assumes.  The network's blocks are those of equal values
    afterwards.
    """
    x = task.x
    n = len(x)
    before = x.copy()
    for node in range(n):
        held[node] = weight[node] * x[node] - (x[node] - task.a[node])
        network.block[node] = 0 if task.known[node] else 1
    for edge in range(len(task.b)):
        j, k = ends(graph, edge)
        own = pull(task.b[edge], x[j] - x[k])
        held[j] -= own
        held[k] += own
    start_flow(graph, capacity, task.flow, network, held, x)
    solve_total_variation(network, weight, held, x)
    read_flow(graph, capacity, network, task.flow)
    moved = 0.0
    for node in range(n):
        moved = max(moved, abs(x[node] - before[node]))
    return moved


@lean
def find(group, node):
    """The group of a node."""
    while group[node] != node:
        group[node] = group[group[node]]
        node = group[node]
    return node


@lean
def group_nodes(task, graph, block, group):
    """Join nodes that total variation holds at a common value: ``group[n]`` is one of them."""
    for node in range(len(group)):
        group[node] = node
    for edge in range(len(task.b)):
        j, k = ends(graph, edge)
        if task.b[edge] < 0.0 and block[j] == block[k]:
            group[find(group, j)] = find(group, k)
    for node in range(len(group)):
        group[node] = find(group, node)


@lean
def multiply(task, graph, group, moves, curved, y, out):
    """``out = H y`` for one number per group; only groups that move have rows."""
    for node in range(len(group)):
        out[node] = 0.0
    for node in range(len(group)):
        if moves[group[node]]:
            out[group[node]] += y[group[node]]
    for edge in range(len(task.b)):
        if curved[edge]:
            j, k = ends(graph, edge)
            j, k = group[j], group[k]
            own = y[j] - y[k]
            if moves[j]:
                out[j] += own
            if moves[k]:
                out[k] -= own


@jit
def newton_step(task, graph, block):
    """Improve ``task.x`` among points with the same nodes equal, or at 0 and 1."""
    x = task.x
    n = len(x)
    group, moves = np.empty(n, np.int64), np.zeros(n, np.bool_)
    curved = np.zeros(len(task.b), np.bool_)
    group_nodes(task, graph, block, group)
    gradient = np.zeros(n)
    diagonal = np.zeros(n)
    for node in range(n):
        moves[node] = group[node] == node and not task.known[node] and 0.0 < x[node] < 1.0
    for node in range(n):
        if moves[group[node]]:
            gradient[group[node]] += x[node] - task.a[node]
            diagonal[group[node]] += 1.0
    for edge in range(len(task.b)):
        j, k = ends(graph, edge)
        d, b = x[j] - x[k], task.b[edge]
        j, k = group[j], group[k]
        if j == k or not (moves[j] or moves[k]):
            continue
        own = pull(b, d)
        if b < 0.0:
            own += -b if d > 0.0 else b
        curved[edge] = b < 0.0 or abs(d) > b
        for node, sign in ((j, 1.0), (k, -1.0)):
            if moves[node]:
                gradient[node] += sign * own
                diagonal[node] += 1.0 if curved[edge] else 0.0
    # Conjugate gradients on H step = -gradient.
    step, product = np.zeros(n), np.empty(n)
    residual = -gradient
    search = np.zeros(n)
    length, least = 0.0, 0.0
    for turn in range(MOST_ROUNDS):
        new = 0.0
        for node in range(n):
            if moves[node]:
                new += residual[node] * residual[node] / diagonal[node]
        if turn == 0:
            least = RESIDUAL * RESIDUAL * new
        if new <= least:
            break
        for node in range(n):
            if moves[node]:
                turned = 0.0 if turn == 0 else new / length * search[node]
                search[node] = residual[node] / diagonal[node] + turned
        length = new
        multiply(task, graph, group, moves, curved, search, product)
        along = 0.0
        for node in range(n):
            along += search[node] * product[node]
        for node in range(n):
            step[node] += new / along * search[node]
            residual[node] -= new / along * product[node]
    worth = cost(task, graph, x)
    trial = np.empty(n)
    share = 1.0
    for _ in range(MOST_HALVINGS):
        for node in range(n):
            trial[node] = x[node]
            if moves[group[node]]:
                trial[node] = min(max(x[node] + share * step[group[node]], 0.0), 1.0)
        if cost(task, graph, trial) < worth:
            x[:] = trial
            return
        share *= 0.5


@jit
def project_edges(data, base, a, memory, q):
    """Edges shared; ``memory[n + E]`` has the last nodes and the flow.  Returns the steps taken."""
    n, edges = data[0], data[1]
    graph = graph_of(data)
    network = empty_network(graph, n)
    task = Task(
        np.empty(n), np.empty(edges), np.empty(n, np.bool_), memory[:n], memory[n : n + edges]
    )
    read_nodes(base, a, task.a, task.x, network.block)
    weight, held, capacity = np.empty(n), np.empty(n), np.empty(edges)
    before, flow_before = np.empty(n), np.empty(edges)
    reach = 1.0  # more than all nodes and edges together can pull at
    for node in range(n):
        task.known[node] = network.block[node] == 0
        reach += abs(task.a[node]) + 1.0
    for edge in range(edges):
        reach += abs(min(a[2 * (n + edge) + 1], 1.0)) + 1.0
    for edge in range(edges):
        slot = 2 * (n + edge)
        task.b[edge] = min(a[slot + 1], 1.0)
        if base[slot] == -np.inf:
            task.b[edge] = 1.0  # it is true, and the ends are free
        elif base[slot + 1] == -np.inf:
            task.b[edge] = -reach  # it is false, and the ends are equal
        capacity[edge] = max(-task.b[edge], 0.0)
    steps = MOST_STEPS
    for step in range(MOST_STEPS):
        before[:] = task.x
        flow_before[:] = task.flow
        worth = cost(task, graph, task.x)
        weigh(task, graph, True, weight)
        moved = proximal_step(task, graph, network, weight, capacity, held)
        if cost(task, graph, task.x) > worth + ROUNDING * abs(worth):
            task.x[:] = before
            task.flow[:] = flow_before
            weigh(task, graph, False, weight)
            moved = proximal_step(task, graph, network, weight, capacity, held)
        if moved <= TOLERANCE:
            steps = step
            break
        newton_step(task, graph, network.block)
    for node in range(n):
        q[2 * node] = 1.0 - task.x[node]
        q[2 * node + 1] = task.x[node]
    for edge in range(edges):
        j, k = ends(graph, edge)
        slot = 2 * (n + edge)
        z = min(max(a[slot + 1], abs(task.x[j] - task.x[k])), 1.0)
        if base[slot] == -np.inf or base[slot + 1] == -np.inf:
            z = 1.0 if base[slot] == -np.inf else 0.0
        q[slot] = 1.0 - z
        q[slot + 1] = z
    return steps


@jit
def project_cut(start, data, base, a, inner, scale, memory, q):
    """The nearest point ``q[places]`` to ``a[places]``; returns the inner value."""
    if data[2] == 1:
        project_edges(data, base, a, memory, q)
        return 0.0
    return project_nodes(data, base, a, inner, scale, memory, q)
