"""Propagation against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.core.propagate import fix
from assent.kernels.problem import CAP, KNAPSACK, PARITY, SUM, make_problem
from tests.oracles.enumeration import enumerate_assignments, violated_factors
from tests.oracles.random_problems import (
    LOGIC,
    random_literals,
    random_problem,
    random_weights,
)
from tests.oracles.sweep import sweep_seeds

NO_PAIRS = np.zeros((0, 2), np.int32)


def random_evidence(rng, n):
    return np.where(rng.random(n) < 0.4, rng.integers(0, 2, n), -1).astype(np.int8)


def agreeing(points, evidence):
    return points[np.all((evidence == -1) | (points == evidence), axis=1)]


@sweep_seeds()
def test_no_feasible_assignment_is_removed(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, complements=rng.random() < 0.3, any_k=True, kinds=LOGIC)
        evidence = random_evidence(rng, problem.n)
        remaining = agreeing(enumerate_assignments(problem), evidence)
        values, conflict = fix(problem, evidence)
        if conflict >= 0:
            assert len(remaining) == 0
        else:
            assert np.array_equal(agreeing(remaining, values), remaining)
            assert np.all((evidence == -1) | (values == evidence))
            if np.all(values >= 0):
                assert not violated_factors(problem, values)


@sweep_seeds()
@pytest.mark.parametrize("kind", LOGIC)
@pytest.mark.parametrize("complements", [False, True])
def test_one_factor_is_propagated_completely(kind, complements, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = 5
        size = int(rng.integers(2, n + 1))
        k = int(rng.integers(0, size + 1)) if kind in (CAP, SUM) else 1
        literals = random_literals(rng, n, size, complements)[None]
        weights, capacity = random_weights(rng, size)
        loads = ([weights[None]], [np.array([capacity])]) if kind == KNAPSACK else (None, None)
        group = (kind, literals, np.array([k], np.int32))
        problem = make_problem(n, NO_PAIRS, [group], None, *loads)
        evidence = random_evidence(rng, n)
        remaining = agreeing(enumerate_assignments(problem), evidence)
        values, conflict = fix(problem, evidence)
        if len(remaining) == 0:
            assert conflict == 0
            continue
        assert conflict == -1
        decided = np.where(remaining.min(0) == remaining.max(0), remaining[0], -1)
        assert np.array_equal(values, decided)


def test_a_conflict_names_a_factor_that_is_broken():
    one_of = np.array([[0, 1]], np.int32)
    problem = make_problem(
        3,
        NO_PAIRS,
        [(CAP, np.array([[1, 2]], np.int32), np.array([1], np.int32)),
         (SUM, one_of, np.array([1], np.int32))],
    )  # fmt: skip
    values, conflict = fix(problem, np.array([0, -1, 1], np.int8))
    assert conflict in (0, 1)
    assert conflict in violated_factors(problem, values)


def test_a_long_implication_chain_is_followed_to_its_end():
    n = 10_000
    steps = np.stack([np.arange(n - 1), ~np.arange(1, n)], axis=1).astype(np.int32)
    problem = make_problem(n, NO_PAIRS, [(CAP, steps, np.ones(n - 1, np.int32))])
    start = np.full(n, -1, np.int8)
    start[0] = 1
    values, conflict = fix(problem, start)
    assert conflict == -1
    assert np.all(values == 1)


def knapsack(weights, capacity):
    n = len(weights)
    group = (KNAPSACK, np.arange(n, dtype=np.int32)[None], np.ones(1, np.int32))
    return make_problem(
        n, NO_PAIRS, [group], None, [np.array([weights], float)], [np.array([capacity], float)]
    )


@pytest.mark.parametrize(
    ("weights", "capacity", "values"),
    [
        ([0.1, 0.2, 0.4], 0.3, [-1, -1, 0]),  # 0.1 + 0.2 is a fit, though not in binary
        ([0.0, 1.0, 2.0], 0.0, [-1, 0, 0]),
        ([1e-300, 5.0, 1e300], 1e-300, [-1, 0, 0]),
        ([1.0, 2.0, 3.0], 6.0, [-1, -1, -1]),
    ],
)
def test_items_that_never_fit_are_false(weights, capacity, values):
    closed, conflict = fix(knapsack(weights, capacity), np.full(3, -1, np.int8))
    assert conflict == -1
    assert closed.tolist() == values


def test_both_items_of_an_exact_fit_stay_possible():
    values, conflict = fix(knapsack([0.1, 0.2, 0.1], 0.3), np.array([1, 1, -1], np.int8))
    assert (values.tolist(), conflict) == ([1, 1, 0], -1)


def test_a_negative_capacity_is_a_conflict():
    assert fix(knapsack([0.0, 1.0], -1.0), np.full(2, -1, np.int8))[1] == 0


def test_a_parity_decides_its_last_literal():
    group = (PARITY, np.array([[0, ~1, 2]], np.int32), np.ones(1, np.int32))
    problem = make_problem(3, NO_PAIRS, [group])
    values, conflict = fix(problem, np.array([1, 0, -1], np.int8))
    assert (values.tolist(), conflict) == ([1, 0, 0], -1)


def test_ten_thousand_items_are_propagated_in_no_time():
    n = 10_000
    problem = knapsack(np.linspace(1.0, 2.0, n), 3000.0)
    start = np.full(n, -1, np.int8)
    start[:1999] = 1
    values, conflict = fix(problem, start)
    assert conflict == -1
    assert violated_factors(problem, np.maximum(values, 0)) == []
