"""The compact LP against linear programs over enumerated vertices."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from assent.kernels.problem import (
    CAP,
    DENSE,
    PARITY,
    POTTS,
    SUM,
    Problem,
    Scores,
    make_problem,
    make_tables,
)
from assent.solvers.programs import highs
from assent.solvers.programs.compact_lp import build_lp
from assent.solvers.programs.linear_program import LinearProgram, solve_lp
from tests.oracles.enumeration import brute_force_map, lp_bound
from tests.oracles.hulls import hull_bound, hull_lp
from tests.oracles.random_problems import random_problem, random_scores
from tests.oracles.random_tables import random_table_scores, random_tables_problem
from tests.oracles.relaxation import naive_lp
from tests.oracles.sweep import sweep_seeds

NO_PAIRS = np.zeros((0, 2), np.int32)


def size_of(scores):
    table = np.where(np.isneginf(scores.table), 0.0, scores.table)
    parts = (scores.theta, scores.pair, scores.constant, table)
    return 1e-300 + sum(float(np.abs(part).sum()) for part in parts)


@sweep_seeds()
@pytest.mark.parametrize("method", ["simplex", "ipm"])
def test_compact_lp_has_the_optimum_of_the_vertex_lp(method, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, complements=rng.random() < 0.3, any_k=rng.random() < 0.3)
        scores = random_scores(rng, problem)
        solution = solve_lp(problem, scores, method)
        expected = naive_lp(problem, scores)
        if np.isneginf(expected):
            assert solution.status == "infeasible"
            continue
        tolerance = 1e-7 * size_of(scores)
        assert solution.status == "optimal"
        assert abs(solution.value - expected) <= tolerance
        assert abs(lp_bound(problem, scores, solution.dual) - expected) <= tolerance
        assert abs(solution.relaxed_value - expected) <= tolerance
        best, _ = brute_force_map(problem, scores)
        assert best <= solution.value + tolerance


@sweep_seeds()
@pytest.mark.parametrize("method", ["simplex", "ipm"])
def test_tables_parities_and_knapsacks_have_the_optimum_of_the_vertex_lp(method, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_tables_problem(rng, infeasible=seed % 5 == 0)
        scores = random_table_scores(rng, problem, forbidden=0.3 * (seed % 2))
        solution = solve_lp(problem, scores, method)
        expected = hull_lp(problem, scores)
        if np.isneginf(expected):
            nothing = zero_scores(problem, np.where(np.isneginf(scores.table), -np.inf, 0.0))
            assert solution.status == "infeasible"
            assert hull_bound(problem, nothing, solution.ray) < 0.0
            continue
        tolerance = 1e-7 * size_of(scores)
        assert abs(solution.value - expected) <= tolerance
        assert abs(hull_bound(problem, scores, solution.dual) - expected) <= tolerance
        assert abs(solution.relaxed_value - expected) <= tolerance


def zero_scores(problem: Problem, table=None) -> Scores:
    table = np.zeros(problem.tables.entry[-1]) if table is None else table
    return Scores(np.zeros(problem.n), np.zeros(problem.n_pairs), 0.0, table)


def blocks(count, states):
    """``count`` categorical variables and a chain of tables of one kind between neighbours."""
    coordinates = np.arange(count * states, dtype=np.int32).reshape(count, states)
    group = (SUM, coordinates, np.ones(count, np.int32))
    lits = np.concatenate([coordinates, np.roll(coordinates, 1, axis=0)], axis=1)

    def make(kind):
        tables = make_tables([(kind, (states, states), (0, 0), lits)])
        return make_problem(count * states, NO_PAIRS, [group], tables)

    return make


@sweep_seeds()
def test_potts_is_as_tight_as_dense_whatever_the_signs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        count, states = int(rng.integers(3, 6)), int(rng.integers(2, 5))
        make = blocks(count, states)
        theta = rng.normal(size=count * states)
        rewards = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (count, states))
        if seed % 4 == 0:
            rewards[rng.random(rewards.shape) < 0.1] = -np.inf
        full = np.zeros((count, states, states))
        full[:, np.arange(states), np.arange(states)] = rewards
        potts = solve_lp(make(POTTS), Scores(theta, np.zeros(0), 0.0, rewards.ravel()))
        dense = solve_lp(make(DENSE), Scores(theta, np.zeros(0), 0.0, full.ravel()))
        assert potts.status == dense.status
        if dense.status == "optimal":
            assert potts.value == pytest.approx(dense.value, abs=1e-7)


def test_rows_and_columns_of_tables_and_parities():
    ring = blocks(3, 4)
    reward = Scores(np.zeros(12), np.zeros(0), 0.0, np.ones(12))
    assert build_lp(ring(POTTS), reward).matrix.shape == (3 + 12, 12 + 12)
    # A factor of both signs has two rows per gain and one per loss.
    mixed = Scores(np.zeros(12), np.zeros(0), 0.0, np.array([-1.0] + [1.0] * 11))
    assert build_lp(ring(POTTS), mixed).matrix.shape == (3 + 8 + 7, 12 + 12)
    table = np.zeros(48)
    table[:5] = -np.inf
    dense = build_lp(ring(DENSE), Scores(np.zeros(12), np.zeros(0), 0.0, table))
    assert dense.matrix.shape == (3 + 3 * 7, 12 + 43)  # a forbidden entry has no column
    chain = make_problem(9, NO_PAIRS, [(PARITY, np.arange(9, dtype=np.int32)[None], np.ones(1))])
    assert build_lp(chain, zero_scores(chain)).matrix.shape == (4 * 7, 9 + 6)


def test_a_table_without_a_possible_state_is_infeasible():
    ring = blocks(3, 2)(DENSE)
    table = np.zeros(12)
    table[:4] = -np.inf
    solution = solve_lp(ring, zero_scores(ring, table))
    assert (solution.status, solution.value) == ("infeasible", -np.inf)


def test_a_long_parity_gives_way_where_it_costs_least():
    n = 2_000
    problem = make_problem(n, NO_PAIRS, [(PARITY, np.arange(n, dtype=np.int32)[None], np.ones(1))])
    theta = np.where(np.arange(n) < 1001, 1.0, -1.0)
    theta[7] = 0.25
    solution = solve_lp(problem, Scores(theta, np.zeros(0)))
    assert solution.value == pytest.approx(1000.0)  # the cheapest of 1001 gives way


@sweep_seeds()
def test_infeasible_relaxations_come_with_a_proof(seeds):
    refuted = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, n=4, pairs=2, factors=9, max_size=4, any_k=True)
        scores = random_scores(rng, problem)
        solution = solve_lp(problem, scores)
        if solution.status != "infeasible":
            continue
        refuted += 1
        nothing = Scores(np.zeros(problem.n), np.zeros(problem.n_pairs))
        assert solution.value == -np.inf
        assert solution.ray is not None
        assert lp_bound(problem, nothing, solution.ray) < 0.0
    assert refuted > 0


@sweep_seeds(share=0.3)
def test_any_link_scores_bound_the_optimum(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, complements=rng.random() < 0.3)
        scores = random_scores(rng, problem, scale=1.0)
        dual = solve_lp(problem, scores).dual
        for point in (dual.pair, dual.logic):
            point += rng.normal(size=point.shape)
        best, _ = brute_force_map(problem, scores)
        assert lp_bound(problem, scores, dual) >= best - 1e-9


def test_no_rows_and_no_columns():
    alone = make_problem(2, NO_PAIRS, [])
    solution = solve_lp(alone, Scores(np.array([1.0, -2.0]), np.zeros(0), 0.5))
    assert (solution.status, solution.value) == ("optimal", 1.5)
    assert solution.x.tolist() == [1.0, 0.0]
    empty = make_problem(0, NO_PAIRS, [])
    assert solve_lp(empty, Scores(np.zeros(0), np.zeros(0), 0.5)).value == 0.5


def test_one_row_per_pair_and_per_sum():
    pairs = np.array([[0, 1], [1, 2], [0, 2]], np.int32)
    group = (SUM, np.array([[0, 1, ~2]], np.int32), np.ones(1, np.int32))
    lp = build_lp(make_problem(3, pairs, [group]), Scores(np.zeros(3), np.array([1.0, -1.0, 0.0])))
    assert lp.matrix.shape == (3, 5)  # the pair without a score needs nothing


def grid(side):
    rng = np.random.default_rng(0)
    cells = np.arange(side * side).reshape(side, side)
    across = np.stack([cells, np.roll(cells, 1, 0)], -1).reshape(-1, 2)
    down = np.stack([cells, np.roll(cells, 1, 1)], -1).reshape(-1, 2)
    problem = make_problem(cells.size, np.concatenate([across, down]).astype(np.int32), [])
    return problem, Scores(rng.normal(size=problem.n), rng.normal(size=problem.n_pairs))


def test_time_limit_stops_and_still_bounds():
    problem, scores = grid(30)
    solver = LinearProgram(time_limit=1e-3)
    workspace = solver.init(problem, scores)
    info = solver.advance(problem, scores, workspace)
    assert not info.finished
    assert workspace.solution.status == "time limit"
    assert np.isnan(workspace.solution.relaxed_value)  # rows may be broken where it stopped
    full = solve_lp(problem, scores).value
    assert solver.bound(problem, scores, workspace) >= full - 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_small_programs_are_solved_as_they_are_and_as_large_ones(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    scores = random_scores(rng, problem)
    small = solve_lp(problem, scores)
    monkeypatch.setattr(highs, "SMALL_PROGRAM", 0)
    large = solve_lp(problem, scores)
    assert small.status == large.status
    assert np.isclose(small.value, large.value, rtol=0.0, atol=1e-7 * size_of(scores))


def test_an_interrupt_stops_highs_and_still_bounds(monkeypatch):
    import highspy

    patient, calls = highspy.Highs.wait, []

    def impatient(self, timeout):
        calls.append(timeout)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
            return False, None
        return patient(self, timeout)

    monkeypatch.setattr(highspy.Highs, "wait", impatient)
    problem, scores = grid(60)
    solver = LinearProgram()
    workspace = solver.init(problem, scores)
    with pytest.raises(KeyboardInterrupt):
        solver.advance(problem, scores, workspace)
    assert workspace.solution.status == "interrupted"
    assert solver.marginals(workspace).shape == (problem.n,)
    full = solve_lp(problem, scores).value
    assert solver.bound(problem, scores, workspace) >= full - 1e-6


def test_settings_are_checked():
    with pytest.raises(ValueError, match="method is one of simplex, ipm, choose, got 'barrier'"):
        LinearProgram(method="barrier")
    with pytest.raises(ValueError, match="time_limit is a positive number of seconds, got 0"):
        LinearProgram(time_limit=0)


def test_solver_steps_reach_the_optimum_in_one():
    group = (CAP, np.array([[0, 1]], np.int32), np.ones(1, np.int32))
    problem = make_problem(2, np.array([[0, 1]], np.int32), [group])
    scores = Scores(np.array([1.0, 2.0]), np.array([0.5]))
    solver = LinearProgram()
    workspace = solver.init(problem, scores)
    assert solver.advance(problem, scores, workspace).finished
    assert solver.bound(problem, scores, workspace) == pytest.approx(2.0)
    assert solver.relaxed_value(problem, scores, workspace) == pytest.approx(2.0)
    assert solver.ray(workspace) is None
