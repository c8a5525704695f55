"""Instances made up on the spot: they need no data and come in any size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import assent as at


def torus_edges(side: int) -> NDArray[np.int32]:
    """Edges ``[2 * side^2, 2]`` of a square grid whose borders are joined."""
    cells = np.arange(side * side, dtype=np.int32).reshape(side, side)
    right = np.stack([cells, np.roll(cells, -1, axis=1)], axis=-1)
    down = np.stack([cells, np.roll(cells, -1, axis=0)], axis=-1)
    return np.concatenate([right.reshape(-1, 2), down.reshape(-1, 2)])


def torus(side: int, coupling: float = 1.0, seed: int = 0) -> at.FactorGraph:
    """Toroidal Ising model: fields from U[-1, 1], couplings from U[-coupling, coupling].

    A coupling ``c`` rewards equal neighbours: ``c [x = y] = c - c x - c y + 2 c x y``.
    """
    rng = np.random.default_rng(seed)
    edges = torus_edges(side)
    c = rng.uniform(-coupling, coupling, len(edges))
    theta = rng.uniform(-1.0, 1.0, side * side)
    theta -= np.bincount(edges.ravel(), weights=np.repeat(c, 2), minlength=side * side)
    graph = at.FactorGraph()
    x = graph.binary(side * side, scores=theta, name="x")
    graph.add(at.Pair(x[edges[:, 0]], x[edges[:, 1]], scores=2.0 * c))
    graph.add_constant(float(c.sum()))
    return graph


def assignment(people: int, jobs: int, seed: int = 0) -> at.FactorGraph:
    """Everybody gets one job, a job has room for two, some pairs of choices are liked or not."""
    rng = np.random.default_rng(seed)
    graph = at.FactorGraph()
    does = graph.binary((people, jobs), scores=rng.normal(size=(people, jobs)), name="does")
    graph.add(at.ExactlyOne(does, axis=1))
    graph.add(at.AtMost(2, does, axis=0))
    open_job = graph.binary(jobs, scores=-0.5, name="open")
    graph.add(at.AtLeastOne(does, axis=0, output=open_job))
    likes = rng.normal(size=(people - 1, jobs))
    graph.add(at.Pair(does[:-1], does[1:], scores=likes))
    return graph


def sentence(words: int, seed: int = 0) -> at.FactorGraph:
    """Second-order parsing: a tree and the head automata of all heads, over all arcs.

    Scores of arcs come from U[-0.5, 0.5], first for the heads of word 1, then of word 2, …; those
    of consecutive siblings from U[-0.05, 0.05], to the right of head 0, of 1, …, then to the left.
    The archives ``parse_tree_n{words + 1}_s{seed}`` hold the same numbers.
    """
    rng = np.random.default_rng(seed)
    n = words + 1
    arcs = np.array([(h, m) for m in range(1, n) for h in range(n) if h != m])
    scores = rng.random(len(arcs)) - 0.5
    right = [(h, a, b) for h in range(n) for a in range(h, n) for b in range(a + 1, n + 1)]
    left = [(h, a, b) for h in range(1, n) for a in range(h, 0, -1) for b in range(a - 1, -1, -1)]
    triples = np.array(right + left)
    return parsing_graph(n, arcs, scores, triples, 0.1 * (rng.random(len(triples)) - 0.5))


def parsing_graph(n: int, arcs: Any, scores: Any, siblings: Any, sibling_scores: Any) -> Any:
    """A tree over ``arcs[A, 2]`` (head, word) and automata for ``siblings[S, 3]``.

    ``n`` counts the root; see `assent.add_head_automata` on siblings (head, before, after).
    """
    graph = at.FactorGraph()
    arc = graph.binary(scores=scores, name="arc")
    ends = {"heads": arcs[:, 0], "modifiers": arcs[:, 1]}
    table = np.zeros((n, n, n + 1))
    table[tuple(siblings.T)] = sibling_scores
    graph.add(at.Arborescence(arc, **ends))
    at.add_head_automata(graph, arc, table, **ends)
    return graph
