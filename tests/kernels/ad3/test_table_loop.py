"""Iterations of tables in one call against one at a time; coordinates that follow each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.ad3.active_set import EXACT
from assent.kernels.ad3.state import Consensus, Sweep
from assent.kernels.ad3.table_steps import has_runs, step_tables
from assent.kernels.problem import DENSE, make_tables
from assent.solvers.ad3 import ad3
from assent.solvers.ad3.outside_factors import start_outside
from assent.solvers.base.dual_bound import read_only
from tests.oracles.sweep import sweep_seeds
from tests.strategies import random_dense, random_potts, random_scores

SOLVER = at.AD3(extrapolate=False)


def random_tables(rng):
    """A graph of tables over categorical and binary variables, flat, and its scores."""
    g = at.FactorGraph()
    binary = g.binary(3, scores=random_scores(rng, 3), name="x")
    states = int(rng.integers(2, 5))
    for name in "stu":
        g.categorical(1, states, scores=random_scores(rng, (1, states)), name=name)
    g.add(at.AtMostOne(binary))
    for _ in range(5):
        for factor in (random_dense(rng, g), random_potts(rng, g)):
            if factor is not None:
                g.add(factor)
    compiled = g.compile()
    return compiled.problem, compiled.flat_scores(graph_scores(g))


def iterated(problem, scores, calls):
    """Consensus, multipliers, averages and residuals after several calls."""
    workspace = SOLVER.init(problem, scores)
    for iterations in calls:
        SOLVER.advance(problem, scores, workspace, iterations)
    state = workspace.state
    return (*state.current, *state.mean, state.numbers)


@sweep_seeds()
def test_iterations_at_once_are_iterations_one_by_one(seeds, monkeypatch):
    for seed in seeds:
        problem, scores = random_tables(np.random.default_rng(seed))
        at_once = iterated(problem, scores, [18])
        one_by_one = iterated(problem, scores, [1] * 18)
        with monkeypatch.context() as patch:
            patch.setattr(ad3, "TABLE_WORK", 7 * (problem.n_links + len(scores.table)))
            in_parts = iterated(problem, scores, [18])
        for own, other, third in zip(at_once, one_by_one, in_parts, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-12)
            np.testing.assert_allclose(own, third, rtol=1e-12)


def renumbered(problem, scores, order):
    """The same problem with coordinate ``v`` called ``order[v]``."""

    def renamed(lits):
        new = np.where(lits < 0, ~order[~lits], order[lits]).astype(np.int32)
        new.flags.writeable = False  # as kernels expect it
        return new

    theta = np.empty_like(scores.theta)
    theta[order] = scores.theta
    degree = np.empty_like(problem.degree)
    degree[order] = problem.degree
    tables = problem.tables._replace(lits=renamed(problem.tables.lits))
    other = replace(problem, lits=renamed(problem.lits), tables=tables, degree=degree)
    return other, replace(scores, theta=theta)


@sweep_seeds()
def test_vectors_do_what_gathering_does(seeds):
    """One step from identical arrays: later ones would add up other orders of summation."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, scores = random_tables(rng)
        order = rng.permutation(problem.n)
        other = renumbered(problem, scores, order)
        start = SOLVER.init(problem, scores).state.current
        p = rng.random(problem.n)
        w = rng.normal(size=len(start.table))
        totals, moved = [], []
        for own, at_p in (((problem, scores), p), (other, p[np.argsort(order)])):
            total = np.zeros(problem.n)
            outside = start_outside(own[0])
            multipliers = w.copy()
            step_tables(
                outside.tables, outside.layout, read_only(own[1].table),
                Sweep(1.0, 1.5, True, 0.0, EXACT), multipliers, outside.tables_inactive,
                Consensus(at_p, np.zeros(0), total), outside.supports, outside.work,
            )  # fmt: skip
            totals.append(total)
            moved.append(multipliers)
        np.testing.assert_allclose(moved[0], moved[1], atol=1e-12)
        np.testing.assert_allclose(totals[0], totals[1][order], atol=1e-12)


@pytest.mark.parametrize(
    ("first", "rows", "expected"),
    [
        ((0, 0), [[0, 1, 2, 5, 6], [5, 6, 7, 0, 1]], True),
        ((0, 0), [[0, 1, 2, 5, 6], [5, 6, 7, 0, 2]], False),
        ((0, 0), [[0, 2, 1, 5, 6]], False),
        ((0, 1), [[0, 1, 2, 5]], False),
    ],
)
def test_runs_are_told(first, rows, expected):
    tables = make_tables([(DENSE, (3, 2), first, np.array(rows, np.int32))])
    assert has_runs(tables, 0) is expected
