"""Iterations until the bound is within ε of the LP optimum as ε falls (Martins et al., 2015, §1.5).

Theory promises O(1/ε) for AD3 and for the accelerated method, O(1/ε²) for subgradient steps: slopes
of one and two on a log-log plot, as upper limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent.trace import Progress
from benchmarks import decoders, tables
from benchmarks.papers import figures
from benchmarks.papers.published import Published
from benchmarks.papers.random_sentences import Sentence, flow_graph

ACCURACIES = 10.0 ** -np.arange(1.0, 5.25, 0.25)  # relative to 1 + |LP|
SHOWN = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
MOST = 10_000  # iterations
LEAST = 3  # points that a slope is fitted to


@dataclass(frozen=True)
class Rate:
    """Median iterations ``[accuracies]``, infinite where not reached, and the fitted slope."""

    iterations: np.ndarray
    slope: float


def _grid(seed: int) -> at.FactorGraph:
    return decoders.ising(1.0).build(np.random.default_rng(seed))


def _flows(seed: int) -> at.FactorGraph:
    return flow_graph(Sentence(10, seed))[0]


FAMILIES: dict[str, tuple[Callable[[int], at.FactorGraph], float]] = {
    "Ising 30 × 30, coupling 1": (_grid, 10.0),
    "sentences of 10 words": (_flows, 0.1),
}


def solvers(penalty: float) -> dict[str, Any]:
    """The contestants; subgradient steps by the rule that the theory is for, and by Polyak's."""
    return {
        "AD3 as published": Published(penalty),
        "AD3": at.AD3(),
        "Accelerated": at.Accelerated(),
        "Subgradient, η/√t": at.Subgradient(step="root", count="iterations"),
        "Subgradient, Polyak": at.Subgradient(),
    }


def rates(console: Console, seeds: int, folder: Path) -> dict[str, dict[str, Rate]]:
    """Measure, print and draw."""
    found: dict[str, dict[str, Rate]] = {}
    for family, (build, penalty) in FAMILIES.items():
        with console.status(family):
            graphs = [build(seed) for seed in range(seeds)]
            optima = [at.decode(graph, at.LinearProgram()).bound for graph in graphs]
            found[family] = {
                name: rate([reached(*pair, solver) for pair in zip(graphs, optima, strict=True)])
                for name, solver in solvers(penalty).items()
            }
        tables.show(
            console,
            f"{family}: iterations until the bound is within ε·(1 + |LP|), medians of {seeds}",
            ("solver", *(f"{e:g}" for e in SHOWN), "slope"),
            [_row(name, own) for name, own in found[family].items()],
            caption="slope of log iterations against log 1/ε over the last two decades reached",
        )
    console.print(f"drawn to {figures.rates(found, ACCURACIES, folder)}")
    return found


def reached(graph: at.FactorGraph, lp: float, solver: Any) -> np.ndarray:
    """The first iteration within each accuracy, infinite if none was."""
    goals = lp + ACCURACIES * (1.0 + abs(lp))

    def good(step: Progress) -> bool:
        return step.best_bound <= goals[-1]

    trace = at.decode(
        graph, replace(solver, max_iterations=MOST, gap_tolerance=0.0), callback=good
    ).trace
    hit = trace.best_bound[:, None] <= goals
    first = trace.iteration[hit.argmax(axis=0)].astype(float)
    return np.where(hit.any(axis=0), first, np.inf)


def rate(firsts: list[np.ndarray]) -> Rate:
    """Medians over seeds, and a slope through their last two decades."""
    middle = np.median(firsts, axis=0)
    known = np.flatnonzero(np.isfinite(middle))
    recent = known[-9:]
    slope = np.nan
    if len(recent) >= LEAST:
        slope = float(np.polyfit(-np.log(ACCURACIES[recent]), np.log(middle[recent]), 1)[0])
    return Rate(middle, slope)


def _row(name: str, own: Rate) -> tuple[str, ...]:
    places = [int(np.argmin(np.abs(np.log(ACCURACIES / e)))) for e in SHOWN]
    cells = [f"{t:.0f}" if np.isfinite(t) else tables.DASH for t in own.iterations[places]]
    return (name, *cells, tables.number(own.slope))
