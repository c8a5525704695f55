"""Max-marginals against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.core.max_marginals import (
    max_marginals_cardinality,
    max_marginals_form,
    max_marginals_pair,
)
from assent.kernels.problem import ANYOF, CAP, PARITY, SUM
from tests.oracles.enumeration import binary_points, vertices
from tests.oracles.sweep import sweep_seeds

FORMS = [CAP, SUM, ANYOF, PARITY]


def corners_of(form, size, k):
    if form != PARITY:
        return vertices(form, size, k)
    points = binary_points(size)
    return points[points.sum(axis=1) % 2 == 0]


def naive(corners, values):
    """Best value over the corners with each coordinate 0 and 1; -inf where there is none."""
    size = corners.shape[1]
    answer = np.full((size, 2), -np.inf)
    for i in range(size):
        for truth in (0, 1):
            answer[i, truth] = values[corners[:, i] == truth].max(initial=-np.inf)
    return answer


def random_scores(rng, size):
    scale = rng.choice([1e-6, 1.0, 1e8])
    if rng.random() < 0.5:
        return rng.integers(-2, 3, size) * scale
    return rng.normal(size=size) * scale


def check(out, value, corners, values, scores):
    tolerance = 1e-12 * (np.abs(scores).sum() + 1e-300)
    expected = naive(corners, values)
    np.testing.assert_array_equal(np.isneginf(out), np.isneginf(expected))
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance)
    assert value == pytest.approx(values.max(), rel=0, abs=tolerance)


@sweep_seeds()
@pytest.mark.parametrize("form", FORMS)
def test_forms(form, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2 if form == ANYOF else 1, 9))
        k = int(rng.integers(0, size + 1))
        scores = random_scores(rng, size)
        out = np.full((size, 2), np.nan)
        value = max_marginals_form(form, k, scores, out)
        corners = corners_of(form, size, k)
        check(out, value, corners, corners @ scores, scores)


@sweep_seeds()
def test_cardinality(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 9))
        scores, counts = random_scores(rng, size), random_scores(rng, size + 1)
        forbidden = rng.random(size + 1) < 0.4
        both = np.append(scores, counts)
        counts[forbidden] = -np.inf
        out = np.full((size, 2), np.nan)
        value = max_marginals_cardinality(scores, counts, out)
        points = binary_points(size)
        check(out, value, points, points @ scores + counts[points.sum(axis=1)], both)


@sweep_seeds()
def test_pair(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        scores = random_scores(rng, 3)
        out = np.full((2, 2), np.nan)
        value = max_marginals_pair(scores[2], scores[:2], out)
        points = binary_points(2)
        check(out, value, points, points @ scores[:2] + scores[2] * points.all(axis=1), scores)


def test_everything_forbidden():
    out = np.full((2, 2), np.nan)
    assert max_marginals_cardinality(np.ones(2), np.full(3, -np.inf), out) == -np.inf
    assert np.isneginf(out).all()


@pytest.mark.parametrize("form", FORMS)
def test_ten_thousand_literals_agree_with_the_maximum(form):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=10_000)
    out = np.empty((10_000, 2))
    best = max_marginals_form(form, 300, scores, out)
    # Every literal is false or true in the best vertex.
    np.testing.assert_allclose(out.max(axis=1), best, rtol=1e-12)
