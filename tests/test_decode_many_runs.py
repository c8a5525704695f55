"""Runs of many problems: time limits, interrupts and progress, and starts from earlier results."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import assent as at
from assent.kernels.core import schedule
from assent.solvers.ad3 import batch
from assent.solvers.base.stop_reasons import INTERRUPTED
from benchmarks.small_instances import changed_scores, small_instances
from tests.processes import interrupted
from tests.test_decode_many import LIMIT, assert_same, contradictory, easy, hard, tagging

# ---------------------------------------------------------------- limits


ENDLESS = at.AD3(gap_tolerance=0.0, residual_tolerance=0.0, max_iterations=10**9)


def test_a_time_limit_is_for_all_and_leaves_answers_with_bounds():
    graphs = [easy(), *hard(5)]
    at.decode_many(graphs[:2], solver=at.AD3(max_iterations=10))  # compiled before the clock runs
    results = at.decode_many(graphs, solver=ENDLESS, time_limit=0.3)
    assert results.seconds < 3.0
    assert results.statuses[0] is at.Status.OPTIMAL
    for result in results[1:]:
        assert result.status is at.Status.STOPPED
        assert result.message.startswith("Time limit")
        assert result.certificate.verify()
        assert -np.inf < result.value <= result.bound < np.inf


def test_an_iteration_limit():
    result = at.decode_many(hard(1), solver=at.AD3(max_iterations=17))[0]
    assert (result.iterations, result.status) == (17, at.Status.STOPPED)
    assert result.message.startswith("Iteration limit")


PROGRAM = """
import sys, threading
import assent as at
from assent.solvers.ad3 import batch
from tests.test_decode_many import easy, hard
from tests.test_decode_many_runs import ENDLESS

graphs = [easy(), *hard(3), easy()]
at.decode_many(graphs[:2], solver=at.AD3(max_iterations=10))
original = batch.supervise

def supervise(work, *rest):
    threading.Timer(0.3, lambda: print("running", flush=True)).start()
    original(work, *rest)

batch.supervise = supervise
results = at.decode_many(graphs, solver=ENDLESS, threads=int(sys.argv[1]))
print([s.name for s in results.statuses], results[1].message.split(".")[0],
      all(r.certificate.verify() for r in results), results.feasible.all())
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_keeps_what_is_finished(threads):
    statuses = ["OPTIMAL", *["STOPPED"] * 4]  # the last one had no time for more than a look
    out = interrupted(PROGRAM, str(threads))
    assert out == f"{statuses} Interrupted True True"


def interrupt_call(monkeypatch, method, number):
    """Ctrl-C at this call of a method of AD3."""
    calls = []
    original = getattr(at.AD3, method)

    def interrupted(self, *args, **keywords):
        calls.append(None)
        if len(calls) == number:
            raise KeyboardInterrupt
        return original(self, *args, **keywords)

    monkeypatch.setattr(at.AD3, method, interrupted)


def test_after_an_interrupt_the_driver_is_asked_for_one_report_only(monkeypatch):
    monkeypatch.setattr(schedule, "SMALL_LINKS", 0)
    interrupt_call(monkeypatch, "advance", 5)
    results = at.decode_many(hard(4), solver=ENDLESS)
    assert [r.message for r in results] == [INTERRUPTED] * 4
    assert results.iterations.tolist()[1:] == [10, 10, 10]
    assert all(r.certificate.verify() for r in results)


def test_an_interrupt_before_a_solver_begins_takes_no_other_answer_away(monkeypatch):
    monkeypatch.setattr(schedule, "SMALL_LINKS", 0)
    interrupt_call(monkeypatch, "init", 2)
    results = at.decode_many([easy(), *hard(2)], solver=ENDLESS)
    assert [r.message for r in results][1:] == [INTERRUPTED] * 2
    assert results.iterations.tolist()[1:] == [10, 10]
    assert all(r.certificate.verify() for r in results)


def test_a_failure_in_a_thread_is_raised(monkeypatch):
    def failing(*arguments):
        raise RuntimeError("out of order")

    monkeypatch.setattr(batch.kernel, "solve_range", failing)
    with pytest.raises(RuntimeError, match="out of order"):
        at.decode_many([easy(), easy()], threads=2)


def test_progress_counts_to_the_end(monkeypatch):
    shown = []

    class Display:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            shown.append("closed")

        def show(self, done):
            shown.append(done)

    monkeypatch.setattr("assent.progress.live_display", lambda describe: Display())
    at.decode_many([easy()] * 3, progress=True)
    assert shown[-2:] == [3, "closed"]


# ---------------------------------------------------------------- warm starts


