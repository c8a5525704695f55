"""Parts that look at all ancestors of a word: paths in a tree as flows (Martins et al., 2011).

Every word is sent one unit from the root, and only chosen arcs carry it; it passes the word's
ancestors.  A tree factor beside these rules keeps units from running in circles.  The module
`assent.logic.dependency_parser` has the same rules as formulas.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.kernels.problem import Float

Ends = NDArray[np.int64]


def add_paths(graph: at.FactorGraph, arc: Any, heads: Ends, modifiers: Ends, scores: Float) -> Any:
    """Variables ``[n, n]``: whether word a + 1 is above word d + 1; none is above itself.

    Args:
        graph: with a tree over its arcs.
        arc: its variables ``[A]``.
        heads, modifiers: the ends of the arcs, words counting from 1.
        scores: ``(n, n)`` of the paths, for two words at least.
    """
    n = len(scores)
    path = graph.binary(scores=np.where(np.eye(n, dtype=bool), 0.0, scores), name="path")
    # 1. The unit of a word d comes in by a chosen arc, and never goes out again.
    number, d = np.nonzero(heads[:, None] != np.arange(1, n + 1))
    last = modifiers[number] == d + 1
    flow = graph.binary(int((~last).sum()), name="flow")
    graph.add(at.Implies(flow, arc[number[~last]]), name="only arcs carry flow")
    number, d = (np.concatenate([x[last], x[~last]]) for x in (number, d))
    carried = at.concatenate([arc[number[: last.sum()]], flow])
    # 2. It passes a word if it comes in there, and goes on from there.
    inward, outward = (modifiers[number] != d + 1), (heads[number] != 0)
    for name, words, chosen in (("in", modifiers, inward), ("out", heads, outward)):
        key = (words[number[chosen]] - 1) * n + d[chosen]
        ways, passed = np.unique(key), path.ravel()
        if len(ways):
            rule = at.AtMostOne(carried[chosen], by=key, output=passed[ways])
            graph.add(rule, name=f"flow {name}")
        never = np.setdiff1d(np.arange(n * n), ways)
        graph.add(at.All(~passed[never]), name=f"no flow {name}")
    return path


def add_nonprojective(
    graph: at.FactorGraph, arc: Any, path: Any, heads: Ends, modifiers: Ends, scores: Float
) -> None:
    """Score arcs over a word that is not below their head, by ``scores[A]``.

    No arc from the root is such a one, nor is one between neighbours.
    """
    spans = np.abs(heads - modifiers) - 1
    own = np.flatnonzero((heads > 0) & (spans > 0))
    if not len(own):
        return
    below = graph.binary(len(own), name="all below")
    first = np.minimum(heads, modifiers)[own]
    group = np.repeat(np.arange(len(own)), spans[own])
    # Words under an arc, one after the other: a count that begins again with every arc.
    place = np.arange(len(group)) - np.repeat(np.cumsum(spans[own]) - spans[own], spans[own])
    under = path[heads[own][group] - 1, first[group] + place]
    graph.add(at.All(under, by=group, output=below), name="all words under an arc are below")
    graph.add(at.Pair(arc[own], ~below, scores=scores[own]), name="non-projective arcs")
