"""Limits that count processor seconds of this process: a busy machine stops nobody early.

toulbar2 counts them by itself.  Ours reads ``time.perf_counter``, HiGHS and CP-SAT the
wall clock: the first is given another clock, the others are watched and stopped.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Seconds between two readings of the clock.
POLL = 0.05


def processor_seconds() -> float:
    """What this process has used so far, to the microsecond.

    ``time.process_time`` is not: once the system watches a limit (``RLIMIT_CPU``), it counts in
    ticks of some milliseconds, and a solve of two often takes none.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def count_processor_time() -> None:
    """From now on all limits of ours, and those of HiGHS inside, count processor seconds."""
    import highspy

    time.perf_counter = time.process_time
    highspy.Highs = watched(highspy)


def watched(highspy: Any) -> type:
    """HiGHS whose time limits count processor seconds."""

    class Watched(highspy.Highs):  # type: ignore[misc]
        deadline = float("inf")
        late = False

        def setOptionValue(self, name: str, value: Any) -> Any:
            if name != "time_limit":
                return super().setOptionValue(name, value)
            self.deadline = time.process_time() + value - self.getRunTime()
            return None

        def startSolve(self) -> Any:
            self.late = False
            return super().startSolve()

        def wait(self, timeout: float = -1.0) -> Any:
            done = super().wait(POLL)
            if not done[0] and time.process_time() > self.deadline:
                self.late = True
                self.cancelSolve()
            return done

        def getModelStatus(self) -> Any:
            status = super().getModelStatus()
            stopped = self.late and "Interrupt" in status.name
            return highspy.HighsModelStatus.kTimeLimit if stopped else status

    return Watched


@contextmanager
def stopped_after(seconds: float, stop: Callable[[], Any]) -> Iterator[None]:
    """Call ``stop`` after ``seconds`` of processor time, unless the block ends before."""
    until, over = time.process_time() + seconds, threading.Event()

    def watch() -> None:
        while not over.wait(POLL):
            if time.process_time() > until:
                stop()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
