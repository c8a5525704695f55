"""Coarse decompositions: few large factors in place of many small ones.

A pairwise model written edge by edge, or as chains or trees that together hold every edge once, has
the same relaxation: a tree's hull is what its edges say together.  Which converges in fewer
iterations, and which in less time, is another matter; `python -m benchmarks decompositions` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.chain import Chain
from assent.factors.forest import fit_tables
from assent.factors.tree import Tree
from assent.kernels.problem import Float
from assent.model.variables import Categorical, Literals


def grid_chains(variables: Categorical | Literals, *, across: Any, down: Any) -> list[Chain]:
    """A grid as a chain for every row and a chain for every column.

    Args:
        variables: shape ``(R, C)``, or with more axes in front for several grids.
        across: tables ``[left, right]`` between neighbours in a row, one ``[K, K]`` for all or
            shape ``(R, C - 1, K, K)``.
        down: tables ``[upper, lower]`` between neighbours in a column, one ``[K, K]`` for all
            or shape ``(R - 1, C, K, K)``.

    Returns:
        The rows as one batch and the columns as another, to be added to the graph; a batch
        whose chains would have a single variable is left out.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> label = g.categorical((3, 4), states=2, name="label")
        >>> for chains in at.grid_chains(label, across=np.eye(2), down=np.eye(2)):
        ...     print(g.add(chains).shape)
        (3,)
        (4,)
    """
    if not isinstance(variables, (Categorical, Literals)) or variables.ndim < 2:
        raise ModelError(f"grid_chains takes an array of two axes or more, got {variables!r}")
    height, width = variables.shape[-2:]
    chains = []
    if width > 1:
        chains.append(Chain(variables, transitions=across))
    if height > 1:
        chains.append(Chain(_turned(variables), transitions=_turned_tables(variables, down)))
    return chains


def _turned(variables: Categorical | Literals) -> Categorical | Literals:
    """The same grid with its columns as rows."""
    if isinstance(variables, Literals):
        return Literals(variables.graph, variables.codes.swapaxes(-1, -2))
    codes = variables.codes.swapaxes(-2, -3)
    return Categorical(variables.graph, codes, variables.states, variables.lookup)


def _turned_tables(variables: Categorical | Literals, down: Any) -> Float:
    """Tables ``(…, R - 1, C, K, K)`` as the turned grid's ``(…, C, R - 1, K, K)``."""
    *batch, height, width = variables.shape
    states = 2 if isinstance(variables, Literals) else len(variables.states)
    edges = [(states, states)] * width
    axes = "grids, rows, columns, upper, lower"
    columns = fit_tables("grid_chains", down, (*batch, height - 1), edges, axes)
    return np.stack(columns, axis=len(batch))


def tree_cover(variables: Any, edges: Any, *, scores: Any) -> list[Tree]:
    """A pairwise model with cycles as trees that together hold every edge once.

    Args:
        variables: array of one axis, or a list of categorical variables and literals.
        edges: ``[E, 2]`` positions of the variables each edge joins.
        scores: one table ``[K of the first, K of the second]`` for every edge, as a list, or as
            an array that broadcasts to ``(E, K, K)``.

    Returns:
        The trees, to be added to the graph.  Edges go, in their order, to the first forest in
        which they close no cycle.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.categorical(3, states=2, name="x")
        >>> at.tree_cover(x, [(0, 1), (1, 2), (2, 0)], scores=np.eye(2))
        [Tree(x[0], x[1], x[2]), Tree(x[0], x[2])]
    """
    nodes = list(variables)
    pairs = _clean_edges(edges, len(nodes))
    states = [2 if isinstance(node, Literals) else len(node.states) for node in nodes]
    wanted = [(states[a], states[b]) for a, b in pairs]
    tables = fit_tables("tree_cover", scores, (), wanted, "edges, first, second")
    trees = []
    for forest in _forests(pairs, len(nodes)):
        trees += [_tree(nodes, pairs, tables, own) for own in _components(pairs, forest)]
    return trees


def _clean_edges(edges: Any, n: int) -> list[tuple[int, int]]:
    array = np.asarray(edges)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ModelError(f"tree_cover: edges are pairs of positions [E, 2], got {edges!r}")
    bad = (array < 0).any(axis=1) | (array >= n).any(axis=1) | (array[:, 0] == array[:, 1])
    if bad.any():
        edge = tuple(array[bad][0].tolist())
        raise ModelError(
            f"tree_cover: edge {edge} does not join two different variables of 0..{n - 1}"
        )
    return [(int(a), int(b)) for a, b in array]


def _forests(pairs: Sequence[tuple[int, int]], n: int) -> list[list[int]]:
    """Numbers of the edges, each in the first forest where it closes no cycle."""
    forests: list[list[int]] = []
    rest = list(range(len(pairs)))
    while rest:
        leader, own, later = list(range(n)), [], []
        for e in rest:
            a, b = (_leader(leader, v) for v in pairs[e])
            if a == b:
                later.append(e)
            else:
                leader[a] = b
                own.append(e)
        forests.append(own)
        rest = later
    return forests


def _leader(leader: list[int], v: int) -> int:
    """The node that stands for the tree of ``v``; paths are halved on the way."""
    while leader[v] != v:
        leader[v] = leader[leader[v]]
        v = leader[v]
    return v


def _components(
    pairs: Sequence[tuple[int, int]], forest: Sequence[int]
) -> list[list[tuple[int, int]]]:
    """The trees of a forest as ``(node, edge to its parent)``, parents first, -1 at the root."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for e in forest:
        a, b = pairs[e]
        beside.setdefault(a, []).append((b, e))
        beside.setdefault(b, []).append((a, e))
    trees, seen = [], set()
    for root in sorted(beside):
        if root in seen:
            continue
        seen.add(root)
        tree = [(root, -1)]
        for node, _ in tree:  # grows while it is read
            fresh = [(other, e) for other, e in beside[node] if other not in seen]
            seen.update(other for other, _ in fresh)
            tree += fresh
        trees.append(tree)
    return trees


def _tree(
    nodes: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    tables: Sequence[Float],
    tree: Sequence[tuple[int, int]],
) -> Tree:
    """One tree as a factor, each table with the parent's state first."""
    place = {node: i for i, (node, _) in enumerate(tree)}
    parents, own = [-1], []
    for node, edge in tree[1:]:
        first, second = pairs[edge]
        parents.append(place[first if second == node else second])
        own.append(tables[edge] if second == node else tables[edge].T)
    return Tree([nodes[node] for node, _ in tree], parents, scores=own)
