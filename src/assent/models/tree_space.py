"""The marginal polytope of a tree or chain: states of its nodes and of its edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from assent.kernels.problem import Float, Int32
from assent.models.space import Rows, Space


class TreeSpace(Space):
    """All assignments of states to the nodes of a tree (or forest), nodes and edges counted.

    Coordinates: the states of node 0, of node 1, …; then for every node with a parent, in order,
    a table ``[states, parent's states]``, flat.  Its linear rows are exact: (2) and (3) of Taskar
    et al. 2006.

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
        from assent.kernels.kinds import tree_recursion

        self.states, self.parents = tuple(states), tuple(parents)
        self.start: Int32 = np.concatenate([[0], np.cumsum(self.states)]).astype(np.int32)
        self.data = tree_recursion.tree_data(self.states, self.parents)
        for array in (self.start, self.data):
            array.flags.writeable = False
        self.nodes = int(self.start[-1])
        shapes = self.table_shapes()
        # The kernel's tables include a root's own, which is not ours, and one score per count.
        self._is_edge = np.concatenate(
            [np.full(k * top, parent >= 0)
             for (k, top), parent in zip(shapes, self.parents, strict=True)] + [np.zeros(1, bool)]
        )  # fmt: skip
        self.size = self.nodes + int(self._is_edge.sum())
        self._kernels = tree_recursion

    def table_shapes(self) -> list[tuple[int, int]]:
        """Shapes of the nodes' tables, ``(states, parent's states)``; a root's has one column."""
        return [
            (k, 1 if parent < 0 else self.states[parent])
            for k, parent in zip(self.states, self.parents, strict=True)
        ]

    def maximize(self, scores: Float) -> Float:
        return self.indicators(self.best_states(scores))

    def best_states(self, scores: Float) -> Int32:
        """The states ``[nodes]`` of the best vertex."""
        nodes, inner = self._split(scores)
        states = np.empty(len(self.states), np.int32)
        self._kernels.maximize_tree(self.start, self.data, nodes, inner, 1.0, states)
        return states

    def project(self, point: Float) -> Float:
        from assent.kernels.core.structure_questions import project_slots

        return project_slots(self._slots, point)

    @cached_property
    def _slots(self) -> Any:
        """Nodes and edges as slots of one structure."""
        from assent.kernels.core.structure_questions import make_slots
        from assent.kernels.kinds.edge_marked_tree import maximize_marked_tree

        areas = [k * top for (k, top), parent in
                 zip(self.table_shapes(), self.parents, strict=True) if parent >= 0]  # fmt: skip
        start = np.concatenate([[0], np.cumsum([*self.states, *areas])]).astype(np.int32)
        start.flags.writeable = False
        return make_slots(start, self.data, maximize_marked_tree)

    def marginals(self, scores: Float) -> tuple[float, Float]:
        nodes, inner = self._split(scores)
        out, parts = np.empty(self.nodes), np.empty(len(inner))
        value = self._kernels.marginals_tree(self.start, self.data, nodes, inner, 1.0, out, parts)
        return float(value), np.concatenate([out, parts[self._is_edge]])

    def indicators(self, states: Int32) -> Float:
        """The vertex ``[size]`` of an assignment of states."""
        parts = np.zeros(len(self._is_edge))
        self._kernels.parts_tree(self.start, self.data, states, 1.0, parts)
        z = np.zeros(self.size)
        z[self.start[:-1] + states] = 1.0
        z[self.nodes :] = parts[self._is_edge]
        return z

    def rows(self) -> Rows:
        """One state per node; an edge's table sums up to the states of both of its ends."""
        from scipy.sparse import coo_array

        entries: list[tuple[int, int, float]] = []
        right: list[float] = []
        for v, k in enumerate(self.states):
            entries += [(v, self.start[v] + s, 1.0) for s in range(k)]
            right.append(1.0)
        place, row = self.nodes, len(right)
        for v, parent in enumerate(self.parents):
            if parent < 0:
                continue
            k, top = self.states[v], self.states[parent]
            table = place + np.arange(k * top).reshape(k, top)
            for own, lines in ((v, table), (parent, table.T)):
                for s, line in enumerate(lines):
                    entries += [(row, c, 1.0) for c in line] + [(row, self.start[own] + s, -1.0)]
                    right.append(0.0)
                    row += 1
            place += k * top
        i, j, value = zip(*entries, strict=True)
        equal = coo_array((value, (i, j)), shape=(row, self.size)).tocsr()
        nothing = coo_array((0, self.size)).tocsr()
        return Rows(equal, np.array(right), nothing, np.zeros(0))

    def _split(self, scores: Float) -> tuple[Float, Float]:
        """Scores of places and of the kernel's tables."""
        inner = np.zeros(len(self._is_edge))
        inner[self._is_edge] = scores[self.nodes :]
        inner.flags.writeable = False
        return np.ascontiguousarray(scores[: self.nodes]), inner


@lru_cache(maxsize=1024)
def chain_space(length: int, states: int) -> TreeSpace:
    """The space of a chain: made once for each length.

    Example:
        >>> chain_space(3, 2).size
        14
    """
    # Rooted at its end: the recursion towards the root reads a transition table row by row.
    return TreeSpace((states,) * length, (*range(1, length), -1))
