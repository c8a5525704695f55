"""AD3 against a linear programming solver, sentence by sentence (Figure 4 of Martins et al., EMNLP
2011): seconds of processor time, HiGHS's dual simplex in the place of CPLEX's.

AD3 runs until its bound is within 1e-4 of the LP optimum, HiGHS to the optimum of the same compact
program; building either is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks import tables
from benchmarks.methods import ACCURACY, ad3_to_bound, highs
from benchmarks.papers import figures
from benchmarks.papers.random_sentences import Sentence, flow_graph

LENGTHS = (5, 8, 10, 12, 15, 18, 20)
LIMIT = 120.0


@dataclass(frozen=True)
class Timed:
    """Seconds that a sentence took."""

    words: int
    planted: bool
    ad3: float
    lp: float


def race(
    console: Console, seeds: int, folder: Path, lengths: tuple[int, ...] = LENGTHS
) -> list[Timed]:
    """Time all lengths, random and planted, ``seeds`` sentences of each."""
    ad3_to_bound(flow_graph(Sentence(5, 0))[0], lp=-np.inf, time_limit=1.0)  # compiles
    timed = []
    for planted in (False, True):
        for words in lengths:
            with console.status(f"{words} words"):
                for seed in range(seeds):
                    graph, _ = flow_graph(Sentence(words, seed, planted))
                    lp = highs(graph, "simplex", LIMIT)
                    ad3 = ad3_to_bound(graph, lp.value, LIMIT)
                    timed.append(Timed(words, planted, ad3.cpu, lp.cpu))
    tables.show(
        console,
        f"seconds per sentence, medians of {seeds}: AD3 to {ACCURACY:g} and HiGHS's dual simplex",
        ("sentences", "AD3", "HiGHS", "HiGHS / AD3", "AD3 quicker"),
        [_row(words, planted, timed) for planted in (False, True) for words in lengths],
        caption=tables.circumstances(),
    )
    console.print(f"drawn to {figures.race(timed, folder)}")
    return timed


def _row(words: int, planted: bool, timed: list[Timed]) -> tuple[str, ...]:
    own = [point for point in timed if (point.words, point.planted) == (words, planted)]
    ad3, lp = np.array([[p.ad3, p.lp] for p in own]).T
    return (
        f"{words} words, {'planted' if planted else 'random'}",
        tables.duration(float(np.median(ad3))),
        tables.duration(float(np.median(lp))),
        f"{np.median(lp / ad3):.1f}",
        f"{(ad3 < lp).sum()} of {len(own)}",
    )
