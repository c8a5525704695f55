"""AD3's blocks of factors taking turns: the dual point stays one, and the limit is the same."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compiled import graph_scores
from assent.kernels import schedule
from assent.solvers.ad3 import CURRENT, residual_scores


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
def turns_on_small_problems(monkeypatch):
    monkeypatch.setattr(schedule, "GUESSED_LINKS", 0)


def flat(graph):
    compiled = graph.compile()
    return compiled.problem, compiled.flat_scores(graph_scores(graph))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("idle", [True, False])
def test_multipliers_add_up_to_the_scores_at_any_moment(seed, idle):
    problem, scores = flat(model(seed))
    solver = at.AD3(cache_idle=idle, extrapolate=False)
    workspace = solver.init(problem, scores)
    workspace.prefer = CURRENT
    for iterations in (1, 7, 22, 60):
        solver.advance(problem, scores, workspace, iterations)
        dual = solver.dual_point(problem, scores, workspace)
        assert residual_scores(problem, scores, dual) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_turns_lead_where_the_plain_method_does(seed, monkeypatch):
    problem, scores = flat(model(seed))
    optimum = at.LinearProgram().solve(problem, scores, 10.0).value
    for most in (schedule.TURNS_LINKS, 0):
        monkeypatch.setattr(schedule, "TURNS_LINKS", most)
        result = at.decode(model(seed), at.AD3(extrapolate=False, gap_tolerance=1e-9))
        assert optimum - 1e-9 <= result.certificate.bound <= optimum + 1e-4
        assert result.certificate.verify()


def test_turns_end_and_are_for_one_thread_on_moderate_problems():
    assert schedule.takes_turns(0, 1_000, False)
    assert not schedule.takes_turns(schedule.LAST_TURNS, 1_000, False)
    assert not schedule.takes_turns(0, schedule.TURNS_LINKS, False)
    assert not schedule.takes_turns(0, 1_000, True)
    assert not schedule.takes_turns(0, 0, False)
