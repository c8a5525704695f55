"""Random sentences to parse, written as a tree, as flows, in rules, or with head automata.

Arcs score N(0, 1) and pairs of arcs (siblings and grandparents) N(0, 0.1), the second number
being a variance.  A *planted* sentence favours the arcs of a random tree, as a trained model does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import assent as at
from assent.logic.dependency_parser import PartScores, parser

PAIR_SPREAD = np.sqrt(0.1)
# All parts together are thousands: with PAIR_SPREAD each, nothing would be left of the arcs' say.
PART_SPREAD = 0.1
PLANTED = 3.0  # what an arc of the planted tree scores more


@dataclass(frozen=True)
class Sentence:
    """A sentence of ``words``, numbered from 1; 0 is the root."""

    words: int
    seed: int
    planted: bool = False

    @cached_property
    def heads(self) -> np.ndarray:
        """``[words]`` the head of every word in the planted tree."""
        rng = np.random.default_rng([self.seed, self.words, 1])
        # In random order, every word hangs on one that is there already.
        heads, there = np.zeros(self.words, int), [0]
        for word in 1 + rng.permutation(self.words):
            heads[word - 1] = rng.choice(there)
            there.append(int(word))
        return heads

    @cached_property
    def scores(self) -> PartScores:
        """Scores of arcs and of all pairs that share a head or follow each other."""
        rng = np.random.default_rng([self.seed, self.words])
        n = self.words
        arc = rng.normal(size=(n + 1, n))
        if self.planted:
            arc[self.heads, np.arange(n)] += PLANTED
        sibling, grandparent = PAIR_SPREAD * rng.normal(size=(2, n + 1, n, n))
        return PartScores(arc, sibling=sibling, grandparent=grandparent)

    @cached_property
    def all_parts(self) -> PartScores:
        """Head bigrams, next siblings, non-projective arcs and paths as well."""
        rng = np.random.default_rng([self.seed, self.words, 2])
        n, first = self.words, self.scores
        shapes = {
            "head_bigram": (n + 1, n + 1, n),
            "next_sibling": (2, n + 1, n + 2, n + 2),
            "nonprojective": (n + 1, n),
            "path": (n + 1, n),
        }
        return PartScores(
            first.arc, sibling=first.sibling, grandparent=first.grandparent,
            **{part: PART_SPREAD * rng.normal(size=shape) for part, shape in shapes.items()},
        )  # fmt: skip

    def accuracy(self, arcs: Any) -> float:
        """Share of words whose head is the planted one, for ``arcs[A]`` in the order of `ends`."""
        heads, modifiers = self.ends
        chosen = np.asarray(arcs) > 0.5
        return float((self.heads[modifiers[chosen] - 1] == heads[chosen]).sum() / self.words)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Heads and modifiers of all arcs."""
        n = self.words
        arcs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
        heads, modifiers = np.array(arcs).T
        return heads, modifiers


def flow_graph(sentence: Sentence) -> tuple[at.FactorGraph, Any]:
    """The tree as flows: small logic factors only; the graph and its arcs."""
    return _ruled(sentence.scores)


def full_graph(sentence: Sentence) -> tuple[at.FactorGraph, Any]:
    """All parts, tree as flows."""
    return _ruled(sentence.all_parts)


def _ruled(scores: PartScores) -> tuple[at.FactorGraph, Any]:
    graph = parser(scores).graph
    return graph, graph["arc"]


def tree_graph(sentence: Sentence) -> tuple[at.FactorGraph, Any]:
    """One factor for the tree, one for every pair of arcs."""
    graph, scores = at.FactorGraph(), sentence.scores
    heads, modifiers = sentence.ends
    arc = graph.binary(scores=scores.arc[heads, modifiers - 1], name="arc")
    graph.add(at.Arborescence(arc, heads=heads, modifiers=modifiers))
    first, second, pair_scores = _pairs(sentence)
    graph.add(at.Pair(arc[first], arc[second], scores=pair_scores))
    return graph, arc


def automata_graph(sentence: Sentence) -> at.FactorGraph:
    """One factor for the tree, and two automata for every head, with scores of next siblings."""
    graph = at.FactorGraph()
    heads, modifiers = sentence.ends
    ends = {"heads": heads, "modifiers": modifiers}
    arc = graph.binary(scores=sentence.scores.arc[heads, modifiers - 1], name="arc")
    graph.add(at.Arborescence(arc, **ends))
    rng = np.random.default_rng([sentence.seed, sentence.words, 3])
    n = sentence.words
    siblings = PAIR_SPREAD * rng.normal(size=(n + 1, n + 1, n + 2))
    at.add_head_automata(graph, arc, siblings, **ends)
    return graph


def _pairs(sentence: Sentence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of two arcs and their score: siblings, then grandparents."""
    heads, modifiers = sentence.ends
    scores = sentence.scores
    assert scores.sibling is not None and scores.grandparent is not None
    a, b = np.indices((len(heads), len(heads))).reshape(2, -1)
    siblings = (heads[a] == heads[b]) & (modifiers[a] < modifiers[b])
    below = (modifiers[a] == heads[b]) & (heads[a] != modifiers[b])
    first, second = np.append(a[siblings], a[below]), np.append(b[siblings], b[below])
    pair_scores = [
        table[heads[x], modifiers[x] - 1, modifiers[y] - 1]
        for table, x, y in (
            (scores.sibling, a[siblings], b[siblings]),
            (scores.grandparent, a[below], b[below]),
        )
    ]
    return first, second, np.concatenate(pair_scores)
