"""Presolving: the optimum stays, the way back is right, and what is not right does not hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.certify import check_assignment
from assent.compiled import graph_scores
from assent.presolve import FINDERS, presolve_compiled
from assent.proof import Reduced, Replay, Trusted
from assent.reductions.exchanges import Exchanges
from assent.reductions.leaves import Leaves
from assent.reductions.reduction import Reduction
from assent.solvers import presolving
from assent.variables import Literals
from benchmarks.constrained import joint_labelling
from tests.oracles.sweep import sweep_seeds, sweep_size
from tests.strategies import enumerate_graph, optimum, random_graph
from tests.structures import STRUCTURES

WAYS = {"all": FINDERS, **{f"only {i}": (find,) for i, find in enumerate(FINDERS)}}


def mixed(seed: int) -> at.FactorGraph:
    """A small graph of mixed variables and factors, with ties."""
    rng = np.random.default_rng(seed)
    return random_graph(rng, binaries=7, categoricals=2, factors=8, scale=1.0, complements=0.2)


def best_left(g: at.FactorGraph, left: Reduction) -> tuple[float, np.ndarray | None]:
    """The best assignment of what is left, by enumeration."""
    best, winner = -np.inf, None
    points = enumerate_graph(g)[0].astype(np.int8)
    fixed = left.compiled.fixed
    for x in points[((fixed == -1) | (points == fixed)).all(axis=1)]:
        check = check_assignment(left.compiled, left.scores, x)
        if check.feasible and check.value > best:
            best, winner = check.value, x
    return best, winner


@sweep_seeds(0.4)
@pytest.mark.parametrize("way", WAYS)
def test_the_optimum_stays_and_the_way_back_is_right(seeds, way):
    for seed in seeds:
        g = mixed(seed)
        if g.compile().conflict is not None:
            continue
        best, scores = optimum(g), graph_scores(g)
        made = presolve_compiled(g.compile(), scores, WAYS[way])
        if made.refuted:
            assert best == -np.inf
            continue
        left, x = best_left(g, made.reductions[-1])
        assert left == pytest.approx(best)
        assert made.reductions[-1].loss == 0.0
        if x is not None:
            check = check_assignment(g.compile(), scores, made.undo(x))
            assert check.feasible and check.value == pytest.approx(best)


@sweep_seeds(0.4)
def test_answers_become_no_worse_on_the_way(seeds):
    for seed in seeds:
        g = mixed(seed)
        points, values = enumerate_graph(g)
        made = at.presolve(g)
        last = made.reductions[-1]
        for place in np.flatnonzero(values > -np.inf)[::7]:
            x = made.follow(points[place].astype(np.int8))
            assert ((last.compiled.fixed == -1) | (last.compiled.fixed == x)).all()
            check = check_assignment(last.compiled, last.scores, x)
            assert check.feasible and check.value >= values[place] - 1e-9


@sweep_seeds(0.4)
def test_results_are_stated_for_the_graph_as_written(seeds):
    for seed in seeds:
        g = mixed(seed)
        best = optimum(g)
        result = at.presolve(g).decode(exact=True)
        assert result.certificate.verify() and not result.certificate.trusted
        if best == -np.inf:
            assert result.status is at.Status.INFEASIBLE
        else:
            assert result.status is at.Status.OPTIMAL
            assert result.value == pytest.approx(best)
            assert not replace(result.certificate, bound=best - 1e-3).verify()


@sweep_seeds(2.0)
def test_no_step_is_believed_that_is_wrong(seeds):
    """Steps made up at random: those that are accepted lose no more than they say."""
    accepted = 0
    for seed in seeds:
        g, rng = mixed(seed), np.random.default_rng(seed)
        if g.compile().conflict is not None:
            continue
        start = Reduction.of(g.compile(), graph_scores(g))
        free = start.compiled.free
        if not len(free):
            continue
        for step in made_up(rng, free):
            after = step.apply(start)
            if after is None:
                continue
            accepted += 1
            left = -np.inf if after.refuted else best_left(g, after)[0]
            assert left + after.loss >= optimum(g) - 1e-9
    assert accepted


def made_up(rng, free: np.ndarray) -> list:
    """Exchanges and leaves without any sense."""
    sign = -rng.integers(0, 2, len(free))
    own = (rng.permutation(free) ^ sign).astype(np.int32)
    count = int(rng.integers(1, 3))
    other = rng.permutation(free).astype(np.int32)
    return [
        Exchanges(own[:count], ~own[:count]),
        Exchanges(other[:1], other[-1:]),
        Exchanges(np.sort(other)[:-1], np.sort(other)[1:]),
        *(Leaves(own[i : i + 1]) for i in range(len(own))),
        Leaves(own),
    ]


def quarrel() -> at.FactorGraph:
    """Dominated values, a leaf, and three that quarrel."""
    g = at.FactorGraph()
    x = g.binary(5, scores=[1.0, 1.1, 0.9, 5.0, 0.6], name="x")
    g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
    g.add(at.Pair(x[[0, 2, 1]], x[[3, 3, 4]], scores=[0.2, 0.3, -0.9]))
    return g


def test_it_tells_what_was_done():
    made = at.presolve(quarrel())
    assert repr(made) == (
        "Presolved: 3 of 5 variables left: 1 variable of degree one eliminated, "
        "1 value put away by dominance"
    )
    assert repr(at.presolve(at.FactorGraph())) == "Presolved: 0 of 0 variables left: nothing found"


def test_proofs_that_were_tampered_with_fail():
    g = quarrel()
    made = at.presolve(g)
    claim = made.decode(exact=True).certificate
    assert claim.verify() and isinstance(claim.proof, Reduced)
    leaves, exchanges = made.steps
    inner = claim.proof.proof
    lost, by = exchanges.lost, exchanges.by
    for steps in (
        (leaves,), (exchanges,), (), (leaves, exchanges, exchanges),
        (leaves, Exchanges(~lost, ~by)), (leaves, Exchanges(by, by)),
        (leaves, Exchanges(lost - 9, by)), (leaves, Exchanges(lost, by[:0])),
        (Leaves(~leaves.literals - 1), exchanges), (Leaves(np.array([0], np.int32)), exchanges),
        (Leaves(np.array([77], np.int32)), exchanges),
    ):  # fmt: skip
        assert not replace(claim, proof=Reduced(steps, inner)).verify()


def test_an_exchange_that_loses_something_adds_it_to_the_bound():
    g = at.FactorGraph()
    x = g.binary(2, scores=[1.0, 0.5], name="x")
    g.add(at.Pair(x[0], x[1], scores=-0.75))
    step = Exchanges(np.array([~1], np.int32), np.array([1], np.int32))
    proof = Reduced((step,), Trusted("us", 0.75))
    assert Replay(g.compile(), graph_scores(g)).bound(proof) == pytest.approx(0.75 + 0.25)


def test_no_answer_is_no_answer_and_constraints_are_named():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.0, -1.0], name="x")
    g.add(at.AtLeast(2, x[:2]))
    g.add(at.AtMost(1, x[:2]))
    g.add(at.Pair(x[1], x[2], scores=-1.0))
    result = at.presolve(g).decode()
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()
    assert result.certificate.conflict


@pytest.mark.parametrize("name", ["Arborescence", "Cardinality", "Chain", "Matching"])
def test_beside_structures(name):
    for seed in range(sweep_size() // 20):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        g.add(STRUCTURES[name](rng, g))
        if not 1 <= g.size <= 8:
            continue
        y = g.binary(3, scores=rng.normal(size=3), name="y")
        own = Literals(g, rng.integers(0, g.size - 3, 3).astype(np.int32))
        g.add(at.Pair(own, y, scores=rng.normal(size=3)))
        made = at.presolve(g)
        if made.refuted:
            continue
        points = ((np.arange(2**g.size)[:, None] >> np.arange(g.size)) & 1).astype(np.int8)
        checks = (check_assignment(g.compile(), graph_scores(g), point) for point in points)
        best = max((check.value for check in checks if check.feasible), default=-np.inf)
        result = made.decode(exact=True)
        assert result.value == pytest.approx(best) and result.certificate.verify()


def test_exact_answers_are_sought_on_what_is_left():
    g = joint_labelling(300, seed=2)
    result = at.decode(g, exact=True)
    assert "Then Presolved: 118 of 185 variables left" in result.plan
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, at.BranchAndCut()).value)
    assert "Presolved" not in at.decode(g).plan  # relaxed answers keep their meaning
    again = at.decode(g, exact=True, warm_start=result)
    assert again.value == pytest.approx(result.value) and again.certificate.verify()


def test_interrupts_while_presolving_keep_the_answer(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(presolving, "presolve_compiled", interrupt)
    result = at.decode(joint_labelling(300, seed=2), exact=True)
    assert result.status is at.Status.STOPPED and "Interrupted" in result.message
    assert result.feasible and result.certificate.verify()


def test_no_step_is_begun_when_time_is_over():
    g = quarrel()
    made = presolve_compiled(g.compile(), graph_scores(g), deadline=0.0)
    assert not made.steps and made.compiled is g.compile()


def test_every_answer_of_a_list_stays():
    g = at.FactorGraph()
    g.binary(2, scores=[1.0, 2.0], name="x")
    assert at.presolve(g).compiled.problem.n == 0
    assert [r.value for r in at.k_best(g, 4)] == [3.0, 2.0, 1.0, 0.0]


def test_what_cannot_be_presolved_is_said():
    with pytest.raises(TypeError, match="presolve takes a FactorGraph, got int"):
        at.presolve(3)
    with pytest.raises(TypeError, match="scores is a dict"):
        at.presolve(at.FactorGraph(), scores=[1.0])