def test_warm_starts_reach_the_same_answers_in_fewer_iterations():
    rng = np.random.default_rng(0)
    graphs = small_instances(24, seed=3)
    before = at.decode_many(graphs, solver=LIMIT)
    changes = [changed_scores(graph, 0.01, rng) for graph in graphs]
    cold = at.decode_many(graphs, LIMIT, scores=changes)
    warm = at.decode_many(graphs, LIMIT, scores=changes, warm_start=before)
    for graph, change, one, other, earlier in zip(graphs, changes, cold, warm, before, strict=True):
        assert other.certificate.verify()
        if one.status is at.Status.OPTIMAL is other.status:
            assert other.value == pytest.approx(one.value, rel=1e-5)
        assert_same(other, at.decode(graph, LIMIT, scores=change, warm_start=earlier))
    assert warm.iterations.sum() < 0.7 * cold.iterations.sum()


def test_it_does_not_matter_how_earlier_results_are_handed_over():
    """As a whole, one by one, as part of another batch, or to other solvers."""
    rng = np.random.default_rng(2)
    graphs = [*small_instances(6, seed=5), contradictory()]
    before = at.decode_many(graphs, solver=LIMIT)
    changes = [changed_scores(graph, 0.01, rng) for graph in graphs]
    as_results = at.decode_many(graphs, LIMIT, scores=changes, warm_start=list(before))
    whole = at.decode_many(graphs, LIMIT, scores=changes, warm_start=before)
    few = at.decode_many(graphs[:6], solver=LIMIT)
    same = at.decode_many(graphs[:6], LIMIT, scores=changes[:6], warm_start=few)
    relaxed = at.AD3(max_iterations=3000, over_relaxation=1.2)
    other = at.decode_many(graphs[:6], relaxed, scores=changes[:6], warm_start=few)
    for i, alone in enumerate(as_results):
        assert_same(whole[i], alone)
        if i < 6:
            assert_same(same[i], alone)
            assert other[i].certificate.verify()
            assert_same(
                other[i],
                at.decode(graphs[i], relaxed, scores=changes[i], warm_start=before[i]),
            )
    few_steps = at.MPLP(max_iterations=3)
    exact = at.decode_many(graphs[:6], few_steps, scores=changes[:6], warm_start=few)
    assert all(result.certificate.verify() for result in exact)


def test_an_answer_that_is_still_the_best_needs_no_iteration():
    rng = np.random.default_rng(4)
    graphs = small_instances(12, seed=8)
    before = at.decode_many(graphs, solver=LIMIT)
    changes = [changed_scores(graph, 1e-4, rng) for graph in graphs]
    warm = at.decode_many(graphs, LIMIT, scores=changes, warm_start=before)
    at_once = np.flatnonzero(warm.iterations == 0)
    assert len(at_once) >= 6
    for i in at_once:
        result = warm[int(i)]
        alone = at.decode(graphs[i], LIMIT, scores=changes[i], warm_start=before[int(i)])
        assert_same(result, alone)
        assert result.status is at.Status.OPTIMAL and result.certificate.verify()
        assert result.certificate.relaxation.solved
        assert np.array_equal(result.consensus, result.certificate.assignment)
        for handle in graphs[i].handles:
            if isinstance(handle.factor, at.Dense):
                assert result.marginals[handle].sum(axis=(1, 2)) == pytest.approx(1.0)


def test_results_of_results_are_not_all_kept():
    graphs = small_instances(4, seed=6)
    results = at.decode_many(graphs)
    first = weakref.ref(results.run.place(0, graphs[0].compile()).buffer)
    for _ in range(2):
        results = at.decode_many(graphs, warm_start=results)
    gc.collect()
    assert first() is None
    assert results[0].certificate.verify()


def test_one_result_starts_them_all():
    rng = np.random.default_rng(0)
    g, tag, *_ = tagging()
    base = rng.normal(size=(4, 3))
    scores = {tag: base + 0.01 * rng.normal(size=(6, 4, 3))}
    before = at.decode(g, scores={tag: base})
    warm = at.decode_many(g, scores=scores, warm_start=before)
    assert warm.values == pytest.approx(at.decode_many(g, scores=scores).values, abs=1e-5)
    again = at.decode_many(g, scores=scores, warm_start=warm)
    assert again.iterations.sum() <= warm.iterations.sum()


def test_starting_where_nothing_is_known():
    """From a result without a dual point, and from none at all."""
    g = at.FactorGraph()
    x = g.binary(2, scores=1.0)
    g.add(at.AtMostOne(x))
    other = at.FactorGraph()
    y = other.binary(1)
    other.add(at.ExactlyOne([y[0]]))
    other.fix(y[0], 0)
    refuted = at.decode(other)
    results = at.decode_many([g, other], warm_start=[None, refuted])
    assert [s.name for s in results.statuses] == ["OPTIMAL", "INFEASIBLE"]
