"""Solvers that take turns: they go on where they were, and nothing that one finds is lost."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.solvers.auto.plan import PlanStep, first_turn, iteration_cost, plan
from assent.solvers.auto.presolving import Lifted, Presolving
from assent.solvers.auto.turns import EFFORT, NO_PROOF, Goal, Turns
from assent.solvers.base.driver import begin
from assent.solvers.base.protocol import Request
from assent.solvers.base.stop_reasons import TIME_LIMIT
from assent.solvers.search.large_neighbourhood import LargeNeighbourhood
from benchmarks.constrained import constrained
from benchmarks.synthetic import torus
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph

PRESOLVED = Presolving(
    lambda left, scores, request, is_smaller: begin(left, scores, at.BranchAndCut(), request)
)
SOLVERS = (
    at.AD3(), at.DepthFirst(), at.LinearProgram(), at.BranchAndCut(), at.BranchAndBound(core=0),
    PRESOLVED,
)  # fmt: skip


def frustrated(seed, count=14, states=3):
    """Labels of which everybody has an opinion on everybody else's."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.categorical(count, states=states, scores=rng.normal(size=(count, states)))
    i, j = np.triu_indices(count, 1)
    g.add(at.Dense(x[i], x[j], scores=rng.normal(size=(len(i), states, states))))
    return g


def begun(g, solver, **request):
    return begin(g.compile(), graph_scores(g), solver, Request(time.perf_counter(), **request))


def turns_of(g, steps, goal=Goal.PROOF, **request):
    request = Request(time.perf_counter(), **request)
    first = first_turn(g.compile().problem)
    return Turns(iter(steps), g.compile(), graph_scores(g), request, 1e-6, goal, first)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@sweep_seeds(0.1)
def test_pieces_make_a_whole(solver, seeds):
    """Whoever goes on by one iteration at a time ends where the others do."""
    for seed in seeds:
        g = random_graph(np.random.default_rng(seed), factors=8)
        if g.compile().conflict is not None or not g.compile().problem.n_links:
            continue
        try:
            solve = begun(g, solver)
        except at.ModelError:  # it does not take this graph
            continue
        best = optimum(g)
        slack = 1e-6 * (1.0 + abs(best)) if np.isfinite(best) else 0.0  # -inf: infeasible
        while not solve.message:
            before = solve.done
            solve.go_on(before + 1.0)
            assert solve.done > before or solve.message
            assert solve.value <= best + slack
            assert solve.bound >= best - slack
        result, whole = solve.result(), at.decode(g, solver)
        assert result.certificate.verify() and result.status is whole.status
        if whole.status is at.Status.OPTIMAL:
            assert result.value == pytest.approx(best, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_result_can_be_stated_at_any_time(solver):
    g = frustrated(0)
    best = at.decode(g, at.IntegerProgram()).value
    solve = begun(g, solver)
    for _ in range(3):
        solve.go_on(solve.done + 1.0)
        stated = solve.result()
        assert stated.certificate.verify() and stated.bound >= best - 1e-6
        assert stated.value <= best + 1e-6


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_answers_from_elsewhere_are_kept(solver):
    g = frustrated(1)
    best = at.decode(g, at.IntegerProgram())
    solve = begun(g, solver)
    solve.go_on(1.0)
    solve.offer(best.certificate.assignment)
    assert solve.value == pytest.approx(best.value)
    solve.go_on(2.0)
    assert solve.result().value == pytest.approx(best.value)


def test_an_answer_that_is_none_is_not_taken():
    g = at.FactorGraph()
    x = g.binary(6, scores=1.0)
    g.add(at.AtMost(2, x))
    g.add(at.Pair(x[:-1], x[1:], scores=0.1))
    for solver in SOLVERS:
        solve = begun(g, solver)
        solve.offer(np.ones(6, np.int8))
        solve.go_on()
        assert solve.result().value == pytest.approx(2.1), solver


def test_turns_grow_until_one_ends():
    g = frustrated(2, count=12)
    pace = iteration_cost(g.compile().problem)
    decoder = at.AD3(residual_tolerance=0.0)
    steps = [PlanStep(decoder, "", pace, pace), PlanStep(at.BranchAndCut(), "", pace, 1.0)]
    turns = turns_of(g, steps)
    first, spent = turns.turn, []
    while not turns.message:
        turns.go_on(turns.done + 1.0)
        spent.append([contender.spent for contender in turns.contenders])
    result = turns.result()
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)
    assert len(spent) >= 2
    for decoder, cuts in spent[:-1]:  # nobody is far ahead
        assert cuts <= 2.0 * decoder + first and decoder <= 2.0 * cuts + first


