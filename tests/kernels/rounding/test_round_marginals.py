"""Rounding and local search against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.core.evaluate import value, violated
from assent.kernels.problem import CAP, SUM, Scores, make_problem
from assent.kernels.rounding.round_marginals import build_tables, round_marginals
from tests.oracles.enumeration import (
    brute_force_map,
    enumerate_assignments,
    naive_value,
    violated_factors,
)
from tests.oracles.random_problems import COUNTED, LOGIC, random_problem, random_scores
from tests.oracles.sweep import sweep_seeds

NO_PAIRS = np.zeros((0, 2), np.int32)


def random_marginals(rng, n):
    p = rng.random(n)
    p[rng.random(n) < 0.2] = 0.5
    return np.where(rng.random(n) < 0.2, np.round(p), p)


@sweep_seeds()
def test_claims_of_a_rounding_are_true(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, factors=6, complements=rng.random() < 0.3, kinds=LOGIC)
        scores = random_scores(rng, problem)
        rounded = round_marginals(problem, scores, random_marginals(rng, problem.n))
        assert set(rounded.x.tolist()) <= {0, 1}
        assert rounded.violated == len(violated_factors(problem, rounded.x))
        expected = naive_value(problem, scores, rounded.x)
        size = abs(scores.constant) + np.abs(scores.theta).sum() + np.abs(scores.pair).sum()
        assert abs(rounded.value - expected) <= 1e-12 * size
        best, _ = brute_force_map(problem, scores)
        if rounded.violated == 0:
            assert rounded.value <= best + 1e-12 * size


@sweep_seeds()
def test_local_search_never_makes_an_assignment_worse(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, factors=6, complements=rng.random() < 0.3, kinds=LOGIC)
        scores = random_scores(rng, problem)
        marginals = random_marginals(rng, problem.n)
        before = round_marginals(problem, scores, marginals, max_sweeps=0)
        thorough = bool(rng.random() < 0.5)
        after = round_marginals(problem, scores, marginals, thorough=thorough)
        assert after.violated <= before.violated
        if after.violated == before.violated == 0:
            assert after.value >= before.value - 1e-9 * (1 + abs(before.value))


@pytest.mark.parametrize("kinds", [COUNTED, LOGIC])
def test_rounding_small_problems_finds_most_feasible_and_many_best(kinds):
    feasible = found = best_found = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, n=8, factors=6, kinds=kinds)
        scores = random_scores(rng, problem, scale=1.0)
        best, _ = brute_force_map(problem, scores)
        rounded = round_marginals(problem, scores, np.full(problem.n, 0.5))
        feasible += np.isfinite(best)
        found += rounded.violated == 0
        best_found += rounded.violated == 0 and rounded.value > best - 1e-9
    # Measured with uninformative marginals; a drop means the heuristics broke.
    assert found >= 0.98 * feasible
    assert best_found >= 0.6 * feasible


@sweep_seeds()
def test_integral_feasible_marginals_are_kept(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, kinds=LOGIC)
        scores = random_scores(rng, problem)
        points = enumerate_assignments(problem)
        if len(points) == 0:
            continue
        x = points[rng.integers(len(points))]
        rounded = round_marginals(problem, scores, x.astype(float), max_sweeps=0)
        assert np.array_equal(rounded.x, x)


@sweep_seeds()
def test_value_and_violations_match_the_naive_ones(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, complements=True, any_k=True, kinds=LOGIC)
        scores = random_scores(rng, problem, scale=1.0)
        x = rng.integers(0, 2, problem.n)
        assert value(problem, scores, x) == pytest.approx(naive_value(problem, scores, x), abs=1e-9)
        assert np.flatnonzero(violated(problem, x)).tolist() == violated_factors(problem, x)


def test_one_of_many_moves_to_the_best_literal():
    n = 50
    group = (SUM, np.arange(n, dtype=np.int32)[None], np.ones(1, np.int32))
    problem = make_problem(n, NO_PAIRS, [group])
    scores = Scores(np.arange(n, dtype=float), np.zeros(0))
    marginals = np.zeros(n)
    marginals[3] = 1.0
    rounded = round_marginals(problem, scores, marginals)
    assert rounded.x[n - 1] == 1
    assert rounded.violated == 0


def test_clusters_flip_together_when_thorough():
    # Two coordinates held at 0 by their own scores, though both at 1 would be better.
    problem = make_problem(2, np.array([[0, 1]], np.int32), [])
    scores = Scores(np.array([-1.0, -1.0]), np.array([3.0]))
    assert round_marginals(problem, scores, np.zeros(2)).value == 0.0
    assert round_marginals(problem, scores, np.zeros(2), thorough=True).value == 1.0


def test_ties_at_one_half_follow_the_scores():
    problem = make_problem(4, np.array([[2, 3]], np.int32), [])
    scores = Scores(np.array([1.0, -1.0, -1.0, 0.0]), np.array([3.0]))
    rounded = round_marginals(problem, scores, np.full(4, 0.5), max_sweeps=0)
    assert rounded.x.tolist() == [1, 0, 1, 1]


def test_same_input_same_output():
    rng = np.random.default_rng(5)
    problem = random_problem(rng, n=12, pairs=20, factors=8)
    scores = random_scores(rng, problem)
    marginals = random_marginals(rng, problem.n)
    tables = build_tables(problem)
    first = round_marginals(problem, scores, marginals, tables)
    second = round_marginals(problem, scores, marginals, tables)
    assert np.array_equal(first.x, second.x)


def test_infeasible_problems_get_a_least_violating_attempt():
    two = np.ones(2, np.int32)
    clash = np.array([[0, 1], [~0, ~1]], np.int32)  # at most one of both signs ...
    problem = make_problem(
        2, NO_PAIRS, [(CAP, clash, two), (SUM, np.array([[0, ~1]], np.int32), two[:1])]
    )  # ... means exactly one, but the sum wants them equal
    rounded = round_marginals(problem, Scores(np.ones(2), np.zeros(0)), np.array([0.9, 0.8]))
    assert rounded.violated == 1


def test_no_coordinates_at_all():
    problem = make_problem(0, NO_PAIRS, [])
    rounded = round_marginals(problem, Scores(np.zeros(0), np.zeros(0), 2.5), np.zeros(0))
    assert rounded.value == 2.5
    assert rounded.violated == 0


def flow_model(words):
    """Trees as flows: for every word k a unit runs from the root along chosen arcs to k.

    ``arc[h, m]`` says that h is the head of m, ``flow[h, m, k]`` that this arc leads to k, and
    ``path[j, k]`` that j stands above k, or is k; 0 is the root.
    """
    g = at.FactorGraph()
    nodes = words + 1
    arc = g.binary((nodes, nodes), name="arc")
    flow = g.binary((nodes, nodes, nodes), name="flow")
    path = g.binary((nodes, nodes), name="path")
    own = np.arange(nodes)
    g.fix(arc[own, own], 0)
    g.fix(arc[:, 0], 0)
    g.fix(path[0, 1:], 1)
    g.fix(path[own[1:], own[1:]], 1)
    g.fix(flow[own, :, own], 0)  # what has arrived stays
    g.fix(flow[:, :, 0], 0)
    g.add(at.ExactlyOne(arc[:, 1:], axis=0))
    for k in range(1, nodes):
        g.add(at.Implies(flow[:, :, k], arc))
        g.add(at.AtMostOne(flow[:, 1:, k], axis=0, output=path[1:, k]))
        senders = own[own != k]
        g.add(at.AtMostOne(flow[senders, :, k], axis=1, output=path[senders, k]))
    return g, arc


def test_flow_models_of_trees_are_rounded_to_trees():
    graph, arc = flow_model(9)
    compiled = graph.compile()
    scores = compiled.flat_scores(graph_scores(graph))
    for seed in range(8):
        marginals = np.random.default_rng(seed).random(compiled.problem.n)
        rounded = round_marginals(compiled.problem, scores, marginals)
        assert rounded.violated == 0
        heads = compiled.full(rounded.x)[arc.codes].argmax(axis=0)
        for word in range(1, 10):
            for _ in range(10):
                word = heads[word]
            assert word == 0
