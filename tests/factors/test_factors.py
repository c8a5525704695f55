"""Contract tests over the registry of kinds: a new kind is tested by being listed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import assent as at
from assent.compile.compiled import graph_scores
from assent.factors import KINDS, Logic, Structure
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import DualPoint
from assent.proof.certify import upper_bound
from tests.oracles.enumeration import (
    binary_points,
    brute_force_map,
    factors,
    load_limits,
    vertices,
)
from tests.oracles.projection import pair_projection, projection_gap
from tests.oracles.sweep import sweep_seeds
from tests.strategies import CASES, LOGIC_CASES, optimum, random_scores

every_case = pytest.mark.parametrize("case", CASES, ids=repr)
every_logic_case = pytest.mark.parametrize("case", LOGIC_CASES, ids=repr)


def draw(rng, case):
    """A graph over as many variables as the kind takes, a factor on random literals, and its k.

    Which literals are negated runs through all patterns as seeds are drawn.
    """
    g = at.FactorGraph()
    size = case.random_size(rng, case.largest)
    k = case.random_k(rng, size)
    x = g.binary(size, name="x")
    negated = rng.random(size) < 0.5
    return g, g.add(case.build(x.negate(where=negated), k)).factor, k


def in_hull(table, q):
    """Whether ``q`` is within 1e-6 of a convex combination of the rows of ``table``.

    The largest difference is a column of the program: one that asks for equality is called
    infeasible where a knapsack is as full as its tolerance allows.
    """
    below, above = (np.column_stack([sign * table.T, -np.ones(len(q))]) for sign in (1.0, -1.0))
    cost = np.append(np.zeros(len(table)), 1.0)
    nearest = linprog(
        cost, np.vstack([below, above]), np.append(q, -q), A_eq=[1.0 - cost], b_eq=[1.0]
    )
    return nearest.fun <= 1e-6


def assert_nearest(table, point, q):
    """``q`` lies in the hull of ``table`` and no vertex is a way nearer to ``point``.

    The squared distance from the true projection is at most the gap: 1e-12 means 1e-6.
    """
    if len(table):
        assert in_hull(table, q)
        assert projection_gap(table, point, q) <= 1e-12


def random_points(rng, shape):
    """Points in and around the unit cube, some exactly on its corners and middles."""
    spread = rng.choice([0.3, 1.0, 10.0])
    points = 0.5 + spread * rng.normal(size=shape)
    return np.where(rng.random(shape) < 0.2, np.round(2 * points) / 2, points)


def test_every_kind_is_covered_and_described():
    structures = {kind for kind in KINDS if issubclass(kind, Structure)}
    assert {case.kind for case in CASES} | {at.Dense, at.Potts} | structures == set(KINDS)
    for kind in KINDS:
        assert kind.paper_name
        assert kind.formula
        assert "Example:" in (kind.__doc__ or "")
        assert {"maximize", "project"} <= set(kind.abilities)


@every_logic_case
def test_holds_is_the_truth_table(case):
    rng = np.random.default_rng(0)
    for _ in range(20):
        _, factor, k = draw(rng, case)
        assert isinstance(factor, Logic)
        for truth in binary_points(factor.size) == 1:
            assert factor.holds(truth[None]).tolist() == [bool(case.holds(truth, k))]


@sweep_seeds()
@every_logic_case
def test_maximize_finds_the_best_vertex(case, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        _, factor, k = draw(rng, case)
        table = case.vertices(factor.size, k)
        scale = float(rng.choice([1e-6, 1.0, 1e8]))
        scores = random_scores(rng, (1, factor.size), scale)
        value, point = factor.maximize(scores)
        best = (table @ scores[0]).max()
        assert abs(value[0] - best) <= 1e-8 * max(scale, abs(best))
        assert case.contains(point[0], k)
        assert (point[0] * scores[0]).sum() == pytest.approx(value[0], rel=1e-12)


@sweep_seeds()
def test_maximize_of_pairs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary((2, 5))
        scores, inner = random_scores(rng, (5, 2)), random_scores(rng, 5, forbid=0.2)
        value, truth = at.Pair(x[0], x[1]).maximize(scores, inner)
        for row in range(5):
            table = [
                a * scores[row, 0] + b * scores[row, 1] + (inner[row] if a and b else 0.0)
                for a, b in np.ndindex(2, 2)
            ]
            a, b = truth[row]
            assert value[row] == max(table)
            assert table[2 * int(a) + int(b)] == max(table)


@sweep_seeds()
@every_logic_case
def test_project_finds_the_nearest_point(case, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        _, factor, k = draw(rng, case)
        point = random_points(rng, (1, factor.size))
        assert_nearest(case.vertices(factor.size, k), point[0], factor.project(point)[0])


@sweep_seeds()
def test_project_of_pairs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(2)
        point, score = random_points(rng, (1, 2)), random_scores(rng, 1, rng.choice([1.0, 10.0]))
        z, w = at.Pair(x[0], x[1]).project(point, score)
        np.testing.assert_allclose(z[0], pair_projection(point[0], score[0]), atol=1e-6)
        low, high = max(0.0, z.sum() - 1.0), z.min()
        assert low - 1e-12 <= w[0] <= high + 1e-12
        assert w[0] == pytest.approx(high if score[0] >= 0 else low)


@sweep_seeds()
@every_case
def test_maximize_through_the_graph(case, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g, factor, _ = draw(rng, case)
        x = g["x"]
        changes = {x: random_scores(rng, factor.size, float(rng.choice([1e-6, 1.0, 1e8])))}
        pair = None
        if case.kind is at.Pair:
            pair = random_scores(rng, 1)
            changes[g.handles[0]] = pair[0]
        scores = graph_scores(g, changes)
        compiled = g.compile()
        best = optimum(g, theta=scores.theta, pair_scores=[pair] if pair is not None else None)
        if compiled.conflict is not None:
            assert best == -np.inf
            continue
        flat = compiled.flat_scores(scores)
        found = brute_force_map(compiled.problem, flat)[0] if compiled.problem.n else flat.constant
        size = np.abs(scores.theta).sum() + (0.0 if pair is None else abs(pair[0]))
        assert abs(found - best) <= 1e-8 * max(size, abs(best))


@sweep_seeds()
@every_logic_case
def test_project_through_the_graph(case, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g, factor, k = draw(rng, case)
        compiled = g.compile()
        point = random_points(rng, factor.size)
        truths = case.vertices(factor.size, k)
        if compiled.conflict is not None:
            assert len(truths) == 0
            continue
        negated = factor.codes[0] < 0
        table = np.where(negated, 1 - truths, truths)
        # What is too heavy for a knapsack is false: a face of its set, which holds cut items.
        table = table[((table == compiled.fixed) | (compiled.fixed == -1)).all(axis=1)]
        assert_nearest(table, point, project_flat(compiled, point))


def project_flat(compiled, point):
    """Project variables ``point[N]`` factor by factor in the flat problem (it has one at most)."""
    free = np.clip(point[compiled.free], 0.0, 1.0)
    loads = load_limits(compiled.problem)
    for index, (kind, k, literals, _) in enumerate(factors(compiled.problem)):
        column = np.where(literals < 0, ~literals, literals)
        negated = literals < 0
        inner = point[compiled.free][column]
        load = [np.array([part]) for part in loads.get(index, ())]
        form = NormalForm(kind, np.array([k], np.int32), len(literals), False, False, *load)
        nearest = form.project(np.where(negated, 1.0 - inner, inner)[None])[0]
        free[column] = np.where(negated, 1.0 - nearest, nearest)
    return compiled.full(free)


@every_logic_case
@pytest.mark.parametrize("scale", [1e3, 1e6, 1e8])
def test_projections_of_far_points_stay_in_the_hull(case, scale):
    rng = np.random.default_rng(3)
    for _ in range(10):
        _, factor, k = draw(rng, case)
        truths = case.vertices(factor.size, k)
        q = factor.project(scale * rng.normal(size=(1, factor.size)))[0]
        assert in_hull(truths, q)


@every_logic_case
def test_a_dual_point_of_zeros_bounds_by_the_variables_alone(case):
    rng = np.random.default_rng(1)
    for _ in range(10):
        g, _, _ = draw(rng, case)
        compiled, scores = g.compile(), graph_scores(g, {g["x"]: rng.normal(size=g.size)})
        if compiled.conflict is not None:
            continue
        problem = compiled.problem
        zero = DualPoint(np.zeros(problem.pair_var.shape), np.zeros(problem.lits.shape))
        bound = upper_bound(compiled, scores, compiled.graph_dual(zero, scores))
        fixed = compiled.fixed
        free = np.maximum(scores.theta, 0.0)[fixed == -1].sum()
        assert bound == pytest.approx(free + scores.theta[fixed == 1].sum())


def test_the_oracles_agree_with_the_truth_tables():
    rng = np.random.default_rng(2)
    for case in LOGIC_CASES:
        g = at.FactorGraph()
        size = max(case.smallest, 2)
        k = case.random_k(rng, size)
        form = case.build(g.binary(size), k).normal_form()
        load = [] if form.weights is None else [form.weights[0], float(form.capacity[0])]
        table = vertices(form.form, size, int(form.k[0]), *load) ^ form.flip
        points = binary_points(size)
        assert sorted(map(tuple, table)) == sorted(map(tuple, points[case.holds(points == 1, k)]))


def test_factors_in_words():
    g = at.FactorGraph()
    x, z = g.binary((2, 3), name="x"), g.binary(2, name="z")
    assert repr(at.AtMost([1, 2], x, axis=1)) == (
        "2 × AtMost, first AtMost(1; x[0,0], x[0,1], x[0,2])"
    )
    assert repr(at.All(x, axis=1, output=z)) == "2 × All, first All(x[0,0], x[0,1], x[0,2] → z[0])"
    assert repr(at.AtLeastOne(x[:0], axis=1)) == "AtLeastOne: no factors"
    long = at.AtLeastOne(g.binary(99, name="y"))
    assert repr(long).endswith("y[11], …)")