def test_who_is_ahead_waits_for_the_others():
    """The first step of a search takes as long as many iterations of a decoder."""
    g = frustrated(3)
    turn = first_turn(g.compile().problem)
    steps = [
        PlanStep(at.BranchAndBound(core=0), "Nodes.", 7.0 * turn, 0.1 * turn),
        PlanStep(at.AD3(), "AD3.", 0.1 * turn, 0.1 * turn),
    ]
    turns = turns_of(g, steps)
    turns.go_on(1.0)
    nodes, decoder = turns.contenders
    first = nodes.spent
    assert nodes.solve.iterations == 1 and first >= 7.0 * turn
    while not turns.message and turns.turn <= first:
        turns.go_on(turns.done + 1.0)
        assert nodes.solve.iterations == 1 and decoder.spent <= turns.turn
    turns.go_on()
    assert turns.plan == "Nodes. Then AD3." and turns.result().status is at.Status.OPTIMAL


def test_rounds_and_nodes_of_many_pivots_count_as_several():
    """A search on slow linear programs must not keep the others waiting."""
    rng = np.random.default_rng(5)
    g = at.FactorGraph()
    label = g.categorical(10, states=8, scores=rng.normal(size=(10, 8)))
    first, second = np.triu_indices(10, 1)
    g.add(at.Dense(label[first], label[second], scores=rng.normal(size=(45, 8, 8))))
    solve = begun(g, at.BranchAndCut())
    entries = solve.workspace.program.highs.getNumNz()
    solve.go_on(1.5 * entries)
    assert solve.iterations == 0 and 1.5 <= solve.done / entries <= 2.1
    solve.go_on(30.0 * entries)
    assert not solve.message and 30.0 <= solve.done / entries <= 33.0
    assert 1 < solve.iterations <= 25


def test_nodes_are_paused_by_their_work():
    """The same turn ends at the same node on any machine."""
    g, counts = frustrated(6), []
    for _ in range(2):
        solve = begun(g, at.BranchAndCut())
        solve.go_on()
        total = solve.done
        solve = begun(g, at.BranchAndCut())
        for share in (0.3, 0.6, 0.9):
            solve.go_on(share * total)
            counts.append((solve.iterations, solve.done))
            assert share * total <= solve.done <= share * total + 0.1 * total
    assert counts[:3] == counts[3:] and counts[0] < counts[1] < counts[2]


@pytest.mark.parametrize("goal", [Goal.PROOF, Goal.RELAXATION])
def test_who_closed_most_of_the_gap_goes_first_towards_a_proof(goal):
    g = frustrated(3)
    pace = iteration_cost(g.compile().problem)
    steps = [PlanStep(solver, "", pace, pace) for solver in (at.MPLP(), at.Subgradient())]
    turns = turns_of(g, steps, goal)
    turns.go_on(1.0)
    one, other = turns.contenders
    assert one.closed == np.inf and other.closed < np.inf  # the first one finds the first bound
    assert list(turns._in_order()) == [one, other]
    one.closed, other.closed = 1.0, 2.0
    planned = goal is Goal.RELAXATION
    assert list(turns._in_order()) == ([one, other] if planned else [other, one])


def test_who_is_left_alone_goes_on_until_the_next_one_begins():
    """Nobody is paused for a step that is still to wait."""
    g = frustrated(4)
    turn = first_turn(g.compile().problem)
    ad3 = at.AD3(residual_tolerance=0.0, max_iterations=10_000)
    steps = [
        PlanStep(ad3, "AD3.", turn / 40, turn / 40),
        PlanStep(LargeNeighbourhood(), "Neighbourhoods.", 50.0 * turn, turn, bounds=False),
    ]
    turns = turns_of(g, steps, Goal.RELAXATION)
    turns.go_on(turn)
    turns.go_on(40.0 * turn)
    assert len(turns.contenders) == 1 and turns.done <= 41.0 * turn  # turns that double are longer
    turns.go_on(60.0 * turn)
    assert len(turns.contenders) == 2


