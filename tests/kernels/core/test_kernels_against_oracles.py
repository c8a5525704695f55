"""The oracles check each other."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, SUM
from tests.oracles.enumeration import brute_force_map, vertices
from tests.oracles.hulls import hull_lp
from tests.oracles.projection import (
    PAIR_VERTICES,
    hull_projection,
    pair_projection,
    projection_gap,
    scored_projection,
)
from tests.oracles.random_problems import LOGIC, random_problem, random_scores
from tests.oracles.relaxation import naive_lp
from tests.oracles.sweep import sweep_seeds


@pytest.mark.parametrize(
    ("kind", "size", "k", "count"),
    [(CAP, 4, 2, 11), (SUM, 4, 2, 6), (ANYOF, 4, 1, 8), (PARITY, 4, 1, 8)],
)
def test_vertices_are_counted_right(kind, size, k, count):
    assert len(vertices(kind, size, k)) == count


def test_a_knapsack_with_unit_weights_is_a_cap():
    assert np.array_equal(vertices(KNAPSACK, 4, 1, np.ones(4), 2.5), vertices(CAP, 4, 2))


@sweep_seeds(share=0.3)
def test_two_relaxations_agree_and_bound_the_best_assignment(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, n=8, factors=2, kinds=LOGIC, tables=int(rng.integers(4)))
        scores = random_scores(rng, problem, 1.0, forbidden=0.2)
        relaxed = naive_lp(problem, scores)
        assert relaxed == pytest.approx(hull_lp(problem, scores), abs=1e-6)
        assert brute_force_map(problem, scores)[0] <= relaxed + 1e-6


@sweep_seeds()
@pytest.mark.parametrize("kind", [CAP, SUM, ANYOF, PARITY])
def test_two_ways_to_project_agree(kind, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        corners = vertices(kind, 3, int(rng.integers(1, 3)))
        point = rng.normal(0.5, 1.0, 3)
        nearest = hull_projection(corners, point)
        assert projection_gap(corners, point, nearest) <= 1e-9
        assert np.allclose(
            nearest, scored_projection(corners, np.zeros(len(corners)), point), atol=1e-7
        )


@sweep_seeds()
def test_a_pair_without_score_projects_onto_the_square(seeds):
    for seed in seeds:
        point = np.random.default_rng(seed).normal(0.5, 1.0, 2)
        assert np.allclose(pair_projection(point, 0.0), np.clip(point, 0, 1), atol=1e-9)


@sweep_seeds(share=0.5)
def test_a_scored_pair_beats_every_point_of_a_grid(seeds):
    grid = np.linspace(0, 1, 21)
    z1, z2 = np.meshgrid(grid, grid)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        point, score = rng.normal(0.5, 1.0, 2), rng.normal()

        def cost(a, b, point=point, score=score):
            inner = np.minimum(a, b) if score > 0 else np.maximum(0, a + b - 1)
            return 0.5 * ((a - point[0]) ** 2 + (b - point[1]) ** 2) - score * inner

        z = pair_projection(point, score)
        assert np.all((z > -1e-9) & (z < 1 + 1e-9))
        assert cost(*z) <= cost(z1, z2).min() + 1e-9
    assert len(PAIR_VERTICES) == 4
