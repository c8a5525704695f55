"""Python threads that run one compiled loop together, for the time of a single call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numba
from numpy.typing import NDArray

from assent.kernels.schedule import TURNS_LINKS
from assent.kernels.threads import CALLED_OFF, new_gate
from assent.problem import Problem

Answer = TypeVar("Answer")

# Below this many links a call is over before a second thread has begun: starting one takes a
# tenth of a millisecond, as long as an iteration of this size.
LEAST_LINKS = TURNS_LINKS


def team_size(threads: int, problem: Problem) -> int:
    """How many of the ``threads`` allowed are worth their start."""
    if problem.n_links < LEAST_LINKS or numba.config.DISABLE_JIT:
        return 1
    return threads


def together(work: Callable[[int, NDArray], Answer], threads: int) -> Answer:
    """``work(thread, gate)`` for thread 0 (here) and all others at once; returns what 0 returns.

    ``work`` runs compiled code that meets at the gate before it touches anything and again when
    it is done.  Whatever happens before the first meeting, an interrupt or a thread that cannot
    start, calls it off and leaves everything as it was; an interrupt during the work
    waits for its end.
    """
    gate = new_gate()
    if threads == 1:
        return work(0, gate)
    failures: list[BaseException] = []

    def helper(thread: int) -> None:
        try:
            work(thread, gate)
        except BaseException as error:
            failures.append(error)
            gate[CALLED_OFF] = 1

    helpers = [threading.Thread(target=helper, args=(t,), daemon=True) for t in range(1, threads)]
    try:
        for thread in helpers:
            thread.start()
        answer = work(0, gate)
    except BaseException:
        gate[CALLED_OFF] = 1
        raise
    if failures:
        raise failures[0]
    for thread in helpers:
        thread.join()
    return answer
