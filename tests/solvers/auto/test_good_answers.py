"""What `decode` makes of the time it has: good answers by default, the best of a limit."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.solvers.cutting_planes.branch_and_cut import BranchAndCut
from benchmarks.synthetic import sentence


def spin_glass(side, seed):
    """A grid whose relaxation says nothing: all marginals are one half."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary((side, side), scores=0.1 * rng.normal(size=(side, side)))
    for a, b in ((x[:, :-1], x[:, 1:]), (x[:-1], x[1:])):
        sign = rng.choice([-1.0, 1.0], size=a.shape)
        g.add(at.Dense(a, b, scores=sign[..., None, None] * np.eye(2)))
    return g


@pytest.mark.parametrize(("words", "seed"), [(16, 4), (25, 0)])
def test_what_decode_finds_is_not_lost_on_the_way_to_a_proof(words, seed, monkeypatch):
    """A search that gets nowhere in its time leaves no worse an answer than none at all."""
    plain = at.decode(sentence(words, seed))
    assert plain.status is at.Status.RELAXED

    def time_is_up(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(BranchAndCut, "init", time_is_up)
    stopped = at.decode(sentence(words, seed), exact=True)
    assert stopped.status is at.Status.STOPPED
    assert stopped.value >= plain.value - 1e-9


def test_a_time_limit_is_used():
    """The relaxation is solved at once, and leaves a gap; time goes into closing it."""
    g = spin_glass(13, 4)
    assert at.decode(g).status is at.Status.RELAXED
    result = at.decode(g, time_limit=300.0)
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)


def test_a_limit_on_many_problems_only_limits():
    """One of them does not take the time of all."""
    g = spin_glass(16, 4)
    results = at.decode_many([g, spin_glass(16, 5)], time_limit=300.0)
    assert results[0].status is at.Status.RELAXED
    assert results[0].value == at.decode(g).value


def test_answers_are_improved_while_a_gap_remains():
    for seed in range(3):
        g = spin_glass(16, seed)
        flow, result = at.decode(g, at.RoofDuality()), at.decode(g)
        best = at.decode(g, exact=True)
        assert result.status is at.Status.RELAXED and result.certificate.verify()
        assert result.bound == pytest.approx(flow.bound)
        assert flow.value < result.value <= best.value + 1e-6
        assert best.value - result.value <= 0.5 * (best.value - flow.value)
        again = at.decode(spin_glass(16, seed))  # effort is counted, not measured
        assert again.value == result.value and again.iterations == result.iterations


def test_a_callback_ends_the_improvement():
    seen = []

    def stop(step):
        seen.append(step)
        return len(seen) == 2

    result = at.decode(spin_glass(16, 0), callback=stop)
    assert result.status is at.Status.STOPPED and "callback" in result.message
    assert len(seen) == 2 and result.value == seen[-1].value


def test_no_more_is_done_where_the_relaxation_is_tight():
    g = at.FactorGraph()
    x = g.binary((40, 40), scores=np.random.default_rng(0).normal(size=(40, 40)))
    g.add(at.Pair(x[:, :-1], x[:, 1:], scores=0.5))
    g.add(at.Pair(x[:-1], x[1:], scores=0.5))
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL and "LargeNeighbourhood" not in result.plan
