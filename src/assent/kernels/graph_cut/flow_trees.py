"""Balance by trees: send what nodes have too much along spanning trees to those that lack it.

Maximum flow finds one path at a time, and where a thousand nodes are each a little out of balance
that is a thousand paths.  Along a spanning tree, leaves first, all of them are balanced in one
pass, as far as the capacities allow.  What is left is for
:func:`assent.kernels.graph_cut.maxflow.max_flow`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_inline, jit_internal_no_allocation

# The arc from a node towards the root of its tree, or one of these.
ROOT = -1
UNSEEN = -2


class Trees(NamedTuple):
    """Spanning trees of the blocks of a network."""

    order: np.ndarray  # int32[n]: nodes, parents before children
    up: np.ndarray  # int32[n]: the arc to the parent
    late: np.ndarray  # int32[n]: nodes with neighbours across full arcs only, while trees grow


@jit_inline
def make_trees(n):
    """Room for trees of ``n`` nodes."""
    return Trees(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32))


@jit_internal_no_allocation
def grow_trees(network, x, settled, trees):
    """Span the nodes of equal ``x[n]`` in every block; returns how many nodes there are.

    Nodes that are ``settled[n]`` take no part.  Arcs that are full one way are the last resort:
    nothing can be sent along a tree through them.
    """
    order, up = trees.order, trees.up
    for node in range(len(up)):
        up[node] = UNSEEN
    count = at = late = done = 0
    for root in range(len(up)):
        if up[root] != UNSEEN or settled[root]:
            continue
        up[root] = ROOT
        order[count] = root
        count += 1
        while at < count or done < late:
            if at < count:
                count, full = branch(network, x, trees, order[at], False, count)
                if full:
                    trees.late[late] = order[at]
                    late += 1
                at += 1
            else:
                count, _ = branch(network, x, trees, trees.late[done], True, count)
                done += 1
    return count


@jit_internal_no_allocation
def branch(network, x, trees, node, every, count):
    """Hang a node's neighbours below it; those across full arcs where ``every`` one is wanted.

    Returns the new number of nodes, and whether one was left out.
    """
    left_out = False
    for arc in range(network.first[node], network.first[node + 1]):
        other = network.head[arc]
        if trees.up[other] != UNSEEN or x[other] != x[node]:
            continue
        if network.block[other] != network.block[node]:
            continue
        back = network.sister[arc]
        there, here = network.residual[arc], network.residual[back]
        if min(there, here) > 0.0 or (every and there + here > 0.0):
            trees.up[other] = back
            trees.order[count] = other
            count += 1
        elif there + here > 0.0:
            left_out = True
    return count, left_out


@jit_internal_no_allocation
def push_along_trees(network, x, trees, count):
    """Move ``network.terminal`` towards the roots, where it adds up and cancels.

    The trees have ``count`` nodes.  A node at ``x = 1`` may keep what it has too much, one at
    ``x = 0`` what it lacks.
    """
    residual, terminal = network.residual, network.terminal
    for at in range(count - 1, -1, -1):
        node = trees.order[at]
        arc = trees.up[node]
        if arc == ROOT:
            continue
        back = network.sister[arc]
        amount = 0.0
        if terminal[node] > 0.0 and x[node] < 1.0:
            amount = min(terminal[node], residual[arc])
        elif terminal[node] < 0.0 and x[node] > 0.0:
            amount = -min(-terminal[node], residual[back])
        residual[arc] -= amount
        residual[back] += amount
        terminal[node] -= amount
        terminal[network.head[arc]] += amount


@jit_internal_no_allocation
def number_trees(network, trees, count, number):
    """Say of every node which tree it stands in, from 0; returns how many trees there are."""
    found = 0
    for at in range(count):
        node = trees.order[at]
        arc = trees.up[node]
        if arc == ROOT:
            number[node] = found
            found += 1
        else:
            number[node] = number[network.head[arc]]
    return found
