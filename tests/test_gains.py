"""The least that exchanges gain, against all assignments: steps are made, and checked, by it."""

from __future__ import annotations

from collections import Counter

import numpy as np

import assent as at
from assent.compiled import graph_scores
from assent.reductions.choices import find_choices
from assent.reductions.gains import least_gains
from tests.oracles.sweep import sweep_seeds
from tests.strategies import enumerate_graph


def labels_under_rules(rng) -> at.FactorGraph:
    """Labels and binary variables with tables, some of it forbidden, and up to two rules."""
    g = at.FactorGraph()
    tag = g.categorical(3, states=3, scores=rng.normal(size=(3, 3)))
    x = g.binary(3, scores=rng.normal(size=3))
    if rng.random() < 0.7:
        g.add(at.Dense(tag[0], tag[1], scores=with_gaps(rng, (3, 3))))
    if rng.random() < 0.5:
        g.add(at.Dense(tag[1], ~x[0], tag[2], scores=with_gaps(rng, (3, 2, 3))))
    g.add(at.Pair(x[0], x[1], scores=rng.normal()))
    g.add(at.Pair(tag[2].state(1), ~x[2], scores=rng.normal()))
    for _ in range(rng.integers(1, 3)):
        g.add(a_rule(rng, [tag[v].state(s) for v in range(3) for s in range(3)] + list(x)))
    return g


def with_gaps(rng, shape) -> np.ndarray:
    scores = rng.normal(size=shape)
    scores[rng.random(shape) < 0.15] = -np.inf
    return scores


def a_rule(rng, literals):
    """A constraint over a few of the literals, perhaps two states of a label or x and ~x."""
    own = [literals[i] for i in rng.permutation(len(literals))[: rng.integers(2, 5)]]
    own = [~literal if rng.random() < 0.3 else literal for literal in own]
    if rng.random() < 0.3:
        own.append(~own[-1])
    kind, size = rng.integers(6), len(own)
    k = int(rng.integers(1, size))
    if kind == 0:
        return at.AtMost(k, own)
    if kind == 1:
        return at.AtLeast(k, own)
    if kind == 2:
        return at.Exactly(k, own)
    if kind == 3:
        return at.Parity(own)
    if kind == 4:
        return at.AtLeastOne(own[:-1], output=own[-1])
    return at.Knapsack(own, weights=rng.integers(0, 4, size), capacity=float(rng.integers(1, 5)))


def gained(points, values, column, value, other) -> np.ndarray:
    """What assignments gain that exchange a ``value`` of a column; -inf where they may not.

    The column becomes the other value, and so does another column if it is another one.
    """
    places = 1 << np.arange(points.shape[1])
    own = (points[:, column] == value) & (values > -np.inf)
    changed = points[own].copy()
    changed[:, other] = value
    changed[:, column] = 1 - value
    return values[changed @ places] - values[own]


@sweep_seeds()
def test_no_exchange_gains_less(seeds):
    """Nothing is said of exchanges that some assignment cannot make."""
    possible = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = labels_under_rules(rng)
        compiled = g.compile()
        if compiled.conflict is not None or len(compiled.free) < g.size:
            continue
        choices = find_choices(compiled.problem)
        inside = [np.flatnonzero(choices.number == c) for c in range(choices.count)]
        target = np.array([rng.choice(own) for own in inside])
        scores = compiled.flat_scores(graph_scores(g))
        gains = least_gains(compiled.problem, scores, choices, target)
        points, values = enumerate_graph(g)
        for column, number in enumerate(choices.number):
            ways = [(gains.flip[column, value], value, column) for value in (0, 1)]
            if number >= 0:
                ways.append((gains.swap[column], 1, target[number]))
            for least, value, other in ways:
                least_of_all = gained(points, values, column, value, other).min(initial=np.inf)
                assert least_of_all >= least - 1e-9, (seed, column, value, other)
                possible[other == column] += least > -np.inf
    assert possible[True] and possible[False]
