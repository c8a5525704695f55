"""First calls of kernels are interpreted: same answers, nothing compiled, and not for long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from assent.kernels import interpreted, kernel_cache
from assent.kernels.interpreted import (
    Interpreter,
    NotInterpreted,
    looks_up,
    twin_of,
)
from assent.kernels.jit import jit, jit_internal

FIRST_ANSWERS = """
import json
import assent as at
from assent.kernels.compile_clock import compile_seconds
from assent.warm_up.small_models import constraints, frustrated, tables

found = {}
few = at.AD3(max_iterations=40)
for model, solvers in (
    (constraints(), (few,)),
    (frustrated(3), (at.Auto(), few, at.DepthFirst(), at.RoofDuality(), at.MPLP())),
    (tables(2), (at.Auto(), few, at.DepthFirst())),
):
    for solver in solvers:
        result = at.decode(model, solver)
        name = f"{len(found)} {solver}"
        found[name] = result.value, result.bound, result.certificate.verify()
print(json.dumps([found, compile_seconds()]))
"""


@jit_internal
def add_one(values):
    for i in range(len(values)):
        values[i] += 1.0


@jit
def add_often(values, times):
    for _ in range(times):
        add_one(values)
    return values.sum()


@looks_up("table")
@jit
def entry_of(table, place):
    return table[place]


@jit
def fail(values):
    values[0] = 5.0
    raise ValueError("no")


@pytest.fixture
def interpreter(monkeypatch, tmp_path):
    """Of `add_often`, as in a fresh process with an empty cache."""
    monkeypatch.delenv("ASSENT_COMPILE")
    monkeypatch.setattr(kernel_cache, "is_kept", lambda kernel: False)
    monkeypatch.setattr(kernel_cache, "writable_folder", lambda source: tmp_path)
    return Interpreter(add_often)


def test_a_twin_calls_twins():
    values = np.zeros(3)
    assert twin_of(add_often)(values, 2) == 6.0
    assert not add_one.overloads


def test_a_short_call_is_interpreted(interpreter):
    values = np.zeros(3)
    assert interpreter.call((values, 2), {}) == 6.0
    assert values.tolist() == [2.0, 2.0, 2.0]


def test_a_long_call_is_given_up_and_its_arrays_are_put_back(interpreter):
    interpreter.left = 0.2
    values, begun = np.zeros(3), time.thread_time()
    with pytest.raises(NotInterpreted):
        interpreter.call((values, 10**9), {})
    assert time.thread_time() - begun < 2.0
    assert values.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(NotInterpreted):  # and never tried again
        interpreter.call((values, 1), {})
    assert Interpreter(add_often).left < interpreted.SHARE * kernel_cache.likely_seconds(
        add_often.py_func
    )


def test_what_python_cannot_do_is_left_to_the_compiler(interpreter):
    values = np.zeros(3)
    with pytest.raises(NotInterpreted):
        Interpreter(fail).call((values,), {})
    assert values[0] == 0.0


def test_long_arrays_are_left_to_the_compiler_unless_they_are_only_looked_up(interpreter):
    long = np.zeros(interpreted.MOST_ELEMENTS + 1)
    with pytest.raises(NotInterpreted):
        interpreter.call(((np.zeros(3), long), 1), {})
    assert interpreter.left > 0.0
    assert Interpreter(entry_of).call((long, 2), {}) == 0.0


def test_a_deadline_is_kept(interpreter, monkeypatch):
    monkeypatch.setattr(interpreted, "seconds_left", lambda: -1.0)
    with pytest.raises(NotInterpreted):
        interpreter.call((np.zeros(3), 1), {})


def test_threads_that_share_arrays_do_not_interpret(interpreter):
    values = np.zeros(3)
    with interpreted.only_compiled(), pytest.raises(NotInterpreted):
        interpreter.call((values, 1), {})
    with ThreadPoolExecutor(1) as pool, pytest.raises(NotInterpreted):
        pool.submit(interpreter.call, (values, 1), {}).result()
    assert not values.any()
    assert interpreter.call((values, 1), {}) == 3.0


def test_a_kernel_may_be_compiled_by_another_thread_meanwhile():
    @jit
    def twice(value):
        return 2.0 * value

    class Slow(Interpreter):
        def call(self, args, kwargs):
            with ThreadPoolExecutor(1) as pool:
                pool.submit(twice.compile, "float64(float64)").result()
            raise NotInterpreted

    twice.interpreter = Slow(twice)
    assert twice(1.5) == 3.0
    assert twice(2.5) == 5.0


def test_nothing_is_interpreted_where_code_is_kept(interpreter, monkeypatch):
    monkeypatch.setattr(kernel_cache, "is_kept", lambda kernel: True)
    with pytest.raises(NotInterpreted):
        Interpreter(add_often).call((np.zeros(3), 1), {})


def first_answers(**variables):
    """Values and bounds of small models in a new process, and compile seconds."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    run = [sys.executable, "-W", "error", "-c", FIRST_ANSWERS]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_first_answers_are_as_good_and_compile_nothing(tmp_path):
    now, seconds = first_answers(ASSENT_CACHE=str(tmp_path), ASSENT_COMPILE="")
    then, _ = first_answers()
    assert seconds == 0.0
    assert len(now) == len(then) == 9
    for name, (value, bound, verified) in now.items():
        assert verified, name
        assert value == pytest.approx(then[name][0], abs=1e-5), name
        assert bound == pytest.approx(then[name][1], abs=1e-5), name
