"""Tightened: bounds that bound and fall, exact on cycles, proofs that can be rechecked."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from tests.factors.test_structures import random_graph as structured_graph
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph
from tests.structures import STRUCTURES


def check(result: at.Result, best: float) -> None:
    slack = 1e-9 * (1.0 + abs(best)) if np.isfinite(best) else 0.0
    assert result.value <= best + slack
    assert best <= result.bound + slack
    assert result.certificate.verify()
    if result.status is at.Status.OPTIMAL:
        assert result.value == pytest.approx(best, rel=1e-5, abs=1e-9)
    bounds = [report.best_bound for report in result.trace.reports]
    assert all(after <= before for before, after in pairwise(bounds))


@sweep_seeds(1.0)
def test_mixed_graphs(seeds):
    for seed in seeds:
        graph = random_graph(np.random.default_rng(seed), factors=6)
        check(at.decode(graph, at.Tightened()), optimum(graph))


def ring(rng, n: int) -> at.FactorGraph:
    """A cycle of random pairs, literals negated at random."""
    g = at.FactorGraph()
    x = g.binary(n, scores=rng.normal(size=n), name="x")
    x = x.negate(where=rng.random(n) < 0.5)
    g.add(at.Pair(x, x[np.arange(1, n + 1) % n], scores=3.0 * rng.normal(size=n)))
    return g


@sweep_seeds(0.5)
def test_a_cycle_is_exact(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = ring(rng, int(rng.integers(3, 10)))
        result = at.decode(graph, at.Tightened())
        check(result, optimum(graph))
        assert result.status is at.Status.OPTIMAL


def tangle(rng) -> at.FactorGraph:
    """Few variables, every two of them tied by a table or a pair, with all that can be in it."""
    g = at.FactorGraph()
    x = g.binary(3, scores=rng.normal(size=3), name="x")
    t = g.categorical(3, states=3, scores=rng.normal(size=(3, 3)), name="t")
    slots = [*(~v if rng.random() < 0.5 else v for v in x), *t]
    for i, j in combinations(range(6), 2):
        scores = 4.0 * rng.normal(size=(2 if i < 3 else 3, 2 if j < 3 else 3))
        if j < 3 and rng.random() < 0.5:
            g.add(at.Pair(slots[i], slots[j], scores=scores[0, 0]))
        elif i >= 3 and rng.random() < 0.5:
            g.add(at.Potts(slots[i], slots[j], scores=scores[0]))
        elif 2 < j < 5 and rng.random() < 0.3:
            three = 4.0 * rng.normal(size=(*scores.shape, 3))
            g.add(at.Dense(slots[i], slots[j], slots[j + 1], scores=three))
        else:
            g.add(at.Dense(slots[i], slots[j], scores=scores))
    if rng.random() < 0.5:
        g.fix(t.indicators[0, int(rng.integers(3))], int(rng.random() < 0.2))
    return g


@sweep_seeds(0.3)
def test_tangles(seeds):
    """Every kind of place is lent to, and nothing but contradictions is cut off."""
    proven = 0
    for seed in seeds:
        graph = tangle(np.random.default_rng(seed))
        result = at.decode(graph, at.Tightened())
        check(result, optimum(graph))
        relaxed = at.decode(graph, at.LinearProgram())
        assert result.bound <= relaxed.bound + 1e-6 * (1.0 + abs(relaxed.bound))
        proven += result.status is at.Status.OPTIMAL
    assert proven >= 0.6 * len(seeds)  # the relaxation alone: 4 of 10


def labelled_grid(rng, side: int, states: int, per_label: bool) -> at.FactorGraph:
    g = at.FactorGraph()
    x = g.categorical((side, side), states=states, scores=rng.normal(size=(side, side, states)))
    last = states if per_label else 1
    for a, b in ((x[:-1], x[1:]), (x[:, :-1], x[:, 1:])):
        g.add(at.Potts(a, b, scores=9.0 * rng.normal(size=(*a.shape, last))))
    return g


@pytest.mark.parametrize("per_label", (False, True))
def test_labels_are_tightened(per_label):
    """Against the integer program; much of the relaxation's gap is closed."""
    rng = np.random.default_rng(5)
    left, before = 0.0, 0.0
    for _ in range(4):
        graph = labelled_grid(rng, 5, 3, per_label)
        result = at.decode(graph, at.Tightened())
        best = at.decode(graph, at.IntegerProgram()).value
        check(result, best)
        left += result.bound - best
        before += at.decode(graph, at.LinearProgram()).bound - best
    assert before > 0.1 and left < 0.5 * before


def test_evidence_on_states():
    """Tables cut down by evidence lend and borrow by their written joint states."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        graph = labelled_grid(rng, 4, 3, per_label=True)
        label = graph.variables[0].symbol
        for i in range(4):
            graph.fix(label.indicators[i, i, int(rng.integers(3))], 0)
        result = at.decode(graph, at.Tightened())
        check(result, at.decode(graph, at.IntegerProgram()).value)


def test_a_grid_of_two_labels_is_proven():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((12, 12), scores=rng.normal(size=(12, 12)), name="x")
    for a, b in ((x[:-1], x[1:]), (x[:, :-1], x[:, 1:])):
        equal = 2.0 * rng.normal(size=a.shape)  # for both true, and for both false
        g.add(at.Pair(a, b, scores=equal))
        g.add(at.Pair(~a, ~b, scores=equal))
    relaxed, result = at.decode(g, at.LinearProgram()), at.decode(g, at.Tightened())
    assert result.status is at.Status.OPTIMAL and result.bound < relaxed.bound - 1.0
    assert result.certificate.verify() and not result.certificate.trusted


def test_infeasible_models_are_said_to_be():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    g.add(at.Exactly(2, x))
    g.add(at.AtMost(1, x))
    result = at.decode(g, at.Tightened())
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()


def test_a_time_limit_ends_with_an_answer():
    graph = labelled_grid(np.random.default_rng(1), 12, 5, per_label=True)
    result = at.decode(graph, at.Tightened(), time_limit=0.01)
    assert result.feasible and result.certificate.verify()
    limited = at.decode(graph, at.Tightened(max_iterations=1))
    assert limited.status in (at.Status.STOPPED, at.Status.RELAXED)
    assert limited.certificate.verify()


def test_structures_without_rows_are_refused():
    graph = structured_graph(np.random.default_rng(0), next(iter(STRUCTURES)))
    for solver in (at.Tightened(), at.BranchAndCut()):
        with pytest.raises(
            ModelError, match=r"cuts need .* rows for every factor, and .* has none"
        ):
            at.decode(graph, solver)


def test_settings_are_checked():
    with pytest.raises(ValueError, match="time_limit is a positive number of seconds"):
        at.Tightened(time_limit=0)
    with pytest.raises(TypeError, match="max_iterations is a whole number"):
        at.Tightened(max_iterations=1.5)
