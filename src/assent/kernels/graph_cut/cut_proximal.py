"""A proximal gradient step for projections onto cut polytopes with shared edges."""

from __future__ import annotations

from assent.kernels.core.copies import copy_values
from assent.kernels.graph_cut.cut_newton import ROUNDING
from assent.kernels.graph_cut.cut_task import cost, pull, read_flow, start_flow
from assent.kernels.graph_cut.total_variation import solve_total_variation
from assent.kernels.jit import jit_internal, jit_internal_no_allocation


@jit_internal_no_allocation
def weigh(task, bold, weight):
    """The curvature that a proximal step assumes in every coordinate, ``weight[n]``.

    An upper limit, with which no step fails, or boldly the curvature there is in this place.
    """
    for node in range(len(task.x)):
        weight[node] = task.mass[node]
    for edge in range(len(task.b)):
        j, k = task.tail[edge], task.tip[edge]
        b = task.b[edge]
        own = 2.0 if b < 1.0 else 0.0
        if bold:
            own = 1.0 if b < 0.0 or abs(task.x[j] - task.x[k]) > b else 0.0
        weight[j] += own
        weight[k] += own


@jit_internal_no_allocation
def prepare(task, weight, network, held):
    """What the nodes hold for a proximal step, and the flow to begin with."""
    x = task.x
    for node in range(len(x)):
        held[node] = weight[node] * x[node] - task.mass[node] * (x[node] - task.a[node])
        network.block[node] = 0 if task.known[node] else 1
    for edge in range(len(task.b)):
        j, k = task.tail[edge], task.tip[edge]
        own = pull(task.b[edge], x[j] - x[k])
        held[j] -= own
        held[k] += own


@jit_internal
def proximal_step(task, network, buffers, bold):
    """Replace ``task.x`` by what one proximal gradient step makes of it.

    The network's blocks are those of equal values afterwards.
    """
    n, edges = len(task.x), len(task.b)
    weight, held, capacity = buffers.weight[:n], buffers.held[:n], buffers.capacity[:edges]
    before, flow_before = buffers.before[:n], buffers.flow_before[:edges]
    copy_values(task.x, before)
    copy_values(task.flow, flow_before)
    for edge in range(edges):
        capacity[edge] = max(-task.b[edge], 0.0)
    worth = cost(task, before)
    weigh(task, bold, weight)
    while True:
        prepare(task, weight, network, held)
        start_flow(task.graph, task.tail, task.tip, capacity, task.flow, network, held, task.x)
        solve_total_variation(network, weight, held, task.x, False)
        read_flow(task.graph, capacity, network, task.flow)
        if not bold or cost(task, task.x) <= worth + ROUNDING * abs(worth):
            break
        # It was too bold.
        bold = False
        copy_values(before, task.x)
        copy_values(flow_before, task.flow)
        weigh(task, bold, weight)
