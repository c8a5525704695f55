"""Answers and statuses do not depend on the scale of the scores."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import assent as at
from assent.proof.proof_tree import Scaled

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


def test_lists_and_batches_follow_the_scores():
    graphs = {factor: graph(factor, 4) for factor in (1.0, 1e-9, 1e9)}
    answers = {factor: at.k_best(g, 4) for factor, g in graphs.items()}
    for factor, g in graphs.items():
        many = at.decode_many([g, g], at.AD3())
        for result, one in zip(answers[factor], answers[1.0], strict=True):
            assert result.value / factor == pytest.approx(one.value, rel=1e-9)
            assert result.certificate.verify()
        assert many.values / factor == pytest.approx(at.decode_many([graphs[1.0]]).values[0])
        assert many[1].certificate.verify()
        x = g["x"]
        rows = factor * np.random.default_rng(5).normal(size=(3, 7))
        batch = at.decode_many(g, scores={x: rows})
        for row, result in zip(rows, batch, strict=True):
            alone = at.decode(g, scores={x: row})
            assert result.value == pytest.approx(alone.value, rel=1e-9)
            assert result.certificate.scores.scale == alone.certificate.scores.scale


def test_a_warm_start_crosses_scales():
    g = graph(1.0, 6)
    x = g["x"]
    scores = np.random.default_rng(6).normal(size=7)
    relaxed = at.decode(g, at.LinearProgram()).bound
    for factor in (1e-9, 1e9):
        far = at.decode(g, at.AD3(), scores={x: factor * scores})
        back = at.decode(g, at.AD3(), warm_start=far)
        # Both stop a little above the relaxation's value, not at the same iterate.
        assert relaxed - 1e-9 <= back.bound <= relaxed + 1e-5
        assert back.certificate.verify()


@pytest.mark.parametrize("factor", (1e5, 1e6, 1e9))
def test_a_warm_start_out_of_proportion_is_no_burden(factor):
    """Multipliers of scores a million times larger took thousands of iterations to come back."""
    for seed in range(8):
        g = graph(1.0, seed)
        x, scores = g["x"], np.random.default_rng(seed).normal(size=(2, 7))
        far = at.decode(g, at.AD3(), scores={x: factor * scores[0]})
        many = at.decode_many(g, at.AD3(), scores={x: factor * scores})
        cold = at.decode(g, at.AD3())
        warm = at.decode(g, at.AD3(), warm_start=far)
        others = at.decode_many([g, g], at.AD3(), warm_start=[far, far])
        rows = at.decode_many(g, at.AD3(), scores={x: scores}, warm_start=many)
        for result in (warm, *others, *rows):
            assert result.iterations <= 10 * cold.iterations, seed
            assert result.certificate.verify()


@pytest.mark.parametrize("factor", (1e9, 1e40))
def test_searches_too_bring_warm_starts_into_proportion(factor):
    """A root that began at multipliers of far larger scores left a hundred times as many nodes."""
    rng = np.random.default_rng(1)
    g = at.FactorGraph()
    x = g.binary(24, scores=rng.normal(size=24))
    i, j = np.triu_indices(24, 1)
    chosen = rng.random(len(i)) < 0.3
    links = rng.normal(size=int(chosen.sum()))
    pairs = g.add(at.Pair(x[i[chosen]], x[j[chosen]], scores=1.5 * links))
    g.add(at.AtMost(8, x))
    own = rng.normal(size=24)
    far = at.decode(g, at.AD3(), scores={x: factor * own, pairs: factor * links})
    search = at.BranchAndBound(second=None, core=0)
    cold, warm = at.decode(g, search), at.decode(g, search, warm_start=far)
    assert warm.status is at.Status.OPTIMAL and warm.certificate.verify()
    assert warm.iterations <= 5 * cold.iterations


@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_is_brought_into_proportion_to_no_scores(seed):
    """Else no bound was within a tolerance around zero, and searches fixed what rounding said."""
    g = at.FactorGraph()
    x = g.binary(3, scores=0.0)
    g.add(at.Parity(~x[[2, 0]]))
    g.add(at.AtMostOne(x[[1, 2, 0]].negate(where=[True, False, False])))
    far = {x: 1e12 * np.random.default_rng(seed).normal(size=(2, 3))}
    solver = at.AD3(max_iterations=30)
    for exact in (False, True):
        before = at.decode_many(g, solver, scores=far, exact=exact)
        rows = at.decode_many(
            g, solver, scores={x: np.zeros((2, 3))}, warm_start=before, exact=exact
        )
        one = at.decode(g, solver, warm_start=before[0], exact=exact)
        for result in (one, *rows):
            assert result.status is at.Status.OPTIMAL and result.certificate.verify()


def test_reports_and_settings_are_in_units_of_the_scores():
    """A callback sees the scores' own figures, and a penalty means what it says."""
    seen = []
    g = graph(1e9, 7)
    result = at.decode(g, at.AD3(penalty=0.2e9), callback=seen.append)
    one = at.decode(graph(1.0, 7), at.AD3(penalty=0.2))
    assert seen[-1].best_bound == result.trace.best_bound[-1] >= result.value
    assert seen[0].penalty / 1e9 == pytest.approx(one.trace.penalty[0], rel=1e-6)
    assert result.iterations == one.iterations


@pytest.mark.parametrize("factor", (1e-9, 1.0, 1e9))
def test_an_absolute_gap_is_in_units_of_the_scores(factor):
    triangle = at.FactorGraph()
    x = triangle.binary(3, scores=factor)
    triangle.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0 * factor))
    for gap, status in ((0.51, at.Status.OPTIMAL), (0.4, at.Status.RELAXED)):
        solver = at.AD3(gap_tolerance=at.AbsoluteGap(gap * factor))
        assert at.decode(triangle, solver).status is status
        assert at.decode_many([triangle] * 2, solver).statuses == (status, status)
    assert repr(0.5 * at.AbsoluteGap(3.0)) == "AbsoluteGap(1.5)"
    assert at.AbsoluteGap(3.0) / 2 == 1.5


def test_the_scale_is_typical_and_seldom_moved():
    def scale(own, tables=()):
        g = at.FactorGraph()
        x = g.binary(len(own), scores=own)
        for table in tables:
            g.add(at.Dense(x[0], x[1], scores=table))
        return at.decode(g).certificate.scores.scale

    assert scale([1.0, -2.0, 3.0, 0.0, -np.inf]) == 2.0
    assert scale([1.0, 2.0, 3.0, -1e9]) == 3.0  # a penalty that is meant to be prohibitive
    assert scale([1.0, 2.0, 3.0], [[[0.0, -1e9], [-1e9, -1e9]]]) == 2.0
    assert scale([0.0, 0.0]) == 1.0


def test_a_proof_of_scaled_scores_is_believed_where_nothing_is_lost():
    claim = at.decode(graph(1e-9, 8), exact=True).certificate
    assert isinstance(claim.proof, Scaled) or claim.proof is None
    tiny = at.decode(graph(1.0, 8), at.AD3()).certificate
    leaf = tiny.shown_by
    assert replace(tiny, proof=Scaled(2.0, replace_dual(leaf, 0.5))).verify()
    for unit in (3.0, 2.0**1020, 0.0, -2.0, np.nan):
        assert not replace(tiny, proof=Scaled(unit, leaf)).verify()


def replace_dual(leaf, factor):
    """A leaf of link scores multiplied by a number."""
    dual = leaf.dual
    parts = (part * factor for part in (dual.pair, dual.logic, dual.table))
    return type(leaf)(type(dual)(*parts))
