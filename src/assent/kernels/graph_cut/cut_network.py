"""Binary networks whose neighbours attract each other: cuts of a graph.

``data``, made by :func:`cut_data`, is ``[nodes, edges, whether edges are shared]`` and the arcs of
the graph, see :mod:`assent.kernels.graph_cut.maxflow`.  The first slots are the nodes, literals.

*Edges inner*: ``inner`` has a table ``[2, 2]`` per edge, scores of the states of its two ends, in
which being equal is worth at least as much as being different:

    s00 + s11 - s01 - s10 = 2 c >= 0.

Up to scores of single nodes that is ``-c`` where the ends differ: the capacity of the edge.

*Edges shared*: every edge has a slot of its own behind the nodes, a literal that is true at least
where the ends differ.  There are no inner parts.

The best labelling is a minimum cut, which maximum flow finds.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.graph_cut.maxflow import SOURCE, Graph, Network, make_arcs, max_flow
from assent.kernels.jit import jit_inline, jit_internal_no_allocation, jit_structure

HEADER = 3


def cut_data(n: int, edges: np.ndarray, shared: bool) -> np.ndarray:
    """The constants of a network of ``n`` nodes with ``edges[E, 2]``.

    Example:
        >>> import numpy as np
        >>> cut_data(2, np.array([[0, 1]]), False).tolist()
        [2, 1, 0, 0, 1, 2, 1, 0, 1, 0, 0]
    """
    arcs = make_arcs(n, *np.ascontiguousarray(np.reshape(edges, (-1, 2)).T, np.int32))
    return np.concatenate([[n, len(edges), int(shared)], *arcs]).astype(np.int32)


@jit_inline
def graph_of(data):
    """The graph in ``data``."""
    n, edges = data[0], data[1]
    head = HEADER + n + 1
    return Graph(
        data[HEADER:head], data[head : head + 2 * edges],
        data[head + 2 * edges : head + 4 * edges], data[head + 4 * edges :],
    )  # fmt: skip


@jit_internal_no_allocation
def ends(graph, edge):
    """The two nodes of an edge."""
    arc = graph.forward[edge]
    return graph.head[graph.sister[arc]], graph.head[arc]


@jit_internal_no_allocation
def attraction(inner, edge):
    """A table as scores of single nodes being true and a capacity: ``j, k, c``.

    Up to a constant the table is ``j x_j + k x_k - c |x_j - x_k|``.
    """
    s00, s01, s10, s11 = inner[4 * edge : 4 * edge + 4]
    own, other = s10 + s11 - s00 - s01, s01 + s11 - s00 - s10
    return 0.5 * own, 0.5 * other, 0.5 * (s00 + s11 - s01 - s10)


@jit_internal_no_allocation
def read_network(data, graph, scores, inner, scale, network):
    """Terminals and capacities; what cannot be has infinite ones."""
    n = data[0]
    for node in range(n):
        network.terminal[node] = gain(scores, node)
    for edge in range(data[1]):
        if data[2] == 1:
            # The literal costs something only where it need not be true.
            capacity = max(-gain(scores, n + edge), 0.0)
        else:
            j, k = ends(graph, edge)
            own, other, capacity = attraction(inner, edge)
            network.terminal[j] += scale * own
            network.terminal[k] += scale * other
            capacity = max(scale * capacity, 0.0)
        arc = graph.forward[edge]
        network.residual[arc] = capacity
        network.residual[graph.sister[arc]] = capacity


@jit_internal_no_allocation
def gain(scores, slot):
    """What a literal earns by being true; infinite if it has no choice."""
    false, true = scores[2 * slot], scores[2 * slot + 1]
    if false == -np.inf:
        return np.inf
    return true - false


@jit_structure
def maximize_cut(start, data, scores, inner, scale, states):
    """The best vertex."""
    n, edges = data[0], data[1]
    graph = graph_of(data)
    network = Network(
        graph.first, graph.head, graph.sister, np.empty(2 * edges), np.empty(n),
        np.zeros(n, np.int32),
    )  # fmt: skip
    read_network(data, graph, scores, inner, scale, network)
    side = np.empty(n, np.int8)
    impossible = max_flow(network, 0.0, side) == np.inf
    value = 0.0
    for node in range(n):
        states[node] = 1 if side[node] == SOURCE else 0
        value += scores[2 * node + states[node]]
    earned = 0.0
    for edge in range(edges):
        j, k = ends(graph, edge)
        if data[2] == 0:
            earned += inner[4 * edge + 2 * states[j] + states[k]]
            continue
        false, true = scores[2 * (n + edge)], scores[2 * (n + edge) + 1]
        states[n + edge] = 1 if states[j] != states[k] or true > false else 0
        value += scores[2 * (n + edge) + states[n + edge]]
    return (-np.inf if impossible else value + scale * earned), earned


@jit_structure
def parts_cut(start, data, states, weight, out):
    """Add ``weight`` to the entries in use; with shared edges, tell whether it is a vertex."""
    graph = graph_of(data)
    for edge in range(data[1]):
        j, k = ends(graph, edge)
        if data[2] == 0:
            out[4 * edge + 2 * states[j] + states[k]] += weight
        elif states[j] != states[k] and states[data[0] + edge] == 0:
            return False
    return True


@jit_structure
def blend_cut(start, data, q, out):
    """Entries in use at a point ``q[places]`` of the nodes: ends agree as much as they can."""
    graph = graph_of(data)
    if data[2] == 1:
        return
    for edge in range(data[1]):
        j, k = ends(graph, edge)
        own, other = q[2 * j + 1], q[2 * k + 1]
        both = min(own, other)
        out[4 * edge] = 1.0 - max(own, other)
        out[4 * edge + 1] = other - both
        out[4 * edge + 2] = own - both
        out[4 * edge + 3] = both
