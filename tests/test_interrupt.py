"""A real Ctrl-C returns the best answer so far, with its proof."""

from __future__ import annotations

import signal
import sys

import highspy
import numpy as np
import pytest

import assent as at
from assent.kernels.search import depth_first_search as kernel
from assent.proof import certify
from assent.solvers.base import outcome
from assent.solvers.base.loop import Run
from assent.solvers.base.rounding import Rounder
from assent.solvers.direct import roof_duality
from assent.solvers.programs import highs, linear_program
from tests.answers import assert_proven
from tests.processes import interrupted

# Never done by itself: no tolerance, no limit. Says so once it is running.
PROGRAM = """
import numpy as np
import assent as at

rng = np.random.default_rng(0)
g = at.FactorGraph()
x = g.binary(({side}, {side}), scores=rng.normal(size=({side}, {side})), name="x")
for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
    g.add(at.Pair(a, b, scores=2.0 * rng.normal(size=a.shape)))
solver = at.AD3(gap_tolerance=0.0, residual_tolerance=0.0, max_iterations=10**9, threads={threads})
shown = []

def report(step):
    if not shown:
        shown.append(True)
        print("running", flush=True)

result = at.decode(g, solver, callback=report)
print(result.status.name, result.message.split(".")[0], result.certificate.verify(),
      result.value <= result.bound, result[x].shape)
"""


@pytest.mark.parametrize(("side", "threads"), [(40, 1), (130, 2)])
def test_interrupting_a_process(side, threads):
    out = interrupted(PROGRAM.format(side=side, threads=threads))
    assert out == f"STOPPED Interrupted True True ({side}, {side})"


SEARCH = """
import numpy as np
import assent as at

rng = np.random.default_rng(0)
g = at.FactorGraph()
x = g.binary(40, scores=rng.normal(size=40), name="x")
i, j = np.triu_indices(40, 1)
g.add(at.Pair(x[i], x[j], scores=rng.normal(size=len(i))))

def report(step):
    if step.iteration == 3:
        print("running", flush=True)

result = at.decode(g, at.BranchAndBound(second=None, core=0), callback=report)
print(result.status.name, result.message.split(".")[0], result.certificate.verify(),
      result.value <= result.bound, result[x].shape)
"""


def test_interrupting_a_search():
    assert interrupted(SEARCH) == "STOPPED Interrupted True True (40,)"


def grid():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((6, 6), scores=rng.normal(size=(6, 6)))
    g.add(at.Pair(x[1:], x[:-1], scores=2.0 * rng.normal(size=(5, 6))))
    g.add(at.AtMost(3, x, axis=1))
    return g


@pytest.mark.parametrize("method", ["advance", "bound", "dual_point", "marginals"])
@pytest.mark.parametrize("call", [1, 3])
def test_an_interrupt_at_any_moment_keeps_bound_and_dual_point_together(monkeypatch, method, call):
    calls = []
    original = getattr(at.AD3, method)

    def interrupted(self, *args, **keywords):
        answer = original(self, *args, **keywords)
        calls.append(method)
        if len(calls) == call:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(at.AD3, method, interrupted)
    result = at.decode(grid(), at.AD3(gap_tolerance=0.0))
    assert len(calls) >= call
    assert result.certificate.verify()
    assert np.isfinite(result.bound)
    assert np.isfinite(result.value)


def test_an_answer_proven_just_before_the_interrupt_is_optimal(monkeypatch):
    original = Run.record

    def interrupted(self):
        if self.best.bound - self.best.value <= 1e-6 * (1 + abs(self.best.bound)):
            raise KeyboardInterrupt
        return original(self)

    monkeypatch.setattr(Run, "record", interrupted)
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, 2.0, 3.0, 4.0])
    g.add(at.AtMost(2, x))
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL
    assert result.value == 7.0


INDEX = """
import numpy as np
import assent as at
from assent.kernels.core.propagate import build_links

g = at.FactorGraph()
x = g.binary((200_000, 3))
g.add(at.AtMost(2, x, axis=1))
problem = g.compile().problem
build_links(problem)
try:
    print("running", flush=True)
    while True:
        build_links(problem)
except KeyboardInterrupt:
    print("in order")
"""


def test_an_interrupt_while_a_kernel_hands_over_arrays():
    assert interrupted(INDEX) == "in order"


def test_an_interrupt_just_after_a_search_has_ended(monkeypatch):
    original = kernel.search

    def interrupted(*args):
        if original(*args) == kernel.DONE:
            raise KeyboardInterrupt
        return kernel.PAUSED

    best = at.decode(grid(), at.IntegerProgram()).value
    monkeypatch.setattr(kernel, "search", interrupted)
    result = at.decode(grid(), at.DepthFirst())
    assert_proven(result, best)


