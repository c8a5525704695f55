"""The nearest point of a cut polytope.

*Edges inner*: the nodes are found by total variation, see
:mod:`assent.kernels.graph_cut.total_variation`.

*Edges shared* (Taskar, Lacoste-Julien and Jordan 2006, appendix A): minimise

    sum_i (x_i - a_i)^2 / 2 + sum_jk (z_jk - b_jk)^2 / 2  with  |x_j - x_k| <= z_jk, all in [0, 1].

For given ``x`` the best ``z`` is ``max(min(b, 1), |x_j - x_k|)``, so that an edge costs, up to a
constant and with ``d = x_j - x_k`` and ``b`` cut to 1 at most,

    (|d| - b)^2 / 2  where |d| > b >= 0, else 0;     d^2 / 2 + |b| |d|  where b < 0.

The absolute values are total variation, all else is smooth with pieces of constant curvature.
The method keeps groups of equal neighbours, which the absolute values hold together.

0. Coordinate descent in the dual finds most of the groups
   (:mod:`assent.kernels.graph_cut.cut_start`).
1. With every group as one node of a smaller graph, a step of the proximal gradient method, which
   takes total variation exactly, tells which nodes become equal, 0 or 1; groups grow.  (Not in the
   first turn.)
2. Among all points where these are so, a step of Newton's method by conjugate gradients.
3. What pulls at the nodes of a group can be balanced by a flow within it, or else the cut found
   takes the group apart.  If all is balanced, this is the solution; else again from 1, unless
   that moves nothing: what stays where it is under a proximal step is the solution as well.
   (Rounding can make 3 split what 1 joins, on and on.)
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.core.union_find import root_of
from assent.kernels.graph_cut.cut_groups import split_groups, tolerance
from assent.kernels.graph_cut.cut_network import attraction, ends, graph_of
from assent.kernels.graph_cut.cut_newton import newton_step
from assent.kernels.graph_cut.cut_proximal import proximal_step
from assent.kernels.graph_cut.cut_start import descend_inner, descend_shared, hold
from assent.kernels.graph_cut.cut_task import (
    CutBuffers,
    CutTask,
    contract,
    empty_network,
    pull,
    read_flow,
    start_flow,
)  # fmt: skip
from assent.kernels.graph_cut.flow_trees import make_trees
from assent.kernels.graph_cut.maxflow import Graph
from assent.kernels.graph_cut.total_variation import solve_total_variation
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation, jit_structure

MOST_STEPS = 1000

# Passes of coordinate descent before anything else, and rounds of them: as many as pay, on networks
# of thousands of nodes with four to six neighbours.
INNER_PASSES = 15
SHARED_ROUNDS = 10


@jit_internal_no_allocation
def read_nodes(base, a, v, x, block):
    """The point ``v[n]``, and ``x`` of known nodes; their block is 0, that of others 1."""
    for node in range(len(x)):
        v[node] = a[2 * node + 1]
        block[node] = 1
        if base[2 * node] == -np.inf or base[2 * node + 1] == -np.inf:
            x[node] = 1.0 if base[2 * node] == -np.inf else 0.0
            block[node] = 0


@jit_internal_no_allocation
def read_ends(graph, tail, tip):
    """Both ends of all edges, for loops that look at them often."""
    for edge in range(len(tail)):
        tail[edge], tip[edge] = ends(graph, edge)


@jit_internal_no_allocation
def free_known(block, x, held):
    """Let known nodes hold so much that they stay where they are."""
    for node in range(len(x)):
        if block[node] == 0:
            held[node] = np.inf if x[node] == 1.0 else -np.inf


@jit_internal
def project_nodes(data, base, a, inner, scale, memory, q):
    """Edges inner; ``memory[E]`` is the flow.  Returns the inner value."""
    n, edges = data[0], data[1]
    graph = graph_of(data)
    network = empty_network(graph, n)
    held, x, capacity = np.empty(n), np.empty(n), np.empty(edges)
    tail, tip = np.empty(edges, np.int32), np.empty(edges, np.int32)
    read_ends(graph, tail, tip)
    read_nodes(base, a, held, x, network.block)
    for edge in range(edges):
        own, other, most = attraction(inner, edge)
        held[tail[edge]] += scale * own
        held[tip[edge]] += scale * other
        capacity[edge] = max(scale * most, 0.0)
    flow, rest = memory[:edges], held.copy()
    hold(tail, tip, flow, rest)
    free_known(network.block, x, rest)
    descend_inner(tail, tip, capacity, INNER_PASSES, flow, rest)
    start_flow(graph, tail, tip, capacity, flow, network, held, x)
    solve_total_variation(network, np.ones(n), held, x, True)
    read_flow(graph, capacity, network, flow)
    for node in range(n):
        q[2 * node] = 1.0 - x[node]
        q[2 * node + 1] = x[node]
    earned = 0.0
    for edge in range(edges):
        j, k = tail[edge], tip[edge]
        both = min(x[j], x[k])
        s00, s01, s10, s11 = inner[4 * edge : 4 * edge + 4]
        earned += s00 * (1.0 - max(x[j], x[k])) + s01 * (x[k] - both)
        earned += s10 * (x[j] - both) + s11 * both
    return earned


@jit_internal_no_allocation
def join_by_force(task, force, held, group, total, block):
    """Make nodes equal whose edge would hold back more than it has to; ``block[n]`` tells groups.

    ``total[2, n]`` is scratch.  What a group holds on average is where it lies.
    """
    n = len(task.x)
    for node in range(n):
        group[node] = node
        total[0, node] = total[1, node] = 0.0
    for edge in range(len(task.b)):
        j, k = task.tail[edge], task.tip[edge]
        most = -task.b[edge]
        if abs(force[edge]) < most and not task.known[j] and not task.known[k]:
            group[root_of(group, j)] = root_of(group, k)
        task.flow[edge] = min(max(force[edge], -most), most) if most > 0.0 else 0.0
    for node in range(n):
        own = root_of(group, node)
        total[0, own] += held[node]
        total[1, own] += 1.0
    for node in range(n):
        own = group[node] = root_of(group, node)
        block[node] = own + 1
        if task.known[node]:
            block[node] = 0
        else:
            task.x[node] = min(max(total[0, own] / total[1, own], 0.0), 1.0)


@jit_internal
def start_shared(task, block, buffers):
    """Improve ``task.x`` and ``task.flow`` by coordinate descent and a step of Newton's method."""
    n, edges = len(task.x), len(task.b)
    force, held = buffers.flow_before[:edges], buffers.held[:n]
    for edge in range(edges):
        j, k = task.tail[edge], task.tip[edge]
        force[edge] = task.flow[edge] + pull(task.b[edge], task.x[j] - task.x[k])
    copy_values(task.a, held)
    hold(task.tail, task.tip, force, held)
    free_known(block, task.x, held)
    busy = np.empty(edges, np.int32)
    descend_shared(task.tail, task.tip, task.b, SHARED_ROUNDS, force, held, busy)
    join_by_force(task, force, held, np.empty(n, np.int32), np.empty((2, n)), block)
    number = np.empty(n, np.int32)
    smaller = contract(task, block, number)
    newton_step(smaller)
    for node in range(n):
        task.x[node] = smaller.x[number[node]]


