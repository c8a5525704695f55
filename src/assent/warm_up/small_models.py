"""Small models that between them have every kind of factor."""

from __future__ import annotations

from typing import Any

import numpy as np

import assent as at


def attracting(side: int = 4) -> at.FactorGraph:
    """A grid of pairs that one flow solves."""
    rng = np.random.default_rng(0)
    return _grid(rng.random((2, side, side)))


def frustrated(side: int = 4) -> at.FactorGraph:
    """A grid of pairs that none does."""
    rng = np.random.default_rng(0)
    return _grid(2.0 * rng.normal(size=(2, side, side)))


def _grid(strength: np.ndarray) -> at.FactorGraph:
    """Pairs to the right and downwards, of these scores ``[2, side, side]``."""
    graph = at.FactorGraph()
    x = graph.binary(scores=np.random.default_rng(1).normal(size=strength.shape[1:]), name="x")
    graph.add(at.Pair(x[:, :-1], x[:, 1:], scores=strength[0, :, 1:]))
    graph.add(at.Pair(x[:-1], x[1:], scores=strength[1, 1:]))
    return graph


def constraints(side: int = 6) -> at.FactorGraph:
    """Every constraint on literals, with and without outputs, hard and soft."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    x = graph.binary(scores=rng.normal(size=(side, side)), name="x")
    graph.add(at.ExactlyOne(x, axis=1))
    graph.add(at.AtMostOne(x[0, :3]))
    graph.add(at.AtLeastOne(x[1, :-1], output=x[1, -1]))
    graph.add(at.All(x[2, :2], output=x[2, -1]))
    graph.add(at.Implies(x[3, 0] & x[3, 1], ~x[3, 2]))
    graph.add(at.AtMost(2, x, axis=0))
    graph.add(at.Parity(x[:4, 1]))
    graph.add(at.Pair(x[:-1], x[1:], scores=0.1))
    graph.fix(x[5, 5], 0)
    return graph


def budgets(side: int = 6) -> at.FactorGraph:
    """Constraints that are soft, or have weights."""
    soft: Any = at.Soft
    soft_count: Any = at.SoftCount
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    x = graph.binary(scores=rng.normal(size=(side, side)), name="x")
    graph.add(at.Knapsack(x[0], weights=np.arange(1.0, 1.0 + side), capacity=7.5))
    graph.add(soft(at.AtMost(1, x[:, 2]), penalty=0.5))
    graph.add(soft_count(at.Exactly(1, x[:, 3]), penalty=0.5))
    graph.add(at.Cardinality(x[:4, 4], scores=[0.0, 1.0, -1.0, 0.5, 0.0]))
    graph.add(at.AtLeast(2, x, axis=1))
    return graph


def tables(side: int = 3) -> at.FactorGraph:
    """A grid of labels under tables of scores."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    tag = graph.categorical((side, side), 3, scores=rng.normal(size=(side, side, 3)), name="tag")
    graph.add(at.Potts(tag[:, :-1], tag[:, 1:], scores=0.5))
    graph.add(at.Dense(tag[:-1], tag[1:], scores=rng.normal(size=(3, 3))))
    graph.add(at.Agree(tag[0, 0], tag[-1, -1]))
    return graph


def sequences(length: int = 4) -> at.FactorGraph:
    """Chains and trees of labels that share variables with a rule."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    scores = rng.normal(size=(2, length, 3))
    tag = graph.categorical((2, length), ["O", "B-PER", "I-PER"], scores=scores, name="tag")
    graph.add(at.Chain(tag, transitions=rng.normal(size=(3, 3))))
    graph.add(at.Tree(tag[:, 1], [-1, 0], scores=[rng.normal(size=(3, 3))]))
    graph.add(at.Regular(tag, at.bio(["O", "B-PER", "I-PER"])))
    graph.add(at.AtMost(length // 2, (tag == "O").reshape(-1)))
    return graph


def parses(words: int = 4) -> at.FactorGraph:
    """Trees over words with scores of siblings and grandparents."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    arc = graph.binary((words + 1, words), scores=rng.normal(size=(words + 1, words)), name="arc")
    graph.add(at.Arborescence(arc))
    graph.add(at.ProjectiveTree(arc))
    graph.add(at.HeadAutomaton(arc[0], scores=rng.normal(size=(words + 2, words + 2))))
    graph.add(
        at.GrandparentAutomaton(
            arc[1, 1:], arc[:, 0], scores=rng.normal(size=(words + 1, words - 1))
        )
    )
    graph.add(at.TriSiblingAutomaton(arc[0], scores=rng.normal(size=(words + 2,) * 3)))
    graph.add(at.HeadSequence(arc, scores=rng.normal(size=(words + 1, words + 1))))
    kept = graph.binary(words, scores=rng.normal(size=words), name="kept")
    graph.add(at.Compression(kept, np.arange(words), deletions=rng.normal(size=words)))
    graph.add(at.AtMost(words - 1, kept))
    return graph


def pieces(side: int = 3) -> at.FactorGraph:
    """Matchings, cuts and a structure of one's own, which share variables."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    x = graph.binary(scores=rng.normal(size=(side, side)), name="x")
    graph.add(at.Matching(x))
    graph.add(at.Cut(x.reshape(-1), [[0, 1], [1, 2], [3, 4]], scores=0.5))
    graph.add(at.Custom(x[0], maximize=_first_of, scores=rng.normal(size=side)))
    return graph


def _first_of(scores: Any, inner: Any) -> tuple[Any, float]:
    """One of the coordinates."""
    best = int(np.argmax(scores + inner))
    return np.eye(len(scores))[best], float(inner[best])


MODELS = (
    attracting, frustrated, constraints, budgets, tables, sequences, parses, pieces,
)  # fmt: skip
