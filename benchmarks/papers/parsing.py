"""Parsing graphs: small factors against large ones, a few components against many.

``decomposition`` is Figure 4 (top) of Martins et al. (ICML 2011): bounds on random sentences of ten
words whose tree is one factor or many flows.  ``certificates`` is Figure 2 of Martins et al. (EMNLP
2011): how many sentences are solved, and how many heads are right, as iterations go by, with
second-order parts and with all parts.  Sentences there have a planted tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import decoders, tables
from benchmarks.decoders import Run
from benchmarks.papers import figures
from benchmarks.papers.published import Published
from benchmarks.papers.random_sentences import Sentence, flow_graph, full_graph, tree_graph

Write = Callable[[Sentence], tuple[at.FactorGraph, Any]]

WORDS = 10
LIMITS = (10, 20, 50, 100, 200, 300, 500, 700, 1000)  # iterations after which answers are read
# η = 0.05 on both indicators of a variable; ρ = 0.03 on one, adapted from there on.
FIXED = Published(penalty=0.1, step=1.5)
ADAPTED = Published(penalty=0.03, step=1.5, adapt=True)
HARMONIC = at.Subgradient(step="harmonic", count="iterations")
INCREASES = at.Subgradient(step="harmonic", count="increases")
SHOWN = (50, 100, 300, 1000)  # of these, the ones in the table
PROVEN = 1e-6  # relative gap
SETTLED = 1e-3  # mean square of residuals at which the paper counts a relaxation as solved

DECOMPOSITION: dict[str, tuple[Write, Any]] = {
    "AD3 as published, flows": (flow_graph, FIXED),
    "AD3, flows": (flow_graph, at.AD3()),
    "AD3, one tree": (tree_graph, at.AD3()),
    "Subgradient, one tree": (tree_graph, HARMONIC),
    "Subgradient, flows": (flow_graph, HARMONIC),
    "MPLP, flows": (flow_graph, at.MPLP()),
    "StarDiffusion, flows": (flow_graph, at.StarDiffusion()),
}
CERTIFICATES: dict[str, tuple[Write, Any]] = {
    "AD3 as published, second order": (flow_graph, ADAPTED),
    "AD3, second order": (flow_graph, at.AD3()),
    "Subgradient, second order": (tree_graph, INCREASES),
    "AD3 as published, all parts": (full_graph, ADAPTED),
    "AD3, all parts": (full_graph, at.AD3()),
    "Subgradient, all parts": (full_graph, INCREASES),
}


def decomposition(console: Console, seeds: int, folder: Path) -> dict[str, list[Run]]:
    """Bounds and answers by iteration on random sentences."""
    found: dict[str, list[Run]] = {name: [] for name in DECOMPOSITION}
    for seed in range(seeds):
        sentence = Sentence(WORDS, seed)
        exact = at.decode(flow_graph(sentence)[0], at.LinearProgram())
        best = at.decode(flow_graph(sentence)[0], at.IntegerProgram()).value
        for name, (write, solver) in DECOMPOSITION.items():
            graph, _ = write(sentence)
            found[name].append(decoders.follow(graph, decoders.endless(solver), exact.bound, best))
    tables.show(
        console,
        f"sentences of {WORDS} words, arcs N(0, 1), pairs N(0, 0.1): bound within "
        f"{decoders.NEAR:g} of the LP optimum, medians of {seeds} seeds",
        ("solver", *decoders.COLUMNS),
        [decoders.row(name, runs) for name, runs in found.items()],
        caption="bound off: from the LP optimum at the end, value off: from the true optimum",
    )
    console.print(f"drawn to {figures.decomposition(found, folder)}")
    return found


def certificates(console: Console, seeds: int, folder: Path) -> dict[str, np.ndarray]:
    """Share of sentences proven, of those settled, and of heads that are right, by iteration.

    Returns ``[3, LIMITS]`` by solver.
    """
    found = {}
    for name, (write, solver) in CERTIFICATES.items():
        with console.status(name):
            paths = [followed(Sentence(WORDS, seed, planted=True), write, solver)
                     for seed in range(seeds)]  # fmt: skip
        found[name] = np.mean(paths, axis=0)
    tables.show(
        console,
        f"sentences of {WORDS} words with a planted tree: proven / settled / heads right, {seeds}",
        ("solver", "factors", *(f"{t} iterations" for t in SHOWN)),
        [
            (name, str(factors(CERTIFICATES[name][0])), *map(_shares, shares.T[_places()]))
            for name, shares in found.items()
        ],
        caption=f"settled: both residuals, as mean squares, are below {SETTLED:g}",
    )
    console.print(f"drawn to {figures.certificates(found, LIMITS, folder)}")
    return found


def _places() -> list[int]:
    return [LIMITS.index(limit) for limit in SHOWN]


def _shares(three: np.ndarray) -> str:
    return " / ".join(f"{share:.0%}" for share in three)


def factors(write: Write) -> int:
    """How many components the first sentence has."""
    problem = write(Sentence(WORDS, 0, planted=True))[0].compile().problem
    return problem.n_pairs + problem.n_logic + int(problem.tables.factor[-1])


def followed(sentence: Sentence, write: Write, solver: Any) -> np.ndarray:
    """``[3, LIMITS]``: whether the sentence is proven, settled, and its share of right heads."""
    graph, arc = write(sentence)
    shares = np.zeros((3, len(LIMITS)))
    for place, limit in enumerate(LIMITS):
        result = at.decode(graph, replace(solver, max_iterations=limit, gap_tolerance=PROVEN))
        proven = result.status is at.Status.OPTIMAL
        last = result.trace.reports[-1]
        settled = proven or max(last.primal_residual, last.dual_residual) ** 2 <= SETTLED
        right = sentence.accuracy(result[arc]) if result.feasible else 0.0
        shares[:, place:] = [[float(proven)], [float(settled)], [right]]
        if proven:
            break
    return shares