def test_answers_alone_are_not_worth_a_turn():
    """Who only finds answers stops at once when the last of those that bound is over."""
    g = frustrated(4)
    turn = first_turn(g.compile().problem)
    steps = [
        PlanStep(at.AD3(max_iterations=1), "AD3.", turn, turn),
        PlanStep(LargeNeighbourhood(), "Neighbourhoods.", turn, turn, bounds=False),
        PlanStep(at.LinearProgram(), "Program.", 9.0 * turn),
    ]
    turns = turns_of(g, steps)
    turns.go_on()
    assert turns.contenders[1].solve.done == 0.0 and turns.contenders[2].result is not None


@pytest.mark.parametrize("exact", (False, True))
def test_factors_that_need_not_be_read_have_turns(exact, monkeypatch):
    """Where no order of elimination is compiled in time, categorical variables are left alone."""
    monkeypatch.setattr("assent.solvers.auto.plan._elimination", lambda *_, **__: None)
    monkeypatch.setattr("assent.solvers.auto.plan.FIRST", 1)
    g = at.FactorGraph()
    g.categorical(states=3, scores=[0.0, -2.0, 0.0])
    g.categorical(states=2, scores=[0.6, 0.0])
    result = at.decode(g, exact=exact)
    assert result.status is at.Status.OPTIMAL and result.value == optimum(g)


def test_the_best_answer_and_the_best_bound_are_joined():
    """One finds the answer, the other has the bound."""
    g = frustrated(4)
    turn, best = first_turn(g.compile().problem), at.decode(g, at.IntegerProgram())
    steps = [
        PlanStep(at.DepthFirst(max_rounds=3), "DepthFirst.", turn, turn),
        PlanStep(at.LinearProgram(), "Program.", turn),
    ]
    turns = turns_of(g, steps, known=best.certificate.assignment)
    turns.go_on()
    result = turns.result()
    assert result.certificate.verify() and result.status is at.Status.STOPPED
    assert result.value == pytest.approx(best.value)
    alone = [at.decode(g, step.solver).bound for step in steps]
    assert result.bound <= min(alone) + 1e-6 and result.bound >= best.value - 1e-9
    assert result.iterations == sum(c.solve.iterations for c in turns.contenders)
    seconds = [report.seconds for report in result.trace.reports]
    assert seconds == sorted(seconds) and len(seconds) >= 2


@pytest.mark.parametrize("limit", [None, 1e-6])
def test_limits_end_all(limit):
    g = frustrated(5, count=40)
    called = []
    report = (lambda step: None) if limit else (lambda step: called.append(step) or len(called) > 3)
    turns = turns_of(
        g, plan(g.compile(), Goal.PROOF, 1e-6, at.Auto(exact=True)), time_limit=limit, report=report
    )
    turns.go_on()
    result = turns.result()
    assert result.status is at.Status.STOPPED and result.certificate.verify()
    assert result.message.startswith("Time limit" if limit else "Stopped by the callback")
    assert limit or len(called) <= 5


def test_when_time_is_up_nobody_begins_another_piece():
    """A node of a linear program, say, would take much longer than is left."""
    g = frustrated(2)
    pace = first_turn(g.compile().problem)
    steps = [PlanStep(solver, "", pace, pace) for solver in (at.AD3(), at.BranchAndCut())]
    turns = turns_of(g, steps)
    turns.go_on(turns.turn)
    before = [contender.solve.done for contender in turns.contenders]
    turns.request = replace(turns.request, time_limit=0.0)
    turns.go_on()
    assert turns.message == TIME_LIMIT
    assert [contender.solve.done for contender in turns.contenders] == before
    assert turns.result().certificate.verify()


def test_what_is_presolved_is_told_for_the_graph_as_written():
    g = at.FactorGraph()
    rng = np.random.default_rng(0)
    x = g.binary(30, scores=rng.normal(size=30))
    g.add(at.Pair(x[:-1], x[1:], scores=0.3 * rng.normal(size=29)))
    g.add(at.AtMost(20, x))
    best = at.decode(g, at.IntegerProgram()).value
    solve = begun(g, PRESOLVED)
    solve.go_on()
    assert solve.value == pytest.approx(best) and solve.bound == pytest.approx(best, abs=1e-5)
    assert solve.result().value == pytest.approx(best) and solve.result().certificate.verify()


def test_what_is_costly_to_find_out_is_left_until_it_matters():
    g = at.FactorGraph()
    x = g.categorical((20, 20), states=3, scores=np.random.default_rng(0).normal(size=(20, 20, 3)))
    g.add(at.Potts(x[1:], x[:-1], scores=0.1))
    g.add(at.Potts(x[:, 1:], x[:, :-1], scores=0.1))
    steps = plan(g.compile(), Goal.RELAXATION, 1e-6, at.Auto(exact=True))
    turns = turns_of(g, steps, Goal.RELAXATION)
    turns.go_on()
    assert turns.plan.startswith("DepthFirst") and len(turns.contenders) == 1