@jit
def improve(whole, block, buffers):
    """A proximal step with equal neighbours of one block held together, then a Newton step with
    those that it has joined.  Returns how far nodes move at most.
    """
    n = len(whole.x)
    first = np.empty(n, np.int32)
    task = contract(whole, block, first)
    network = empty_network(task.graph, len(task.x))
    proximal_step(task, network, buffers, True)
    second = np.empty(len(task.x), np.int32)
    smaller = contract(task, network.block, second)
    newton_step(smaller)
    farthest = 0.0
    for node in range(n):
        x = smaller.x[second[first[node]]]
        farthest = max(farthest, abs(x - whole.x[node]))
        whole.x[node] = x
    for edge in range(len(task.edge)):
        whole.flow[task.edge[edge]] = task.flow[edge]
    return farthest


@jit_internal_no_allocation
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


@jit_internal
def project_edges(data, base, a, memory, q):
    """Edges shared; ``memory[n + E]`` has the last nodes and the flow.

    Returns the number of steps.
    """
    n, edges = data[0], data[1]
    own = graph_of(data)
    # Copies: contracted graphs are not read-only, and functions are compiled for one type.
    graph = Graph(own.first.copy(), own.head.copy(), own.sister.copy(), own.forward.copy())
    network = empty_network(graph, n)
    task = CutTask(
        graph, np.empty(edges, np.int32), np.empty(edges, np.int32), np.ones(n), np.empty(n),
        np.empty(edges), np.empty(n, np.bool_), memory[:n], memory[n : n + edges],
        np.empty(edges, np.int64),
    )  # fmt: skip
    buffers = CutBuffers(np.empty(n), np.empty(n), np.empty(n), np.empty(edges), np.empty(edges))
    trees = make_trees(n)
    fresh = True
    for number in memory:
        fresh = fresh and number == 0.0
    read_ends(graph, task.tail, task.tip)
    read_nodes(base, a, task.a, task.x, network.block)
    for node in range(n):
        task.known[node] = network.block[node] == 0
        if fresh and not task.known[node]:
            task.x[node] = min(max(task.a[node], 0.0), 1.0)
    read_edges(data, base, a, task)
    start_shared(task, network.block, buffers)
    steps, moved, limit = 1, np.inf, tolerance(task)
    while moved > limit and split_groups(task, network, buffers, trees) > 0 and steps < MOST_STEPS:
        steps += 1
        moved = improve(task, network.block, buffers)
    write_point(data, base, a, task, q)
    return steps


@jit_internal_no_allocation
def write_point(data, base, a, task, q):
    """The solution as numbers of places."""
    n = data[0]
    for node in range(n):
        q[2 * node] = 1.0 - task.x[node]
        q[2 * node + 1] = task.x[node]
    for edge in range(data[1]):
        j, k = task.tail[edge], task.tip[edge]
        slot = 2 * (n + edge)
        z = min(max(a[slot + 1], abs(task.x[j] - task.x[k])), 1.0)
        if base[slot] == -np.inf or base[slot + 1] == -np.inf:
            z = 1.0 if base[slot] == -np.inf else 0.0
        q[slot] = 1.0 - z
        q[slot + 1] = z


@jit_structure
def project_cut(start, data, base, a, inner, scale, memory, q):
    """The nearest point ``q[places]`` to ``a[places]``; returns the inner value."""
    if data[2] == 1:
        project_edges(data, base, a, memory, q)
        return 0.0
    return project_nodes(data, base, a, inner, scale, memory, q)
