"""What is claimed of an optimum: a weaker claim is right, a stronger one is not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import assent as at
from assent.kernels.problem import DualPoint


def points(n):
    return np.array(list(product((0, 1), repeat=n)))


def chosen_twice(scale=1.0):
    """One of five, said twice, so that link scores of the two may cancel each other."""
    g = at.FactorGraph()
    x = g.binary(5, scores=scale * np.array([1.0, 2.0, 1.5, 0.5, 0.25]), name="x")
    for _ in range(2):
        g.add(at.ExactlyOne(x))
    return g


@pytest.mark.parametrize("scale", (1e-9, 1.0, 1e9))
def test_a_higher_bound_claims_less_and_a_lower_one_too_much(scale):
    claim = at.decode(chosen_twice(scale), at.AD3()).certificate
    assert claim.verify()
    assert replace(claim, bound=claim.bound + 0.5 * scale).verify()
    assert not replace(claim, bound=claim.bound - 1e-3 * scale).verify()
    assert not replace(claim, value=claim.value + 1e-3 * scale).verify()


def test_large_link_scores_that_cancel_are_granted_their_rounding():
    claim = at.decode(chosen_twice(), at.AD3()).certificate
    dual = claim.flat_dual
    assert dual is not None
    sign = np.repeat([[1.0], [-1.0]], 5, axis=1).T.ravel()  # links stand literal by literal
    large = DualPoint(dual.pair, dual.logic + sign * 1e12 / 3.0, dual.table)
    assert replace(claim, flat_dual=large).verify()
    assert not replace(claim, flat_dual=large, bound=1.0).verify()


def knapsack(seed):
    """The best items together weigh a little more than the capacity, within its tolerance."""
    random = np.random.default_rng(seed)
    n, size = 6, 10.0 ** random.integers(-3, 8)
    weights = size * (random.random(n) if seed % 2 else np.floor(1 + 10 * random.random(n)))
    best = random.permutation(n) < 3
    capacity = weights[best].sum() * (1.0 - 10.0 ** -random.uniform(9.05, 11.0))
    scores = np.where(best, 10.0, 1.0) * (random.random(n) + 0.1)
    g = at.FactorGraph()
    x = g.binary(n, scores=scores, name="x")
    g.add(at.Knapsack(x, weights=weights, capacity=capacity))
    g.add(at.Pair(x[:-1], x[1:], scores=0.01 * random.normal(size=n - 1)))
    pairs = g.handles[1].factor.scores
    all_points = points(n)
    values = all_points @ scores + (all_points[:, :-1] * all_points[:, 1:]) @ pairs
    return g, values[all_points @ weights <= capacity * (1.0 + 1e-9)].max()


@pytest.mark.parametrize(
    "solver",
    (None, at.IntegerProgram(), at.BranchAndBound(core=0), at.BranchAndCut(), at.DepthFirst()),
    ids=lambda solver: type(solver).__name__,
)
def test_a_capacity_is_read_by_one_rule(solver):
    for seed in range(40):
        g, best = knapsack(seed)
        result = at.decode(g, solver, exact=solver is None)
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(best, rel=1e-9), seed
        assert result.bound >= best - 1e-12 * abs(best)
        assert result.certificate.verify()


def test_a_capacity_is_kept_after_evidence_and_softened_by_the_same_rule():
    weights = np.array([0.1, 0.2, 0.3, 0.7])
    for evidence in (False, True):
        g = at.FactorGraph()
        x = g.binary(4, scores=[1.0, 1.0, 1.0, -1.0], name="x")
        g.add(at.Knapsack(x, weights=weights, capacity=0.6 - 1e-10))
        g.add(at.Soft(at.Knapsack(x, weights=weights, capacity=0.6 - 1e-10), penalty=5.0))
        if evidence:
            g.fix(x[0], 1)
        result = at.decode(g, exact=True)
        assert result[x].tolist() == [1, 1, 1, 0] and result.value == 3.0


def test_a_bound_of_an_integer_program_is_not_below_the_optimum():
    """HiGHS gives up what is better by its tolerances, and calls its answer the best."""
    everything = points(12)
    for seed in range(60):
        random = np.random.default_rng(seed)
        weights = random.integers(5, 30, size=12).astype(float)
        scores = weights + 3e-7 * random.integers(-5, 5, size=12)
        capacity = np.floor(weights.sum() * 0.5) + 0.5
        g = at.FactorGraph()
        x = g.binary(12, scores=scores)
        g.add(at.Knapsack(x, weights=weights, capacity=capacity))
        g.add(at.Knapsack(x, weights=weights[::-1].copy(), capacity=capacity))
        fits = np.maximum(everything @ weights, everything @ weights[::-1]) <= capacity
        best = (everything @ scores)[fits].max()
        result = at.decode(g, at.IntegerProgram())
        assert result.status is at.Status.OPTIMAL
        assert result.bound >= best - 1e-11, seed
        assert result.value >= best - 1e-6 * (best + 20.0)
