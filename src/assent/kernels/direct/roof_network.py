"""Kernels of roof duality: the doubled network of literals and the labels its cut leaves open.

Node ``2 v`` stands for "x_v is true", node ``2 v + 1`` for its negation; the mirror image of a node
is ``node ^ 1``.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.union_find import root_of
from assent.kernels.jit import jit


@jit
def mark_kept(tail, head, kept):
    """Which nodes a flow has to look at: of two parts that mirror each other one is enough.

    ``tail[E]`` and ``head[E]`` are the nodes of arcs, whose mirror images are arcs as well.
    """
    parent = np.arange(len(kept))
    for arc in range(len(tail)):
        a, b = root_of(parent, tail[arc]), root_of(parent, head[arc])
        if a != b:
            parent[max(a, b)] = min(a, b)
        a, b = root_of(parent, head[arc] ^ 1), root_of(parent, tail[arc] ^ 1)
        if a != b:
            parent[max(a, b)] = min(a, b)
    for node in range(len(kept)):
        kept[node] = root_of(parent, node) <= root_of(parent, node ^ 1)


@jit
def strong_components(first, head, open_arc, number):
    """Number the strongly connected components of the ``open_arc``s, the last reached first.

    An arc leads to a component of the same or a smaller number (Tarjan, 1972).

    Example:
        >>> first, head = np.array([0, 1, 3, 3]), np.array([1, 0, 2])
        >>> number = np.empty(3, np.int32)
        >>> strong_components(first, head, np.ones(3, np.bool_), number)
        2
        >>> number.tolist()
        [1, 1, 0]
    """
    n = len(number)
    number[:] = -1
    low = np.empty(n, np.int32)
    order = np.full(n, -1, np.int32)
    following = first[:n].copy()
    waiting = np.empty(n, np.int32)  # reached, without a component yet
    path = np.empty(n, np.int32)
    n_waiting, seen, count = 0, 0, 0
    for start in range(n):
        if order[start] >= 0:
            continue
        depth = 0
        path[0] = start
        order[start] = low[start] = seen
        seen += 1
        waiting[n_waiting] = start
        n_waiting += 1
        while depth >= 0:
            node = path[depth]
            arc = following[node]
            if arc < first[node + 1]:
                following[node] += 1
                other = head[arc]
                if not open_arc[arc]:
                    continue
                if order[other] < 0:
                    order[other] = low[other] = seen
                    seen += 1
                    waiting[n_waiting] = other
                    n_waiting += 1
                    depth += 1
                    path[depth] = other
                elif number[other] < 0:
                    low[node] = min(low[node], order[other])
                continue
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[node])
            if low[node] == order[node]:
                while True:
                    n_waiting -= 1
                    member = waiting[n_waiting]
                    number[member] = count
                    if member == node:
                        break
                count += 1
    return count
