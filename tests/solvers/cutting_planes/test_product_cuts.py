"""Product cuts: products of a literal with several of which few can be true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.proof.replay import Replay
from assent.solvers.cutting_planes.product_cuts import ProductCuts
from tests.answers import assert_tightened_bounds, differences_at_answers, differences_of
from tests.oracles.sweep import sweep_seeds


def two_choices(rng, size: int = 4) -> at.FactorGraph:
    """Two choices, a count and a clause, with products of all signs across them."""
    g = at.FactorGraph()
    a = g.binary(size, scores=rng.normal(size=size), name="a")
    b = g.binary(size, scores=rng.normal(size=size), name="b")
    g.add(at.ExactlyOne(a))
    g.add(at.AtMostOne(b.negate(where=rng.random(size) < 0.3)))
    g.add(at.AtMost(2, [a[0], ~a[1], b[0], b[1]]))
    i, j = np.indices((size, size)).reshape(2, -1)
    some = rng.random(size * size) < 0.8
    g.add(at.Pair(a[i[some]], b[j[some]], scores=3.0 * rng.normal(size=int(some.sum()))))
    g.add(at.Pair(a[0], ~b[0], scores=1.5))
    return g


def test_every_answer_obeys_every_row():
    rows = 0
    for seed in range(20):
        graph = two_choices(np.random.default_rng(seed))
        if graph.compile().conflict is not None:
            continue
        fans = ProductCuts(graph.compile().problem, differences_of(graph))
        d = differences_at_answers(graph, fans.given)
        assert (d @ fans.rows.toarray().T <= fans.upper + 1e-9).all()
        rows += len(fans.upper)
    assert rows > 100


@sweep_seeds(0.3)
def test_bounds_bound_and_are_rechecked(seeds):
    for seed in seeds:
        assert_tightened_bounds(two_choices(np.random.default_rng(seed)))


def agreeable(size: int) -> at.FactorGraph:
    """One of several, each of which has a product with one and the same other."""
    g = at.FactorGraph()
    x, y = g.binary(size, scores=0.0, name="x"), g.binary(1, scores=-1.0, name="y")
    g.add(at.ExactlyOne(x))
    g.add(at.Pair(x, y[np.zeros(size, int)], scores=1.5))
    return g


@pytest.mark.parametrize("size", [4, 40])
def test_one_row_is_enough_however_many_there_are(size):
    """Of forty literals a recheck lists forty-one joint values."""
    graph = agreeable(size)
    assert at.decode(graph, at.LinearProgram()).bound > 0.9
    result = at.decode(graph, at.Tightened())
    assert result.status is at.Status.OPTIMAL
    assert result.bound == pytest.approx(0.5)
    assert result.certificate.verify()
    assert len(result.certificate.proof.start) == 2


def test_without_its_constraint_a_fan_proves_less():
    result = at.decode(agreeable(6), at.Tightened())
    claim = result.certificate
    bare = replace(claim.proof, rules=np.zeros((0, 3), np.int64))
    other = replace(claim.proof, rules=claim.proof.rules[:-1])
    replay = Replay(claim.compiled, claim.scores)
    assert replay.bound(claim.proof) == pytest.approx(0.5)
    assert replay.bound(bare) > 0.6
    assert replay.bound(other) > 0.6
