"""Auto: what it chooses, that it says so, and that answers mean the same whatever it chooses."""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest
from assent.solvers.auto.cutoff import Patience
from assent.solvers.auto.features import is_program_quick
from assent.solvers.auto.search_cutoff import SearchPatience
from assent.solvers.auto.step import Step

import assent as at
from assent.compile.components import components
from assent.proof.proof_tree import Conditioned, Trusted
from assent.solvers.auto import auto, search_steps
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
        (lambda rng: tables(rng, 12, 0.3), False, "DepthFirst, as factors .* case by case.$"),
        (small_rules, False, "DepthFirst, .* case by case.$"),
        (wide_rules, False, "AD3 for a moment, .* Then LinearProgram, as it is small"),
        (lambda rng: grid(rng, 16, 0.3, 4), True, "DepthFirst, as factors .* case by case.$"),
    ],
)
def test_the_plan_says_what_was_chosen(make, exact, words):
    result = at.decode(make(np.random.default_rng(0)), at.Auto(exact=exact), time_limit=300.0)
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
        yield Step(at.AD3(max_iterations=20), "AD3.", is_last=False)
        raise KeyboardInterrupt

    monkeypatch.setattr(auto, "steps_for", steps)
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
    lone = Step(at.LinearProgram(), "LinearProgram.")
    monkeypatch.setattr(auto, "steps_for", lambda *settings: iter([lone]))
    result = at.decode(grid(np.random.default_rng(0), 12, 3.0), exact=True)
    assert result.status is at.Status.STOPPED
    assert result.message.startswith("No step ended with a proof") and result.feasible


@pytest.mark.parametrize("limit", [None, 1e-6])
def test_what_was_given_up_is_stated_where_nothing_follows(monkeypatch, limit):
    first = Step(at.AD3(), "AD3 for a moment.", is_last=False, patience=Patience(5))
    last = [] if limit else [Step(at.AD3(max_iterations=1), "AD3.")]
    monkeypatch.setattr(auto, "steps_for", lambda *settings: iter([first, *last]))
    result = at.decode(grid(np.random.default_rng(0), 12, 3.0), at.Auto(), time_limit=limit)
    assert result.status is at.Status.STOPPED and result.feasible
    assert result.certificate.verify() and np.isfinite(result.bound)
    assert result.message.startswith("Time limit" if limit else "Iteration limit")
    whole = at.decode(grid(np.random.default_rng(0), 12, 3.0), at.AD3(max_iterations=5))
    assert result.bound == pytest.approx(whole.bound)  # that of the first, which is better


def test_what_a_search_leaves_open_is_relaxed():
    """Marginals are those of the relaxation, whoever found the answer or the bound."""
    for seed in range(4):
        g = grid(np.random.default_rng(seed), 10, 2.0, states=3)
        result, whole = at.decode(g), at.decode(g, at.LinearProgram())
        assert result.plan.startswith("DepthFirst") and result.status is at.Status.RELAXED
        assert result.certificate.verify() and result.certificate.relaxation.solved
        assert result.bound <= whole.bound + 1e-6 and result.value >= whole.value - 1e-6
        assert np.allclose(result.consensus, whole.consensus, atol=1e-6)


def test_a_search_that_is_given_up_leaves_its_bound(monkeypatch):
    """That of a relaxation which is not solved is worse."""
    patience = SearchPatience(20, (0.0, 0.0, 0.0), 100.0)
    first = Step(at.DepthFirst(), "DepthFirst.", is_last=False, patience=patience)
    last = Step(at.AD3(max_iterations=1), "AD3.")
    monkeypatch.setattr(auto, "steps_for", lambda *settings: iter([first, last]))
    g = tables(np.random.default_rng(0), 10, 2.0)
    searched = at.decode(g, at.DepthFirst(max_rounds=20))
    result = at.decode(g, at.Auto())
    assert result.status is at.Status.STOPPED and result.plan == "DepthFirst. Then AD3."
    assert result.bound == pytest.approx(searched.bound) and result.value >= searched.value
    assert result.certificate.verify() and not result.certificate.relaxation.solved
    monkeypatch.setattr(auto, "steps_for", lambda *settings: iter([first]))
    alone = at.decode(g, at.Auto())
    assert alone.status is at.Status.STOPPED and alone.message.startswith("No step ended")


def test_searches_go_on_while_states_are_put_away():
    patience = SearchPatience(8, (0.9, 0.6, 0.3), 30.0)
    assert [patience.until_look(rounds) for rounds in (0, 8, 10, 16, 32)] == [8, 8, 6, 16, 16]
    assert [patience.is_over(at, 0.5, left) for at, left in ((8, 0.9), (16, 0.5))] == [False] * 2
    assert patience.is_over(32, 0.5, 0.4)
    assert not patience.is_over(40, 0.5, 0.9) and patience.is_over(64, 0.5, 0.1)


