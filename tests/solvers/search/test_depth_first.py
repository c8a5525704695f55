"""DepthFirst: small tables searched case by case, proven by what the search wrote down."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.kernels.search.events import BRANCHED, PRUNED
from assent.proof.replay import Replay
from assent.solvers.base.stop_reasons import ROUNDING_ONLY
from assent.solvers.search.depth_first import DepthFirst
from assent.solvers.search.table_network import layout_of
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


@sweep_seeds(0.5)
def test_equals_enumeration_on_mixed_graphs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = random_graph(rng, factors=8, forbid=0.1 * (seed % 2))
        compiled = g.compile()
        if compiled.conflict is None and isinstance(layout_of(compiled.problem), str):
            continue  # a factor that is no table, or names several states of a variable
        result = at.decode(g, DepthFirst())
        best = optimum(g)
        assert result.certificate.verify(), seed
        if best == -np.inf:
            assert not result.feasible
        else:
            assert result.status is at.Status.OPTIMAL
            assert result.value == pytest.approx(best, rel=1e-9, abs=1e-9)


def labels(rng, n=6, k=5, ties=False, forbid=0.0):
    """Every variable tied to every other: many cases."""
    g = at.FactorGraph()
    tag = g.categorical(n, states=k, scores=rng.normal(size=(n, k)), name="tag")
    for i, j in combinations(range(n), 2):
        scores = 2.0 * rng.normal(size=(k, k))
        scores = np.round(scores) if ties else scores
        scores[rng.random((k, k)) < forbid] = -np.inf
        scores[0, 0] = min(scores[0, 0], 0.0) if np.isfinite(scores[0, 0]) else -3.0
        g.add(at.Dense(tag[i], tag[j], scores=scores))
    return g, tag


def has(claim, event) -> bool:
    """Whether a proof has an event of some kind."""
    return any(kind == event for kind, *_ in claim.proof._read())


@sweep_seeds(1.0)
def test_many_cases_with_ties_and_forbidden_states(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g, _ = labels(rng, n=5, k=4, ties=seed % 2 == 0, forbid=0.2 * (seed % 3))
        result = at.decode(g, DepthFirst())
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(at.decode(g, at.Elimination()).value)
        assert result.certificate.verify()


def test_constraints_that_name_single_states():
    rng = np.random.default_rng(3)
    g = at.FactorGraph()
    tag = g.categorical(8, states=4, scores=rng.normal(size=(8, 4)))
    on = g.binary(8, scores=rng.normal(size=8))
    g.add(at.Implies(on, tag.state(1)))
    g.add(at.AtMost(2, on[:4]))
    g.add(at.AtMostOne([tag[i].state(2) for i in range(4)]))
    g.add(at.Dense(tag[:-1], tag[1:], scores=2.0 * rng.normal(size=(7, 4, 4))))
    g.add(at.Dense(tag[:-3], tag[3:], scores=2.0 * rng.normal(size=(5, 4, 4))))
    result = at.decode(g, DepthFirst())
    assert result.status is at.Status.OPTIMAL
    assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)
    assert result.certificate.verify()


def test_evidence_is_kept():
    g, tag = labels(np.random.default_rng(1), n=4, k=4)
    g.fix(tag[0], 3)
    result = at.decode(g, DepthFirst())
    assert result[tag][0] == 3
    assert result.value == pytest.approx(optimum(g))
    assert result.certificate.verify()


def test_where_nothing_is_possible_it_says_so_and_shows_it():
    g = at.FactorGraph()
    tag = g.categorical(3, states=2)
    g.add(at.Dense(tag[[0, 1, 2]], tag[[1, 2, 0]], scores=[[-np.inf, 0.0], [0.0, -np.inf]]))
    result = at.decode(g, DepthFirst())
    assert result.status is at.Status.INFEASIBLE and not result.feasible
    assert result.certificate.verify() and not result.certificate.trusted
    assert at.decode(g, exact=True).status is at.Status.INFEASIBLE


def test_a_wrong_claim_is_noticed():
    g, _ = labels(np.random.default_rng(2))
    claim = at.decode(g, DepthFirst()).certificate
    proof = claim.proof
    assert claim.verify() and has(claim, BRANCHED) and has(claim, PRUNED)
    assert not replace(claim, bound=claim.bound - 0.1, value=claim.value - 0.1).verify()
    assert not replace(claim, bound=-np.inf, value=-np.inf, feasible=False).verify()
    zero = replace(proof, rows=np.zeros_like(proof.rows))
    assert not replace(claim, proof=zero).verify()
    swapped = replace(proof, literals=np.roll(proof.literals, 1))
    assert not replace(claim, proof=swapped).verify()
    for bad in (
        replace(proof, events=proof.events[:-2]),
        replace(proof, events=np.append(proof.events, 7)),
        replace(proof, events=np.array([PRUNED, 0, -3])),
        replace(proof, events=proof.events[:, None]),
        replace(proof, rows=proof.rows[:, :-1]),
        replace(proof, rows=proof.rows[0]),
        replace(proof, places=proof.places[:-1]),
        replace(proof, blocks=proof.blocks + 10_000),
        replace(proof, literals=proof.literals + 10_000),
        replace(proof, rows=np.full_like(proof.rows, np.nan)),
    ):
        assert Replay(claim.compiled, claim.scores).bound(bad) == np.inf


def test_limits_leave_a_bound_and_an_answer():
    g, _ = labels(np.random.default_rng(4), n=12, k=8)
    reports = []

    def call_off(step):
        reports.append(step)
        return len(reports) == 2

    results = [
        at.decode(g, DepthFirst(max_rounds=1)),
        at.decode(g, DepthFirst(max_rounds=40)),
        at.decode(g, DepthFirst(), time_limit=0.01),
        at.decode(g, DepthFirst(), callback=call_off),
    ]
    assert max(stopped.value for stopped in results) <= min(stopped.bound for stopped in results)
    for stopped in results:
        assert stopped.status is at.Status.STOPPED and stopped.feasible
        assert stopped.certificate.verify()


def test_cases_that_are_closed_lower_the_bound_before_the_end():
    lowered = 0
    for seed in range(5):
        g, _ = labels(np.random.default_rng(seed), n=8, k=4, forbid=0.15 * (seed % 2))
        best, before = at.decode(g, at.Elimination()).value, np.inf
        for rounds in range(8, 30, 3):
            stopped = at.decode(g, DepthFirst(max_rounds=rounds))
            assert stopped.certificate.verify()
            assert best - 1e-9 <= stopped.bound <= before + 1e-9
            if stopped.status is at.Status.STOPPED and before < np.inf:
                lowered += stopped.bound < before - 0.1
            before = stopped.bound
    assert lowered > 2


@sweep_seeds(0.3)
def test_scores_of_very_different_sizes_are_not_proven_beyond_rounding(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        tag = g.categorical(5, states=3, scores=rng.normal(size=(5, 3)))
        for i, j in combinations(range(5), 2):
            scores = 2.0 * rng.normal(size=(3, 3))
            scores[rng.random((3, 3)) < 0.3] = -(10.0 ** rng.integers(6, 16))
            g.add(at.Dense(tag[i], tag[j], scores=scores))
        result = at.decode(g, DepthFirst())
        assert result.certificate.verify(), seed
        assert result.status is at.Status.OPTIMAL or result.message == ROUNDING_ONLY
        assert result.value == pytest.approx(optimum(g), rel=1e-6)


def test_an_interrupt_keeps_what_there_is():
    g, _ = labels(np.random.default_rng(4), n=12, k=8)

    def interrupt(step):
        raise KeyboardInterrupt

    result = at.decode(g, DepthFirst(), callback=interrupt)
    assert result.status is at.Status.STOPPED and "Interrupted" in result.message
    assert result.feasible and result.certificate.verify()


def test_what_it_cannot_search_is_refused():
    g = at.FactorGraph()
    x = g.binary(13, scores=1.0)
    g.add(at.Dense(*x, scores=np.ones((2,) * 13)))
    g.add(at.AtMost(5, x))
    with pytest.raises(ModelError, match="DepthFirst cannot search this graph: its tables have"):
        at.decode(g, DepthFirst())
    h = at.FactorGraph()
    tag = h.categorical(3, states=3)
    h.add(at.Chain(tag, transitions=np.eye(3)))
    h.add(at.AtMostOne(tag.state(1)))
    with pytest.raises(ModelError, match="a Chain is not tabulated"):
        at.decode(h, DepthFirst())


def test_exact_decoding_searches_small_tables_first():
    g, _ = labels(np.random.default_rng(5), n=9, k=6)
    result = at.decode(g, exact=True)
    assert result.plan.startswith("DepthFirst") and result.certificate.verify()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"max_rounds": 0}, ValueError, "max_rounds is at least 1, got 0"),
        ({"max_rounds": 1.5}, TypeError, "max_rounds is a whole number, got 1.5"),
        ({"gap_tolerance": -1.0}, ValueError, "gap_tolerance is at least 0"),
    ],
)
def test_settings_that_cannot_be_meant_are_named(settings, error, message):
    with pytest.raises(error, match=message):
        DepthFirst(**settings)
