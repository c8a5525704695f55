"""Decoding: limits, new scores, warm starts, and what a result tells."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

import assent as at
from assent.solvers.base.loop import Run
from assent.solvers.base.protocol import IterativeSolver


def grid(side=8, seed=0, coupling=2.0):
    """A frustrated grid: its relaxation needs a few hundred iterations."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary((side, side), scores=rng.normal(size=(side, side)), name="x")
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(at.Pair(a, b, scores=coupling * rng.normal(size=a.shape)))
    return g


def timetable():
    """Lessons in rooms: all kinds of variables and factors at once."""
    g = at.FactorGraph()
    rng = np.random.default_rng(1)
    room = g.categorical(4, states=["red", "blue"], scores=rng.normal(size=(4, 2)), name="room")
    early = g.binary(4, scores=rng.normal(size=4), name="early")
    g.add(at.AtMost(2, early))
    same = g.add(at.Pair(early[:-1], early[1:], scores=-1.0), name="rest")
    g.add(at.Implies(early[0] & (room[0] == "red"), room[1] == "blue"))
    return g, room, early, same


# ------------------------------------------------------------------ limits


def test_iteration_limit():
    result = at.decode(grid(), at.AD3(max_iterations=7))
    assert result.status is at.Status.STOPPED
    assert result.message.startswith("Iteration limit.")
    assert result.iterations == 7
    assert result.certificate.verify()
    assert result.value <= result.bound


def test_time_limit():
    result = at.decode(grid(60), at.AD3(gap_tolerance=0.0, residual_tolerance=0.0), time_limit=0.2)
    assert result.status is at.Status.STOPPED
    assert result.message.startswith("Time limit.")
    assert result.certificate.verify()
    assert result.seconds < 10.0
    assert np.isfinite(result.value)


def test_a_callback_sees_every_report_and_can_stop():
    seen = []

    def stop(step):
        seen.append(step)
        return len(seen) == 3

    result = at.decode(grid(), at.AD3(gap_tolerance=0.0, residual_tolerance=0.0), callback=stop)
    assert result.status is at.Status.STOPPED
    assert result.message.startswith("Stopped by the callback.")
    assert len(seen) == len(result.trace) == 3
    assert result.certificate.verify()


def test_a_callback_that_returns_something_else_does_not_stop():
    g = grid(4)
    plain = at.decode(g)
    watched = at.decode(g, callback=lambda step: "yes")
    assert watched.iterations == plain.iterations


def test_an_error_in_a_callback_is_passed_on():
    def fail(step):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        at.decode(grid(4), callback=fail)


def test_reports_are_monotone_where_they_promise_to_be():
    trace = at.decode(grid()).trace
    assert np.all(np.diff(trace.best_bound) <= 0)
    assert np.all(trace.value[1:] >= trace.value[:-1])
    assert np.all(np.diff(trace.iteration) > 0)
    assert np.all(np.diff(trace.seconds) >= 0)
    assert np.all(trace.best_bound <= trace.bound)
    assert np.all(trace.gap >= -1e-9)


def test_progress_is_quiet_where_there_is_no_terminal(capfd):
    at.decode(grid(4), progress=True)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_the_same_again():
    first, second = at.decode(grid()), at.decode(grid())
    assert first.value == second.value
    assert first.bound == second.bound
    assert first.iterations == second.iterations


# ------------------------------------------------------------------ scores


def test_new_scores_are_those_of_a_rebuilt_graph():
    rng = np.random.default_rng(3)
    g = grid(5)
    x, (down, across) = g["x"], g.handles
    scores = {h: rng.normal(size=h.shape) for h in (x, down, across)}
    rebuilt = at.FactorGraph()
    y = rebuilt.binary((5, 5), scores=scores[x])
    rebuilt.add(at.Pair(y[1:], y[:-1], scores=scores[down]))
    rebuilt.add(at.Pair(y[:, 1:], y[:, :-1], scores=scores[across]))
    new, old = at.decode(g, scores=scores), at.decode(rebuilt)
    assert new.value == old.value
    assert new.bound == old.bound
    assert np.array_equal(new[x], old[y])
    assert new.certificate.verify()
    assert at.decode(g).value == at.decode(grid(5)).value  # and nothing stuck to the graph


