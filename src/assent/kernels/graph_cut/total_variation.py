"""Weighted total variation on a graph, exactly: minimise over ``0 <= x <= 1``

    sum_i weight_i (x_i - v_i)^2 / 2  +  sum_jk capacity_jk |x_j - x_k|

by a sequence of minimum cuts (the decomposition algorithm; Hochbaum 2001, Chambolle and Darbon
2009).  The nodes whose ``x`` lies above a level ``t`` are a minimum cut with terminals
``weight (v - t)``.  All nodes begin as one block, at the level that its mean suggests.  What the
cut puts above and below becomes two blocks, each at its own level, and the edges in between,
which are saturated, are left out from then on; what stands on neither side lies at the level
itself.  All blocks are cut at once in one flow, and each flow goes on from the last.

The flow along the edges is the dual solution.  Given again, it is a good start for nearby ``v``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.graph_cut.flow_trees import grow_trees, make_trees, push_along_trees
from assent.kernels.graph_cut.maxflow import SINK, SOURCE, max_flow
from assent.kernels.jit import jit_inline, jit_internal, jit_internal_no_allocation

# Capacities below this share of the largest number around are rounding errors of it.
NEGLIGIBLE = 1e-14

# An excess of a block below this share of the largest number is none.
LEFT_OVER = 1e-12

OPEN, CLOSED = 0, 1

# A node above the level of its block, at it, or below it.
ABOVE, AT, BELOW = 0, 1, 2


class Blocks(NamedTuple):
    """Blocks of nodes that have, or may have, the same value; block 0 holds known nodes."""

    weight: np.ndarray  # float64[n + 1]
    total: np.ndarray  # float64[n + 1]: what its nodes hold
    level: np.ndarray  # float64[n + 1]
    excess: np.ndarray  # float64[n + 1]: what could not flow away
    state: np.ndarray  # int8[n + 1]: OPEN or CLOSED
    size: np.ndarray  # int32[n + 1, 3]: nodes above, at and below
    part: np.ndarray  # int32[n + 1, 3]: the blocks that these go to


@jit_inline
def make_blocks(n):
    """Room for a block per node, and the known ones."""
    return Blocks(
        np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1),
        np.empty(n + 1, np.int8), np.empty((n + 1, 3), np.int32), np.empty((n + 1, 3), np.int32),
    )  # fmt: skip


@jit_internal_no_allocation
def choose_levels(network, weight, held, blocks, count, x, settled):
    """Levels of open blocks, their means within [0, 1], and terminals; returns whether any is.

    ``x[n]`` gets the levels, ``settled[n]`` whether a node's block is closed.
    """
    block = network.block
    some = False
    for b in range(count):
        blocks.weight[b] = blocks.total[b] = blocks.excess[b] = 0.0
        blocks.size[b] = 0
        some = some or blocks.state[b] == OPEN
    for node in range(len(block)):
        blocks.weight[block[node]] += weight[node]
        blocks.total[block[node]] += held[node]
    for b in range(count):
        if blocks.state[b] == OPEN:
            blocks.level[b] = min(max(blocks.total[b] / blocks.weight[b], 0.0), 1.0)
    for node in range(len(block)):
        b = block[node]
        settled[node] = blocks.state[b] == CLOSED
        network.terminal[node] = 0.0
        if not settled[node]:
            x[node] = blocks.level[b]
            network.terminal[node] = held[node] - weight[node] * x[node]
    return some


@jit_internal_no_allocation
def place_of(side):
    """Where a node stands after the flow."""
    return ABOVE if side == SOURCE else (BELOW if side == SINK else AT)


@jit_internal_no_allocation
def split_block(blocks, b, count, limit):
    """What becomes of the parts of an open block; returns the new number of blocks.

    At level 1 what is not below it is settled, at level 0 what is not above it.
    """
    above, at, below = blocks.size[b]
    level = blocks.level[b]
    part = blocks.part[b]
    part[:] = b
    if 0.0 < level < 1.0:
        settled = blocks.excess[b] <= limit or above == 0 or below == 0
    else:
        settled = below == 0 if level == 1.0 else above == 0
        # Only rounding can put all of a block on the wrong side of its mean.
        settled = settled or (below if level == 1.0 else above) == above + at + below
    if settled:
        blocks.state[b] = CLOSED
        return count
    if level == 1.0:
        part[ABOVE] = part[AT] = count
        blocks.state[count] = CLOSED
        blocks.level[count] = level
        return count + 1
    if level == 0.0:
        part[AT] = part[BELOW] = count
        blocks.state[count] = CLOSED
        blocks.level[count] = level
        return count + 1
    part[ABOVE] = count
    blocks.state[count] = OPEN
    count += 1
    if at > 0:
        part[AT] = count
        blocks.state[count] = CLOSED
        blocks.level[count] = level
        count += 1
    return count


@jit_internal
def solve_total_variation(network, weight, held, x, balance):
    """Fill ``x[n]``, and ``network.block`` with blocks of equal values.

    Args:
        network: ``residual`` are the capacities less a flow to begin with, afterwards less the
            dual solution; ``block`` is 1 for nodes to be found and 0 for those that ``x`` tells.
        weight: ``[n]``.
        held: ``[n]`` weight times ``v``, less what the flow takes away; changed in place.
        x: ``[n]``.
        balance: by trees before each flow: pays unless the flow to begin with is nearly right.
    """
    n = len(x)
    blocks = make_blocks(n)
    side = np.empty(n, np.int8)
    block, terminal = network.block, network.terminal
    largest = 0.0
    for node in range(n):
        largest = max(largest, weight[node], abs(held[node]))
    blocks.state[0], blocks.state[1] = CLOSED, CLOSED
    for node in range(n):
        if block[node] == 1:
            blocks.state[1] = OPEN
    count, turn = 2, 0
    settled, trees = np.empty(n, np.bool_), make_trees(n)
    while choose_levels(network, weight, held, blocks, count, x, settled):
        # Blocks of the first turn mostly fall apart, and trees across the cut are no use.
        if balance and turn > 0:
            push_along_trees(network, x, trees, grow_trees(network, x, settled, trees))
        turn += 1
        max_flow(network, NEGLIGIBLE * largest, side)
        for node in range(n):
            b = block[node]
            if blocks.state[b] == CLOSED:
                continue
            held[node] = terminal[node] + weight[node] * blocks.level[b]
            blocks.size[b, place_of(side[node])] += 1
            blocks.excess[b] += max(terminal[node], 0.0)
        before = count
        for b in range(before):
            if blocks.state[b] == OPEN:
                count = split_block(blocks, b, count, LEFT_OVER * largest)
            else:
                blocks.part[b] = b
        for node in range(n):
            block[node] = blocks.part[block[node], place_of(side[node])]
    for node in range(n):
        if block[node] > 0:
            x[node] = blocks.level[block[node]]
