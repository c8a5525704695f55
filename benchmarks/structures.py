"""Suite ``structures``: what one step of the inner loop of each structured ``maximize`` costs.

Where there is a C compiler, trees and automata are measured beside plain C loops of the same
recurrence (``plain.c``) on the same scores, in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from rich.console import Console

from assent.kernels.kinds.sentences.head_automata import maximize_automaton
from assent.kernels.kinds.sentences.projective_chart import maximize_projective
from assent.kernels.kinds.sentences.spanning_trees import maximize_arborescence
from assent.kernels.kinds.sequences.tree_recursion import maximize_tree, tree_data
from benchmarks import plain, tables

SECONDS = 1.0  # spent on each figure; the quickest round counts
ROUND = 2e-3  # seconds: long beside the clock's resolution, short beside what interrupts
WORDS = 50  # length of a chain: a long sentence
TREE_WORDS = 40  # length of a sentence to be parsed
PLAIN_BAR = 2.0  # times the cost of the plain loop
LOW = -1e300  # the plain loops' impossible


@dataclass(frozen=True)
class Search:
    """One structure: ``run(times)`` maximises ``times`` times, in ``steps`` steps each."""

    name: str
    steps: int
    run: Callable[[int], Any]
    bar: float | None = None  # steps per second
    plain: Callable[[int], Any] | None = None  # the same in C


def repeated(maximize: Callable, *arguments: Any) -> Callable[[int], Any]:
    """A compiled loop of calls as solvers make them, without Python in between."""
    for constants in (arguments[0], arguments[1], arguments[3]):
        constants.setflags(write=False)

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


def sentence_tree(projective: bool, words: int = TREE_WORDS) -> Search:
    """Eisner: a step is one split of a span; Chu–Liu–Edmonds: a step is one arc."""
    rng = np.random.default_rng(0)
    arcs = rng.normal(size=(words, words + 1))
    heads = np.tile(np.arange(words + 1), words)
    start = np.arange(0, arcs.size + 1, words + 1, dtype=np.int32)
    data = np.array([words, 0, *heads], np.int32)
    kernel = maximize_projective if projective else maximize_arborescence
    out = np.empty(words, np.int32)
    run = repeated(kernel, start, data, arcs.ravel(), np.zeros(0), 1.0, out)
    given = arcs.copy()
    given[np.arange(words), np.arange(1, words + 1)] = LOW
    found = np.empty(words, np.int64)
    side = words + 1
    if projective:
        # Three maxima over all splits of every span, two for those that begin at the root.
        steps = sum((3 if i else 2) * (j - i) for j in range(side) for i in range(j))
        room = np.empty(5 * side**2), found, np.empty(6 * side, np.int64)
        reference = plain.loop("eisner", words, given, *room)
        return Search(f"projective tree of {words} words (Eisner)", steps, run, plain=reference)
    room = np.empty((words, side)), np.empty((words, side), np.int64), np.empty(2 * side)
    nodes = np.empty(7 * 2 * side, np.int64)
    reference = plain.loop("chu_liu_edmonds", words, given, *room, nodes, found)
    return Search(f"arborescence of {words} words", arcs.size, run, plain=reference)


def head_automaton(modifiers: int = TREE_WORDS - 1) -> Search:
    """Viterbi over modifiers; a step is one pair of them."""
    rng = np.random.default_rng(0)
    gain, pairs = (
        rng.normal(size=modifiers),
        rng.normal(size=(modifiers + 1) * (modifiers + 2) // 2),
    )
    start = np.arange(0, 2 * modifiers + 1, 2, dtype=np.int32)
    scores = np.column_stack([np.zeros(modifiers), gain]).ravel()
    data, out = np.array([modifiers, 0, 1], np.int32), np.empty(modifiers, np.int32)
    run = repeated(maximize_automaton, start, data, scores, pairs, 1.0, out)
    room = np.empty(modifiers + 2), np.empty(modifiers, np.int64)
    reference = plain.loop("head_automaton", modifiers, gain, pairs, 1.0, *room)
    return Search(f"head automaton, {modifiers} modifiers", len(pairs), run, plain=reference)


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
    lambda: sentence_tree(projective=True),
    lambda: sentence_tree(projective=False),
    head_automaton,
]


def run(console: Console) -> list[tuple[Search, float, float]]:
    """Measure every search; print and return nanoseconds per step, also of the plain loop."""
    results = []
    for make in SEARCHES:
        search = make()
        with console.status(search.name):
            results.append((search, *nanoseconds(search)))
    tables.show(
        console,
        "maximize: one step of the inner loop",
        ("structure", "steps", "one call", "ns per step", "10⁹ steps/s", "bar", "in C", "ratio"),
        [_row(*result) for result in results],
        caption=f"CPU time of one thread, the quickest round; {tables.circumstances()}",
    )
    return results


def nanoseconds(search: Search) -> tuple[float, float]:
    """CPU nanoseconds per step in the quickest of many rounds, taking turns with the plain loop."""
    runs = [search.run, *([search.plain] if search.plain else [])]
    times = [_calls_per_round(own) for own in runs]
    quickest, spent = [np.inf, np.nan], 0.0
    while spent < SECONDS * len(runs) or not np.isfinite(quickest[0]):
        for i, own in enumerate(runs):
            begun = time.thread_time()
            own(times[i])
            seconds = time.thread_time() - begun
            quickest[i], spent = np.fmin(quickest[i], seconds / times[i]), spent + seconds
    return 1e9 * quickest[0] / search.steps, 1e9 * quickest[1] / search.steps


def _calls_per_round(own: Callable[[int], Any]) -> int:
    own(1)  # compiles
    begun = time.thread_time()
    own(10)
    return max(1, round(10 * ROUND / max(time.thread_time() - begun, 1e-6)))


def _row(search: Search, cost: float, in_c: float) -> tuple[str, ...]:
    rate = 1e9 / cost
    return (
        search.name,
        f"{search.steps:,}",
        f"{1e-3 * cost * search.steps:.1f} µs",
        f"{cost:.2f}",
        f"{rate / 1e9:.2f}",
        tables.against(rate, search.bar, at_least=True),
        tables.number(in_c),
        tables.against(cost / in_c, PLAIN_BAR, at_least=False) if search.plain else "",
    )
