"""The compact LP against the LP over enumerated vertices."""

from __future__ import annotations

import numpy as np
import pytest

from assent.problem import CAP, SUM, Scores, make_problem
from assent.solvers.linear_program import LinearProgram, relaxed_objective, solve_lp
from tests.oracles.enumeration import brute_force_map, lp_bound
from tests.oracles.random_problems import random_problem, random_scores
from tests.oracles.relaxation import naive_lp
from tests.oracles.sweep import sweep_seeds

NO_PAIRS = np.zeros((0, 2), np.int32)


def size_of(scores):
    return 1e-300 + np.abs(scores.theta).sum() + np.abs(scores.pair).sum() + abs(scores.constant)


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
        assert abs(relaxed_objective(problem, scores, solution.x) - expected) <= tolerance
        best, _ = brute_force_map(problem, scores)
        assert best <= solution.value + tolerance


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
    from assent.solvers.linear_program import build_lp

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
    full = solve_lp(problem, scores).value
    assert solver.bound(problem, scores, workspace) >= full - 1e-6


def test_an_interrupt_stops_highs_and_still_bounds(monkeypatch):
    import highspy

    patient, calls = highspy.Highs.wait, []

    def impatient(self, timeout):
        calls.append(timeout)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return patient(self, timeout)

    monkeypatch.setattr(highspy.Highs, "wait", impatient)
    problem, scores = grid(60)
    solver = LinearProgram()
    workspace = solver.init(problem, scores)
    with pytest.raises(KeyboardInterrupt):
        solver.advance(problem, scores, workspace)
    assert workspace.solution.status == "interrupted"
    x = solver.marginals(workspace)
    assert solver.bound(problem, scores, workspace) >= relaxed_objective(problem, scores, x) - 1e-6


def test_settings_are_checked():
    with pytest.raises(ValueError, match='method is "simplex", "ipm" or "choose", got \'barrier\''):
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
