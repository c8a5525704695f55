"""Auto: what it chooses, that it says so, and that answers mean the same whatever it chooses."""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest

import assent as at
from assent.compile.components import components
from assent.proof.proof_tree import Conditioned, Trusted
from assent.solvers.auto import auto
from assent.solvers.auto.turns import PlanStep
from assent.solvers.search.independent_parts import ByParts
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


def grid(rng, side, strength=1.0, states=None):
    """A grid of binary variables or labels whose neighbours attract or repel each other."""
    g = at.FactorGraph()
    if states is None:
        x = g.binary((side, side), scores=rng.normal(size=(side, side)), name="x")
        kind, shape = at.Pair, ()
    else:
        x = g.categorical((side, side), states=states, scores=rng.normal(size=(side, side, states)))
        kind, shape = at.Potts, (1,)
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(kind(a, b, scores=strength * rng.normal(size=(*a.shape, *shape))))
    return g


def tables(rng, side, strength):
    """A grid of labels whose neighbours have tables."""
    g = at.FactorGraph()
    x = g.categorical((side, side), states=3, scores=rng.normal(size=(side, side, 3)))
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(at.Dense(a, b, scores=strength * rng.normal(size=(*a.shape, 3, 3))))
    return g


def wide_rules(rng):
    """Sums and pairs that leave a gap."""
    g = at.FactorGraph()
    x = g.binary(60, scores=rng.normal(size=60))
    for _ in range(30):
        g.add(at.AtMost(3, x[np.sort(rng.choice(60, 20, replace=False))]))
    i, j = np.triu_indices(60, 1)
    g.add(at.Pair(x[i], x[j], scores=rng.normal(size=len(i))))
    return g


def rules_that_do_not_settle(rng):
    """Exclusions whose relaxation takes many iterations."""
    from benchmarks.constrained import assignment_with_rules

    return assignment_with_rules(1000, 0)


def with_a_knapsack(rng):
    g = small_rules(rng)
    g.add(at.Knapsack(g.variables[0].symbol[0], weights=rng.random(6), capacity=1.0))
    return g


def small_rules(rng):
    """People who take a task each, with opinions about each other's."""
    g = at.FactorGraph()
    x = g.binary((6, 6), scores=rng.normal(size=(6, 6)))
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.AtMost(2, x, axis=0))
    g.add(at.Pair(x[:-1], x[1:], scores=rng.normal(size=(5, 6))))
    return g


@sweep_seeds(0.5)
def test_exact_answers_equal_enumeration(seeds):
    for seed in seeds:
        g = random_graph(np.random.default_rng(seed), factors=8, forbid=0.1 * (seed % 2))
        best = optimum(g)
        for exact in (False, True):
            result = at.decode(g, at.Auto(exact=exact))
            assert result.certificate.verify()
            assert not result.value > best + 1e-9 * (1.0 + abs(best))
            if result.status is at.Status.OPTIMAL:
                assert result.value == pytest.approx(best, rel=1e-6, abs=1e-9)
            elif exact:
                assert best == -np.inf
                assert result.status is at.Status.INFEASIBLE


@pytest.mark.parametrize(
    ("make", "exact", "words"),
    [
        (lambda rng: grid(rng, 4), False, "Elimination, as the graph is narrow: at most"),
        (lambda rng: grid(rng, 40), False, "RoofDuality, as all factors are over two binary"),
        (lambda rng: grid(rng, 40, 0.01), True, "RoofDuality, .*: one flow.$"),
        (lambda rng: grid(rng, 16, 1.0, 4), False, "DepthFirst, as factors .* Then LinearProgram"),
        (lambda rng: tables(rng, 12, 2.0), False, "DepthFirst, as factors .* Then LinearProgram"),
        (lambda rng: tables(rng, 12, 0.3), False, "DepthFirst, as factors .* then branching.$"),
        (small_rules, False, "AD3, as many .* tight. Then DepthFirst, as factors .* branching.$"),
        (small_rules, True, "AD3, as .* Then DepthFirst, .* then branching.$"),
        (rules_that_do_not_settle, False, "AD3, as .* Then DepthFirst, .* Then LinearProgram, as"),
        (with_a_knapsack, False, "LinearProgram, as it is small"),
        (lambda rng: grid(rng, 16, 0.3, 4), True, "DepthFirst, as factors .* then branching.$"),
    ],
)
def test_the_plan_says_what_was_chosen(make, exact, words):
    result = at.decode(make(np.random.default_rng(0)), at.Auto(exact=exact))
    assert re.match(words, result.plan)
    assert result.certificate.verify()


