"""Groups of equal neighbours in a projection onto a cut polytope: do they hold together?"""

from __future__ import annotations

import numpy as np

from assent.kernels.graph_cut.cut_task import pull, read_flow, start_flow
from assent.kernels.graph_cut.flow_trees import grow_trees, number_trees, push_along_trees
from assent.kernels.graph_cut.maxflow import SINK, SOURCE, max_flow
from assent.kernels.jit import jit_internal, jit_internal_no_allocation

# Capacities below this share of the largest number around are negligible: there is nothing to gain
# from them below what counts as balanced.
NEGLIGIBLE = 1e-12

# Pulls that do not cancel within a group count as balanced up to this, relative to the largest
# number; nodes are then as far from the solution at most.
LEFT_OVER = 1e-10


@jit_internal_no_allocation
def settle_forces(task, network, capacity):
    """What pulls at every node, less total variation between groups: terminals and a flow."""
    x, held = task.x, network.terminal
    for node in range(len(x)):
        held[node] = 0.0 if task.known[node] else task.a[node] - x[node]
    for edge in range(len(task.b)):
        j, k = task.tail[edge], task.tip[edge]
        d = x[j] - x[k]
        own = pull(task.b[edge], d)
        held[j] -= own
        held[k] += own
        most = capacity[edge]
        if d != 0.0:
            task.flow[edge] = most if d > 0.0 else -most
    start_flow(task.graph, task.tail, task.tip, capacity, task.flow, network, held, x)
    for node in range(len(x)):
        if task.known[node]:
            held[node] = 0.0


@jit_internal_no_allocation
def tolerance(task):
    """Up to where pulls count as balanced, and moves of nodes as none."""
    largest = 1.0
    for value in task.a:
        largest = max(largest, abs(value))
    return LEFT_OVER * largest


@jit_internal
def split_groups(task, network, buffers, trees):
    """Take apart groups of equal neighbours that no flow holds together; returns how many.

    ``network.block`` tells the parts: of a group that has to be split those above, at and below its
    value, as the flow has left them.  Without such a group ``task.x`` is the solution.
    """
    n, edges = len(task.x), len(task.b)
    capacity, side, number = buffers.capacity[:edges], np.empty(n, np.int8), np.empty(n, np.int32)
    block = network.block
    limit = tolerance(task)
    for node in range(n):
        block[node] = 0 if task.known[node] else 1
    for edge in range(edges):
        capacity[edge] = max(-task.b[edge], 0.0)
    settle_forces(task, network, capacity)
    spanned = grow_trees(network, task.x, task.known, trees)
    count = number_trees(network, trees, spanned, number)
    for node in range(n):
        block[node] = 0 if task.known[node] else 3 * number[node] + 3
    push_along_trees(network, task.x, trees, spanned)
    max_flow(network, NEGLIGIBLE / LEFT_OVER * limit, side)
    read_flow(task.graph, capacity, network, task.flow)
    return mark_parts(task, network, number, side, count, limit)


@jit_internal
def mark_parts(task, network, number, side, count, limit):
    """Tell the parts of groups in which more than ``limit`` is not balanced; returns how many."""
    up, down = np.zeros(count), np.zeros(count)
    found = 0
    for node in range(len(side)):
        if not task.known[node]:
            up[number[node]] += max(network.terminal[node], 0.0)
            down[number[node]] -= min(network.terminal[node], 0.0)
    for node in range(len(side)):
        if task.known[node]:
            continue
        own = number[node]
        # At 1 nothing can rise, at 0 nothing can fall.
        rises = task.x[node] < 1.0 and up[own] > limit and side[node] == SOURCE
        falls = task.x[node] > 0.0 and down[own] > limit and side[node] == SINK
        network.block[node] += 1 if rises else (2 if falls else 0)
        found += rises or falls
    return found
