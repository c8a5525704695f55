"""Gauss-Seidel order and extrapolations: the dual point stays one, the limit the same."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.ad3 import ad3_schedule, extrapolation
from assent.kernels.ad3.state import CURRENT, EXTRAPOLATED_AT
from assent.kernels.core.residual_scores import residuals
from assent.solvers.base.protocol import WarmStart


def model(seed: int, side: int = 9) -> at.FactorGraph:
    """Pairs on a grid, counts, clauses of two literals and an OR, with a fractional relaxation."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary((side, side), scores=rng.normal(size=(side, side)), name="x")
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(at.Pair(a, b, scores=rng.normal(size=a.shape)))
    g.add(at.AtMost(side // 3, x, axis=0))
    g.add(at.ExactlyOne(x[:, 2:6], axis=1))
    g.add(at.AtMostOne([x[:-1, :-1], ~x[1:, 1:]], axis=0))
    some = g.binary(side, scores=-0.5, name="some")
    g.add(at.AtLeastOne(x, axis=1, output=some))
    return g


@pytest.fixture(autouse=True)
def order_on_small_problems(monkeypatch):
    monkeypatch.setattr(ad3_schedule, "ACCELERATED_LINKS", 0)


def flat(graph):
    compiled = graph.compile()
    return compiled.problem, compiled.flat_scores(graph_scores(graph))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("idle", [True, False])
def test_multipliers_add_up_to_the_scores_at_any_moment(seed, idle):
    problem, scores = flat(model(seed))
    solver = at.AD3(cache_idle=idle, extrapolate=False)
    workspace = solver.init(problem, scores)
    for iterations in (1, 7, 23, 29, 60):
        solver.advance(problem, scores, workspace, iterations)
        workspace.prefer(CURRENT)
        dual = solver.dual_point(problem, scores, workspace)
        left = np.empty(problem.n)
        residuals(problem.all_lits, dual.joined(), scores.theta, left)
        assert left == pytest.approx(0.0, abs=1e-9)
    assert workspace.state.numbers[EXTRAPOLATED_AT] in (30, 60)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_leads_where_the_plain_method_does(seed, monkeypatch):
    problem, scores = flat(model(seed))
    optimum = at.LinearProgram().solve(problem, scores, 10.0).value
    for most in (ad3_schedule.ORDERED_LINKS, 0):
        monkeypatch.setattr(ad3_schedule, "ORDERED_LINKS", most)
        result = at.decode(model(seed), at.AD3(extrapolate=False, gap_tolerance=1e-9))
        assert optimum - 1e-9 <= result.certificate.bound <= optimum + 1e-4
        assert result.certificate.verify()


def test_the_order_is_for_one_thread_on_moderate_problems():
    assert ad3_schedule.in_gauss_seidel_order(1_000, False)
    assert not ad3_schedule.in_gauss_seidel_order(ad3_schedule.ORDERED_LINKS, False)
    assert not ad3_schedule.in_gauss_seidel_order(1_000, True)
    assert not ad3_schedule.in_gauss_seidel_order(0, False)


def test_an_extrapolation_goes_on_from_the_average_and_leaves_the_consensus():
    problem, scores = flat(model(0))
    solver = at.AD3(extrapolate=False)
    workspace = solver.init(problem, scores)
    solver.advance(problem, scores, workspace, 15)
    w, marks = workspace.state, np.zeros((3, problem.n_links))
    arrays = problem.pair_var, problem.lits
    consensus = w.current.p.copy()
    extrapolation.mark(*arrays, 2.0, w.mean, marks[0])
    extrapolation.mark(*arrays, 2.0, w.current, marks[1])
    extrapolation.extrapolate(*arrays, 3.0, w.current, w.mean)
    extrapolation.mark(*arrays, 2.0, w.current, marks[2])
    assert marks[2] - marks[1] == pytest.approx(3.0 * (marks[1] - marks[0]))
    assert np.array_equal(w.current.p, consensus)
    assert extrapolation.is_straight(marks)
    assert not extrapolation.is_straight(marks[[0, 1, 0]])


def test_extrapolations_are_few_for_cold_starts_and_told_to_the_driver():
    assert [t for t in range(1, 1000) if ad3_schedule.mark_at(t) == 2] == [30, 60]
    assert [ad3_schedule.until_mark(t) for t in (0, 20, 59)] == [20, 5, 1]
    assert ad3_schedule.until_mark(60) > 10**6
    problem, scores = flat(model(0))
    solver = at.AD3(extrapolate=False)
    workspace = solver.init(problem, scores)
    settling = [solver.advance(problem, scores, workspace, 10).settling for _ in range(9)]
    assert settling == [False, False, False, True, True, False, True, True, False]
    result = at.decode(model(0), solver)
    start = WarmStart(result.consensus, result.certificate.flat_dual, result.penalty)
    workspace = solver.init(problem, scores, start)
    assert not any(solver.advance(problem, scores, workspace, 10).settling for _ in range(7))
