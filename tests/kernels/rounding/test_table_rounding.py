"""Values, forward checking, rounding and local search with tables, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.core.evaluate import count_violated, forbidden, table_entries, value, violated
from assent.kernels.core.propagate import build_links
from assent.kernels.core.table_links import build_table_links, table_field
from assent.kernels.jit import jit
from assent.kernels.problem import DENSE, POTTS, SUM, Scores, make_problem, make_tables
from assent.kernels.rounding.round_marginals import build_tables, round_marginals
from assent.kernels.rounding.running_sums import RoundedPoint, fill_sums, flip
from tests.oracles.enumeration import (
    brute_force_map,
    enumerate_assignments,
    naive_tables,
    naive_value,
    table_entry,
    violated_factors,
)
from tests.oracles.random_problems import LOGIC, random_problem, random_scores
from tests.oracles.sweep import sweep_seeds

NO_PAIRS = np.zeros((0, 2), np.int32)


def random_instance(rng, factors=2, scale=1.0, **options):
    """A problem with tables and its scores; about half the time some entries are forbidden."""
    problem = random_problem(
        rng, n=9, factors=factors, kinds=LOGIC, tables=int(rng.integers(1, 6)), **options
    )
    return problem, random_scores(rng, problem, scale, forbidden=rng.choice([0.0, 0.0, 0.2, 0.4]))


def chain_of(variables, states, kind=DENSE):
    """Categorical variables in a row, a table between neighbours."""
    coordinates = np.arange(variables * states, dtype=np.int32).reshape(variables, states)
    lits = np.concatenate([coordinates[:-1], coordinates[1:]], axis=1)
    tables = make_tables([(kind, (states, states), (0, 0), lits)])
    groups = [(SUM, coordinates, np.ones(variables, np.int32))]
    return make_problem(variables * states, NO_PAIRS, groups, tables)


@jit
def fill_and_flip(logic, pairs, theta, pair, tables, point, flips):
    fill_sums(logic, theta, pairs.var, pair, tables, point)
    for v in flips:
        flip(logic, pairs, pair, tables, point, v)


@sweep_seeds()
def test_values_and_forbidden_tables_match_the_naive_ones(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, scores = random_instance(rng, factors=0, scale=None)
        points = enumerate_assignments(problem)
        x = points[rng.integers(len(points))]
        entries = [table_entry(table, x) for table in naive_tables(problem, scores)]
        assert table_entries(problem, scores, x).tolist() == entries
        assert forbidden(problem, scores, x).tolist() == [e == -np.inf for e in entries]
        expected = naive_value(problem, scores, x)
        size = np.abs(scores.theta).sum() + np.abs(scores.pair).sum()
        size += np.abs(scores.table[np.isfinite(scores.table)]).sum() + abs(scores.constant)
        if expected == -np.inf:
            assert value(problem, scores, x) == -np.inf
        else:
            assert abs(value(problem, scores, x) - expected) <= 1e-12 * size


@sweep_seeds()
def test_claims_of_a_rounding_are_true(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, scores = random_instance(rng, complements=rng.random() < 0.3)
        rounded = round_marginals(
            problem, scores, rng.random(problem.n), thorough=bool(rng.random() < 0.5)
        )
        broken = violated_factors(problem, rounded.x)
        assert np.flatnonzero(violated(problem, rounded.x)).tolist() == broken
        assert rounded.violated == count_violated(problem, scores, rounded.x) >= len(broken)
        if rounded.violated == 0:
            assert rounded.value == pytest.approx(naive_value(problem, scores, rounded.x), abs=1e-9)
            assert rounded.value <= brute_force_map(problem, scores)[0] + 1e-9


@sweep_seeds()
def test_local_search_never_makes_an_assignment_worse(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, scores = random_instance(rng)
        marginals = rng.random(problem.n)
        before = round_marginals(problem, scores, marginals, max_sweeps=0)
        after = round_marginals(problem, scores, marginals, thorough=bool(rng.random() < 0.5))
        assert after.violated <= before.violated
        if after.violated == before.violated == 0:
            assert after.value >= before.value - 1e-9


@sweep_seeds()
def test_integral_feasible_marginals_are_kept(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, scores = random_instance(rng)
        points = [
            x for x in enumerate_assignments(problem) if not forbidden(problem, scores, x).any()
        ]
        if points:
            x = points[rng.integers(len(points))]
            rounded = round_marginals(problem, scores, x.astype(float), max_sweeps=0)
            assert np.array_equal(rounded.x, x)


@sweep_seeds()
def test_running_sums_stay_right_under_any_flips(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, scores = random_instance(rng, factors=3)
        logic, pairs, links = build_tables(problem)
        sums = []
        x = rng.integers(0, 2, problem.n).astype(np.int8)
        flips = rng.integers(0, problem.n, 6)
        for first in (0, len(flips)):  # flip by flip, or all before anything is summed
            point = RoundedPoint(
                x.copy(),
                np.empty(problem.n_logic, np.int64),
                np.empty(problem.n_logic, np.int64),
                np.empty(problem.n),
                np.zeros(problem.n, np.uint8),
            )
            for v in flips[:first]:
                point.x[v] ^= 1
            tables = table_field(links, scores.table)
            fill_and_flip(logic, pairs, scores.theta, scores.pair, tables, point, flips[first:])
            sums.append((point.x, point.true, point.field, tables.blocked))
        for stepwise, at_once in zip(*sums, strict=True):
            assert np.allclose(stepwise, at_once, atol=1e-9)


def test_rounding_small_problems_finds_most_feasible_and_many_best():
    feasible = found = best_found = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        problem, scores = random_instance(rng)
        best, _ = brute_force_map(problem, scores)
        rounded = round_marginals(problem, scores, np.full(problem.n, 0.5))
        feasible += np.isfinite(best)
        found += rounded.violated == 0
        best_found += rounded.violated == 0 and rounded.value > best - 1e-9
    # Measured with uninformative marginals; a drop means the heuristics broke.
    assert found >= 0.98 * feasible
    assert best_found >= 0.7 * feasible


def test_forward_checking_follows_a_chain_of_forbidden_entries():
    # Each state allows only itself and the next one at the neighbour: all must stay at the last
    # once they are there, whatever the marginals say.
    variables, states = 30, 4
    problem = chain_of(variables, states)
    row = np.where(np.eye(states) + np.eye(states, k=1) > 0, 0.0, -np.inf)
    scores = Scores(np.zeros(problem.n), np.zeros(0), table=np.tile(row.ravel(), variables - 1))
    marginals = np.full(problem.n, 0.25)
    marginals[states - 1] = 0.9  # the first variable is surely in its last state
    marginals[-states] = 0.8  # and the last one quite surely in its first
    rounded = round_marginals(problem, scores, marginals, max_sweeps=0)
    assert rounded.violated == 0
    assert np.all(rounded.x.reshape(variables, states)[:, -1] == 1)


def test_an_undecided_variable_follows_its_expected_scores():
    problem = chain_of(2, 3)
    table = np.zeros((3, 3))
    table[2, 1] = 5.0
    scores = Scores(np.zeros(6), np.zeros(0), table=table.ravel())
    marginals = np.array([0.1, 0.1, 0.8, 0.4, 0.35, 0.25])
    rounded = round_marginals(problem, scores, marginals, max_sweeps=0)
    assert rounded.x.tolist() == [0, 0, 1, 0, 1, 0]


def test_switches_find_the_best_state_of_a_lone_variable():
    states = 50
    lits = np.arange(states, dtype=np.int32)[None]
    tables = make_tables([(DENSE, (states,), (0,), lits)])
    problem = make_problem(states, NO_PAIRS, [(SUM, lits, np.ones(1, np.int32))], tables)
    scores = Scores(np.zeros(states), np.zeros(0), table=np.arange(states, dtype=float))
    rounded = round_marginals(problem, scores, np.eye(states)[3])
    assert rounded.value == states - 1


def test_clusters_switch_together_when_thorough():
    # Neighbours want to agree: nobody leaves state 0 alone, all together would gain.
    variables = 8
    problem = chain_of(variables, 3, POTTS)
    theta = np.tile([0.0, 1.0, 0.5], variables)
    scores = Scores(theta, np.zeros(0), table=np.full(3 * (variables - 1), 5.0))
    marginals = np.tile([1.0, 0.0, 0.0], variables)
    assert round_marginals(problem, scores, marginals).value == 35.0
    assert round_marginals(problem, scores, marginals, thorough=True).value == 43.0


def test_potts_and_the_dense_table_it_stands_for_round_alike():
    rng = np.random.default_rng(3)
    potts, dense = chain_of(12, 4, POTTS), chain_of(12, 4)
    rewards = rng.integers(-3, 4, (11, 4)).astype(float)
    theta, marginals = rng.normal(size=48), rng.dirichlet(np.ones(4), 12).ravel()
    full = np.array([np.diag(row) for row in rewards]).ravel()
    short = round_marginals(potts, Scores(theta, np.zeros(0), table=rewards.ravel()), marginals)
    long = round_marginals(dense, Scores(theta, np.zeros(0), table=full), marginals)
    assert np.array_equal(short.x, long.x)
    assert short.value == pytest.approx(long.value)


def test_a_table_of_nothing_but_minus_infinity_is_reported():
    problem = chain_of(2, 2)
    scores = Scores(np.zeros(4), np.zeros(0), table=np.full(4, -np.inf))
    rounded = round_marginals(problem, scores, np.full(4, 0.5))
    assert (rounded.value, rounded.violated) == (-np.inf, 1)


def test_a_state_of_a_variable_can_be_read_as_a_literal():
    # One table reads the whole variable, another only whether it is in state 1.
    variable = np.array([[0, 1, 2]], np.int32)
    tables = make_tables(
        [(DENSE, (3,), (0,), variable), (DENSE, (2, 2), (1, 1), np.array([[~1, 3]], np.int32))]
    )
    problem = make_problem(4, NO_PAIRS, [(SUM, variable, np.ones(1, np.int32))], tables)
    table = np.array([0.0, 2.0, 1.0, 0.0, 4.0, 0.0, -np.inf])
    scores = Scores(np.zeros(4), np.zeros(0), table=table)
    rounded = round_marginals(problem, scores, np.array([0.4, 0.3, 0.3, 0.5]))
    assert rounded.x.tolist() == [0, 1, 0, 1]
    assert rounded.value == 6.0


def test_variables_are_found_once():
    links = build_table_links(chain_of(5, 3))
    assert links.site_size.tolist() == [3] * 5
    assert links.site_of.tolist() == np.repeat(np.arange(5), 3).tolist()
    assert len(build_links(chain_of(5, 3)).loads) == 0
