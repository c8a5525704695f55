"""The marginal polytope of a tree or chain: states of its nodes and of its edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from assent.kernels.problem import Float, Int32
from assent.models.space import Rows, Space


class TreeSpace(Space):
    """All assignments of states to the nodes of a tree (or forest), over nodes and edges.

    Coordinates: the states of node 0, of node 1, …; then for every node with a parent, in order,
    a table ``[states, parent's states]``, flat.  The local polytope, (2) and (3) of Taskar et al.
    2006, is integral.

    Args:
        states: number of states of each node.
        parents: the parent of each node, -1 for a root.

    Example:
        >>> import numpy as np
        >>> chain = TreeSpace([2, 2], parents=[1, -1])
        >>> chain.maximize(np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0])).tolist()
        [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """

    abilities = ("maximize", "project", "marginals", "rows")

    def __init__(self, states: Sequence[int], parents: Sequence[int]) -> None:
        from assent.kernels.kinds.sequences import tree_recursion

        self.states, self.parents = tuple(states), tuple(parents)
        self.start: Int32 = np.concatenate([[0], np.cumsum(self.states)]).astype(np.int32)
        self.data = tree_recursion.tree_data(self.states, self.parents)
        for array in (self.start, self.data):
            array.flags.writeable = False
        self.nodes = int(self.start[-1])
        # Entries of the nodes' tables, ``states * parent's states``; a root's has one column.
        areas = [
            k * (1 if parent < 0 else self.states[parent])
            for k, parent in zip(self.states, self.parents, strict=True)
        ]
        is_edge = np.asarray(self.parents) >= 0
        self._edge_areas = np.asarray(areas)[is_edge]
        # The kernel's tables include the roots', which are no coordinates here, and one score more.
        self._is_edge = np.append(np.repeat(is_edge, areas), False)
        self.size = self.nodes + int(self._is_edge.sum())
        self._kernels = tree_recursion

    def maximize(self, scores: Float) -> Float:
        return self.indicators(self.best_states(scores))

    def best_states(self, scores: Float) -> Int32:
        """The states ``[nodes]`` of the best vertex."""
        nodes, inner = self._split(scores)
        states = np.empty(len(self.states), np.int32)
        self._kernels.maximize_tree(self.start, self.data, nodes, inner, 1.0, states)
        return states

    def project(self, point: Float) -> Float:
        from assent.kernels.core.structure_oracles import project_slots

        return project_slots(self._slots, point)

    @cached_property
    def _slots(self) -> Any:
        """Nodes and edges as slots of one structure."""
        from assent.kernels.core.structure_oracles import make_slots
        from assent.kernels.kinds.sequences.edge_marked_tree import maximize_marked_tree

        sizes = [0, *self.states, *self._edge_areas]
        start = np.cumsum(sizes).astype(np.int32)
        start.flags.writeable = False
        return make_slots(start, self.data, maximize_marked_tree)

    def marginals(self, scores: Float) -> tuple[float, Float]:
        nodes, inner = self._split(scores)
        out, parts = np.empty(self.nodes), np.empty(len(inner))
        value = self._kernels.marginals_tree(self.start, self.data, nodes, inner, 1.0, out, parts)
        return float(value), np.concatenate([out, parts[self._is_edge]])

    def max_marginals(self, scores: Float) -> Float:
        """The best value with each state of each node, ``[nodes]``."""
        nodes, inner = self._split(scores)
        out = np.empty(self.nodes)
        self._kernels.max_marginals_tree(self.start, self.data, nodes, inner, out)
        return out

    def indicators(self, states: Int32) -> Float:
        """The vertex ``[size]`` of an assignment of states."""
        parts = np.zeros(len(self._is_edge))
        self._kernels.parts_tree(self.start, self.data, states, 1.0, parts)
        z = np.zeros(self.size)
        z[self.start[:-1] + states] = 1.0
        z[self.nodes :] = parts[self._is_edge]
        return z

    def rows(self) -> Rows:
        """Normalisation of each node; both marginals of an edge's table are its ends' states."""
        from scipy.sparse import csr_array, identity, kron, vstack

        unit = identity(self.size, format="csr")
        nodes = [unit[begin:end] for begin, end in pairwise(self.start)]
        blocks = [csr_array(np.ones((1, node.shape[0]))) @ node for node in nodes]
        tables = np.split(np.arange(self.nodes, self.size), np.cumsum(self._edge_areas)[:-1])
        edges = [(v, parent) for v, parent in enumerate(self.parents) if parent >= 0]
        for (v, parent), table in zip(edges, tables if edges else [], strict=True):
            k, top = self.states[v], self.states[parent]
            blocks += [
                kron(identity(k), np.ones((1, top))) @ unit[table] - nodes[v],
                kron(np.ones((1, k)), identity(top)) @ unit[table] - nodes[parent],
            ]
        equal = csr_array(vstack(blocks))
        right = (np.arange(equal.shape[0]) < len(nodes)).astype(np.float64)
        return Rows(equal, right, csr_array((0, self.size)), np.zeros(0))

    def _split(self, scores: Float) -> tuple[Float, Float]:
        """Scores of nodes and of the kernel's tables."""
        inner = np.zeros(len(self._is_edge))
        inner[self._is_edge] = scores[self.nodes :]
        inner.flags.writeable = False
        return np.ascontiguousarray(scores[: self.nodes]), inner


@lru_cache(maxsize=1024)
def chain_space(length: int, states: int) -> TreeSpace:
    """The space of a chain, cached."""
    # Rooted at its end: the recursion towards the root reads a transition table row by row.
    return TreeSpace((states,) * length, (*range(1, length), -1))
