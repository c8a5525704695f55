"""Marginals against enumeration, from hot to so cold that only ties are left."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.core.marginals import marginals_cardinality, marginals_form, marginals_pair
from assent.kernels.problem import ANYOF, CAP, PARITY, SUM
from tests.oracles.enumeration import binary_points, vertices
from tests.oracles.sweep import sweep_seeds

FORMS = [CAP, SUM, ANYOF, PARITY]

# Relative to scores of order one: nearly uniform, ordinary, spread over 1e4, ties only.
TEMPERATURES = (1e6, 3.0, 0.5, 1e-2, 1e-4, 1e-12, 1e-300)


def corners_of(form, size, k):
    if form != PARITY:
        return vertices(form, size, k)
    points = binary_points(size)
    return points[points.sum(axis=1) % 2 == 0]


def naive(values, temperature):
    """Probabilities of the vertices and ``temperature * log(sum of weights)``."""
    best = values.max()
    with np.errstate(over="ignore"):
        weights = np.exp((values - best) / temperature)
    return weights / weights.sum(), best + temperature * np.log(weights.sum())


def random_case(rng, size):
    """Scores whose sums are exact, so that enumeration knows every tie; and a temperature."""
    scale = 2.0 ** rng.choice([-20, 0, 27])
    if rng.random() < 0.5:
        scores = rng.integers(-2, 3, size).astype(float)
    else:
        scores = np.round(rng.normal(size=size) * 2**16) / 2**16
    return scores * scale, rng.choice(TEMPERATURES) * scale


def check(out, value, corners, values, temperature):
    probabilities, expected = naive(values, temperature)
    np.testing.assert_allclose(out, probabilities @ corners, rtol=0, atol=1e-12)
    scale = np.abs(values[np.isfinite(values)]).max() + temperature
    assert value == pytest.approx(expected, rel=0, abs=1e-12 * scale)


@sweep_seeds()
@pytest.mark.parametrize("form", FORMS)
def test_forms(form, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2 if form == ANYOF else 1, 9))
        k = int(rng.integers(0, size + 1))
        scores, temperature = random_case(rng, size)
        out = np.full(size, np.nan)
        value = marginals_form(form, k, scores, temperature, out)
        corners = corners_of(form, size, k)
        check(out, value, corners, corners @ scores, temperature)


@sweep_seeds()
def test_cardinality(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 9))
        both, temperature = random_case(rng, 2 * size + 1)
        scores, counts = both[:size].copy(), both[size:].copy()
        counts[rng.random(size + 1) < 0.4] = -np.inf
        counts[rng.integers(size + 1)] = 0.0
        out, count_out = np.full(size, np.nan), np.full(size + 1, np.nan)
        value = marginals_cardinality(scores, counts, temperature, out, count_out)
        points = binary_points(size)
        values = points @ scores + counts[points.sum(axis=1)]
        check(out, value, points, values, temperature)
        numbers = points.sum(axis=1)[:, None] == np.arange(size + 1)
        check(count_out, value, numbers, values, temperature)


@sweep_seeds()
def test_pair(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        scores, temperature = random_case(rng, 3)
        out = np.full(3, np.nan)
        value = marginals_pair(scores[2], scores[:2].copy(), temperature, out)
        points = binary_points(2)
        parts = np.column_stack([points, points.all(axis=1)])
        check(out, value, parts, parts @ scores, temperature)


@sweep_seeds(share=0.3)
@pytest.mark.parametrize("form", FORMS)
def test_scores_with_rounding(form, seeds):
    """Any real scores: the error grows with spread over temperature, times rounding."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 9))
        k = int(rng.integers(0, size + 1))
        temperature = 10.0 ** rng.uniform(-4, 1)
        scores = rng.normal(size=size)
        out = np.full(size, np.nan)
        marginals_form(form, k, scores, temperature, out)
        corners = corners_of(form, size, k)
        probabilities, _ = naive(corners @ scores, temperature)
        atol = 1e-14 * (1.0 + np.abs(scores).sum() / temperature)
        np.testing.assert_allclose(out, probabilities @ corners, rtol=0, atol=atol)


def test_everything_forbidden():
    out, count_out = np.full(2, np.nan), np.full(3, np.nan)
    value = marginals_cardinality(np.ones(2), np.full(3, -np.inf), 1.0, out, count_out)
    assert value == -np.inf
    assert not out.any()
    assert not count_out.any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 5, 1999])
def test_two_thousand_equal_literals(form, k):
    """By symmetry every literal has the same probability: sums of binomials in logarithms."""
    n = 2000
    out = np.full(n, np.nan)
    value = marginals_form(form, k, np.zeros(n), 1.0, out)
    if form == SUM:
        np.testing.assert_allclose(out, k / n, rtol=0, atol=1e-12)
    elif form == CAP and k == 1:
        np.testing.assert_allclose(out, 1.0 / (n + 1), rtol=0, atol=1e-12)
        assert value == pytest.approx(np.log(n + 1))
    elif form == PARITY:
        np.testing.assert_allclose(out, 0.5, rtol=0, atol=1e-12)
        assert value == pytest.approx((n - 1) * np.log(2.0))
    elif form == ANYOF or k == n - 1:
        np.testing.assert_allclose(out[:-1], 0.5, rtol=0, atol=1e-12)
    assert np.ptp(out[:-1]) <= 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_cold_marginals_are_the_best_vertex(form):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=500)
    out = np.full(500, np.nan)
    value = marginals_form(form, 20, scores, 1e-200, out)
    assert set(out.tolist()) <= {0.0, 1.0}
    assert out @ scores == pytest.approx(value, rel=1e-12)
