"""The nearest point of a graph's relaxation, against linear programs: a point is nearest exactly
when no point of the relaxation is better in the direction of what is left to gain."""

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError, NoFeasibleAssignment
from assent.solvers.ad3.quadratic import find_nearest
from tests.oracles.hulls import hull_lp
from tests.oracles.random_problems import random_problem, random_scores
from tests.oracles.random_tables import random_tables_problem
from tests.oracles.sweep import sweep_seeds

# The square distance is of the size of 1.
SCALES = [0.01, 1.0, 100.0]


def check_nearest(problem, scores, target, curvature):
    """Everything a nearest point must satisfy; returns it, or None where nothing is feasible."""
    if not np.isfinite(hull_lp(problem, scores)):
        return None
    found = find_nearest(problem, scores, target, curvature, tolerance=1e-9, max_iterations=50_000)
    assert found.converged
    # Its value is no more than the bound says, and nearly as much.
    size = 1.0 + abs(found.value)
    assert found.value <= found.bound + 1e-6 * size
    assert found.bound - found.value <= 1e-5 * size
    # Along the gradient nothing is better than the point itself: it is in the relaxation, and
    # nearest.  (A point outside would be separated by some direction; this is the one in use.)
    gradient = scores.theta + curvature * (target - found.p)
    linear = hull_lp(problem, replace(scores, theta=gradient))
    square = 0.5 * float(curvature @ (found.p - target) ** 2)
    own = found.value + square + float((gradient - scores.theta) @ found.p)
    assert linear - own <= 1e-5 * size
    assert own - linear <= 1e-5 * size
    return found


@sweep_seeds(0.5)
def test_logic_and_pairs(seeds):
    checked = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, n=6, complements=rng.random() < 0.3, any_k=False)
        scores = random_scores(rng, problem, scale=float(rng.choice(SCALES)))
        target = rng.normal(0.5, 1.0, problem.n)
        curvature = (rng.random(problem.n) < 0.8).astype(float)
        checked += check_nearest(problem, scores, target, curvature) is not None
    assert checked > 0


@sweep_seeds(0.5)
def test_tables(seeds):
    checked = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_tables_problem(rng)
        scores = random_scores(rng, problem, scale=float(rng.choice(SCALES)))
        target = rng.normal(0.5, 1.0, problem.n)
        checked += check_nearest(problem, scores, target, np.ones(problem.n)) is not None
    assert checked > 0


def test_one_factor_is_projected_as_the_factor_does():
    rng = np.random.default_rng(3)
    for _ in range(20):
        point = rng.normal(0.5, 1.0, 5)
        g = at.FactorGraph()
        x = g.binary(5, name="x")
        rule = at.Exactly(2, [x[0], ~x[1], x[2], x[3], ~x[4]])
        g.add(rule)
        literal = np.where(rule.codes[0] < 0, 1.0 - point, point)
        expected = rule.project(literal[None])[0]
        expected = np.where(rule.codes[0] < 0, 1.0 - expected, expected)
        np.testing.assert_allclose(at.project(g, {x: point})[x], expected, atol=1e-7)


def test_a_chain_inside_a_graph():
    """A structure with a constraint beside it, against its list of vertices."""
    rng = np.random.default_rng(5)
    g = at.FactorGraph()
    y = g.categorical(4, states=3, name="y")
    g.add(at.Chain(y, transitions=rng.normal(size=(3, 3, 3))))
    alone = rng.normal(0.3, 0.5, (4, 3))
    projected = at.project(g, {y: alone})
    structure = g.handles[0].factor
    expected, _ = structure.project(alone.reshape(1, -1), structure.scores)
    np.testing.assert_allclose(projected[y].ravel(), expected[0], atol=1e-6)
    g.add(at.AtMost(1, y.indicators[:, 0]))
    tighter = at.project(g, {y: alone})
    assert tighter.value <= projected.value + 1e-9
    assert tighter[y][:, 0].sum() <= 1.0 + 1e-7


def test_evidence_and_variables_without_a_point():
    g = at.FactorGraph()
    x = g.binary(4, name="x")
    g.add(at.ExactlyOne(x[:3]))
    g.fix(x[3], 1)
    projected = at.project(g, {x[0]: 0.25, ~x[3]: 0.5})
    assert projected[x[0]] == pytest.approx(0.25, abs=1e-7)
    assert projected[x[3]] == 1.0
    assert projected[x[:3]].sum() == pytest.approx(1.0, abs=1e-7)
    assert projected.distance == pytest.approx(0.5, abs=1e-6)
    assert projected.value == pytest.approx(-0.125, abs=1e-6)
    assert "converged in" in repr(projected)


def test_what_cannot_be_projected_is_named():
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    with pytest.raises(TypeError, match="project takes a FactorGraph"):
        at.project("g", {})
    with pytest.raises(TypeError, match="mapping from variables"):
        at.project(g, [0.5, 0.5])
    with pytest.raises(ModelError, match="shape"):
        at.project(g, {x: [1.0, 2.0, 3.0]})
    with pytest.raises(ModelError, match="finite"):
        at.project(g, {x: [1.0, -np.inf]})
    with pytest.raises(ModelError, match="another graph"):
        at.project(g, {at.FactorGraph().binary(2): 0.0})
    with pytest.raises(ModelError, match="another graph"):
        at.project(g, {x: 0.0})[at.FactorGraph().binary(2)]
    g.fix(x[0], 1)
    g.add(at.AtMostOne(x))
    g.fix(x[1], 1)
    with pytest.raises(NoFeasibleAssignment, match="nothing to project onto"):
        at.project(g, {x: 0.0})
