"""The kernel cache never serves stale code, and its absence never stops anybody."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import assent.interrupts
import assent.kernels
from assent.kernels.jit import jit

JIT_SOURCE = Path(assent.kernels.__file__).with_name("jit.py")

CALLEE = "from fake.jit import jit\n\n@jit\ndef callee(x):\n    return x + {constant}\n"
CALLER = (
    "from fake.callee import callee\nfrom fake.jit import jit\n\n"
    "@jit\ndef caller(x):\n    return 10 * callee(x)\n"
)
# Prints the answer, then whether it came from the cache (Numba counts hits per signature).
USE = (
    "from fake.caller import caller\n"
    "print(caller(1), sum(caller.stats.cache_hits.values()) if hasattr(caller, 'stats') else 0)\n"
)


@pytest.fixture
def package(tmp_path):
    """A two-file kernels package that uses the real decorator."""
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    source = JIT_SOURCE.read_text().replace("from assent.interrupts", "from fake.interrupts")
    (folder / "jit.py").write_text(source)
    shutil.copy(assent.interrupts.__file__, folder / "interrupts.py")
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
    answer, hits = done.stdout.split()
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


def test_works_without_a_writable_folder(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file, so no folder can be made inside it")
    assert use(package, ASSENT_CACHE=str(blocked / "cache")) == (20, 0)
    assert use(package, ASSENT_CACHE=str(blocked / "cache")) == (20, 0)


def test_works_with_the_compiler_off(package):
    assert use(package, NUMBA_DISABLE_JIT="1") == (20, 0)
    assert not list(package.rglob("*.nbi"))


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
