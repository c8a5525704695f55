"""The kernel cache never serves stale code, and its absence never stops anybody."""

import ctypes
import gc
import os
import platform
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import assent.kernels.jit as decorators
from assent import interrupts
from assent.kernels import (
    compile_clock,
    interpreted,
    kernel,
    kernel_cache,
    kernel_library,
    part_library,
)
from assent.kernels.core import structure_addresses
from assent.kernels.jit import jit, jit_internal

SOURCES = [
    module.__file__
    for module in (
        decorators, kernel, interpreted, kernel_cache, kernel_library, compile_clock, part_library,
        interrupts,
    )
]  # fmt: skip

CALLEE = "from fake.jit import jit\n\n@jit\ndef callee(x):\n    return x + {constant}\n"
CALLER = (
    "from fake.callee import callee\nfrom fake.jit import jit\n\n"
    "@jit\ndef caller(x):\n    return 10 * callee(x)\n"
)
# Prints the answer, then whether it came from the cache (Numba counts hits per signature), and
# whether Numba prepared for compiling.
USE = """
from fake.caller import caller
import sys
print(caller(1), sum(caller.stats.cache_hits.values()) if hasattr(caller, "stats") else 0)
print("numba.np.arraymath" in sys.modules)
"""


@pytest.fixture
def package(tmp_path):
    """A two-file kernels package that uses the real decorator."""
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for source in map(Path, SOURCES):
        text = source.read_text().replace("from assent.kernels", "from fake")
        (folder / source.name).write_text(text.replace("from assent.", "from fake."))
    (folder / "callee.py").write_text(CALLEE.format(constant=1))
    (folder / "caller.py").write_text(CALLER)
    return folder


