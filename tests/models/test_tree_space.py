"""The marginal polytope of trees: every question against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from assent.models import TreeSpace
from assent.models.hull_projection import nearest_in_hull
from assent.models.tree_space import chain_space
from tests.oracles.sweep import sweep_seeds


def random_space(rng: np.random.Generator) -> TreeSpace:
    n = int(rng.integers(1, 5))
    parents = [-1, *(int(rng.integers(-1, v)) for v in range(1, n))]
    return TreeSpace(rng.integers(1, 4, n).tolist(), parents)


def all_vertices(space: TreeSpace) -> np.ndarray:
    """Spelled out from the definition: states of nodes, then of edges, child by parent."""
    found = []
    for states in product(*map(range, space.states)):
        z = [float(s == own) for own, k in zip(states, space.states, strict=True)
             for s in range(k)]  # fmt: skip
        for v, parent in enumerate(space.parents):
            if parent >= 0:
                z += [
                    float((a, b) == (states[v], states[parent]))
                    for a in range(space.states[v])
                    for b in range(space.states[parent])
                ]
        found.append(z)
    return np.array(found)


@pytest.mark.parametrize("seed", range(40))
def test_questions_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    vertices = all_vertices(space)
    assert vertices.shape[1] == space.size
    scores = rng.normal(size=space.size)
    best = vertices[(vertices @ scores).argmax()]
    np.testing.assert_array_equal(space.maximize(scores), best)
    value, z = space.marginals(scores)
    weight = np.exp(vertices @ scores)
    assert value == pytest.approx(np.log(weight.sum()))
    np.testing.assert_allclose(z, weight @ vertices / weight.sum(), atol=1e-12)
    rows = space.rows()
    np.testing.assert_allclose(rows.equal @ vertices.T, np.tile(rows.right[:, None], len(vertices)))


@sweep_seeds(0.6)
def test_projection_is_the_nearest_point(seeds):
    for seed in seeds:
        rng = np.random.default_rng(100 + seed)
        space = random_space(rng)
        vertices = all_vertices(space)
        point = rng.normal(size=space.size) * rng.choice([0.3, 1.0, 10.0])
        q = space.project(point)
        # Inside: the rows of a tree describe its hull. Nearest: no vertex lies further ahead.
        rows = space.rows()
        np.testing.assert_allclose(rows.equal @ q, rows.right, atol=1e-9)
        assert q.min() >= -1e-12
        assert ((vertices - q) @ (point - q)).max() <= 1e-8 * (1.0 + np.abs(point).max())
        np.testing.assert_allclose(nearest_in_hull(space.maximize, point), q, atol=1e-6)


@pytest.mark.parametrize(("length", "states"), [(4, 3), (5, 6)])
def test_points_inside_stay(length, states):
    """The second one needs more vertices than are allocated at first."""
    rng = np.random.default_rng(0)
    space = chain_space(length, states)
    vertices = [
        space.indicators(rng.integers(0, states, length).astype(np.int32)) for _ in range(400)
    ]
    inside = rng.dirichlet(np.ones(len(vertices))) @ vertices
    np.testing.assert_allclose(space.project(inside), inside, atol=1e-7)


def test_a_faulty_oracle_is_noticed():
    turn = iter(range(10**9))

    def wandering(scores):
        return np.sign(scores) * (1.0 + next(turn))

    from assent.errors import ModelError
    from assent.models import hull_projection

    before, hull_projection.MOST_STEPS = hull_projection.MOST_STEPS, 50
    try:
        with pytest.raises(ModelError, match="does not return best vertices of one polytope"):
            nearest_in_hull(wandering, np.array([1e9, -1e9]))
    finally:
        hull_projection.MOST_STEPS = before