def test_scores_of_a_slice():
    g, room, early, _ = timetable()
    result = at.decode(g, scores={early[1:3]: 100.0, room[3]: [0.0, 50.0]})
    assert result[early][1:3].tolist() == [1, 1]
    assert result.labels[room][3] == "blue"


def test_forbidding_scores_recompile_once_and_warm_start():
    g = grid(4)
    x = g["x"]
    masked = np.zeros((4, 4))
    masked[0] = -np.inf
    with pytest.warns(at.RecompileWarning):
        first = at.decode(g, scores={x: masked})
    assert first[x][0].tolist() == [0, 0, 0, 0]
    second = at.decode(g, scores={x: 2 * masked}, warm_start=first)  # same pattern: no warning
    assert second.certificate.verify()
    assert second.bound == pytest.approx(first.bound, rel=1e-5)
    assert at.decode(g).value == at.decode(grid(4)).value


def test_lifting_a_written_prohibition():
    g = at.FactorGraph()
    x = g.binary(2, scores=[-np.inf, 1.0])
    assert at.decode(g)[x].tolist() == [0, 1]
    with pytest.warns(at.RecompileWarning):
        assert at.decode(g, scores={x: [1.0, 1.0]})[x].tolist() == [1, 1]


# ------------------------------------------------------------------ warm starts


def test_a_warm_start_goes_on_where_it_stopped():
    g = grid()
    cold = at.decode(g, at.AD3())
    half = at.decode(g, at.AD3(max_iterations=cold.iterations // 2))
    rest = at.decode(g, at.AD3(), warm_start=half)
    assert rest.certificate.verify()
    assert rest.bound == pytest.approx(cold.bound, rel=1e-5)
    again = at.decode(g, at.AD3(), warm_start=cold)
    assert again.bound == pytest.approx(cold.bound, rel=1e-5)
    assert again.iterations <= cold.iterations


def test_a_warm_start_with_other_scores_reaches_the_same_bound():
    g = grid()
    first = at.decode(g)
    scores = {g["x"]: np.random.default_rng(9).normal(size=(8, 8))}
    cold, warm = at.decode(g, scores=scores), at.decode(g, scores=scores, warm_start=first)
    assert warm.certificate.verify()
    assert warm.bound == pytest.approx(cold.bound, rel=1e-4)


def test_a_warm_start_from_what_was_infeasible_or_trivial():
    g = at.FactorGraph()
    x = g.binary(2, scores=1.0)
    trivial = at.decode(g)
    assert at.decode(g, warm_start=trivial).value == 2.0
    g.add(at.AtMostOne(x))
    g.fix(x, 1)
    assert at.decode(g, warm_start=at.decode(g)).status is at.Status.INFEASIBLE


# ------------------------------------------------------------------ results


def test_reading_a_result():
    g, room, early, rest = timetable()
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL
    assert result.certificate.verify()
    assert result[early].shape == result.marginals[early].shape == (4,)
    assert np.array_equal(result[~early], 1 - result[early])
    assert np.allclose(result.marginals[~early], 1 - result.marginals[early])
    assert np.array_equal(result[early[1:]], result[early][1:])
    assert result.marginals[room].shape == (4, 2)
    assert np.array_equal(result[room == "blue"], result[room])
    assert [["red", "blue"][i] for i in result[room]] == result.labels[room].tolist()
    assert result.labels[room].dtype.kind == "U"
    assert result.labels[room[2]] in ("red", "blue")
    both = result[early][:-1] & result[early][1:]
    assert np.array_equal(result[rest], both)
    exact = at.decode(g, at.LinearProgram())
    assert np.allclose(exact.marginals[rest], both)
    assert np.all((result.marginals[rest] >= 0) & (result.marginals[rest] <= 1))
    assert np.array_equal(result.least_violating[early], result[early])
    assert result.violated == ()


def test_a_result_shows_itself():
    g, *_ = timetable()
    result = at.decode(g)
    assert repr(result).startswith("Result OPTIMAL: value ")
    assert repr(result.marginals) == "<marginals: index with a variable>"
    assert str(result.status).startswith("OPTIMAL: The answer is proven optimal")
    assert repr(result.trace).splitlines()[0].split()[0] == "iteration"
    assert all(status.value.endswith(".") for status in at.Status)


def test_a_result_survives_pickling():
    g, *_ = timetable()
    result = at.decode(g)
    copy = pickle.loads(pickle.dumps(result))
    assert copy.value == result.value
    assert copy.certificate.verify()
    assert np.array_equal(copy.certificate.assignment, result.certificate.assignment)


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "trace.png"
    at.decode(grid(4)).plot(path)
    assert path.stat().st_size > 1000
    g = at.FactorGraph()
    g.binary(2, scores=1.0)
    at.decode(g).plot(tmp_path / "trivial.png")


def test_a_relaxed_answer_is_feasible_and_bounded():
    g = at.FactorGraph()
    x = g.binary(3)
    g.add(at.Pair(x, ~x[[1, 2, 0]], scores=1.0))
    g.add(at.Pair(~x, x[[1, 2, 0]], scores=1.0))
    result = at.decode(g, at.AD3())
    assert result.status is at.Status.RELAXED
    assert result.value == 2.0
    assert result.bound == pytest.approx(3.0, abs=1e-4)
    assert result.certificate.relaxation.solved
    assert np.allclose(result.marginals[x], 0.5, atol=1e-3)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-8])
