"""Several threads on one problem: the same answers, nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner

import assent as at
from assent.cli import main
from assent.compile.compiled import graph_scores
from assent.kernels.ad3 import ad3_schedule
from assent.kernels.ad3.state import CURRENT, MEAN, PRIMAL, SMOOTH
from assent.kernels.core import schedule
from assent.kernels.core.barrier import wait_for_all, wait_until
from assent.kernels.core.thread_shares import BLOCKS, LINKS, PAIR_BLOCK, PAIRS, SEGMENT, SEGMENTS
from assent.kernels.kinds.logic_projections import LANES
from assent.solvers.ad3 import ad3
from assent.solvers.base import thread_team
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.thread_plan import divide, whole


@pytest.fixture(autouse=True)
def threads_for_small_problems(monkeypatch):
    monkeypatch.setattr(thread_team, "LEAST_LINKS", 0)
    monkeypatch.setattr(
        ad3_schedule, "ORDERED_LINKS", 0
    )  # as on problems that threads are meant for


def model(side=20, seed=0):
    """Pairs on a grid, budgets, clauses of two literals and an OR: every kernel takes part."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary((side, side), scores=rng.normal(size=(side, side)), name="x")
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(at.Pair(a, b, scores=rng.normal(size=a.shape)))
    g.add(at.AtMost(side // 3, x, axis=0))
    g.add(at.AtLeast(2, ~x[:, :5], axis=1))
    g.add(at.AtMostOne([x[:-1, :-1], x[1:, 1:]], axis=0))
    g.add(at.ExactlyOne(x[:, 8:13], axis=1))
    some = g.binary(side, scores=-0.5, name="some")
    g.add(at.AtLeastOne(x, axis=1, output=some))
    return g


def run(graph, threads, iterations=60):
    """Workspace and bound after some iterations."""
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    solver = at.AD3(threads=threads)
    workspace = solver.init(problem, scores)
    for _ in range(3):
        solver.advance(problem, scores, workspace, iterations // 3)
    dual = solver.dual_point(problem, scores, workspace)
    return workspace, solver.bound(problem, scores, workspace), dual


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_agree_with_one_up_to_rounding(threads):
    graph = model()
    alone, bound, dual = run(graph, 1)
    helped, bound_helped, dual_helped = run(graph, threads)
    assert (alone.threads, helped.threads) == (1, threads)
    assert helped.p == pytest.approx(alone.p, abs=1e-9)
    assert helped.state.mean.p == pytest.approx(alone.state.mean.p, abs=1e-9)
    assert bound_helped == pytest.approx(bound, rel=1e-10)
    assert dual_helped.pair == pytest.approx(dual.pair, abs=1e-8)
    assert dual_helped.logic == pytest.approx(dual.logic, abs=1e-8)
    assert helped.state.numbers[PRIMAL] == pytest.approx(alone.state.numbers[PRIMAL], rel=1e-6)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_the_average_of_averages_and_its_bounds(threads, monkeypatch):
    monkeypatch.setattr(schedule, "SMALL_LINKS", 0)
    monkeypatch.setattr(ad3, "SMOOTHED_FROM", 20)
    graph = model()
    alone, bound, _ = run(graph, 1)
    helped, bound_helped, _ = run(graph, threads)
    assert len(alone.state.smooth.p) == len(helped.state.smooth.p) == len(alone.p)
    for own, other in zip(alone.state.smooth, helped.state.smooth, strict=True):
        np.testing.assert_allclose(other, own, atol=1e-9)
    assert bound_helped == pytest.approx(bound, rel=1e-10)
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    solver, bounds = at.AD3(threads=threads), []
    for point in (CURRENT, MEAN, SMOOTH):
        helped.prefer(point)
        bounds.append(bound_at(problem, scores, solver.dual_point(problem, scores, helped)))
    assert bound_helped == pytest.approx(min(bounds), rel=1e-10)


def test_a_given_number_of_threads_repeats_itself_bit_by_bit():
    graph = model()
    first, first_bound, _ = run(graph, 2)
    for _ in range(3):
        again, bound, _ = run(graph, 2)
        assert bound == first_bound
        assert np.array_equal(again.p, first.p)
        assert np.array_equal(again.state.current.pair, first.state.current.pair)
        assert np.array_equal(again.state.current.logic, first.state.current.logic)
        assert np.array_equal(again.state.numbers, first.state.numbers)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_shares_cover_everything_once(threads):
    problem = model(side=13).compile().problem
    shares, order, touched = divide(problem, threads)
    complete = whole(problem).shares[0]
    for column in (PAIRS, BLOCKS, SEGMENTS, LINKS):
        assert shares[0, column] == 0
        assert shares[-1, column + 1] == complete[column + 1]
        assert np.array_equal(shares[1:, column], shares[:-1, column + 1])
        assert np.all(shares[:, column] <= shares[:, column + 1])
    assert np.array_equal(np.sort(order), np.arange(complete[PAIRS + 1]))
    assert touched.shape == (threads, -(-problem.n // SEGMENT))
    starts = np.concatenate([[0], np.cumsum(-(-problem.group_count // LANES))])
    for cut in shares[1:, BLOCKS]:  # factors of two literals are cut where their kernel stops
        group = np.searchsorted(starts, cut, side="right") - 1
        inside = cut < starts[-1] and problem.group_size[group] == 2
        assert not inside or (cut - starts[group]) % (PAIR_BLOCK // LANES) == 0


def test_the_certificate_of_a_threaded_decode_holds():
    graph = model(seed=3)
    result = at.decode(graph, at.AD3(threads=2, max_iterations=2000))
    relaxation = at.decode(graph, at.LinearProgram())
    assert result.certificate.verify()
    assert result.bound >= relaxation.bound - 1e-6
    assert result.bound == pytest.approx(relaxation.bound, rel=1e-2)


def test_more_threads_than_processors():
    threads = 2 * (os.cpu_count() or 1) + 1
    workspace, bound, _ = run(model(), threads, iterations=15)
    assert workspace.threads == threads
    assert bound == pytest.approx(run(model(), 1, iterations=15)[1], rel=1e-10)


def decode_value(queue):
    queue.put(at.decode(model(), at.AD3(threads=2, max_iterations=100)).bound)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_decodes_after_a_threaded_decode():
    expected = at.decode(model(), at.AD3(threads=2, max_iterations=100)).bound
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=decode_value, args=(queue,))
    child.start()
    assert queue.get(timeout=120) == expected
    child.join(timeout=120)
    assert child.exitcode == 0


def test_two_python_threads_decode_at_once():
    solver = at.AD3(threads=2, max_iterations=100)
    expected = [at.decode(model(seed=s), solver).bound for s in range(2)]
    bounds = [[], []]

    def work(seed):
        for _ in range(2):
            bounds[seed].append(at.decode(model(seed=seed), solver).bound)

    workers = [threading.Thread(target=work, args=(s,)) for s in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert bounds == [[value] * 2 for value in expected]


def interrupted_start(after):
    """A stand-in for ``Helper.ask`` that is interrupted once a number of threads were asked."""
    original = thread_team.Helper.ask
    asked = []

    def ask(self, work):
        if len(asked) == after:
            raise KeyboardInterrupt
        original(self, work)
        asked.append(self)

    return ask, asked


@pytest.mark.parametrize("after", [0, 1])
def test_an_interrupt_before_all_have_met_leaves_everything_as_it_was(monkeypatch, after):
    graph = model()
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    solver = at.AD3(threads=3)
    workspace = solver.init(problem, scores)
    solver.advance(problem, scores, workspace, 10)
    before = workspace.p.copy(), workspace.state.current.pair.copy(), workspace.iterations
    ask, asked = interrupted_start(after)
    with monkeypatch.context() as patch:
        patch.setattr(thread_team.Helper, "ask", ask)
        with pytest.raises(KeyboardInterrupt):
            solver.advance(problem, scores, workspace, 10)
    for helper in asked:
        wait_until(helper.done)
    assert np.array_equal(workspace.p, before[0]) and np.array_equal(
        workspace.state.current.pair, before[1]
    )
    assert workspace.iterations == before[2]
    solver.advance(problem, scores, workspace, 10)
    assert np.isfinite(workspace.state.numbers[PRIMAL])


def test_what_fails_in_a_helper_is_raised_here():
    def work(thread, barrier):
        if thread:
            raise MemoryError("no room for a second thread")
        while not barrier[thread_team.CALLED_OFF]:
            pass

    with pytest.raises(MemoryError, match="no room"):
        thread_team.together(work, 2)


def test_helpers_spin_for_a_moment_and_leave():
    def work(thread, barrier):
        wait_for_all(barrier, 2)
        return threading.get_ident()

    def helper_of_now():
        return thread_team._own.team.known[0]

    thread_team.together(work, 2)
    helper = helper_of_now()
    for pause in (0.0, 0.0, 1.0):  # the last one is longer than anybody spins
        time.sleep(pause)
        assert helper.gone or not pause
        thread_team.together(work, 2)
        assert helper_of_now() is helper and helper.done[0] == 1


def test_a_meeting_called_off_leaves_the_gate_to_nobody():
    def work(thread, barrier):
        if thread == 0:
            raise KeyboardInterrupt
        wait_for_all(barrier, 2)

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            thread_team.together(work, 2)
        assert thread_team._own.team is None
    assert thread_team.together(lambda thread, barrier: wait_for_all(barrier, 2), 2)


def test_jobs_are_answered_in_order_by_any_number_of_threads():
    jobs = [partial(pow, number, 2) for number in range(7)]
    for threads in (1, 2, 3, 9):
        assert list(thread_team.in_order(jobs, threads)) == [number**2 for number in range(7)]
    asked = []
    answers = thread_team.in_order((asked.append(number) or (lambda: 0) for number in range(3)), 1)
    next(answers)
    assert asked == [0]


def test_a_job_that_fails_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        list(thread_team.in_order([partial(pow, 0, 1), partial(pow, 0, -1)], 2))


def test_threads_are_for_large_problems(monkeypatch):
    monkeypatch.undo()
    small = model(side=14).compile().problem
    assert small.n_links < thread_team.LEAST_LINKS
    assert thread_team.team_size(4, small) == 1


def test_without_the_compiler_there_is_one_thread(monkeypatch):
    problem = model(side=14).compile().problem
    assert thread_team.team_size(4, problem) == 4
    monkeypatch.setattr(thread_team.numba.config, "DISABLE_JIT", True)
    assert thread_team.team_size(4, problem) == 1


def test_factors_stepped_elsewhere_keep_one_thread():
    g = model()
    parts = g.binary(4, name="parts")
    g.add(at.Parity(parts))
    assert run(g, 2)[0].threads == 1


@pytest.mark.parametrize(
    ("threads", "error", "words"),
    [
        (0, ValueError, "threads is at least 1, got 0"),
        (-2, ValueError, "threads is at least 1, got -2"),
        ("2", TypeError, "threads is a whole number, got '2'"),
        (2.0, TypeError, "threads is a whole number, got 2.0"),
        (True, TypeError, "threads is a whole number, got True"),
    ],
)
def test_bad_numbers_of_threads(threads, error, words):
    with pytest.raises(error, match=words):
        at.AD3(threads=threads)


def test_the_command_line_takes_threads(tmp_path):
    file = tmp_path / "two.uai"
    file.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n")
    answer = CliRunner().invoke(main, ["decode", str(file), "--threads", "2"])
    assert answer.exit_code == 0 and "OPTIMAL" in answer.output
    refused = CliRunner().invoke(main, ["decode", str(file), "--threads", "2", "--solver", "lp"])
    assert refused.exit_code == 2 and "--threads is for --solver ad3" in refused.output
    assert CliRunner().invoke(main, ["decode", str(file), "--threads", "0"]).exit_code == 2
