"""Suite ``sentences``: second-order parsing with a tree and head automata, iteration by iteration.

The sentences are made up (`synthetic.sentence`): seeds 0 and 1 are those stored as
``parse_tree_*``; some of the others have fractional relaxations, on which methods that wait for
an integral answer never end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.methods import flat
from benchmarks.synthetic import sentence

BAR = 0.25  # ms per iteration at BAR_WORDS words
BAR_WORDS = 39  # 40 with the root
SENTENCES = [(19, 0), (19, 1), (39, 0), (39, 1), (39, 2), (39, 4), (39, 6), (39, 8)]
ITERATIONS = 50  # from a cold start: about as many as a decode takes
ROUNDS = 5  # the quickest counts


def run(
    console: Console, sentences: Sequence[tuple[int, int]] = SENTENCES
) -> list[tuple[at.Result, float]]:
    """Decode every sentence; print and return results with milliseconds per iteration."""
    found = []
    for words, seed in sentences:
        with console.status(f"{words} words, seed {seed}"):
            graph = sentence(words, seed)
            found.append((at.decode(graph), milliseconds(graph)))
    tables.show(
        console,
        f"second-order parsing: the first {ITERATIONS} iterations of AD3",
        ("sentence", "status", "iterations", "value", "bound", "ms per iteration", "bar"),
        [
            (
                f"{words} words, seed {seed}",
                result.status.name,
                str(result.iterations),
                f"{result.value:.6f}",
                f"{result.bound:.6f}",
                f"{cost:.3f}",
                tables.against(cost, BAR if words == BAR_WORDS else None, at_least=False),
            )
            for (words, seed), (result, cost) in zip(sentences, found, strict=True)
        ],
        caption=f"CPU time of one thread, the quickest round; {tables.circumstances()}",
    )
    return found


def milliseconds(graph: at.FactorGraph) -> float:
    """CPU milliseconds per iteration from a cold start, in the quickest of some rounds."""
    problem, scores = flat(graph)
    solver = at.AD3()
    quickest = np.inf
    for _ in range(ROUNDS):
        workspace = solver.init(problem, scores, None)
        begun = time.thread_time()
        for _ in range(ITERATIONS // 10):
            solver.advance(problem, scores, workspace, 10)
        quickest = min(quickest, time.thread_time() - begun)
    return 1e3 * quickest / ITERATIONS
