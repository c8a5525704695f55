"""Elimination: the optimum of narrow graphs, proven by an order that anybody can follow."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.proof.elimination_proof import EliminationOrder
from assent.solvers.direct.variable_elimination import find_elimination
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


@sweep_seeds(0.5)
def test_equals_enumeration_on_mixed_graphs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = random_graph(rng, factors=8, forbid=0.1 * (seed % 2))
        result = at.decode(g, at.Elimination())
        best = optimum(g)
        assert result.certificate.verify()
        if best == -np.inf:
            assert result.status is at.Status.INFEASIBLE
        else:
            assert result.status is at.Status.OPTIMAL
            assert result.value == pytest.approx(best, rel=1e-9, abs=1e-9)


def labels(rng, n=6, k=5):
    g = at.FactorGraph()
    tag = g.categorical(n, states=k, scores=rng.normal(size=(n, k)), name="tag")
    for i, j in combinations(range(n), 2):
        if rng.random() < 0.5:
            g.add(at.Dense(tag[i], tag[j], scores=rng.normal(size=(k, k))))
    return g, tag


@pytest.mark.parametrize("k", [2, 3, 5, 17, 40, 300])
def test_any_number_of_states(k):
    rng = np.random.default_rng(k)
    g = at.FactorGraph()
    tag = g.categorical(3, states=k)
    first, second = rng.normal(size=(2, k, k))
    g.add(at.Dense(tag[0], tag[1], scores=first))
    g.add(at.Dense(tag[1], tag[2], scores=second))
    exact = at.decode(g, at.Elimination())
    assert exact.status is at.Status.OPTIMAL
    assert exact.certificate.verify()
    assert exact.value == pytest.approx((first.max(axis=0) + second.max(axis=1)).max())


def test_a_frustrated_grid_is_solved_where_the_relaxation_is_not_tight():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((8, 8), name="x")
    down, right = rng.normal(size=(7, 8)), rng.normal(size=(8, 7))
    for sign in (x, ~x):  # equal neighbours
        g.add(at.Pair(sign[1:], sign[:-1], scores=down))
        g.add(at.Pair(sign[:, 1:], sign[:, :-1], scores=right))
    assert find_elimination(g.compile().problem).width <= 11
    result = at.decode(g, at.Elimination())
    assert result.status is at.Status.OPTIMAL
    assert result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)
    assert at.decode(g, at.AD3()).status is at.Status.RELAXED


def test_evidence_is_kept():
    g, tag = labels(np.random.default_rng(1), n=4, k=4)
    g.fix(tag[0], 3)
    result = at.decode(g, at.Elimination())
    assert result[tag][0] == 3
    assert result.value == pytest.approx(optimum(g))
    assert result.certificate.verify()


def test_a_wrong_claim_is_noticed():
    g, _ = labels(np.random.default_rng(2))
    claim = at.decode(g, at.Elimination()).certificate
    assert not replace(claim, bound=claim.bound - 0.1, value=claim.value - 0.1).verify()
    some = EliminationOrder(claim.proof.variables[:-1])
    assert not replace(claim, proof=some).verify()
    apart = [np.array([v]) for states in claim.proof.variables for v in states]
    assert replace(
        claim, proof=EliminationOrder(tuple(apart))
    ).verify()  # binary variables, tied by rules
    first, *rest = claim.proof.variables
    split = EliminationOrder((first[:2], first[2:], *rest))
    assert not replace(claim, proof=split).verify()


def test_wide_graphs_and_large_factors_are_refused():
    g = at.FactorGraph()
    x = g.binary(60, scores=1.0)
    i, j = np.triu_indices(60, 1)
    g.add(at.Pair(x[i], x[j], scores=-0.1))
    with pytest.raises(ModelError, match="Elimination cannot solve this graph: the graph is too"):
        at.decode(g, at.Elimination())
    g = at.FactorGraph()
    g.add(at.AtMost(2, g.binary(50, scores=1.0)))
    with pytest.raises(ModelError, match=r"a factor over too many variables .* decode with AD3"):
        at.decode(g, at.Elimination())
    g = at.FactorGraph()
    g.add(at.Chain(g.categorical(3, states=2), transitions=0.0))
    with pytest.raises(ModelError, match="a Chain is not tabulated"):
        at.decode(g, at.Elimination())


@pytest.mark.parametrize("seed", range(5))
def test_orders_are_the_same_beside_many_other_variables(seed):
    def way(others, **limits):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(40, scores=rng.normal(size=40))
        i, j = np.triu_indices(40, 1)
        some = rng.random(len(i)) < 0.08
        g.add(at.Pair(x[i[some]], x[j[some]], scores=rng.normal(size=some.sum())))
        g.binary(others)
        return find_elimination(g.compile().problem, **limits)

    alone, beside = way(0), way(1200)  # neighbours are looked up in a matrix, then in lists
    assert alone.width == beside.width and alone.work == beside.work - 2 * 1200
    assert way(0, most=alone.work).work == alone.work
    assert "too wide" in way(0, most=alone.work - 1)


def test_a_time_limit_leaves_no_bound():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((19, 19), scores=rng.normal(size=(19, 19)))
    g.add(at.Pair(x[1:], x[:-1], scores=rng.normal(size=(18, 19))))
    g.add(at.Pair(x[:, 1:], x[:, :-1], scores=rng.normal(size=(19, 18))))
    result = at.decode(g, at.Elimination(), time_limit=1e-3)
    assert result.status is at.Status.STOPPED
    assert result.bound == np.inf
    assert result.feasible
    assert result.certificate.verify()
