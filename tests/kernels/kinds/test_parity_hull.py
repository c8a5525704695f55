"""Parity kernels against enumeration and projections in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from assent.kernels.kinds.parity_hull import maximize_parity, project_parity
from tests.oracles.enumeration import binary_points
from tests.oracles.projection import hull_projection, projection_gap
from tests.oracles.sweep import sweep_seeds

SCALES = (1e-6, 1.0, 1e8)


def even_points(size):
    points = binary_points(size)
    return points[points.sum(axis=1) % 2 == 0]


def project(point, warm=0.0):
    out = np.full(len(point), np.nan)
    threshold = project_parity(np.array(point, float), out, warm)
    return out, threshold


def simplex_projection(point):
    """Nearest point of the unit simplex, in fractions."""
    ordered = sorted(point, reverse=True)
    tau = max((sum(ordered[: r + 1]) - 1) / Fraction(r + 1) for r in range(len(ordered)))
    return [max(entry - tau, Fraction(0)) for entry in point]


def exact_projection(point):
    """The nearest of the clipped point, if it fits, and the projections onto all facets.

    Every facet within the cube is a simplex of even vertices, so each candidate is in the hull.
    """
    exact = [Fraction(float(entry)) for entry in point]
    clipped = [min(max(entry, Fraction(0)), Fraction(1)) for entry in exact]
    candidates, fits = [], True
    for flips in product((False, True), repeat=len(exact)):
        if sum(flips) % 2 == 0:
            continue
        slack = sum(1 - c if flip else c for c, flip in zip(clipped, flips, strict=True)) - 1
        fits = fits and slack >= 0
        flipped = [1 - e if flip else e for e, flip in zip(exact, flips, strict=True)]
        nearest = simplex_projection(flipped)
        candidates.append([1 - t if flip else t for t, flip in zip(nearest, flips, strict=True)])
    if fits:
        candidates.append(clipped)
    best = min(candidates, key=lambda q: sum((a - b) ** 2 for a, b in zip(q, exact, strict=True)))
    return np.array([float(entry) for entry in best])


def random_point(rng, size):
    """Points around the cube at any scale, on a grid that has ties, or near a vertex."""
    style = rng.integers(4)
    if style == 0:
        return rng.integers(-4, 9, size) / 4.0
    if style == 1:
        return rng.integers(0, 2, size) + rng.normal(size=size) * 0.1
    if style == 2:
        # Huge entries that nearly cancel: only differences of about 1 decide.
        return rng.choice([-1e8, 1e8], size) + rng.normal(size=size)
    return 0.5 + rng.normal(size=size) * rng.choice(SCALES)


@sweep_seeds()
def test_maximize_is_the_best_even_vertex(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 9))
        scores = rng.normal(size=size) if rng.random() < 0.5 else rng.integers(-2, 3, size) * 1.0
        scores *= rng.choice(SCALES)
        out = np.empty(size)
        value = maximize_parity(scores, out)
        best = (even_points(size) @ scores).max()
        tolerance = 1e-12 * np.abs(scores).sum()
        assert out.sum() % 2 == 0
        assert value == pytest.approx(best, rel=0, abs=tolerance)
        assert out @ scores == pytest.approx(best, rel=0, abs=tolerance)


@sweep_seeds()
def test_project_equals_the_exact_projection(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        point = random_point(rng, int(rng.integers(1, 7)))
        out, _ = project(point, warm=rng.normal())
        np.testing.assert_allclose(out, exact_projection(point), rtol=0, atol=1e-12)


@sweep_seeds(share=0.3)
def test_project_equals_the_quadratic_program(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 8))
        point = rng.normal(size=size) * 2.0
        corners = even_points(size)
        out, _ = project(point)
        np.testing.assert_allclose(out, hull_projection(corners, point), rtol=0, atol=1e-9)
        assert projection_gap(corners, point, out) <= 1e-12


@sweep_seeds(share=0.2)
def test_a_remembered_threshold_does_not_change_the_answer(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        point = rng.normal(size=int(rng.integers(1, 30)))
        cold, threshold = project(point)
        moved = point + rng.normal(size=len(point)) * 0.01
        np.testing.assert_allclose(project(moved, threshold)[0], project(moved)[0], atol=1e-13)
        np.testing.assert_allclose(project(point, threshold)[0], cold, atol=1e-13)


def facet_slack(point):
    """How far inside the nearest facet a point of the cube is; negative outside the hull."""
    flips = point > 0.5
    if flips.sum() % 2 == 0:
        closest = np.abs(point - 0.5).argmin()
        flips[closest] = not flips[closest]
    return np.where(flips, 1.0 - point, point).sum() - 1.0


@sweep_seeds(share=0.3)
def test_many_literals(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(10, 300))
        point = rng.integers(0, 2, size) + rng.exponential(size=size) * 10 ** rng.uniform(-4, 0)
        out, _ = project(point, warm=rng.normal())
        assert facet_slack(out) >= -1e-13
        # Nearest if and only if no vertex lies further in the direction of the residual.
        residual = point - out
        assert maximize_parity(residual, np.empty(size)) - residual @ out <= 1e-12 * size


@pytest.mark.parametrize("noise", [1e-5, 1e-4, 2e-4])
def test_ten_thousand_literals(noise):
    rng = np.random.default_rng(0)
    vertex = rng.integers(0, 2, 10_000)
    vertex[0] += 1 - vertex.sum() % 2  # odd, so that the point lies outside
    point = vertex % 2 + rng.normal(size=10_000) * noise
    assert facet_slack(np.clip(point, 0.0, 1.0)) < 0.0
    out, _ = project(point)
    residual = point - out
    assert facet_slack(out) >= -1e-12
    assert maximize_parity(residual, np.empty(10_000)) - residual @ out <= 1e-11


def test_one_literal_is_false_and_two_are_equal():
    assert project([0.9])[0].tolist() == [0.0]
    np.testing.assert_allclose(project([0.2, 0.6])[0], [0.4, 0.4], atol=1e-15)


def test_all_literals_undecided_stay():
    assert project([0.5] * 6)[0].tolist() == [0.5] * 6