def test_optimal_means_within_the_gap_tolerance(tolerance):
    result = at.decode(grid(6, coupling=0.3), at.AD3(gap_tolerance=tolerance))
    assert result.status is at.Status.OPTIMAL
    assert result.gap <= tolerance * (1 + abs(result.bound))


@pytest.mark.parametrize("exact", ["yes", "", 1, None])
def test_exact_is_true_or_false(exact):
    g = at.FactorGraph()
    g.binary(2)
    for ask in (lambda: at.decode(g, exact=exact), lambda: at.Auto(exact=exact)):
        with pytest.raises(TypeError, match=f"exact is True or False, got {exact!r}"):
            ask()


def test_solvers_are_settings():
    solver = at.AD3(gap_tolerance=1e-3)
    assert solver == at.AD3(gap_tolerance=1e-3)
    assert hash(solver) == hash(at.AD3(gap_tolerance=1e-3))
    with pytest.raises(AttributeError):
        solver.gap_tolerance = 1.0
    for name in ("init", "advance", "bound", "dual_point", "marginals", "relaxed_value"):
        assert callable(getattr(solver, name))
        assert hasattr(IterativeSolver, name)


class Clock:
    """Time that passes only where it is told to."""

    def __init__(self):
        self.begun = self.now = time.perf_counter()  # after whatever was compiled before

    def __call__(self):
        return self.now


def paced(clock):
    """AD3 whose iterations take a tenth of a second each on a clock."""

    class Paced(at.AD3):
        def advance(self, problem, scores, workspace, iterations):
            clock.now += 0.1 * iterations
            return super().advance(problem, scores, workspace, iterations)

    return Paced(gap_tolerance=0.0, residual_tolerance=0.0)


@pytest.mark.parametrize("limit", [4.0, 17.0, 60.0])
def test_a_time_limit_leaves_room_for_the_last_rounding(monkeypatch, limit):
    from assent.kernels.rounding import round_marginals
    from assent.solvers.base import loop

    clock, roundings = Clock(), []
    plain = round_marginals.round_marginals

    def slow(*args, **options):
        clock.now += 1.5
        roundings.append(clock.now)
        return plain(*args, **options)

    monkeypatch.setattr(round_marginals, "round_marginals", slow)
    monkeypatch.setattr(loop.time, "perf_counter", clock)
    result = at.decode(grid(), paced(clock), time_limit=limit)
    assert result.feasible
    assert roundings and roundings[-1] <= clock.now
    assert 0.7 * limit <= clock.now - clock.begun <= 1.05 * limit + 0.5


def test_roundings_of_a_loose_relaxation_become_rare(monkeypatch):
    rounded, plain = [], Run._round

    def noted(run, *, thorough):
        rounded.append(run.iterations)
        plain(run, thorough=thorough)

    monkeypatch.setattr(Run, "_round", noted)
    result = at.decode(grid(80), at.AD3(max_iterations=1500))
    assert result.status is not at.Status.OPTIMAL
    assert result.certificate.verify()
    *until, _ = rounded  # the last one ends the run
    growth = np.array(until[1:]) / until[:-1]
    assert len(until) >= 3 and (growth >= 1.15).all() and growth[-1] >= 1.4