def test_structures_that_share_nothing_are_maximised():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    tag = g.categorical((3, 9), states=4, scores=rng.normal(size=(3, 9, 4)), name="tag")
    chains = g.add(at.Chain(tag, transitions=rng.normal(size=(4, 4))))
    pairs = g.binary((4, 4), scores=rng.normal(size=(4, 4)), name="pairs")
    g.add(at.Matching(pairs))
    result = at.decode(g)
    assert result.plan.startswith("Every structure by itself")
    assert result.status is at.Status.OPTIMAL
    assert result.certificate.verify()
    slow = at.decode(g, at.AD3(gap_tolerance=1e-9))
    assert result.value == pytest.approx(slow.value)
    assert np.allclose(result.marginals[chains], slow.marginals[chains], atol=1e-4)
    g.add(at.AtMostOne([tag[0, 0] == 0, pairs[0, 0]]))
    assert at.decode(g).plan.startswith("AD3")


def crowds(rng, count, size=22):
    """Groups of variables that pull at each other, within the group alone."""
    g, best = at.FactorGraph(), 0.0
    i, j = np.triu_indices(size, 1)
    for number in range(count):
        alone = at.FactorGraph()
        scores, pairs = 0.3 * rng.normal(size=size), rng.normal(size=len(i))
        for graph in (g, alone):
            x = graph.binary(size, scores=scores, name=f"x{number}")
            graph.add(at.Pair(x[i], x[j], scores=pairs))
            graph.add(at.AtMost(7, x))
        best += at.decode(alone, at.IntegerProgram()).value
    return g, best


def test_parts_are_solved_apart():
    g, best = crowds(np.random.default_rng(0), 2)
    y = g.binary(6, scores=1.0, name="y")
    g.add(at.Pair(y[[0, 1, 2]], y[[1, 2, 0]], scores=-2.0))
    result = at.decode(g, exact=True)
    assert result.plan.endswith("Part by part, as 3 parts share no factor: each exactly.")
    assert result.status is at.Status.OPTIMAL
    assert result.value == pytest.approx(best + 4.0)
    claim = result.certificate
    assert claim.verify()
    low = replace(claim, bound=claim.bound - 0.1, value=claim.value - 0.1)
    assert not low.verify()
    word = Conditioned(claim.proof.parts[0][1].known, Trusted("somebody", claim.bound))
    told = replace(claim.proof, parts=((claim.proof.parts[0][0], word), *claim.proof.parts[1:]))
    assert replace(claim, proof=told).trusted == ("somebody",)
    fewer = replace(claim.proof, parts=claim.proof.parts[1:])
    assert not replace(claim, proof=fewer).verify()


def test_parts_that_the_relaxation_solves_are_one():
    rng = np.random.default_rng(1)
    g, best = crowds(rng, 2)
    y = g.binary((10, 25), scores=rng.normal(size=(10, 25)), name="y")
    g.add(at.Pair(y[:, :-1], y[:, 1:], scores=rng.uniform(0.0, 1.0, (10, 24))))
    alone = at.FactorGraph()
    z = alone.binary((10, 25), scores=y.graph.variables[-1].scores.reshape(10, 25))
    alone.add(at.Pair(z[:, :-1], z[:, 1:], scores=g.handles[-1].factor.scores.reshape(10, 24)))
    best += at.decode(alone, at.IntegerProgram()).value
    result = at.decode(g, ByParts(at.Auto(exact=True)))
    assert result.status is at.Status.OPTIMAL and result.value == pytest.approx(best)
    assert [len(part) for part, _ in result.certificate.proof.parts][:1] == [250]
    assert len(result.certificate.proof.parts) == 3 and result.certificate.verify()


def test_a_small_part_does_not_make_parts_of_a_large_one():
    g, best = crowds(np.random.default_rng(0), 1)
    y = g.binary(3, scores=1.0, name="y")
    g.add(at.Pair(y[[0, 1, 2]], y[[1, 2, 0]], scores=-2.0))
    result = at.decode(g, exact=True)
    assert "Part by part" not in result.plan
    assert result.value == pytest.approx(best + 1.0) and result.certificate.verify()


