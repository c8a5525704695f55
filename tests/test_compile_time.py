"""Compiling is told apart from solving, and a time limit that is too short for it is kept."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores, lay_out
from assent.kernels.compile_clock import (
    CLOCK,
    CompileTimeout,
    compile_seconds,
    loading_code,
    solving_seconds,
)
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.auto import turns
from assent.solvers.base import uncompiled
from assent.solvers.base.stop_reasons import NOT_COMPILED

PAUSE = 0.3


def frustrated(side=4, seed=0):
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary(scores=rng.normal(size=(side, side)), name="x")
    for a, b in ((x[:, :-1], x[:, 1:]), (x[:-1], x[1:])):
        g.add(at.Pair(a, b, scores=3.0 * rng.normal(size=a.shape)))
    g.add(at.AtMost(side, x[:, 0]))
    return g


def too_long(*_):
    raise CompileTimeout


def compile_for_a_while(*_):
    """What Numba's events amount to, a function on the way included."""
    CLOCK.on_start(None)
    CLOCK.on_start(None)
    time.sleep(PAUSE)
    CLOCK.on_end(None)
    CLOCK.on_end(None)


def test_the_clock_counts_what_was_compiled_since():
    begun = time.perf_counter()
    compile_for_a_while()
    assert PAUSE <= compile_seconds(begun) < 2 * PAUSE
    assert compile_seconds(begun + 0.5 * PAUSE) < PAUSE
    assert compile_seconds(time.perf_counter()) == 0.0
    assert solving_seconds(begun) < PAUSE


def test_loading_is_neither_solving_nor_compiling():
    begun = time.perf_counter()
    with loading_code():
        time.sleep(PAUSE)
    assert solving_seconds(begun) < PAUSE
    assert compile_seconds(begun) == 0.0


@pytest.mark.parametrize("solver", [at.AD3(), at.Auto(), at.BranchAndBound(), at.DepthFirst()])
def test_time_spent_compiling_is_not_told_as_solving(solver):
    at.decode(frustrated(), solver)
    begun = time.perf_counter()
    result = at.decode(frustrated(), solver, callback=compile_for_a_while)
    wall = time.perf_counter() - begun
    compiled = result.trace.compile_seconds
    assert compiled >= PAUSE
    assert result.seconds + compiled <= wall
    assert (result.trace.seconds <= wall - compiled).all()


def test_a_step_that_cannot_be_compiled_in_time_leaves_it_to_the_others(monkeypatch):
    best = at.decode(frustrated(), exact=True)
    monkeypatch.setattr(AD3, "advance", too_long)
    result = at.decode(frustrated(), exact=True, time_limit=60.0)
    assert result.status is at.Status.OPTIMAL and "AD3" not in result.plan
    assert np.isclose(result.value, best.value)
    alone = at.decode(frustrated(), at.AD3(), time_limit=60.0)
    assert alone.status is at.Status.STOPPED and alone.message == NOT_COMPILED


@pytest.mark.parametrize("name", ["begin", "go_on", "result"])
def test_wherever_there_is_no_time_to_compile_what_was_found_is_kept(monkeypatch, name):
    """Steps after the first are not compiled in time, at whatever point that shows."""
    begun = turns.begin
    seen = []

    def begin(compiled, scores, solver, request):
        seen.append(solver)
        if len(seen) > 1 and name == "begin":
            raise CompileTimeout
        solve = begun(compiled, scores, solver, request)
        if len(seen) > 1:
            monkeypatch.setattr(solve, name, too_long, raising=True)
        return solve

    monkeypatch.setattr(turns, "begin", begin)
    result = at.decode(frustrated(16), exact=True, time_limit=2.0)
    assert len(seen) > 1
    assert result.feasible and result.message != NOT_COMPILED
    assert result.certificate.verify()


def test_an_answer_that_is_not_handed_on_in_time_is_kept(monkeypatch):
    """What the others would be given at the end would have to be checked by kernels."""
    state = turns.Turns._stated
    refused = []

    def refuse(assignment):
        refused.append(assignment)
        raise CompileTimeout

    def stated(self):
        assert self.assignment is not None
        for contender in self.contenders:
            monkeypatch.setattr(contender.solve, "offer", refuse)
        return state(self)

    monkeypatch.setattr(turns.Turns, "_stated", stated)
    g = at.FactorGraph()
    x = g.binary(80, name="x")
    a, b = np.triu_indices(80, 1)
    g.add(at.Pair(x[a], x[b], scores=np.random.default_rng(0).normal(size=len(a))))
    result = at.decode(g)
    assert refused
    assert result.feasible and result.message != NOT_COMPILED
    assert result.certificate.verify()


@pytest.mark.parametrize("seed", range(5))
def test_the_answer_without_kernels_is_within_its_bound(seed):
    """Also with labels, evidence and rules that what every variable prefers breaks."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(3, 3))
    table[0, 2] = -np.inf
    g = at.FactorGraph()
    x = g.binary(4, scores=rng.normal(size=4), name="x")
    tag = g.categorical(3, 3, scores=rng.normal(size=(3, 3)), name="tag")
    g.add(at.Dense(tag[:-1], tag[1:], scores=table))
    g.add(at.Potts(tag[0], tag[2], scores=rng.normal(size=3)))
    g.add(at.Pair(x[:-1], x[1:], scores=rng.normal(size=3)))
    g.add(at.Pair(x[0], tag[0] == 1, scores=rng.normal()))
    g.add(at.AtMostOne(x[:3]))
    seen = int(rng.integers(3))
    g.fix(tag[1], seen)
    best = at.decode(g, at.IntegerProgram()).value
    scores = graph_scores(g)
    for compiled in (g.compile(), lay_out(g, scores)):
        result = uncompiled.uncompiled_answer(compiled, scores, time.perf_counter())
        assert result.status is at.Status.STOPPED and "assent warm" in result.message
        assert result.value <= best <= result.bound < np.inf
        assert result.certificate.verify()
        assert result.least_violating[tag][1] == seen


COLD = """
import time
begun = time.perf_counter()
import assent as at
from tests.test_compile_time import frustrated
graph = frustrated()
if {evidence}:
    graph.fix(graph["x"][0, 0], 1)
result = at.decode(graph, time_limit=0.01)
assert result.message.startswith("Time limit, which compiling kernels would have exceeded"), result
assert result.trace.compile_seconds < 10.0
print(result.value, result.bound)
"""


@pytest.mark.parametrize("evidence", [False, True])
def test_a_time_limit_is_kept_where_nothing_is_compiled(tmp_path, evidence):
    path = os.pathsep.join(sys.path)
    own = {"ASSENT_CACHE": str(tmp_path), "ASSENT_COMPILE": "", "PYTHONPATH": path}
    environment = {**os.environ, **own}
    done = subprocess.run(
        [sys.executable, "-c", COLD.format(evidence=evidence)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    value, bound = map(float, done.stdout.split())
    g = frustrated()
    if evidence:
        g.fix(g["x"][0, 0], 1)
    assert value <= at.decode(g, exact=True).value <= bound