def test_a_round_tells_whether_large_tables_are_worth_a_search(monkeypatch):
    monkeypatch.setattr(search_steps, "MOST_SEARCHED", 0)
    monkeypatch.setattr(search_steps, "MOST_SWEPT", 10_000)
    easy, hard = (tables(np.random.default_rng(0), 12, strength) for strength in (0.1, 3.0))
    found = at.decode(easy)
    assert found.plan == search_steps.WORDS and found.status is at.Status.OPTIMAL
    (step,) = search_steps.soon_searched(hard.compile().problem, 1e-6)
    assert step.patience.until_look(0) == 1
    given_up = at.decode(hard)
    assert given_up.plan.startswith(f"{search_steps.WORDS} Then ")
    monkeypatch.setattr(search_steps, "MOST_SWEPT", 1000)
    assert not at.decode(tables(np.random.default_rng(0), 12, 0.1)).plan.startswith("DepthFirst")


def test_states_that_a_case_puts_away_are_none_of_all(monkeypatch):
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.categorical(12, states=4, scores=rng.normal(size=(12, 4)))
    i, j = np.triu_indices(12, 1)
    g.add(at.Dense(x[i], x[j], scores=3.0 * rng.normal(size=(len(i), 4, 4))))
    seen = []

    class Watched(SearchPatience):
        def is_over(self, rounds, left, open_left):
            seen.append((left, open_left))
            return super().is_over(rounds, left, open_left)

    first = Step(at.DepthFirst(), "", is_last=False, patience=Watched(8, (1.0, 1.0, 1.0), 60.0))
    monkeypatch.setattr(auto, "steps_for", lambda *settings: iter([first]))
    at.decode(g, at.Auto())
    dived = [open_left for left, open_left in seen if left < 0.6]
    assert dived and min(dived) > 0.9  # cases leave few states, but nothing is settled


def test_patience_ends_with_what_does_not_settle():
    loose = np.array([0.6, 0.6, 1.0, 1.0, 0.4, 0.0, 0.1, 0.1])  # three of eight are undecided
    clear = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    patience = Patience(50)
    over = [patience.is_over(at, loose, np.inf) for at in (5, 10, 15, 20)]
    assert over == [False, False, True, True]
    with_tables = Patience(50, has_tables=True)  # five iterations count for twenty
    assert with_tables.is_over(5, loose, np.inf) and not with_tables.is_over(5, clear, np.inf)
    assert with_tables.is_over(15, clear, np.inf)
    assert patience.is_over(5, np.full(12, 0.4), np.inf)  # nothing is true, nothing decided
    assert not patience.is_over(40, clear, np.inf) and patience.is_over(50, clear, np.inf)
    assert not patience.is_over(20, loose, 1e-3)  # only to be proven
    assert not Patience(50, rules=2000).is_over(20, loose, np.inf)  # a program takes longer


def test_how_large_quick_programs_are_depends_on_the_kinds():
    def is_quick(rules, states=0):
        g = at.FactorGraph()
        g.add(at.AtMostOne(g.binary((rules, 3)), axis=1))
        if states:
            y = g.categorical(2, states=states)
            g.add(at.Dense(y[0], y[1], scores=np.zeros((states, states))))
        return is_program_quick(g.compile().problem)

    assert is_quick(0, 140) and not is_quick(0, 180)  # tables over two variables alone
    assert is_quick(16_000) and not is_quick(17_000)  # rules alone
    assert is_quick(100, 180) and is_quick(17_000, 10) and not is_quick(34_000, 10)


def test_a_solved_relaxation_is_enough(monkeypatch):
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.AtMostOne([x[[0, 1, 2]], x[[1, 2, 0]]], axis=0))
    for relaxed, plan in ((True, "AD3."), (False, "AD3. Then LinearProgram.")):
        look = Step(at.AD3(), "AD3.", is_last=False, relaxed=relaxed)
        steps = [look, Step(at.LinearProgram(), "LinearProgram.")]
        monkeypatch.setattr(auto, "steps_for", lambda *settings, steps=steps: iter(steps))
        result = at.decode(g, at.Auto())
        assert result.status is at.Status.RELAXED and result.plan == plan
        assert result.certificate.verify() and result.bound == pytest.approx(1.5)


def test_problems_are_forgotten_with_their_graphs():
    for solver in (at.Auto(), at.Elimination()):
        g = tables(np.random.default_rng(0), 3, 1.0)
        at.decode(g, solver)
        problem = ref(g.compile().problem)
        del g
        gc.collect()
        assert problem() is None, solver