def environment(package, **variables):
    dropped = ("ASSENT_CACHE", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
    env = {key: value for key, value in os.environ.items() if key not in dropped}
    # Without bytecode files a rewritten module cannot be mistaken for its former self.
    return {**env, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **variables}


def use(package, **variables):
    """Answer and cache hits of a call in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env=environment(package, **variables),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""  # not a terminal: nothing is announced
    answer, hits, prepared = done.stdout.split()
    assert prepared == "False" or hits == "0"
    return int(answer), int(hits)


def test_edited_callee_is_seen(package):
    assert use(package) == (20, 0)
    assert use(package) == (20, 1)
    (package / "callee.py").write_text(CALLEE.format(constant=2))
    assert use(package) == (30, 0)
    assert use(package) == (30, 1)


def test_edited_stranger_is_not(package):
    (package / "stranger.py").write_text("SIZE = 1\n")
    assert use(package) == (20, 0)
    (package / "stranger.py").write_text("SIZE = 2\n")
    assert use(package) == (20, 1)


@pytest.mark.parametrize(
    "style", ["from fake import callee as c", "from fake import (\n    callee as c,\n)"]
)
def test_imports_of_every_style_are_followed(package, style):
    caller = CALLER.replace("from fake.callee import callee", style + "\ncallee = c.callee")
    (package / "caller.py").write_text(caller)
    assert use(package) == (20, 0)
    (package / "callee.py").write_text(CALLEE.format(constant=2))
    assert use(package) == (30, 0)


def test_chosen_folder_is_used_and_old_versions_are_pruned(package, tmp_path):
    chosen = tmp_path / "chosen"
    for age in range(7):
        old = chosen / f"kernels-caller-{age:016d}"
        old.mkdir(parents=True)
        os.utime(old, (1e9 - age, 1e9 - age))
    in_use = chosen / "kernels-caller-inuse"
    in_use.mkdir()
    assert use(package, ASSENT_CACHE=str(chosen)) == (20, 0)
    assert use(package, ASSENT_CACHE=str(chosen)) == (20, 1)
    left = sorted(folder.name for folder in chosen.glob("kernels-caller-*"))
    assert left[:3] == [f"kernels-caller-{age:016d}" for age in range(3)]
    assert in_use.name in left
    assert len(left) == 5  # three old ones, the one in use, and this version's
    assert not (package / "__pycache__").exists()


def kept_files(folder, name):
    return sorted(folder.rglob(f"{name}-*.kernel"))


DAMAGES = (
    lambda code: b"",
    lambda code: code[:10],
    lambda code: code[: len(code) // 2],
    lambda code: code[:500] + bytes([code[500] ^ 1]) + code[501:],
    lambda code: b"\x80" * 5000,
)


def test_damaged_code_is_compiled_again(package):
    assert use(package) == (20, 0)
    for damaged in DAMAGES:
        for name in ("caller", "callee"):
            (path,) = kept_files(package, name)
            path.write_bytes(damaged(path.read_bytes()))
        assert use(package) == (20, 0)
    assert use(package) == (20, 1)


def test_code_of_another_specialisation_is_not_taken_for_this_one(package):
    """Whatever a file is called, the types inside decide."""
    whole = USE.replace("caller(1), ", "int(caller(1.5)), ")
    run = [sys.executable, "-c", whole]
    subprocess.run(run, env=environment(package), check=True, capture_output=True)
    (floats,) = kept_files(package, "caller")
    assert use(package) == (20, 0)
    (ints,) = set(kept_files(package, "caller")) - {floats}
    shutil.copy(floats, ints)
    assert use(package) == (20, 0)


def test_an_edit_of_the_files_that_keep_code_compiles_nothing(package):
    assert use(package) == (20, 0)
    with (package / "kernel_cache.py").open("a") as file:
        file.write("# another comment\n")
    assert use(package) == (20, 1)


def ship(package, tmp_path, *names, use=USE):
    """Compile for a baseline processor, and put the code of these kernels into the package."""
    known = kernel_cache.BASELINES.get(platform.machine(), {})
    able = [name for name, features in known.items() if kernel_cache.has_features(features)]
    if not able:
        pytest.skip("there is no baseline for this processor")
    made, shipped = tmp_path / "made", package / "shipped" / able[-1]
    baseline = {"NUMBA_CPU_NAME": able[-1], "NUMBA_CPU_FEATURES": "", "ASSENT_CACHE": str(made)}
    run = [sys.executable, "-c", use]
    subprocess.run(run, env=environment(package, **baseline), check=True, stdout=subprocess.DEVNULL)
    for name in names:
        for path in kept_files(made, name):
            (shipped / path.parent.name).mkdir(parents=True, exist_ok=True)
            kernel_cache.ship(path, shipped / path.parent.name)
            assert 2 * (shipped / path.parent.name / path.name).stat().st_size < path.stat().st_size


def test_code_for_a_baseline_processor_is_used(package, tmp_path):
    ship(package, tmp_path, "caller")
    own = tmp_path / "own"
    assert use(package, ASSENT_CACHE=str(own)) == (20, 1)
    assert not own.exists()  # nothing was compiled, nothing is left behind
    # Who asks Numba for a processor gets code for that one; an edit is seen as ever.
    assert use(package, ASSENT_CACHE=str(own), NUMBA_CPU_NAME="x86-64") == (20, 0)
    (package / "callee.py").write_text(CALLEE.format(constant=2))
    assert use(package, ASSENT_CACHE=str(own)) == (30, 0)


def test_processes_that_start_together_compile_once(package):
    """One of them compiles, the others wait for it and load what it made."""
    run = [sys.executable, "-c", USE]
    started = [
        subprocess.Popen(run, env=environment(package), stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate()[0].split() for process in started]
    assert [answer[0] for answer in answers] == ["20"] * 3
    assert sum(int(hits) for _, hits, _ in answers) == 2
    assert not list(package.rglob("*.lock"))


# Prints the answers of a callee for two types, how many functions a caller then needs compiled, its
# answer, and both again.
CALLEE_FIRST = """
from fake.callee import callee
first = callee(1), callee(1.5)
from fake.caller import caller
from fake.kernel_cache import _not_compiled
print(*first, len(_not_compiled(caller.py_func)), caller(1))
print(callee(1), callee(1.5), sum(callee.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("called_before", [False, True])
def test_what_a_kernel_compiled_here_calls_is_compiled_here_too(package, tmp_path, called_before):
    """What comes with the package runs, but cannot be linked: Python goes on with it."""
    ship(package, tmp_path, "callee", use=CALLEE_FIRST)
    own = tmp_path / "own"
    if called_before:
        run = [sys.executable, "-c", CALLEE_FIRST]
        found = environment(package, ASSENT_CACHE=str(own))
        done = subprocess.run(run, env=found, capture_output=True, text=True, check=True)
        # Loaded twice: both at first, then the one that was not compiled for the caller.
        assert done.stdout.split() == ["2", "2.5", "2", "20", "2", "2.5", "3"]
    else:
        assert use(package, ASSENT_CACHE=str(own)) == (20, 0)
    assert len(kept_files(own, "callee")) == len(kept_files(own, "caller")) == 1
    assert use(package, ASSENT_CACHE=str(own)) == (20, 1)


def test_what_is_not_ready_in_time_is_not_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSENT_CACHE", str(tmp_path))  # nothing is kept from an earlier run
    monkeypatch.setattr(compile_clock, "compiles_always", lambda: False)

    @jit
    def long_to_compile(x):
        return x + 1

    too_long = pytest.raises(compile_clock.CompileTimeout, match="compiling long_to_compile takes")
    with too_long, compile_clock.compiling_until(time.perf_counter()):
        long_to_compile(1)
    monkeypatch.setattr(compile_clock, "compiles_always", lambda: True)  # there is always time
    before = compile_clock.compile_seconds()
    with compile_clock.compiling_until(time.perf_counter()):
        assert long_to_compile(1) == 2
    assert compile_clock.compile_seconds() > before


def test_nobody_waits_for_another_process_beyond_the_deadline(monkeypatch, tmp_path):
    @jit
    def compiled_elsewhere(x):
        return x + 1

    def taken(file, operation):
        raise BlockingIOError

    monkeypatch.setattr(compile_clock, "compiles_always", lambda: False)
    monkeypatch.setattr(kernel_cache.FORECAST, "check", lambda *_: None)  # there is enough time
    monkeypatch.setattr(kernel_cache, "writable_folder", lambda source: tmp_path)
    monkeypatch.setattr(kernel_cache, "_MOST_WAIT", 1.0)
    monkeypatch.setattr(kernel_cache.fcntl, "flock", taken)
    late = pytest.raises(compile_clock.CompileTimeout, match="another process")
    soon = time.perf_counter() + 0.1
    with late, interpreted.only_compiled(), compile_clock.compiling_until(soon):
        compiled_elsewhere(1)
    assert time.perf_counter() < soon + 0.5
    with interpreted.only_compiled():  # without a deadline it is compiled here in the end
        assert compiled_elsewhere(1) == 2
    assert time.perf_counter() > soon + 1.0


def test_works_without_a_writable_folder(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file, so no folder can be made inside it")
    assert use(package, ASSENT_CACHE=str(blocked / "cache")) == (20, 0)
    assert use(package, ASSENT_CACHE=str(blocked / "cache")) == (20, 0)


def test_works_with_the_compiler_off(package):
    assert use(package, NUMBA_DISABLE_JIT="1") == (20, 0)
    assert not list(package.rglob("*.kernel"))


# A Ctrl-C whenever something begins to be compiled: a callee while its caller is, at that.
INTERRUPTED = """
import os, signal
from numba.core import event
from fake.caller import caller

class Interrupt(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        pass

signal.signal(signal.SIGINT, {handler})
event.register("numba:compile", Interrupt())
try:
    caller(1)
    print("through")
except KeyboardInterrupt:
    print("interrupted")
print(signal.getsignal(signal.SIGINT) is {handler}, len(caller.signatures), caller(1))
"""


@pytest.mark.parametrize(
    ("handler", "ended"),
    [("signal.default_int_handler", "interrupted"), ("signal.SIG_IGN", "through")],
)
def test_a_kernel_is_whole_before_an_interrupt_counts(package, handler, ended):
    program = INTERRUPTED.format(handler=handler)
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, env=environment(package), capture_output=True, text=True)
    assert done.stdout.split() == [ended, "True", "1", "20"], done.stderr
    assert use(package) == (20, 1)  # what was compiled is kept


class TwoArrays(NamedTuple):
    first: np.ndarray
    second: np.ndarray


raise_signal = getattr(ctypes.CDLL(None), "raise")  # C's own, which kernels can call
raise_signal.argtypes, raise_signal.restype = [ctypes.c_int], ctypes.c_int


@jit
def arrays_after_an_interrupt(n):
    raise_signal(2)
    return TwoArrays(np.zeros(n), np.ones(n))


@jit
def number_after_an_interrupt(n):
    raise_signal(2)
    return 2.0 * n


@pytest.mark.parametrize("kernel", [arrays_after_an_interrupt, number_after_an_interrupt])
def test_an_interrupt_waits_until_arrays_are_handed_over(kernel):
    """Numba alone ends the process here, or raises a SystemError."""
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            kernel(3)
    with interrupts.Finishing() as ending:
        assert np.sum(kernel(3)) in (3.0, 6.0)
    assert ending.interrupted


def on_terminal(package):
    """What a person at a terminal sees on stderr."""
    reader, writer = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", USE],
        env=environment(package),
        stdout=subprocess.DEVNULL,
        stderr=writer,
        check=True,
    )
    os.write(writer, b"\n")  # so that reading never blocks
    seen = os.read(reader, 10_000).decode()
    os.close(reader)
    os.close(writer)
    return seen.strip()


def test_first_compilation_is_announced_once(package):
    assert on_terminal(package) == (
        "assent: compiling kernels for first use (later starts load them) …"
    )
    assert on_terminal(package) == ""


@jit
def allocates(n):
    return np.zeros(n).sum()


@jit(_nrt=False)
def calls_what_allocates(n):
    return allocates(n)


def test_who_calls_a_kernel_first_does_not_matter():
    assert calls_what_allocates(3) == 0.0
    assert allocates(2) == 0.0


def test_a_number_written_at_a_call_is_no_type_of_its_own():
    @jit_internal
    def shifted(x, by):
        return x + by

    @jit
    def total(x):
        found = 0  # a number at first, then a variable
        for _ in range(x):
            found = shifted(found, 2)
        return shifted(found, 3)

    assert total(4) == 11
    assert len(shifted.signatures) == 1


def test_what_only_kernels_call_is_kept_as_well(package):
    part = CALLEE.replace("jit", "jit_internal").replace("fake.jit_internal", "fake.jit")
    (package / "callee.py").write_text(part.format(constant=1))
    assert use(package) == (20, 0)
    assert use(package) == (20, 1)
    assert use(package, NUMBA_DISABLE_JIT="1") == (20, 0)


def test_a_part_keeps_the_code_that_is_linked_and_its_environment_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSENT_CACHE", str(tmp_path))  # nothing is kept from an earlier run

    @jit_internal
    def chosen(values, place):
        if place >= len(values):
            raise IndexError("beyond the end")
        return values[place]

    @jit
    def doubled(values, place):
        return 2 * chosen(values, place)

    assert doubled(np.arange(3), 2) == 4
    with pytest.raises(IndexError, match="beyond the end"):
        doubled(np.arange(3), 3)
    part, whole = (next(iter(k.overloads.values())).library for k in (chosen, doubled))
    assert len(part._get_compiled_object()) < len(whole._get_compiled_object()) / 2


def test_reference_cycles_are_collected_again_after_compiling():
    @jit
    def half(x):
        return x / 2

    assert gc.isenabled()
    half(3)
    assert gc.isenabled()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without a compiler there are no addresses")
def test_a_structure_needs_an_address():
    @jit
    def maximize(start, data, scores, inner, scale, states):
        return 0.0, 0.0

    with pytest.raises(TypeError, match="maximize has no address that kernels could call"):
        structure_addresses.address_of(maximize)
