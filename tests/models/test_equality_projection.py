"""Projections with equations: against AD3, and against a quadratic program."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import assent as at
from assent.models import GraphSpace
from assent.models.equality_projection import nearest_with_equalities
from tests.oracles.quadratic import is_nearest, nearest_point
from tests.oracles.sweep import sweep_seeds


def random_space(rng: np.random.Generator) -> GraphSpace:
    """A ring of tables over labels, one of which shares a table with a literal."""
    n, k = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    g = at.FactorGraph()
    label = g.categorical(n, states=k, name="label")
    on = g.binary(2, name="on")
    j = np.arange(n)
    ring = g.add(at.Dense(label[j], label[(j + 1) % n], scores=np.zeros((k, k))))
    linked = g.add(at.Dense(label[0], on[0], scores=np.zeros((k, 2))))
    if rng.random() < 0.3:
        g.fix(on[1], 1)
    return GraphSpace(g, [label, ring, on, linked], None)


@sweep_seeds(0.5)
def test_graphs_of_tables_are_projected_exactly(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        space = random_space(rng)
        assert "rows" in space.abilities
        point = rng.normal(size=space.size) * rng.choice([0.3, 1.0, 3.0]) + rng.normal()
        mine = space.project(point)
        equal, right, below, limit = space.rows()
        np.testing.assert_allclose(equal @ mine, right, atol=1e-9)
        matrix = sparse.vstack([equal, below, -sparse.eye(space.size)])
        exact = np.arange(matrix.shape[0]) < len(right)
        upper = np.concatenate([right, limit, np.zeros(space.size)])
        theirs = nearest_point(point, matrix, upper, exact)
        assert np.abs(mine - theirs).max() < 1e-8 or is_nearest(mine, theirs, point), seed


def test_ad3_finds_the_same_point():
    rng = np.random.default_rng(0)
    for _ in range(3):
        space = random_space(rng)
        point = rng.normal(size=space.size)
        np.testing.assert_allclose(space._project_by_ad3(point), space.project(point), atol=1e-6)


def test_infeasible_equations_are_reported():
    assert nearest_with_equalities(np.ones((1, 2)), np.array([3.0]), np.zeros(2)) is None
