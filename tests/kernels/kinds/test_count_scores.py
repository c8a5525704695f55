"""Cardinality's maximizer against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.kinds.count_scores import descending_order, maximize_cardinality
from tests.oracles.enumeration import binary_points
from tests.oracles.sweep import sweep_seeds


@sweep_seeds()
def test_order_is_descending(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        keys = rng.integers(-3, 4, int(rng.integers(0, 40))).astype(float)
        order = np.empty(len(keys), np.int64)
        descending_order(keys, order)
        assert sorted(order.tolist()) == list(range(len(keys)))
        assert np.array_equal(keys[order], np.sort(keys)[::-1])


@sweep_seeds()
def test_maximize_is_the_best_vertex(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 9))
        scale = rng.choice([1e-6, 1.0, 1e8])
        scores = rng.integers(-2, 3, size) * 1.0 if rng.random() < 0.5 else rng.normal(size=size)
        counts = rng.normal(size=size + 1)
        counts[rng.random(size + 1) < 0.4] = -np.inf
        scores, counts = scores * scale, counts * scale
        out = np.empty(size)
        value = maximize_cardinality(scores, counts, out)
        points = binary_points(size)
        best = (points @ scores + counts[points.sum(axis=1)]).max()
        tolerance = 1e-12 * scale * size
        assert value == pytest.approx(best, rel=0, abs=tolerance)
        if best > -np.inf:
            own = out @ scores + counts[int(out.sum())]
            assert own == pytest.approx(best, rel=0, abs=tolerance)


def test_every_number_forbidden():
    out = np.empty(3)
    assert maximize_cardinality(np.ones(3), np.full(4, -np.inf), out) == -np.inf


def test_equal_values_take_the_smallest_number():
    out = np.empty(3)
    assert maximize_cardinality(np.zeros(3), np.zeros(4), out) == 0.0
    assert out.tolist() == [0.0, 0.0, 0.0]
