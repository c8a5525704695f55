"""The least that exchanges gain, against all assignments: steps are made, and checked, by it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.reductions.exchange_gains import least_gains
from assent.reductions.exclusive_literals import find_choices
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
    literals = [tag[v].state(s) for v in range(3) for s in range(3)] + list(x)
    for _ in range(rng.integers(1, 3)):
        g.add(a_rule(rng, literals if rng.random() < 0.7 else [*literals[:3], *x[:2]]))
    if rng.random() < 0.3:
        add_limits(rng, g, literals)
    if rng.random() < 0.1:  # choices that take a label apart
        g.add(at.ExactlyOne([literals[3], literals[-1]]))
        g.add(at.AtMostOne(literals[4:6]))
    if rng.random() < 0.2:
        state = literals[rng.integers(9)]
        g.add(at.Dense(state, x[1], scores=rng.normal(size=(2, 2))))
    return g


def add_limits(rng, g, literals) -> None:
    """Two counts of one size and two knapsacks, loose enough not to decide anything."""
    for size in (3, 3, 2, 4):
        own = [literals[i] for i in rng.permutation(len(literals))[:size]]
        own = [~literal if rng.random() < 0.3 else literal for literal in own]
        weights = rng.integers(0, 4, size)
        knapsack = at.Knapsack(own, weights=weights, capacity=float(max(3, weights.sum() - 1)))
        g.add(at.AtMost(2, own) if size == 3 else knapsack)


def with_gaps(rng, shape) -> np.ndarray:
    scores = rng.normal(size=shape)
    scores[rng.random(shape) < 0.15] = -np.inf
    return scores


def a_rule(rng, literals):
    """A constraint over a few of the literals, perhaps two states of a label or x and ~x."""
    own = [literals[i] for i in rng.permutation(len(literals))[: rng.integers(2, 5)]]
    negated = 0.3 if rng.random() < 0.8 else 1.0
    own = [~literal if rng.random() < negated else literal for literal in own]
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


def test_choices_are_rules_as_they_stand():
    """Each is all of a rule, exactly one before at most one; the first of those that overlap."""
    rng, overlaps = np.random.default_rng(0), 0
    for _ in range(100):
        g = at.FactorGraph()
        x = g.binary(9)
        rules = {kind: [] for kind in (at.ExactlyOne, at.AtMostOne)}
        for kind in rng.permutation(list(rules) * 3):
            own = x[np.sort(rng.permutation(9)[:3])].negate(where=rng.random(3) < 0.1)
            g.add(kind(own))
            rules[kind].append(own.codes.tolist())
        g.add(at.Exactly(2, x[:3]))
        compiled = g.compile()
        if compiled.conflict is not None or len(compiled.free) < g.size:
            continue
        taken, expected = set(), []
        for kind, rows in rules.items():
            seen = set()
            left = [own for own in rows if min(own) >= 0 and taken.isdisjoint(own)]
            for own in left:
                if seen.isdisjoint(own):
                    expected.append((own, kind is at.ExactlyOne))
                    taken.update(own)
                overlaps += not seen.isdisjoint(own)
                seen.update(own)
        choices = find_choices(compiled.problem)
        found = [np.flatnonzero(choices.number == c).tolist() for c in range(choices.count)]
        assert list(zip(found, choices.is_tight.tolist(), strict=True)) == expected
    assert overlaps


def least_gains_hold(g, choose) -> Counter:
    """Compare with all assignments, for targets that are chosen of every choice's columns."""
    possible = Counter()
    compiled = g.compile()
    if compiled.conflict is not None or len(compiled.free) < g.size:
        return possible
    choices = find_choices(compiled.problem)
    inside = [np.flatnonzero(choices.number == c) for c in range(choices.count)]
    target = np.array([choose(own) for own in inside], np.int64)
    scores = compiled.flat_scores(graph_scores(g))
    gains = least_gains(compiled.problem, scores, choices, target)
    points, values = enumerate_graph(g)
    for column, number in enumerate(choices.number):
        ways = [(gains.flip[column, value], value, column) for value in (0, 1)]
        if number >= 0:
            ways.append((gains.swap[column], 1, target[number]))
        for least, value, other in ways:
            least_of_all = gained(points, values, column, value, other).min(initial=np.inf)
            assert least_of_all >= least - 1e-9, (column, value, other)
            possible[other == column] += least > -np.inf
    return possible


@sweep_seeds(3.0)
def test_no_exchange_gains_less(seeds):
    """Nothing is said of exchanges that some assignment cannot make."""
    possible = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        possible += least_gains_hold(labels_under_rules(rng), rng.choice)
    assert possible[True] and possible[False]


@pytest.mark.parametrize("place", range(3))
def test_an_input_and_an_output_are_not_exchanged(place):
    g = at.FactorGraph()
    tag = g.categorical(1, states=3, scores=[[3.0, 2.0, 1.0]])[0]
    x = g.binary(1)
    g.add(at.AtLeastOne([~tag.state(0), x[0]], output=~tag.state(1)))
    assert True in least_gains_hold(g, lambda own: own[place])
