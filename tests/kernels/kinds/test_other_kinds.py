"""AD3 and the dual bound on tables, parities and knapsacks beside everything else."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.problem import (
    ANYOF,
    CAP,
    DENSE,
    KNAPSACK,
    PARITY,
    POTTS,
    SUM,
    DualPoint,
    Scores,
    make_problem,
    make_tables,
)
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.infeasibility import zeroed
from assent.solvers.base.protocol import WarmStart
from tests.oracles.hulls import hull_bound, hull_lp
from tests.oracles.sweep import sweep_seeds

STATES = (3, 3, 2)  # of three variables; coordinates 0:3, 3:6, 6:8
BINARY = np.arange(8, 13)  # five binary coordinates behind them
N = 13


class Model:
    """A random problem with every kind."""

    def __init__(self, rng):
        self.start = np.concatenate([[0], np.cumsum(STATES)])
        self.table_scores = []
        blocks = [np.arange(a, b) for a, b in zip(self.start, self.start[1:], strict=False)]
        groups, weights, capacity = self._logic(rng, blocks)
        tables = self._tables(rng, blocks)
        pairs = np.array([rng.choice(BINARY, 2, replace=False)], np.int32)
        self.problem = make_problem(N, pairs, groups, make_tables(tables), weights, capacity)
        self.scores = Scores(
            rng.normal(size=N), rng.normal(size=1), float(rng.normal()),
            np.concatenate([np.zeros(0), *self.table_scores]),
        )  # fmt: skip

    def _literals(self, rng, size):
        own = rng.choice(BINARY, size, replace=False)
        return np.where(rng.random(size) < 0.4, ~own, own).astype(np.int32)

    def _logic(self, rng, blocks):
        groups = [(SUM, np.array([block], np.int32), np.ones(1, np.int32)) for block in blocks[1:]]
        groups.append((SUM, np.array([blocks[0]], np.int32), np.ones(1, np.int32)))
        merged = {}
        for kind, lits, k in groups:
            merged.setdefault((kind, lits.shape[1]), []).append((lits[0], k[0]))
        weights, capacity = [], []
        for kind in (CAP, ANYOF, PARITY, PARITY, KNAPSACK):
            size = int(rng.integers(2, 5))
            lits = self._literals(rng, size)
            if kind == KNAPSACK:
                load = rng.random(size) * (rng.random(size) < 0.8)
                room = float(rng.random() * load.sum())
                weights.append(load[None])
                capacity.append(np.array([room]))
            merged.setdefault((kind, size), []).append((lits, 1))
        out = []
        for (kind, _), members in merged.items():
            lits = np.array([m[0] for m in members])
            out.append((kind, lits, np.array([m[1] for m in members], np.int32)))
        return out, weights, capacity

    def _tables(self, rng, blocks):
        literal = self._literals(rng, 1)
        groups = [
            (POTTS, (3, 3), (0, 0), np.concatenate(blocks[:2])[None].astype(np.int32)),
            (DENSE, (3, 2), (0, 0), np.concatenate(blocks[1:])[None].astype(np.int32)),
            (DENSE, (3, 2), (0, 1), np.concatenate([blocks[0], literal])[None].astype(np.int32)),
        ]
        for kind, states, _, _ in groups:
            table = rng.normal(size=3 if kind == POTTS else int(np.prod(states))) * 3
            table[rng.random(len(table)) < 0.15] = -np.inf
            self.table_scores.append(table)
        return groups

    def relaxation(self):
        """Optimum of the linear relaxation; None if it is empty."""
        optimum = hull_lp(self.problem, self.scores)
        return optimum if np.isfinite(optimum) else None


def random_dual(rng, problem):
    return DualPoint(
        rng.normal(size=(problem.n_pairs, 2)),
        rng.normal(size=len(problem.lits)),
        rng.normal(size=len(problem.tables.lits)),
    )


@sweep_seeds(share=0.2)
def test_bound_term_by_term(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        model = Model(rng)
        dual = random_dual(rng, model.problem)
        bound = bound_at(model.problem, model.scores, dual)
        assert bound == pytest.approx(hull_bound(model.problem, model.scores, dual), rel=1e-12)


@sweep_seeds(share=0.2)
def test_iterations_reach_the_relaxation(seeds):
    for seed in seeds:
        model = Model(np.random.default_rng(seed))
        optimum = model.relaxation()
        if optimum is None:
            continue
        problem, scores, solver = model.problem, model.scores, AD3()
        workspace = solver.init(problem, scores)
        for _ in range(100):
            info = solver.advance(problem, scores, workspace, 100)
            bound = solver.bound(problem, scores, workspace)
            assert bound >= optimum - 1e-9 * (1 + abs(optimum))
            if bound <= optimum + 1e-5 * (1 + abs(optimum)):
                break
        assert bound <= optimum + 1e-5 * (1 + abs(optimum)), (seed, info)
        dual = solver.dual_point(problem, scores, workspace)
        assert bound_at(problem, scores, dual) == pytest.approx(bound, rel=1e-9, abs=1e-9)


def test_relaxed_value_and_inner_parts():
    model = next(m for m in map(Model, map(np.random.default_rng, range(99))) if m.relaxation())
    problem, scores, solver = model.problem, model.scores, AD3()
    workspace = solver.init(problem, scores)
    solver.advance(problem, scores, workspace, 20_000)
    value = solver.relaxed_value(problem, scores, workspace)
    assert value == pytest.approx(model.relaxation(), abs=1e-4)
    inner = solver.table_marginals(problem, workspace)
    entry = problem.tables.entry
    for t in range(1, 3):  # the dense ones
        assert inner[entry[t] : entry[t + 1]].sum() == pytest.approx(1.0)
    table = inner[entry[1] : entry[2]].reshape(3, 2)
    np.testing.assert_allclose(table.sum(1), solver.marginals(workspace)[3:6], atol=1e-4)


def test_a_warm_start_keeps_the_bound():
    model = next(m for m in map(Model, map(np.random.default_rng, range(99))) if m.relaxation())
    problem, scores, solver = model.problem, model.scores, AD3()
    workspace = solver.init(problem, scores)
    solver.advance(problem, scores, workspace, 2000)
    bound = solver.bound(problem, scores, workspace)
    dual = solver.dual_point(problem, scores, workspace)
    start = WarmStart(solver.marginals(workspace).copy(), dual, workspace.penalty)
    again = solver.init(problem, scores, start)
    assert solver.bound(problem, scores, again) <= bound + 1e-9


def test_new_tables_on_a_running_workspace():
    """Supports stay when scores change; the answer is that of the new scores."""
    model = next(m for m in map(Model, map(np.random.default_rng, range(99))) if m.relaxation())
    problem, solver = model.problem, AD3()
    before = Scores(
        model.scores.theta, model.scores.pair, model.scores.constant,
        np.zeros_like(model.scores.table),
    )  # fmt: skip
    workspace = solver.init(problem, before)
    solver.advance(problem, before, workspace, 200)
    solver.advance(problem, model.scores, workspace, 10_000)
    optimum = model.relaxation()
    assert solver.bound(problem, model.scores, workspace) == pytest.approx(optimum, abs=1e-4)
    value = solver.relaxed_value(problem, model.scores, workspace)
    assert value == pytest.approx(optimum, abs=1e-4)


def test_links_that_contradict_a_table():
    """Two tables of one slot that forbid each other's states: the zero objective tells."""
    lits = np.array([[0, 1], [0, 1]], np.int32)
    block = (SUM, np.array([[0, 1]], np.int32), np.ones(1, np.int32))
    tables = make_tables([(DENSE, (2,), (0,), lits)])
    problem = make_problem(2, np.zeros((0, 2), np.int32), [block], tables)
    forbidding = np.array([0.0, -np.inf, -np.inf, 0.0])
    dual = DualPoint(np.zeros((0, 2)), np.zeros(2), np.array([-1.0, 1.0, 1.0, -1.0]))
    assert bound_at(problem, zeroed(problem, forbidding), dual) == pytest.approx(-2.0)
    assert bound_at(problem, zeroed(problem, np.zeros_like(forbidding)), dual) >= 0.0
