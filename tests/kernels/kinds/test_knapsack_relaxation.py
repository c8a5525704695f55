"""Knapsack kernels against the vertices of the relaxation and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from assent.kernels.kinds.knapsack_relaxation import maximize_knapsack, project_knapsack
from tests.oracles.enumeration import binary_points
from tests.oracles.sweep import sweep_seeds


def relaxation_vertices(weights, capacity):
    """0/1 points that fit, and full sacks with one fractional item."""
    points = binary_points(len(weights)).astype(float)
    loads = points @ weights
    corners = list(points[loads <= capacity])
    for point, load in zip(points, loads, strict=True):
        for i in np.flatnonzero((point == 0.0) & (weights > 0.0)):
            share = (capacity - load) / weights[i]
            if 0.0 < share < 1.0:
                corner = point.copy()
                corner[i] = share
                corners.append(corner)
    return np.array(corners)


def exact_projection(point, weights, capacity):
    """Search all breakpoints of the multiplier, in fractions."""
    point, weights = ([Fraction(float(v)) for v in values] for values in (point, weights))
    capacity = Fraction(float(capacity))

    def at(multiplier):
        moved = (a - multiplier * w for a, w in zip(point, weights, strict=True))
        return [min(max(x, Fraction(0)), Fraction(1)) for x in moved]

    def load(multiplier):
        return sum(w * x for w, x in zip(weights, at(multiplier), strict=True))

    breaks = [(a - s) / w for a, w in zip(point, weights, strict=True) if w > 0 for s in (0, 1)]
    below = Fraction(0)
    if load(below) > capacity:
        above = min(b for b in breaks if b > 0 and load(b) <= capacity)
        below = max([b for b in breaks if 0 < b < above], default=below)
        # Linear between neighbouring breakpoints, strictly falling: it crosses the capacity.
        fall = (load(below) - load(above)) / (above - below)
        below += (load(below) - capacity) / fall
    return np.array([float(x) for x in at(below)])


def random_knapsack(rng, size):
    """Weights of mixed sizes, some zero or equal, and capacities from none to plenty."""
    if rng.random() < 0.5:
        weights = rng.integers(0, 4, size).astype(float)
    else:
        weights = 10.0 ** rng.uniform(-2, 2, size)
        weights[rng.random(size) < 0.2] = 0.0
    capacity = float(rng.choice([0.0, 1.0, rng.random()]) * weights.sum())
    if rng.random() < 0.1:
        capacity = float(weights.sum() + 1.0)
    scale = rng.choice([1e-12, 1.0, 1e12])
    return weights * scale, capacity * scale


def project(point, weights, capacity, warm=0.0):
    out = np.full(len(point), np.nan)
    multiplier = project_knapsack(point, weights, capacity, out, warm)
    return out, multiplier


@sweep_seeds()
def test_maximize_is_the_best_vertex_of_the_relaxation(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 7))
        weights, capacity = random_knapsack(rng, size)
        scores = rng.normal(size=size) if rng.random() < 0.5 else rng.integers(-2, 3, size) * 1.0
        scores *= rng.choice([1e-6, 1.0, 1e8])
        out = np.empty(size)
        value = maximize_knapsack(scores, weights, capacity, out)
        best = (relaxation_vertices(weights, capacity) @ scores).max()
        tolerance = 1e-12 * np.abs(scores).sum()
        assert value == pytest.approx(best, rel=0, abs=tolerance)
        assert out @ scores == pytest.approx(value, rel=0, abs=tolerance)
        assert weights @ out <= capacity + 1e-12 * weights.sum()
        assert ((out >= 0.0) & (out <= 1.0)).all()
        assert ((out > 0.0) & (out < 1.0)).sum() <= 1


@sweep_seeds()
def test_project_equals_the_exact_projection(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 8))
        weights, capacity = random_knapsack(rng, size)
        if rng.random() < 0.4:
            point = rng.integers(-4, 9, size) / 4.0
        else:
            point = 0.5 + rng.normal(size=size) * rng.choice([1e-6, 1.0, 1e4])
        warm = rng.choice([0.0, abs(rng.normal()), -1.0])
        out, multiplier = project(point, weights, capacity, warm)
        scale = max(1.0, np.abs(point).max())
        expected = exact_projection(point, weights, capacity)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-11 * scale)
        assert multiplier >= 0.0


@sweep_seeds(share=0.2)
def test_a_remembered_multiplier_does_not_change_the_answer(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        weights = rng.random(20)
        point = rng.normal(size=20) + 1.0
        _, multiplier = project(point, weights, 3.0)
        moved = point + rng.normal(size=20) * 0.01
        warm, _ = project(moved, weights, 3.0, multiplier)
        np.testing.assert_allclose(warm, project(moved, weights, 3.0)[0], rtol=0, atol=1e-13)


def test_no_capacity_leaves_the_weightless_items():
    weights = np.array([1.0, 0.0, 1e-9, 0.0])
    out, _ = project(np.array([2.0, 0.7, 0.3, -1.0]), weights, 0.0)
    np.testing.assert_allclose(out, [0.0, 0.7, 0.0, 0.0], rtol=0, atol=1e-15)
    assert maximize_knapsack(np.array([2.0, 1.0, 3.0, -1.0]), weights, 0.0, out) == 1.0
    assert out.tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("capacity", [3.0, 7.5, np.inf])
def test_a_capacity_that_never_binds(capacity):
    weights = np.array([1.0, 2.0])
    out, multiplier = project(np.array([1.5, 0.25]), weights, capacity)
    assert out.tolist() == [1.0, 0.25]
    assert multiplier == 0.0
    assert maximize_knapsack(np.array([1.0, 2.0]), weights, capacity, out) == 3.0


@pytest.mark.parametrize("capacity", [0.0, 1.0, np.inf])
def test_weights_that_are_all_zero(capacity):
    out, _ = project(np.array([1.5, 0.25]), np.zeros(2), capacity)
    assert out.tolist() == [1.0, 0.25]


def test_weights_twenty_four_orders_apart():
    weights = np.array([1e12, 1.0, 1e-12])
    out, _ = project(np.array([0.5, 0.5, 0.5]), weights, 1.0)
    np.testing.assert_allclose(out, [5e-13, 0.5, 0.5], rtol=0, atol=1e-11)


def test_ten_thousand_items():
    rng = np.random.default_rng(0)
    weights = rng.random(10_000)
    point = rng.normal(size=10_000) + 0.5
    out, _ = project(point, weights, 500.0)
    # Nearest if and only if no point of the set lies further in the residual's direction.
    residual = point - out
    best = maximize_knapsack(residual, weights, 500.0, np.empty(10_000))
    assert best - residual @ out <= 1e-9
    assert weights @ out <= 500.0 + 1e-9
