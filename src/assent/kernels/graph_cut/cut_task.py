"""Projection onto a cut polytope with shared edges as a task: what it costs, groups of nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.union_find import root_of
from assent.kernels.graph_cut.maxflow import Graph, Network, make_arcs
from assent.kernels.jit import jit_inline, jit_internal, jit_internal_no_allocation


class CutTask(NamedTuple):
    """A projection with edges shared, on the graph or a contraction of it."""

    graph: Graph
    tail: np.ndarray  # int32[E]: the first end of an edge
    tip: np.ndarray  # int32[E]: the second
    mass: np.ndarray  # float64[n]: nodes of the whole graph that this one stands for
    a: np.ndarray  # float64[n]: their mean
    b: np.ndarray  # float64[E], at most 1
    known: np.ndarray  # bool[n]: evidence tells x
    x: np.ndarray  # float64[n]
    flow: np.ndarray  # float64[E]: of the total variation, from first to second end
    edge: np.ndarray  # int64[E]: the edge of the whole graph


class CutBuffers(NamedTuple):
    """Scratch for tasks up to a size."""

    weight: np.ndarray  # float64[n]
    held: np.ndarray  # float64[n]
    before: np.ndarray  # float64[n]
    capacity: np.ndarray  # float64[E]
    flow_before: np.ndarray  # float64[E]


@jit_inline
def empty_network(graph, n):
    """A network without capacities."""
    return Network(
        graph.first, graph.head, graph.sister, np.empty(len(graph.head)), np.empty(n),
        np.empty(n, np.int32),
    )  # fmt: skip


@jit_internal_no_allocation
def pull(b, d):
    """Derivative of the smooth part of what an edge costs."""
    if b < 0.0:
        return d
    return d - b if d > b else (d + b if d < -b else 0.0)


@jit_internal_no_allocation
def cost(task, x):
    """What ``x`` costs, up to a constant."""
    total = 0.0
    for node in range(len(x)):
        if not task.known[node]:
            total += 0.5 * task.mass[node] * (x[node] - task.a[node]) ** 2
    for edge in range(len(task.b)):
        d, b = abs(x[task.tail[edge]] - x[task.tip[edge]]), task.b[edge]
        if b < 0.0:
            total += (0.5 * d - b) * d
        elif d > b:
            total += 0.5 * (d - b) ** 2
    return total


@jit_internal_no_allocation
def start_flow(graph, tail, tip, capacity, flow, network, held, x):
    """Begin with a flow within the capacities; edges to known nodes are settled."""
    for edge in range(len(capacity)):
        j, k = tail[edge], tip[edge]
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


@jit_internal_no_allocation
def read_flow(graph, capacity, network, flow):
    """The flow that is left in the network."""
    for edge in range(len(flow)):
        flow[edge] = capacity[edge] - network.residual[graph.forward[edge]]


# ------------------------------------------------------------ groups of equal neighbours


@jit_internal_no_allocation
def number_groups(task, block, group, number):
    """Join neighbours of one block that total variation can hold together at the same value.

    ``number[n]`` tells the group; returns how many there are.
    """
    for node in range(len(group)):
        group[node] = node
    for edge in range(len(task.b)):
        if task.b[edge] >= 0.0:
            continue
        j, k = task.tail[edge], task.tip[edge]
        if block[j] == block[k] and block[j] > 0 and task.x[j] == task.x[k]:
            group[root_of(group, j)] = root_of(group, k)
    count = 0
    for node in range(len(group)):
        if group[node] == node:
            number[node] = count
            count += 1
    for node in range(len(group)):
        number[node] = number[root_of(group, node)]
    return count


@jit_internal
def contract(task, block, number):
    """The task with the nodes of every group as one; ``number[n]`` tells which one."""
    n = len(task.x)
    count = number_groups(task, block, np.empty(n, np.int32), number)
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
        j, k = number[task.tail[edge]], number[task.tip[edge]]
        if j != k:
            tails[kept], heads[kept] = j, k
            b[kept], flow[kept], edge_of[kept] = task.b[edge], task.flow[edge], task.edge[edge]
            kept += 1
    tails, heads = tails[:kept], heads[:kept]
    graph = make_arcs(count, tails, heads)
    return CutTask(graph, tails, heads, mass, a, b[:kept], known, x, flow[:kept], edge_of[:kept])
