"""What caching and warm starts save.

``activity`` is Figure 3 of Martins et al. (EMNLP 2011): the share of variables, factors and
messages that still move, for the published method.  ``oracle_calls`` is Figure 1.5
(right) of Martins et al. (2015): how often structures are asked for their best vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent.compile.compiled import graph_scores
from benchmarks import tables
from benchmarks.methods import flat
from benchmarks.papers import figures
from benchmarks.papers.parsing import ADAPTED, WORDS, Write
from benchmarks.papers.published import FACTORS, MESSAGES, VARIABLES
from benchmarks.papers.random_sentences import (
    Sentence,
    automata_graph,
    flow_graph,
    full_graph,
)

ITERATIONS = 1000
SHOWN = (10, 50, 100, 300, 1000)
MODELS: dict[str, Write] = {"second order": flow_graph, "all parts": full_graph}

TREE_WORDS = 20
CALL_ITERATIONS = 200
PLAIN = at.AD3(over_relaxation=1.0)  # as published: copies that agree move nothing at all
CALLS_SHOWN = (1, 5, 20, 50, 100, 200)


def activity(console: Console, seeds: int, folder: Path) -> dict[str, np.ndarray]:
    """Active shares ``[iterations, 3]`` of variables, factors and messages, mean over seeds."""
    found = {}
    for name, write in MODELS.items():
        runs = [active_shares(write, Sentence(WORDS, s, planted=True)) for s in range(seeds)]
        found[name] = np.mean(runs, axis=0)
    tables.show(
        console,
        f"active variables / factors / messages of the published AD3, {WORDS} words, {seeds} seeds",
        ("model", *(f"iteration {t}" for t in SHOWN)),
        [
            (name, *(" / ".join(f"{part:.0%}" for part in shares[t - 1]) for t in SHOWN))
            for name, shares in found.items()
        ],
        caption="active: a copy differs from the consensus; a factor with an active variable",
    )
    console.print(f"drawn to {figures.activity(found, folder)}")
    return found


def active_shares(write: Write, words: Sentence) -> np.ndarray:
    """Of one sentence; the method does not stop where it has converged."""
    problem, scores = flat(write(words)[0])
    workspace = ADAPTED.init(problem, scores)
    ADAPTED.advance(problem, scores, workspace, ITERATIONS)
    counts = np.concatenate(workspace.activity or [])
    everything = np.empty(3)
    everything[VARIABLES] = problem.n
    everything[FACTORS] = len(workspace.factors.kind)
    everything[MESSAGES] = problem.n_links
    return counts / everything


class Asked:
    """Counts questions."""

    def __init__(self) -> None:
        self.calls = 0


def counted(graph: at.FactorGraph) -> tuple[at.FactorGraph, Asked]:
    """The same graph with every structure asked through Python, and how often that was."""
    asked = Asked()
    copy = at.FactorGraph()
    arc = copy.binary(scores=graph_scores(graph).theta, name="arc")
    for handle in graph.handles:
        structure = handle.factor
        for row in range(len(structure)):
            inner = structure.scores[row]
            copy.add(
                at.Custom(
                    arc[structure.codes[row]], maximize=_question(structure, asked),
                    scores=inner if len(inner) else None,
                )
            )  # fmt: skip
    return copy, asked


def _question(structure: Any, asked: Asked) -> Callable:
    def maximize(scores: np.ndarray, inner: np.ndarray | None = None) -> Any:
        asked.calls += 1
        parts = np.zeros(0) if inner is None else inner
        value, states = structure.maximize(scores[None], parts[None])
        chosen = np.zeros(int(structure.start[-1]))
        chosen[structure.start[:-1] + states[0]] = 1.0
        x = chosen[structure.linked]
        return x if inner is None else (x, value[0] - x @ scores)

    return maximize


def oracle_calls(console: Console, seeds: int, folder: Path) -> dict[str, np.ndarray]:
    """Calls per structure, summed up to each iteration, mean over seeds."""
    settings: dict[str, tuple[Any, bool]] = {
        "AD3": (at.AD3(), True),
        "AD3, not over-relaxed": (PLAIN, True),
        "AD3, not over-relaxed, nobody sleeps": (replace(PLAIN, cache_idle=False), True),
        "AD3, nobody sleeps, cold supports": (at.AD3(cache_idle=False), False),
        "Subgradient": (at.Subgradient(), True),
        "Subgradient, nobody is skipped": (at.Subgradient(lazy=False), True),
    }
    found = {
        name: np.mean([calls_of(solver, warm, seed) for seed in range(seeds)], axis=0)
        for name, (solver, warm) in settings.items()
    }
    tables.show(
        console,
        f"calls per structure until an iteration: a planted tree and head automata, {TREE_WORDS} "
        f"words, {seeds} seeds",
        ("solver", *(str(t) for t in CALLS_SHOWN)),
        [(name, *(f"{line[t - 1]:.1f}" for t in CALLS_SHOWN)) for name, line in found.items()],
    )
    console.print(f"drawn to {figures.oracle_calls(found, folder)}")
    return found


def calls_of(solver: Any, warm: bool, seed: int) -> np.ndarray:
    """Calls of one run, which goes on where it has converged; bounds are not asked for."""
    graph, asked = counted(automata_graph(Sentence(TREE_WORDS, seed, planted=True)))
    problem, scores = flat(graph)
    workspace = solver.init(problem, scores, None)
    asked.calls = 0
    line = []
    for _ in range(CALL_ITERATIONS):
        if not warm:
            supports = workspace.outside.structures.supports
            supports.size[:] = supports.kept[:] = 0
        solver.advance(problem, scores, workspace, 1)
        line.append(asked.calls / len(problem.models))
    return np.array(line)
