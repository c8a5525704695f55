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
SECONDS = 5.0  # spent on each problem and figure
WARMING = 30


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


def run(console: Console, sides: Sequence[int], count: int) -> list[tuple[Speedup, ...]]:
    """Measure tori of the given sides and print a row each."""
    warm_up()
    figures, rows = [], []
    for side in sides:
        with console.status(f"torus {side}²"):
            graph = torus(side)
            iteration = iteration_speedup(graph, count)
            near, full = bound_speedup(graph, count), decode_speedup(graph, count)
        figures.append((iteration, near, full))
        bar = BAR if side == BAR_SIDE and count == 2 else None
        rows.append(
            (
                f"torus {side}²",
                *_cells(iteration),
                f"{iteration.available:.2f}×",
                *_cells(near),
                *_cells(full),
                tables.against(iteration.ratio, bar, at_least=True),
                tables.against(full.ratio, bar, at_least=True),
            )
        )
    tables.show(
        console,
        f"AD3 with 1 and {count} threads, seconds on the wall",
        ("problem", "iteration, 1", f"{count}", "ratio", "apart", "bound, 1", f"{count}", "ratio",
         "decode, 1", f"{count}", "ratio", "bar (iteration)", "bar (decode)"),
        rows,
        caption="iteration: uncached, residuals included; apart: two independent runs at once "
        "against one after the other, the most there is to be had;\nbound: a decode that is "
        f"stopped once its bound is within {ACCURACY:g}·(1+|LP|), answer included; decode: to its "
        "own end; " + tables.circumstances(),
    )  # fmt: skip
    return figures


def _cells(speedup: Speedup) -> tuple[str, str, str]:
    """Both times and their ratio."""
    alone, helped = tables.duration(speedup.alone), tables.duration(speedup.helped)
    return alone, helped, f"{speedup.ratio:.2f}×"


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
    """A full decode."""
    solvers = [at.AD3(threads=threads) for threads in (1, count)]
    return Speedup(*quickest(*(lambda s=s: at.decode(graph, s) for s in solvers)))


def bound_speedup(graph: at.FactorGraph, count: int) -> Speedup:
    """A decode until the bound is good."""
    best = at.decode(graph, at.RoofDuality(gap_tolerance=1.0)).bound  # is the relaxation's optimum
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