def interrupted(*steps):
    """These steps, and a Ctrl-C while it is found out what comes next."""
    yield from steps
    raise KeyboardInterrupt


@pytest.mark.parametrize(("model", "is_smaller"), [("labelling_1000_s1", True), ("torus", False)])
def test_what_presolving_leaves_is_solved_in_place_of_the_graph(model, is_smaller):
    """The others' turns are over then, as theirs are on the smaller graph; answers still count."""
    g = torus(14, 2.0, 1) if model == "torus" else dict(constrained(seeds=(1,)))[model]()
    turns = turns_of(g, plan(g.compile(), Goal.PROOF, 1e-6, at.Auto(exact=True)))
    while not isinstance(turns.contenders and turns.contenders[-1].step.solver, Presolving):
        turns.go_on(turns.done + 1.0)
    assert not turns.message and isinstance(turns.contenders[-1].solve, Lifted) == is_smaller
    going = {type(c.step.solver).__name__ for c in turns._going()}
    assert going == ({"Presolving"} if is_smaller else {"Presolving", "DepthFirst"})
    turns.go_on()
    assert turns.result().status is at.Status.OPTIMAL and turns.result().certificate.verify()


def test_what_was_spent_before_need_not_be_waited_for():
    g = frustrated(3, count=30)
    search = PlanStep(at.BranchAndCut(), "BranchAndCut.", 1000.0, 1.0)
    for before, start in ((0.0, 1000.0), (400.0, 600.0), (2000.0, 0.0)):
        turns = turns_of(g, [])
        turns = replace(turns, steps=iter([search]), before=before)
        assert next(turns.steps).start == start


def test_an_interrupt_before_the_first_step_on_what_presolving_leaves():
    g = frustrated(6)
    turn = first_turn(g.compile().problem)

    def rest(left, scores, request, is_smaller):
        return Turns(interrupted(), left, scores, request, 1e-6, True, turn)

    steps = [PlanStep(at.AD3(), "AD3.", turn, turn), PlanStep(Presolving(rest), "", turn, turn)]
    turns = turns_of(g, steps)
    turns.go_on()
    result = turns.result()
    assert result.status is at.Status.STOPPED and result.message.startswith("Interrupted.")
    assert result.feasible and result.certificate.verify()


def test_an_interrupt_before_anything_is_known_is_raised():
    g = frustrated(6)
    turns = turns_of(g, interrupted())
    with pytest.raises(KeyboardInterrupt):
        turns.go_on()


def test_an_interrupt_between_steps_loses_no_answer():
    """One is over and has the better bound; another may go on and has the better answer."""
    g = frustrated(7)
    turn, best = first_turn(g.compile().problem), at.decode(g, at.IntegerProgram())
    turns = turns_of(
        g,
        interrupted(
            PlanStep(at.LinearProgram(), "Program.", turn),
            PlanStep(at.DepthFirst(), "DepthFirst.", turn, turn),
        ),
    )
    usual, first = turns._begin, np.tile(np.array([1, 0, 0], np.int8), 14)

    def begin_with_an_answer(step):
        if isinstance(step.solver, at.DepthFirst):
            return begun(g, step.solver, known=best.certificate.assignment)
        solve = usual(step)
        solve._round = lambda thorough: solve.offer(first)
        return solve

    turns._begin = begin_with_an_answer
    turns.go_on()
    program, search = turns.contenders
    assert program.result.value < best.value and program.solve.bound < search.solve.bound
    result = turns.result()
    assert result.message.startswith("Interrupted.") and result.certificate.verify()
    assert result.value == pytest.approx(best.value)
    assert result.bound == pytest.approx(program.result.bound)


def test_who_ends_a_little_before_the_time_is_over_says_so():
    """Decoders keep some of the time for a last rounding, which may take less."""
    g = frustrated(8, count=30)
    turn = first_turn(g.compile().problem)
    turns = turns_of(g, [PlanStep(at.AD3(gap_tolerance=0.0), "AD3.", turn, turn)], time_limit=1e6)
    turns._begin = lambda step: Ended(begun(g, at.AD3(max_iterations=5)))
    turns.go_on()
    assert turns.result().message == TIME_LIMIT


