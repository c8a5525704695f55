"""The best answers in order, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.proof.certify import literal_truth
from assent.proof.replay import Others
from tests.oracles.sweep import sweep_seeds
from tests.solvers.search.test_branch_and_bound import (
    PLAIN,
    TIGHTENED,
    frustrated,
    spin_glass,
    tangled,
)
from tests.strategies import enumerate_graph


def best_values(g: at.FactorGraph, k: int, coordinates=None) -> list[float]:
    """The k best scores of assignments that differ in some coordinates."""
    points, values = enumerate_graph(g)
    if coordinates is not None:
        best: dict[bytes, float] = {}
        for point, value in zip(points[:, coordinates], values, strict=True):
            key = point.tobytes()
            best[key] = max(best.get(key, -np.inf), value)
        values = np.array(list(best.values()))
    values = -np.sort(-values[values > -np.inf])
    return values[:k].tolist()


def check(results: list[at.Result], expected: list[float]) -> None:
    assert [r.value for r in results] == pytest.approx(expected, rel=1e-6, abs=1e-5)
    assert all(r.status is at.Status.OPTIMAL for r in results)
    assert all(r.certificate.verify() for r in results)


@sweep_seeds(0.3)
def test_answers_come_in_order(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = tangled(rng) if seed % 2 else frustrated(rng)
        results = at.k_best(g, 4, solver=(PLAIN, TIGHTENED)[seed // 2 % 2])
        check(results, best_values(g, 4))
        found = {r.certificate.assignment.tobytes() for r in results}
        assert len(found) == len(results)


def test_ties_are_told_apart():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.0, 0.0])
    t = g.categorical(1, states="abc")
    g.add(at.AtMostOne(x[:2]))
    results = at.k_best(g, 100)
    assert len(results) == 18
    check(results, best_values(g, 18))
    assert len({(*r[x].tolist(), *r[t].tolist()) for r in results}) == 18


def test_answers_differ_where_they_are_asked_to():
    for seed in range(3):
        g = frustrated(np.random.default_rng(seed))
        t = g.variables[1].symbol
        results = at.k_best(g, 4, over=t)
        check(results, best_values(g, 4, t.codes.ravel()))
        x = g.variables[0].symbol
        check(at.k_best(g, 3, over=[x[0], ~x[2]]), best_values(g, 3, [0, 2]))
        assert len({tuple(r[t].tolist()) for r in results}) == len(results)


@sweep_seeds(0.1)
def test_soft_constraints_add_nothing_to_tell_answers_apart_by(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        theta = rng.normal(size=4)
        x = g.binary(4, scores=theta, name="x")
        signed = x.negate(where=rng.random(4) < 0.3)
        rules = [
            at.Knapsack(signed[:3], weights=[1.0, 2.0, 2.5], capacity=3.0),
            at.Knapsack(signed[1:], weights=[2.0, 2.0, 1.0], capacity=2.0),
            at.AtMost(2, x),
            at.AtLeastOne(x[:3], output=x[3]),
        ]
        penalties = rng.choice([0.0, 0.4, 2.0], size=4)
        for rule, penalty in zip(rules, penalties, strict=True):
            g.add(at.Soft(rule, penalty=penalty))

        def worth(point, theta=theta, rules=rules, penalties=penalties):
            broken = [not rule.holds(literal_truth(rule.codes, point))[0] for rule in rules]
            return float(point @ theta - penalties[broken].sum())

        results = at.k_best(g, 100)
        points = [result[x] for result in results]
        assert len({tuple(point.tolist()) for point in points}) == len(points) == 16
        assert [r.value for r in results] == pytest.approx(list(map(worth, points)), abs=1e-9)
        values = [worth(np.array(point)) for point in np.ndindex(2, 2, 2, 2)]
        check(results, sorted(values, reverse=True))


def test_auxiliary_variables_of_rules_tell_no_answers_apart():
    from assent import logic

    g = at.FactorGraph()
    p = g.binary(3, scores=[1.0, -0.5, 0.3], name="p")
    holds = logic.predicate(p)
    rules = logic.Rules(g)
    rules.add(holds(0) | ~holds(1) | holds(2), weight=0.7)
    assert any(v.auxiliary for v in g.variables)
    results = at.k_best(g, 100)
    assert len({tuple(r[p].tolist()) for r in results}) == len(results) == 8


def test_a_wrong_list_does_not_verify():
    from dataclasses import replace

    g = frustrated(np.random.default_rng(1))
    first, second, third = at.k_best(g, 3)
    claim = third.certificate
    assert claim.verify()
    assert not replace(claim, others=second.certificate.others).verify()
    assert not replace(claim, others=None).verify()
    coordinates, answers = claim.others
    assert not replace(claim, others=Others(coordinates + 99, answers)).verify()
    assert not replace(claim, others=Others(coordinates[1:], answers)).verify()
    repeated = replace(claim, assignment=first.certificate.assignment, value=first.value)
    assert not repeated.verify()


def test_nothing_feasible_gives_nothing():
    g = at.FactorGraph()
    x = g.binary((4, 3), scores=1.0)
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.AtMostOne(x, axis=0))
    assert at.k_best(g, 3) == []


def test_limits_end_the_list():
    g = spin_glass()
    results = at.k_best(g, 3, solver=PLAIN, time_limit=0.2)
    assert results[-1].status is at.Status.STOPPED
    assert results[-1].feasible and results[-1].certificate.verify()


def test_an_interrupt_ends_the_list():
    def interrupt(step):
        raise KeyboardInterrupt

    results = at.k_best(spin_glass(), 3, solver=PLAIN, callback=interrupt)
    assert len(results) == 1 and "Interrupted" in results[0].message
    assert results[0].certificate.verify()


def test_an_interrupt_among_later_answers_keeps_those_before():
    g = frustrated(np.random.default_rng(1))
    for moment in (2, 3, 5):
        calls = []

        def interrupt(step, calls=calls, moment=moment):
            calls.append(step)
            if len(calls) == moment:
                raise KeyboardInterrupt

        results = at.k_best(g, 50, solver=PLAIN, callback=interrupt)
        assert results[-1].status is at.Status.STOPPED and "Interrupted" in results[-1].message
        assert all(r.status is at.Status.OPTIMAL for r in results[:-1])
        assert all(r.certificate.verify() for r in results)
        assert len({r.certificate.assignment.tobytes() for r in results}) == len(results)


def test_a_limit_is_one_for_all_answers():
    """Each of them is found at once, and there are a million."""
    g = at.FactorGraph()
    g.binary(20, scores=np.linspace(1.0, 2.0, 20))
    results = at.k_best(g, 10**6, time_limit=0.2)
    assert len(results) < 10**5 and results[-1].status is at.Status.STOPPED
    assert results[-1].feasible and results[-1].certificate.verify()


def test_a_cell_whose_search_stops_early_rests_on_the_one_above():
    g = frustrated(np.random.default_rng(1))
    for nodes in (1, 2, 3):
        results = at.k_best(g, 5, solver=at.BranchAndBound(second=None, core=0, max_nodes=nodes))
        assert all(r.certificate.verify() for r in results)
        assert len(results) == 5 or results[-1].status is at.Status.STOPPED


def test_settings_are_checked():
    g = spin_glass(3)
    other = at.FactorGraph().binary(2)
    with pytest.raises(ValueError, match="k is at least 1"):
        at.k_best(g, 0)
    with pytest.raises(TypeError, match="k is a whole number"):
        at.k_best(g, 2.5)
    with pytest.raises(at.ModelError, match="belongs to another graph"):
        at.k_best(g, 2, over=other)
    for over in (5, "x", [g.variables[0].symbol, 5]):
        with pytest.raises(TypeError, match="over takes variables of the graph, got"):
            at.k_best(g, 2, over=over)
    with pytest.raises(at.ModelError, match="over is empty"):
        at.k_best(g, 2, over=[])
    with pytest.raises(TypeError, match="searches with a BranchAndBound"):
        at.k_best(g, 2, solver=at.AD3())


@sweep_seeds(0.1)
def test_scores_of_very_different_sizes_are_not_proven_beyond_rounding(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(8, scores=rng.normal(size=8))
        i, j = np.triu_indices(8, 1)
        scores = 2.0 * rng.normal(size=len(i))
        scores[rng.random(len(i)) < 0.3] = -1e12
        g.add(at.Pair(x[i], x[j], scores=scores))
        best = np.sort(enumerate_graph(g)[1])[::-1]
        for result, value in zip(at.k_best(g, 4), best, strict=False):
            assert result.certificate.verify(), seed
            assert result.status is at.Status.OPTIMAL or "rounding" in result.message
            assert result.value == pytest.approx(value, rel=1e-3, abs=1e-3)
