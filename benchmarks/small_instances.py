"""Small constrained instances, 20 to 200 variables, as they come by the thousand in practice.

Three families, in turns:

- ``rota``: people × shifts.  A shift takes one person or two; nobody works two shifts in a row or
  more shifts than agreed; some pairs of people do not share a day.
- ``annotation``: every word of a sentence gets a label, some pairs of words a relation.
  Relations ask for labels of their words, neighbouring labels go together well or badly, the
  rarer labels have a largest number of words each, a word has at most one relation.
- ``packing``: items with a value, some with a score together.  There is a largest number in all
  and of each sort, some need another one, some exclude each other.

Scores are what a fairly good model would say: an answer drawn at random that satisfies the
constraints (nearly) scores ``SIGNAL`` more than the rest, plus normal noise of size 1.  The
noise leaves the constraints much to do.  ``SIGNAL`` and the sparse rules were chosen so that the
linear relaxation is tight on about 95 in 100: the others take AD3 ten to a hundred times as long,
and a few more of them would decide every average.

A fourth family, ``weighted``, is packing with weights and a limit on their sum (`Knapsack`), whose
linear relaxation is hardly ever tight.

Sizes are drawn evenly from what keeps the number of variables (indicators) between 20 and 200.
The same seed gives the same instances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import assent as at


@dataclass(frozen=True)
class Family:
    """Instances of one sort: their data, drawn at random, and the graph that is written of them."""

    name: str
    draw: Callable[[np.random.Generator], dict[str, Any]]
    write: Callable[..., at.FactorGraph]

    def __call__(self, rng: np.random.Generator) -> at.FactorGraph:
        """A graph of random data."""
        return self.write(**self.draw(rng))


SIGNAL = 3.0
LABELS = ("none", "person", "place", "firm")


def small_instances(
    count: int, seed: int = 0, families: Sequence[Family] | None = None
) -> list[at.FactorGraph]:
    """``count`` graphs, the families in turns."""
    chosen = families or FAMILIES
    return [
        chosen[number % len(chosen)](np.random.default_rng((seed, number)))
        for number in range(count)
    ]


def changed_scores(graph: at.FactorGraph, size: float, rng: np.random.Generator) -> dict[Any, Any]:
    """New scores for all variables: each moves by about ``size`` of the typical score."""
    changes = {}
    for variable in graph.variables:
        scores = variable.scores.reshape(variable.symbol.codes.shape)
        typical = float(np.sqrt(np.mean(scores**2)))
        changes[variable.symbol] = scores + size * typical * rng.normal(size=scores.shape)
    return changes


def draw_rota(rng: np.random.Generator) -> dict[str, Any]:
    """People, shifts, who had better not meet."""
    people, days = int(rng.integers(5, 11)), int(rng.integers(3, 11))
    shifts = 2 * days
    double = rng.random(shifts) < 0.25
    plan = np.zeros((people, shifts), bool)
    turn = rng.permutation(people)[np.arange(shifts) % people]
    plan[turn, np.arange(shifts)] = True
    plan[np.roll(turn, people // 2)[double], np.flatnonzero(double)] = True
    return {
        "scores": noisy_scores(rng, plan),
        "single": np.flatnonzero(~double),
        "double": np.flatnonzero(double),
        "limit": int(np.ceil(2.0 * shifts / people)) + 1,
        "apart": pairs_of(rng, people, count=people // 4),
    }


def write_rota(
    scores: np.ndarray, single: np.ndarray, double: np.ndarray, limit: int, apart: list[Any]
) -> at.FactorGraph:
    """Who works when."""
    g = at.FactorGraph()
    works = g.binary(scores.shape, scores=scores, name="works")
    if len(single):
        g.add(at.ExactlyOne(works[:, single], axis=0))
    if len(double):
        g.add(at.Exactly(2, works[:, double], axis=0))
    g.add(at.AtMostOne([works[:, :-1], works[:, 1:]], axis=0))
    g.add(at.AtMost(limit, works, axis=1))
    for pair in apart:
        early, late = (works[list(pair), half::2] for half in (0, 1))
        g.add(at.AtMostOne([early[0], early[1], late[0], late[1]], axis=0))
    return g


def draw_annotation(rng: np.random.Generator) -> dict[str, Any]:
    """A sentence: scores of labels, ends of relations and what they ask for."""
    words = int(rng.integers(5, 31))
    true = rng.choice(len(LABELS), words, p=[0.4, 0.2, 0.2, 0.2])
    scores = noisy_scores(rng, np.eye(len(LABELS))[true])
    follows = 0.5 * rng.normal(size=(len(LABELS), len(LABELS)))
    ends = np.array(pairs_of(rng, words, count=words // 2))
    kinds = rng.integers(1, len(LABELS), (len(ends), 2))
    kinds = np.where(rng.random((len(ends), 1)) < 0.3, true[ends], kinds)
    holds = (true[ends] == kinds).all(axis=1) & (kinds > 0).all(axis=1)
    asked = [
        (chosen, ends[chosen, side], LABELS[kind])
        for side in range(2)
        for kind in range(1, len(LABELS))
        if len(chosen := np.flatnonzero(kinds[:, side] == kind))
    ]
    of_word = (np.flatnonzero((ends == word).any(axis=1)) for word in range(words))
    return {
        "scores": scores,
        "follows": follows,
        "relations": noisy_scores(rng, holds) - SIGNAL / 2,
        "asked": asked,
        "rivals": [own for own in of_word if len(own) > 1],
    }


def write_annotation(
    scores: np.ndarray, follows: np.ndarray, relations: np.ndarray, asked: list[Any],
    rivals: list[np.ndarray],
) -> at.FactorGraph:  # fmt: skip
    """Labels of words and relations between them."""
    g = at.FactorGraph()
    label = g.categorical(len(scores), states=LABELS, scores=scores, name="label")
    g.add(at.Dense(label[:-1], label[1:], scores=follows))
    related = g.binary(len(relations), scores=relations, name="related")
    for chosen, words, kind in asked:
        g.add(at.Implies(related[chosen], label[words] == kind))
    for own in rivals:
        g.add(at.AtMostOne(related[own]))
    for rare in LABELS[1:]:
        g.add(at.AtMost(max(1, len(scores) // 4), label == rare))
    return g


def draw_packing(rng: np.random.Generator) -> dict[str, Any]:
    """Items: what each is worth, its sort, what goes with what."""
    items = int(rng.integers(20, 201))
    sort = rng.integers(0, max(2, items // 8), items)
    together, needs, excluded = (
        np.array(pairs_of(rng, items, count=items // share)) for share in (4, 8, 8)
    )
    good = rng.random(items) < 0.3
    good[needs[good[needs[:, 0]], 1]] = True
    good[excluded[good[excluded].all(axis=1), 0]] = False
    by_sort = (np.flatnonzero(sort == one) for one in np.unique(sort))
    return {
        "scores": noisy_scores(rng, good) - SIGNAL / 2,
        "sorts": [own for own in by_sort if len(own) > 2],
        "together": together.T,
        "joint": 0.5 * rng.normal(size=len(together)),
        "needs": needs.T,
        "excluded": excluded.T,
    }


def write_packing(
    scores: np.ndarray, sorts: list[np.ndarray], together: np.ndarray, joint: np.ndarray,
    needs: np.ndarray, excluded: np.ndarray,
) -> at.FactorGraph:  # fmt: skip
    """What to take along."""
    g = at.FactorGraph()
    taken = g.binary(len(scores), scores=scores, name="taken")
    for own in sorts:
        g.add(at.AtMost(len(own) // 2, taken[own]))
    g.add(at.AtMost(len(scores) // 3, taken))
    g.add(at.Pair(taken[together[0]], taken[together[1]], scores=joint))
    g.add(at.Implies(taken[needs[0]], taken[needs[1]]))
    g.add(at.AtMostOne(taken[excluded], axis=0))
    return g


def draw_weighted(rng: np.random.Generator) -> dict[str, Any]:
    """Items with weights."""
    items = draw_packing(rng)
    weights = rng.integers(1, 10, len(items["scores"])).astype(float)
    return {"weights": weights, **items}


def write_weighted(weights: np.ndarray, **items: Any) -> at.FactorGraph:
    """What to take along if it has to be carried."""
    g = write_packing(**items)
    g.add(at.Knapsack(g["taken"], weights=weights, capacity=float(weights.sum() // 5)))
    return g


def noisy_scores(rng: np.random.Generator, answer: np.ndarray) -> np.ndarray:
    """Scores that favour an answer, with noise."""
    return SIGNAL * answer + rng.normal(size=answer.shape)


def pairs_of(rng: np.random.Generator, size: int, count: int) -> list[tuple[int, int]]:
    """Different pairs of different numbers below ``size``."""
    every = list(combinations(range(size), 2))
    chosen = rng.choice(len(every), min(count, len(every)), replace=False)
    return [every[i] for i in chosen]


FAMILIES = (
    Family("rota", draw_rota, write_rota),
    Family("annotation", draw_annotation, write_annotation),
    Family("packing", draw_packing, write_packing),
)
WEIGHTED = Family("weighted", draw_weighted, write_weighted)
