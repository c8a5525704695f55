"""Answers and statuses do not depend on the scale of the scores."""

from functools import partial

import numpy as np
import pytest

import assent as at

FACTORS = (1e-9, 1e-6, 1e-3, 0.3, 1e3, 1e6, 1e9)

SOLVERS = {
    "Auto": (None, False),
    "Auto exact": (None, True),
    "AD3": (at.AD3(max_iterations=3000), False),
    "AD3 exact": (at.AD3(), True),
    "Subgradient": (at.Subgradient(max_iterations=500), False),
    "MPLP": (at.MPLP(), False),
    "StarDiffusion": (at.StarDiffusion(), False),
    "TRWS": (at.TRWS(), False),
    "Accelerated": (at.Accelerated(max_iterations=500), False),
    "MaxProduct": (at.MaxProduct(), False),
    "LinearProgram": (at.LinearProgram(), False),
    "IntegerProgram": (at.IntegerProgram(), False),
    "Tightened": (at.Tightened(), False),
    "BranchAndCut": (at.BranchAndCut(), False),
    "BranchAndBound": (at.BranchAndBound(core=0), False),
    "DepthFirst": (at.DepthFirst(), False),
}


def graph(factor, seed, *, pairwise=False, n=7):
    """A small graph whose relaxation is seldom tight, all scores multiplied by ``factor``."""
    random = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary(n, scores=factor * random.normal(size=n), name="x")
    first, second = np.triu_indices(n, 1)
    chosen = random.random(len(first)) < 0.6
    scores = factor * 1.5 * random.normal(size=chosen.sum())
    g.add(at.Pair(x[first[chosen]], x[second[chosen]], scores=scores))
    if not pairwise:
        g.add(at.AtMost(4, x))
    tag = g.categorical(2, states="ABC", scores=factor * random.normal(size=(2, 3)), name="tag")
    g.add(at.Dense(tag[0], tag[1], scores=factor * random.normal(size=(3, 3))))
    g.add(at.Implies(tag[0] == "A", x[0]))
    return g


@pytest.mark.parametrize("name", SOLVERS)
def test_status_value_and_bound_follow_the_scores(name):
    solver, exact = SOLVERS[name]
    make = partial(graph, pairwise=name == "TRWS")  # which takes nothing larger
    for seed in range(3):
        one = at.decode(make(1.0, seed), solver, exact=exact)
        for factor in FACTORS:
            other = at.decode(make(factor, seed), solver, exact=exact)
            assert other.status is one.status, (seed, factor)
            assert np.array_equal(other.certificate.assignment, one.certificate.assignment)
            assert other.value / factor == pytest.approx(one.value, rel=1e-9)
            assert other.bound / factor == pytest.approx(one.bound, rel=1e-5)
            assert other.certificate.relative_gap == pytest.approx(
                one.certificate.relative_gap, abs=2e-6
            )
            assert other.certificate.verify()


@pytest.mark.parametrize("factor", (1e-9, 1e-8, 1e-7))
def test_exact_goes_on_where_scores_are_tiny(factor):
    """Tables of 1e-8 were all within 1e-6 of each other, so anything was called optimal."""
    for seed in range(10):
        best = at.decode(graph(1.0, seed), exact=True).value
        result = at.decode(graph(factor, seed), exact=True)
        assert result.value == pytest.approx(factor * best, rel=1e-9)