class Ended:
    """A solve that ends as if for want of time."""

    def __init__(self, inner):
        self.inner = inner

    def go_on(self, until):
        self.inner.go_on(5)
        self.inner.message = TIME_LIMIT

    def __getattr__(self, name):
        return getattr(self.inner, name)


def test_a_step_waits_until_the_others_have_spent_as_much():
    """An expensive beginning is put off for as long as those at work may end without it."""
    g = frustrated(4)
    turn = first_turn(g.compile().problem)
    begun_at = []

    class Watched(at.LinearProgram):
        def init(self, *arguments):
            begun_at.append(turns.done)
            return super().init(*arguments)

    steps = [
        PlanStep(
            at.AD3(residual_tolerance=0.0, max_iterations=10_000), "AD3.", turn / 40, turn / 40
        ),
        PlanStep(Watched(), "Program.", 5.0 * turn),
    ]
    turns = turns_of(g, steps, Goal.RELAXATION)
    turns.go_on()
    assert turns.result().status is at.Status.RELAXED
    assert 5.0 * turn <= begun_at[0] <= 12.0 * turn  # turns double


def test_a_step_does_not_wait_for_those_that_are_over():
    g = frustrated(4)
    steps = [
        PlanStep(at.AD3(max_iterations=1), "AD3."),
        PlanStep(at.LinearProgram(), "Program.", 1e9),
    ]
    turns = turns_of(g, steps, Goal.RELAXATION)
    turns.go_on()
    assert turns.result().status is at.Status.RELAXED


@pytest.mark.parametrize(
    ("goal", "status"), [(Goal.ANSWER, at.Status.RELAXED), (Goal.PROOF, at.Status.STOPPED)]
)
def test_when_time_is_up_the_relaxation_is_solved_or_the_proof_is_missing(goal, status):
    """Turns go on with whoever finds answers, though a relaxation is solved and nobody proves."""
    g = frustrated(1, count=40, states=4)
    turn = first_turn(g.compile().problem)
    steps = [
        PlanStep(at.LinearProgram(), "Program.", turn),
        PlanStep(LargeNeighbourhood(), "Neighbourhoods.", turn, turn, bounds=False),
    ]
    relaxed = at.decode(g, at.LinearProgram())
    turns = turns_of(g, steps, goal, time_limit=relaxed.seconds + 2.0)
    turns.go_on()
    result = turns.result()
    assert result.status is status and turns.message == TIME_LIMIT
    assert result.certificate.relaxation.solved and result.certificate.verify()
    assert result.value >= relaxed.value and result.bound == pytest.approx(relaxed.bound)


def test_turns_without_a_limit_do_not_go_on_for_those_that_prove_nothing():
    g = frustrated(1, count=40, states=4)
    turn = first_turn(g.compile().problem)
    steps = [
        PlanStep(at.AD3(max_iterations=2), "AD3.", turn, turn),
        PlanStep(LargeNeighbourhood(), "Neighbourhoods.", turn, turn, bounds=False),
    ]
    turns = turns_of(g, steps)
    turns.go_on()
    assert turns.result().status is at.Status.STOPPED and turns.message == NO_PROOF


def test_reports_tell_the_best_of_all():
    """Whoever reports: bounds never rise in the joint trace, nor do values fall."""
    result = at.decode(frustrated(4), exact=True)
    assert (np.diff(result.trace.best_bound) <= 0.0).all()
    values = result.trace.value[np.isfinite(result.trace.value)]
    assert (np.diff(values) >= 0.0).all() and len(values) > 3


def test_paused_decoders_look_for_an_answer():
    g = frustrated(4)
    ad3 = at.AD3(residual_tolerance=0.0)
    plain, looking = begun(g, ad3), begun(g, ad3, rounds_at_pauses=True)
    for solve in (plain, looking):
        solve.go_on(140.0)
        assert solve.due.rounded_at < 140 and not solve.message  # iterations first
        solve.go_on(200.0)
        assert solve.iterations == 200 and not solve.message
    assert plain.due.rounded_at < 200 and looking.due.rounded_at == 200
    assert looking.value >= plain.value > -np.inf