def test_factors_that_hold_anyway_tie_parts():
    """They are gone once compiled, but a proof is about the graph as written."""
    g = at.FactorGraph()
    x = g.binary(4)
    g.add(at.Pair(x[[0, 2]], x[[1, 3]], scores=1.0))
    assert components(g.compile()).tolist() == [0, 0, 1, 1]
    sure = g.binary(1)
    g.add(at.AtLeastOne([x[0], x[2], sure[0]]))
    g.fix(sure[0], 1)
    compiled = g.compile()
    assert not compiled.problem.n_logic and components(compiled).tolist() == [0, 0, 0, 0]


def test_parts_that_cannot_be_are_refuted():
    """The relaxation does not show it, so that there is no answer to begin with."""
    g, _ = crowds(np.random.default_rng(0), 1)
    y = g.binary(24, name="y")
    g.add(at.ExactlyOne(y[[[0, 1], [1, 2], [2, 0]]], axis=1))
    g.add(at.Pair(y[:-1], y[1:], scores=-1.0))
    result = at.decode(g, ByParts(at.Auto(exact=True)))
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()


def test_a_plan_is_told_whoever_names_the_conflict():
    g = at.FactorGraph()
    x = g.binary(4, scores=1.0)
    g.add(at.AtLeast(3, x))
    g.add(at.AtMost(2, x))
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()
    assert result.certificate.conflict and result.plan.startswith("Elimination")


def test_interrupts_end_all_parts():
    g, _ = crowds(np.random.default_rng(0), 2)
    seen = []

    def interrupt(step):
        seen.append(step)
        if len(seen) > whole:
            raise KeyboardInterrupt

    whole = len(at.decode(g, at.AD3()).trace)
    result = at.decode(g, ByParts(at.Auto(exact=True)), callback=interrupt)
    assert len(seen) == whole + 1
    assert result.status is at.Status.STOPPED and "Interrupted" in result.message
    assert result.feasible and np.isfinite(result.bound) and result.certificate.verify()
    seen.clear()
    stopped = at.decode(
        g,
        ByParts(at.Auto(exact=True)),
        callback=lambda step: seen.append(step) or len(seen) > whole,
    )
    assert len(seen) <= whole + 2 and "callback" in stopped.message


def test_an_interrupt_while_a_next_step_is_sought_keeps_the_answer(monkeypatch):
    def steps(compiled, exact, tolerance, each):
        yield PlanStep(at.AD3(max_iterations=20), "AD3.", 1.0, 1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(auto, "plan", steps)
    result = at.decode(crowds(np.random.default_rng(0), 2)[0], exact=True)
    assert result.status is at.Status.STOPPED and "Interrupted" in result.message
    assert result.feasible and result.certificate.verify() and result.plan == "AD3."


@pytest.mark.parametrize("exact", [False, True])
def test_plans_of_graphs_with_nothing_to_solve(exact):
    g = at.FactorGraph()
    x = g.binary(2, scores=[1.0, -1.0])
    assert at.decode(g, exact=exact).plan == "Every variable by itself, as no factor is left."
    g.add(at.AtLeastOne(x))
    g.fix(x[0], 0)
    g.fix(x[1], 0)
    result = at.decode(g, exact=exact)
    assert result.status is at.Status.INFEASIBLE and result.plan.startswith("Propagation")


def test_other_solvers_need_no_plan():
    g = grid(np.random.default_rng(0), 3)
    assert at.decode(g, at.AD3()).plan == "The solver that was asked for."


def test_a_callback_ends_all_steps():
    g = grid(np.random.default_rng(0), 30, 3.0)
    result = at.decode(g, at.Auto(exact=True), callback=lambda step: True)
    assert result.status is at.Status.STOPPED
    assert result.message.startswith("Stopped by the callback")
    assert "Then" not in result.plan


def test_time_limits_hold_over_all_steps():
    g = grid(np.random.default_rng(0), 20, 3.0, states=4)
    result = at.decode(g, at.Auto(exact=True), time_limit=1.0)
    assert result.seconds < 30.0  # a busy machine
    assert result.feasible
    assert result.certificate.verify()


def test_new_scores_use_the_same_order():
    rng = np.random.default_rng(0)
    g = grid(rng, 4)
    for _ in range(3):
        scores = rng.normal(size=(4, 4))
        result = at.decode(g, at.Auto(), scores={g["x"]: scores})
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(
            at.decode(g, at.IntegerProgram(), scores={g["x"]: scores}).value
        )


def test_a_later_step_keeps_the_better_bound():
    g = grid(np.random.default_rng(3), 12, 2.0, states=3)
    seen = []
    result = at.decode(g, at.Auto(exact=True), time_limit=2.0, callback=lambda s: seen.append(s))
    assert result.bound <= min(step.best_bound for step in seen) + 1e-9
    assert result.certificate.verify()


def test_steps_that_end_without_a_proof_say_so(monkeypatch):
    """No limit was given: none is named."""
    lone = PlanStep(at.LinearProgram(), "LinearProgram.")
    monkeypatch.setattr(auto, "plan", lambda *settings: iter([lone]))
    result = at.decode(grid(np.random.default_rng(0), 12, 3.0), exact=True)
    assert result.status is at.Status.STOPPED
    assert result.message.startswith("No step ended with a proof") and result.feasible


def test_relaxed_answers_are_those_of_the_relaxation():
    """Marginals are those of the relaxation, whoever found the answer or the bound."""
    for seed in range(4):
        g = grid(np.random.default_rng(seed), 10, 2.0, states=3)
        result, whole = at.decode(g), at.decode(g, at.LinearProgram())
        assert "DepthFirst" in result.plan and result.status is at.Status.RELAXED
        assert result.certificate.verify() and result.certificate.relaxation.solved
        assert result.bound <= whole.bound + 1e-6 and result.value >= whole.value - 1e-6
        assert np.allclose(result.consensus, whole.consensus, atol=1e-6)


def test_exact_answers_are_never_worse_than_plain_ones():
    for seed in range(6):
        g = small_rules(np.random.default_rng(seed))
        plain, exact = at.decode(g), at.decode(g, exact=True)
        assert exact.status is at.Status.OPTIMAL and exact.certificate.verify()
        assert exact.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)
        assert exact.value >= plain.value - 1e-9 and exact.bound <= plain.bound + 1e-9