@pytest.mark.parametrize("solver", [at.LinearProgram(), at.IntegerProgram(), at.RoofDuality()])
def test_an_interrupt_before_there_is_a_relaxed_answer(monkeypatch, solver):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(linear_program, "read_highs", interrupted)
    monkeypatch.setattr(roof_duality, "solve_roof", interrupted)
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary(6, scores=rng.normal(size=6))
    g.add(at.Pair(x[1:], x[:-1], scores=rng.normal(size=5)))
    result = at.decode(g, solver)
    assert result.status is at.Status.STOPPED and result.message.startswith("Interrupted.")
    assert result.feasible and result.certificate.verify()


def interrupt_at(monkeypatch, module, name):
    """A Ctrl-C comes when a function is first called, which then does what it does."""
    original, came = getattr(module, name), []

    def interrupted(*args):
        if not came:
            came.append(True)
            signal.raise_signal(signal.SIGINT)
        return original(*args)

    monkeypatch.setattr(module, name, interrupted)


@pytest.mark.parametrize(
    ("solver", "module", "name"),
    [
        (at.AD3(max_iterations=5), certify, "check_assignment"),
        (at.DepthFirst(max_rounds=1), certify, "check_assignment"),
        (at.BranchAndBound(core=0, max_nodes=1), outcome, "rounding_matters"),
    ],
)
def test_an_interrupt_while_a_result_is_stated_does_not_take_it_away(
    monkeypatch, solver, module, name
):
    plain = at.decode(grid(), solver)
    interrupt_at(monkeypatch, module, name)
    result = at.decode(grid(), solver)
    monkeypatch.undo()
    assert result.status is at.Status.STOPPED and result.message.startswith("Interrupted.")
    assert result.value == plain.value and result.bound == plain.bound
    assert result.certificate.verify()


@pytest.mark.parametrize("exact", [False, True])
def test_an_interrupt_while_a_step_is_stated_ends_all_steps(monkeypatch, exact):
    """The relaxation of this model is solved, without a proof, before a search would begin."""
    rng = np.random.default_rng(1)
    g = at.FactorGraph()
    x = g.binary((24, 14), scores=rng.normal(size=(24, 14)))
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.AtMost(3, x, axis=0))
    g.add(at.Pair(x[:-1], x[1:], scores=rng.normal(size=(23, 14))))
    interrupt_at(monkeypatch, certify, "check_assignment")
    result = at.decode(g, exact=exact)
    monkeypatch.undo()
    assert result.status is at.Status.STOPPED and result.message.startswith("Interrupted.")
    assert "BranchAndCut" not in result.plan and result.certificate.verify()


@pytest.mark.parametrize("solver", [at.Tightened(), at.IntegerProgram()])
def test_an_interrupt_never_leaves_highspy_in_the_middle(monkeypatch, solver):
    """Its locks would be kept, and every later program of the process wait for them."""
    original, entered, left = highspy.Highs.wait, [], []

    def interrupted(self, timeout):
        entered.append(True)
        signal.raise_signal(signal.SIGINT)
        found = original(self, timeout)
        left.append(True)
        return found

    monkeypatch.setattr(highspy.Highs, "wait", interrupted)
    monkeypatch.setattr(highs, "SMALL_PROGRAM", 0)
    result = at.decode(grid(), solver)
    assert entered and len(entered) == len(left)
    assert result.certificate.verify()
    assert result.message.startswith("Interrupted.") or result.status is at.Status.OPTIMAL


def interrupted_at(moment, codes):
    """A tracer that raises at the ``moment``-th line that runs of some functions."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code not in codes:
            return None
        if event == "line":
            lines += 1
            if lines == moment:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    return trace


def test_an_interrupt_at_any_line_of_a_rounding_keeps_the_run():
    """What a rounding prepares is there as a whole, or made again."""
    functions = (Run._round, Rounder.__init__, Rounder._prepared.func, Rounder.round, Rounder.tasks,
                 Rounder.perturbed)  # fmt: skip
    codes = {function.__code__ for function in functions}
    at.decode(grid(), at.AD3())
    stopped = 0
    for moment in range(1, 1000):
        before = sys.gettrace()
        sys.settrace(interrupted_at(moment, codes))
        try:
            result = at.decode(grid(), at.AD3())
        finally:
            fired = sys.gettrace() is None
            sys.settrace(before)
        assert result.feasible and result.certificate.verify()
        if not fired:
            break
        stopped += result.message.startswith("Interrupted.")
    assert stopped >= 10