def test_a_paused_program_goes_on_from_its_basis():
    """In doubling pieces it takes hardly more pivots than at once."""
    g = frustrated(1, count=30, states=4)
    solve, whole = begun(g, at.LinearProgram()), begun(g, at.LinearProgram())
    whole.go_on()
    pieces, work = 0, 1.0
    while not solve.message:
        solve.go_on(work)
        pieces, work = pieces + 1, 2.0 * max(work, solve.done)
        assert solve.message or (solve.done >= work / 4.0 and solve.iterations == 0)
    assert pieces >= 3 and whole.done / 2.0 < solve.done < 2.0 * whole.done
    result, expected = solve.result(), whole.result()
    assert result.status is expected.status is at.Status.RELAXED
    assert result.bound == pytest.approx(expected.bound) and result.certificate.verify()


@pytest.mark.parametrize("solver", [at.LinearProgram(), at.Tightened(), at.BranchAndCut()])
def test_a_paused_program_states_no_relaxed_value(solver):
    """What a program has before its end may break rows; its bound and answer count."""
    g = frustrated(1, count=30, states=4)
    solve = begun(g, solver)
    solve.go_on(1.0)
    assert solve.iterations == 0 and not solve.message
    result = solve.result()
    assert np.isnan(result.certificate.relaxation.value)
    assert not result.certificate.relaxation.solved and result.certificate.verify()


def test_improving_ends_where_it_does_not_help():
    """It goes on for as long again only where it has found a better answer."""
    g = torus(20, 1.0, 1)
    cost, turn = iteration_cost(g.compile().problem), first_turn(g.compile().problem)

    def improved(known):
        turns = turns_of(g, [PlanStep(at.RoofDuality(), "Flow.")], Goal.RELAXATION, known=known)
        turns.improving = [PlanStep(LargeNeighbourhood(), "Parts.", cost, cost, bounds=False)]
        turns.go_on()
        return turns.contenders[-1].spent, turns.result()

    best = at.decode(g, exact=True)
    short, same = improved(best.certificate.assignment)
    assert same.value == best.value and same.status is at.Status.RELAXED
    assert EFFORT * turn <= short <= 1.5 * EFFORT * turn
    long, better = improved(None)
    assert better.value > at.decode(g, at.RoofDuality()).value
    assert long >= 2.0 * EFFORT * turn


def test_improving_goes_on_from_a_first_answer():
    g = torus(20, 1.0, 0)

    class Finding:
        """A search that finds an answer, then a better one, then none."""

        found = iter((3.0, 4.0, 4.0))
        value, done, assignment = -np.inf, 0.0, None

        def go_on(self, until):
            self.value, self.done = next(self.found), until

        def __getattr__(self, name):
            return getattr(inner, name)

    inner = begun(g, LargeNeighbourhood())
    cost = iteration_cost(g.compile().problem)
    turns = turns_of(g, [], Goal.RELAXATION)
    turns.improving = [PlanStep(LargeNeighbourhood(), "Parts.", cost, cost, bounds=False)]
    turns._begin = lambda step: Finding()
    turns._improve()
    assert list(Finding.found) == []


def test_what_presolving_leaves_as_it_was_gets_a_longer_look_for_an_order(monkeypatch):
    """An order that the first look gives up may still be the quickest proof."""
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    label = g.categorical((3, 12), states=4, scores=rng.normal(size=(3, 12, 4)))
    g.add(at.Dense(label[1:], label[:-1], scores=9.0 * rng.normal(size=(2, 12, 4, 4))))
    g.add(at.Dense(label[:, 1:], label[:, :-1], scores=9.0 * rng.normal(size=(3, 11, 4, 4))))
    monkeypatch.setattr("assent.solvers.auto.plan.ORDER_EFFORT", 0)
    monkeypatch.setattr("assent.solvers.auto.plan.ORDER_PAIRS", 0)
    steps = list(plan(g.compile(), Goal.PROOF, 1e-6, at.Auto(exact=True)))
    assert not any(isinstance(step.solver, at.Elimination) for step in steps)
    presolving = next(step for step in steps if isinstance(step.solver, Presolving))
    inner = begun(g, presolving.solver)
    assert isinstance(inner, Turns)
    left = [type(step.solver).__name__ for step in inner.steps]
    assert left == ["Elimination", "BranchAndCut"]


def test_no_decoder_begins_anew_on_a_smaller_graph_that_can_be_searched():
    g = frustrated(0)
    first, again = (
        [type(step.solver) for step in plan(g.compile(), Goal.PROOF, 1e-6, at.Auto(), presolved)]
        for presolved in (False, True)
    )
    assert at.AD3 in first and at.AD3 not in again
    assert at.DepthFirst in again and at.BranchAndCut in again