def test_a_decoder_that_is_about_to_finish_finishes():
    """A relaxation that is tight, but only after more iterations than the first turn has."""
    g = planted_parse(np.random.default_rng(0), 16)
    alone = at.decode(g, at.AD3())
    assert alone.status is at.Status.OPTIMAL
    result = at.decode(g, exact=True, time_limit=120.0)
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(alone.value)


def planted_parse(rng, words):
    """A tree that is better than others, and scores of siblings."""
    n = words + 1
    arcs = np.array([(h, m) for m in range(1, n) for h in range(n) if h != m])
    head = np.concatenate([[0], [int(rng.integers(0, m)) for m in range(1, n)]])
    scores = rng.normal(size=len(arcs)) + 3.0 * (head[arcs[:, 1]] == arcs[:, 0])
    g = at.FactorGraph()
    arc = g.binary(scores=scores, name="arc")
    ends = {"heads": arcs[:, 0], "modifiers": arcs[:, 1]}
    g.add(at.Arborescence(arc, **ends))
    at.add_head_automata(g, arc, 0.3 * rng.normal(size=(n, n, n + 1)), **ends)
    return g


@pytest.mark.parametrize("exact", [False, True])
def test_plans_do_the_same_every_time(exact):
    """Turns are counted in iterations, not in seconds."""
    for make in (small_rules, lambda rng: grid(rng, 8, 1.0, 3), lambda rng: tables(rng, 8, 1.0)):
        first, second = (at.decode(make(np.random.default_rng(1)), exact=exact) for _ in range(2))
        assert first.plan == second.plan and first.iterations == second.iterations
        assert (first.certificate.assignment == second.certificate.assignment).all()
        assert first.bound == second.bound


def test_warm_starts_and_known_answers_are_used():
    g = tables(np.random.default_rng(2), 8, 2.0)
    best = at.decode(g, exact=True)
    assert best.status is at.Status.OPTIMAL
    again = at.decode(g, at.Auto(), warm_start=best)
    assert again.value == pytest.approx(best.value) and again.certificate.verify()
    assert again.bound >= best.value - 1e-9


def test_problems_are_forgotten_with_their_graphs():
    for solver in (at.Auto(), at.Elimination()):
        g = tables(np.random.default_rng(0), 3, 1.0)
        at.decode(g, solver)
        problem = ref(g.compile().problem)
        del g
        gc.collect()
        assert problem() is None, solver
