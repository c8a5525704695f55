"""Several processes that share the jobs of a warm-up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from assent.kernels.compile_clock import always_compile
from assent.warm_up.jobs import Done, do

# Processes per core: some wait for a kernel that another one is compiling.
PER_CORE = 2


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def do_all(jobs: Iterable[str], report: Callable[[Done], None] = lambda done: None) -> list[Done]:
    """Do all jobs, in several processes; ``report`` is told of every one that is done."""
    jobs = list(jobs)
    finished = []
    count = min(len(jobs), PER_CORE * cores())
    with ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=always_compile
    ) as processes:
        try:
            for done in as_completed([processes.submit(do, job) for job in jobs]):
                finished.append(done.result())
                report(finished[-1])
        except BaseException:  # Ctrl-C: what has begun is done to its end, the rest is not begun
            processes.shutdown(wait=False, cancel_futures=True)
            raise
    return finished
