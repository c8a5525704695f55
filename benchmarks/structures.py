"""Suite ``structures``: what one step of the inner loop of each structured ``maximize`` costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from rich.console import Console

from assent.kernels.tree import maximize_tree, tree_data
from benchmarks import tables

SECONDS = 1.0  # spent on each figure; the quickest round counts
ROUND = 2e-3  # seconds: long beside the clock's resolution, short beside what interrupts
WORDS = 50  # length of a chain: a long sentence


@dataclass(frozen=True)
class Search:
    """One structure: ``run(times)`` maximises so often, in ``steps`` steps each time."""

    name: str
    steps: int
    run: Callable[[int], Any]
    bar: float | None = None  # steps per second


def repeated(maximize: Callable, *arguments: Any) -> Callable[[int], Any]:
    """A compiled loop of calls as solvers make them, without Python in between."""

    @numba.njit
    def run(times, arguments):
        total = 0.0
        for _ in range(times):
            total += maximize(*arguments)[0]
        return total

    return lambda times: run(times, arguments)


def chain(states: int, bar: float | None = None) -> Search:
    """Viterbi; a step is one transition."""
    return forest(f"chain of {WORDS}, {states} states", states, [*range(1, WORDS), -1], bar=bar)


def limited_chain(states: int, limit: int) -> Search:
    """Viterbi with at most ``limit`` visits to a state; a step is a transition at a count."""
    name = f"chain of {WORDS}, {states} states, at most {limit} visits"
    return forest(name, states, [*range(1, WORDS), -1], 0, limit + 1)


def tree(states: int) -> Search:
    """Max-product on a random tree; a step is one entry of an edge's table."""
    rng = np.random.default_rng(0)
    parents = [-1, *(int(rng.integers(v)) for v in range(1, WORDS))]
    return forest(f"tree of {WORDS}, {states} states", states, parents)


def forest(
    name: str,
    states: int,
    parents: list[int],
    counted: int = -1,  # state of every node
    counts: int = 1,
    bar: float | None = None,
) -> Search:
    """Random scores on a tree whose nodes have equally many states."""
    rng = np.random.default_rng(0)
    n = len(parents)
    start = np.arange(0, (n + 1) * states, states, dtype=np.int32)
    data = tree_data([states] * n, parents, [counted] * n, counts)
    steps = (n - 1) * states**2
    inner = np.concatenate([rng.normal(size=steps + states), np.zeros(counts)])
    scores, out = rng.normal(size=n * states), np.empty(n, np.int32)
    run = repeated(maximize_tree, start, data, scores, inner, 1.0, out)
    return Search(name, steps * counts, run, bar)


# What is measured, in this order: functions that set one search up.
SEARCHES: list[Callable[[], Search]] = [
    lambda: chain(4, bar=3e8),
    lambda: chain(8),
    lambda: chain(12, bar=1e9),
    lambda: chain(20, bar=1e9),
    lambda: chain(45, bar=1e9),
    lambda: limited_chain(12, limit=3),
    lambda: tree(4),
    lambda: tree(12),
]


def run(console: Console) -> list[tuple[Search, float]]:
    """Measure every search; print and return nanoseconds per step."""
    results = []
    for make in SEARCHES:
        search = make()
        with console.status(search.name):
            results.append((search, nanoseconds(search)))
    tables.show(
        console,
        "maximize: one step of the inner loop",
        ("structure", "steps", "one call", "ns per step", "10⁹ steps/s", "bar"),
        [_row(search, cost) for search, cost in results],
        caption=f"CPU time of one thread, the quickest round; {tables.circumstances()}",
    )
    return results


def nanoseconds(search: Search) -> float:
    """CPU nanoseconds per step in the quickest of many rounds."""
    search.run(1)  # compiles
    begun = time.thread_time()
    search.run(10)
    times = max(1, round(10 * ROUND / max(time.thread_time() - begun, 1e-6)))
    quickest, spent = np.inf, 0.0
    while spent < SECONDS or not np.isfinite(quickest):
        begun = time.thread_time()
        search.run(times)
        seconds = time.thread_time() - begun
        quickest, spent = min(quickest, seconds / times), spent + seconds
    return 1e9 * quickest / search.steps


def _row(search: Search, cost: float) -> tuple[str, ...]:
    rate = 1e9 / cost
    return (
        search.name,
        f"{search.steps:,}",
        tables.duration(1e-9 * cost * search.steps),
        f"{cost:.2f}",
        f"{rate / 1e9:.2f}",
        tables.against(rate, search.bar, at_least=True),
    )
