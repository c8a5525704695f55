"""Time spent compiling and loading: counted, and not begun where a deadline would not be met."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numba.core import event

# With ``always``, every kernel is compiled at its first call, however little time there is.
_CHOICE = "ASSENT_COMPILE"

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class CompileTimeout(Exception):
    """A kernel is not compiled, as that would take longer than there is time."""


def always_compile() -> None:
    """Interpret nothing, and compile in time or not, in this process and those that it starts."""
    os.environ[_CHOICE] = "always"


def compiles_always() -> bool:
    """Whether every kernel is compiled at its first call."""
    return os.environ.get(_CHOICE) == "always"


class CompileClock(event.Listener):
    """When this process was compiling.

    Numba fires its event where no cache has an answer, and once more for every function that is
    compiled on the way; its lock keeps other threads out meanwhile.
    """

    def __init__(self) -> None:
        self.intervals: list[tuple[float, float]] = []  # times of `time.perf_counter`
        self.depth = 0
        self.begun = 0.0

    def on_start(self, event: Any) -> None:
        if not self.depth:
            self.begun = time.perf_counter()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self.intervals.append((self.begun, time.perf_counter()))


CLOCK = CompileClock()
event.register("numba:compile", CLOCK)

# When this process was loading code that was compiled before, outside those times.
_LOADING = CompileClock()


def compile_seconds(since: float = 0.0) -> float:
    """Seconds that this process has spent compiling since a time of ``time.perf_counter``."""
    return _seconds(CLOCK, since)


def _seconds(clock: CompileClock, since: float) -> float:
    total = 0.0
    for begin, end in reversed(clock.intervals):
        if end <= since:  # and so did all before, one for every kernel
            break
        total += end - max(begin, since)
    return total


def solving_seconds(since: float) -> float:
    """Seconds since a time of ``time.perf_counter`` not spent compiling, nor loading code."""
    return time.perf_counter() - since - compile_seconds(since) - _seconds(_LOADING, since)


@contextmanager
def loading_code() -> Iterator[None]:
    """A block of loading what was compiled before, which is not solving either."""
    clock = CompileClock() if CLOCK.depth else _LOADING  # then it counts as compiling
    clock.on_start(None)
    try:
        yield
    finally:
        clock.on_end(None)


@contextmanager
def waiting_for_code() -> Iterator[None]:
    """A block of waiting for a process that compiles the same: it counts as compiling."""
    CLOCK.on_start(None)
    try:
        yield
    finally:
        CLOCK.on_end(None)


@contextmanager
def compiling_until(deadline: float) -> Iterator[None]:
    """A block in which no kernel is compiled that would not be ready by a ``perf_counter`` time.

    Where one would be needed, :class:`CompileTimeout` is raised instead.
    """
    token = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Seconds until the deadline; infinite where none counts, and for what has begun."""
    if CLOCK.depth or compiles_always():
        return float("inf")
    return _DEADLINE.get() - time.perf_counter()
