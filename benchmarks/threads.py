"""Suite ``threads``: what several threads take off the wall clock of one decode.

Times are on the wall, in turns of one thread and several, the quickest of each: on a machine that
does other work, both find a quiet moment.  Two decodes of one thread each, run at the same time,
tell how much a second processor was there for the taking.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

import assent as at
from assent.trace import Progress
from benchmarks import tables
from benchmarks.methods import ACCURACY, flat, warm_up
from benchmarks.synthetic import torus

BAR = 1.6  # times faster with two threads ...
BAR_SIDE = 300  # ... on this torus
ITERATIONS = 10  # per call, as in a decode
SECONDS = 12.0  # spent on each problem and figure
WARMING = 30
REFERENCE = 3e-6  # relative distance from the LP of the bound that stands for it


@dataclass(frozen=True)
class Speedup:
    """Wall seconds with one thread and with several, one after the other, and two at once."""

    alone: float
    helped: float
    apart: float = np.nan

    @property
    def ratio(self) -> float:
        return self.alone / self.helped

    @property
    def available(self) -> float:
        """How much faster two independent runs at once are than one after the other."""
        return 2.0 * self.alone / self.apart


def run(console: Console, sides: Sequence[int], count: int) -> list[tuple[Speedup, Speedup]]:
    """Measure tori of the given sides and print a row each."""
    warm_up()
    figures, rows = [], []
    for side in sides:
        with console.status(f"torus {side}²"):
            graph = torus(side)
            iteration, whole = iteration_speedup(graph, count), decode_speedup(graph, count)
        figures.append((iteration, whole))
        bar = BAR if side == BAR_SIDE and count == 2 else None
        rows.append(
            (
                f"torus {side}²",
                *(tables.duration(t) for t in (iteration.alone, iteration.helped)),
                f"{iteration.ratio:.2f}×",
                f"{iteration.available:.2f}×",
                *(tables.duration(t) for t in (whole.alone, whole.helped)),
                f"{whole.ratio:.2f}×",
                tables.against(iteration.ratio, bar, at_least=True),
                tables.against(whole.ratio, bar, at_least=True),
            )
        )
    tables.show(
        console,
        f"AD3 with 1 and {count} threads, seconds on the wall",
        ("problem", "iteration, 1", f"{count}", "ratio", "apart",
         "decode, 1", f"{count}", "ratio", "bar (iteration)", "bar (decode)"),
        rows,
        caption="iteration: uncached, residuals included; apart: two independent runs at once "
        "against one after the other, the most there is to be had;\ndecode: until the bound "
        f"is within {ACCURACY:g}·(1+|LP|); " + tables.circumstances(),
    )  # fmt: skip
    return figures


def iteration_speedup(graph: at.FactorGraph, count: int) -> Speedup:
    """One iteration, every factor in it."""
    problem, scores = flat(graph)

    def stepper(threads: int) -> Callable[[], object]:
        solver = at.AD3(cache_idle=False, threads=threads)
        workspace = solver.init(problem, scores)
        solver.advance(problem, scores, workspace, WARMING)
        return lambda: solver.advance(problem, scores, workspace, ITERATIONS)

    one, other = stepper(1), stepper(1)

    def apart() -> None:
        helper = threading.Thread(target=other)
        helper.start()
        one()
        helper.join()

    times = quickest(one, stepper(count), apart)
    return Speedup(*(t / ITERATIONS for t in times))


def decode_speedup(graph: at.FactorGraph, count: int) -> Speedup:
    """A whole decode until the bound is good."""
    best = at.decode(graph, at.AD3(gap_tolerance=REFERENCE), time_limit=60.0).bound
    goal = best + ACCURACY * (1.0 + abs(best))

    def good(step: Progress) -> bool:
        return step.best_bound <= goal

    solvers = [at.AD3(threads=threads) for threads in (1, count)]
    return Speedup(*quickest(*(lambda s=s: at.decode(graph, s, callback=good) for s in solvers)))


def quickest(*runs: Callable[[], object]) -> list[float]:
    """Wall seconds of the quickest of many calls, in turns."""
    best = [np.inf] * len(runs)
    ending = time.perf_counter() + SECONDS
    while np.isinf(best[0]) or time.perf_counter() < ending:
        for i, work in enumerate(runs):
            begun = time.perf_counter()
            work()
            best[i] = min(best[i], time.perf_counter() - begun)
    return best
