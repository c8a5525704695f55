"""Python threads that run one compiled loop together, for the time of a single call.

A helper spins for a moment when it is done.  The next call mostly comes at once, and a new
thread would take a tenth of a millisecond to begin, a twentieth of what there is to do.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from assent.kernels.ad3.ad3_schedule import ORDERED_LINKS
from assent.kernels.core.barrier import CALLED_OFF, new_barrier, spin_briefly, wait_until
from assent.kernels.interpreted import only_compiled
from assent.kernels.problem import Problem

Answer = TypeVar("Answer")

# Below this many links a call is over before a second thread has begun: starting one takes a
# tenth of a millisecond, as long as an iteration of this size.
LEAST_LINKS = ORDERED_LINKS


def team_size(threads: int, problem: Problem) -> int:
    """How many of the ``threads`` allowed are worth their start."""
    if problem.n_links < LEAST_LINKS or numba.config.DISABLE_JIT:
        return 1
    return threads


def together(work: Callable[[int, NDArray], Answer], threads: int) -> Answer:
    """``work(thread, barrier)`` for thread 0 (here) and all others at once; what 0 returns.

    ``work`` runs compiled code that waits at the barrier before it touches anything and again when
    it is done.  Whatever happens before the first wait is over, an interrupt or a thread that
    cannot start, calls it off and leaves everything as it was; an interrupt during the work waits
    for its end.
    """
    if threads == 1:
        return work(0, new_barrier())
    with only_compiled():
        return _with_helpers(work, threads)


def _with_helpers(work: Callable[[int, NDArray], Answer], threads: int) -> Answer:
    """What thread 0 returns, while all others work as well."""
    team = _taken_team()
    failures: list[BaseException] = []

    def help_out(thread: int) -> None:
        try:
            work(thread, team.barrier)
        except BaseException as error:
            failures.append(error)
            team.barrier[CALLED_OFF] = 1

    helpers = team.helpers(threads - 1)
    try:
        for thread, helper in enumerate(helpers, start=1):
            helper.ask(partial(help_out, thread))
        answer = work(0, team.barrier)
    except BaseException:
        team.barrier[CALLED_OFF] = 1
        raise
    if failures:
        raise failures[0]
    for helper in helpers:
        wait_until(helper.done)
    _own.team = team
    return answer


class Helper:
    """A thread that takes one piece of work after the other, as long as they follow closely."""

    def __init__(self, barrier: NDArray) -> None:
        self.barrier = barrier
        self.done = np.ones(1, np.int64)
        self.work: Callable[[], None] | None = None
        self.gone = True
        self.lock = _thread.allocate_lock()

    def ask(self, work: Callable[[], None]) -> None:
        """Have ``work`` done, which raises nothing; ``done[0]`` is set when it is."""
        with self.lock:
            self.done[0] = 0
            self.work = work
            if self.gone:
                _thread.start_new_thread(self.run, ())
                self.gone = False

    def run(self) -> None:
        """Work until no more has come for a moment."""
        leaving = False
        while not leaving:
            assert self.work is not None
            self.work()
            self.work = None
            self.done[0] = 1
            spin_briefly(self.barrier)
            with self.lock:
                self.gone = leaving = self.work is None


class ThreadTeam:
    """The helpers of one Python thread, and their barrier."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.barrier = new_barrier()
        self.known: list[Helper] = []

    def helpers(self, count: int) -> list[Helper]:
        """The first ``count`` of them, new ones where there are fewer."""
        while len(self.known) < count:
            self.known.append(Helper(self.barrier))
        return self.known[:count]


_own = threading.local()  # .team: that of the last call, unless it failed


def _taken_team() -> ThreadTeam:
    """The team of the last call, or a new one; taken, so that nobody else finds it.

    A forked process has nobody of the team but the one who calls.
    """
    team: ThreadTeam | None = getattr(_own, "team", None)
    _own.team = None
    return team if team is not None and team.process == os.getpid() else ThreadTeam()


def in_order(jobs: Iterable[Callable[[], Answer]], threads: int) -> Iterator[Answer]:
    """The answers of independent jobs, one after the other; several threads work ahead.

    A single thread begins a job, and asks for it, when its answer is wanted.
    """
    if threads == 1:
        for job in jobs:
            yield job()
        return
    listed = list(jobs)
    answers: dict[int, Answer] = {}
    failures: list[BaseException] = []
    left = iter(range(len(listed)))  # what one thread takes from it no other gets

    def work() -> None:
        try:
            for number in left:
                answers[number] = listed[number]()
        except BaseException as error:
            failures.append(error)

    helpers = [threading.Thread(target=work, daemon=True) for _ in listed[1:threads]]
    for thread in helpers:
        thread.start()
    with only_compiled():
        work()
    for thread in helpers:
        thread.join()
    if failures:
        raise failures[0]
    for number in range(len(listed)):
        yield answers[number]
