"""Suite ``consensus``: sentences linked by words that should be tagged alike, four decoders.

Box solvers take soft agreement as bounds on multipliers; their counterparts copy variables, so
that agreement is a factor of its own (Belanger et al., 2014, figures 1 and 2).  What counts is how
often sentences are asked, until the bound has come a given part of the way to the relaxation's.
Subgradient steps are Polyak's and, as published, the best in hindsight of several rules and sizes.

As there, calls are per sentence and only to sentences; one counts when its multipliers changed.
Max-marginals are two passes along a sentence and count twice, a pass of `BoxMPLP` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.methods import flat
from benchmarks.treebank import Tagged, archive

SIZES = (0.001, 0.01, 0.1, 1.0, 10.0)  # first steps
RULES: tuple[Any, ...] = ("harmonic", "root", "geometric")
COUNTS: tuple[Any, ...] = ("iterations", "increases")


def published(kind: Any) -> list[Any]:
    """Subgradient solvers with the paper's steps."""
    return [
        kind(step=rule, count=count, first_step=size)
        for rule, count, size in product(RULES, COUNTS, SIZES)
    ]


SOLVERS: dict[str, list[Any]] = {
    "Subgradient": [at.Subgradient()],
    "Subgradient as published": published(at.Subgradient),
    "BoxSubgradient": [at.BoxSubgradient()],
    "BoxSubgradient as published": published(at.BoxSubgradient),
    "MPLP": [at.MPLP()],
    "BoxMPLP": [at.BoxMPLP()],
}
QUANTILES = (0.8, 0.85, 0.9, 0.95, 0.98)
MOST_ITERATIONS = 100
TARGET_SECONDS = 60.0


@dataclass(frozen=True)
class Corpus:
    """Random sentences; ``types`` words occur again and again and should be tagged alike."""

    name: str
    sentences: int
    length: int
    states: int
    types: int
    linked: float  # share of words that are of one of these types
    penalty: float
    rare: bool = False  # whether most types are, as in a text
    seed: int = 0

    @property
    def title(self) -> str:
        return (
            f"{self.name}: {self.sentences} sentences of {self.length} words, "
            f"{self.states} tags, {self.types} consensus sets, penalty {self.penalty}"
        )

    def graph(self) -> at.FactorGraph:
        """Chains with one consensus variable per type."""
        rng = np.random.default_rng(self.seed)
        graph = at.FactorGraph()
        shape = (self.sentences, self.length)
        tag = graph.categorical(
            shape, states=self.states, scores=rng.normal(size=(*shape, self.states)), name="tag"
        )
        steps = rng.normal(size=(self.states, self.states))
        for sentence in range(self.sentences):
            graph.add(at.Chain(tag[sentence], transitions=steps))
        top = graph.categorical(self.types, states=self.states, name="consensus")
        kind = np.where(rng.random(shape) < self.linked, self._types(rng, shape), -1)
        where = np.nonzero(kind >= 0)
        graph.add(at.Soft(at.Agree(tag[where], top[kind[where]]), penalty=self.penalty))
        return graph

    def _types(self, rng: np.random.Generator, shape: tuple[int, int]) -> Any:
        often = 1.0 / np.arange(1.0, self.types + 1.0) if self.rare else np.ones(self.types)
        return rng.choice(self.types, size=shape, p=often / often.sum())


# The paper's dense regime is tagging: all words that training has not seen are linked, a tenth to
# a third of a text, most of them rare.  Its sparse one is parsing, where few sentences are linked.
CORPORA = {
    True: [Corpus("dense", 40, 8, 5, 6, 0.5, 0.5), Corpus("sparse", 40, 8, 5, 20, 0.1, 0.5)],
    False: [
        Corpus("two links each", 300, 6, 12, 30, 0.3, 5.0),
        Corpus("seven links each, weak", 300, 15, 12, 30, 0.5, 0.5),
        Corpus("seven links each, strong", 300, 15, 12, 30, 0.5, 2.0),
        Corpus("words as in a text, weak", 300, 24, 12, 600, 1 / 3, 1.0, rare=True),
        Corpus("words as in a text, strong", 300, 24, 12, 600, 1 / 3, 3.0, rare=True),
        Corpus("sparse", 300, 15, 12, 100, 0.05, 0.5),
    ],
}


def corpora(data: Path | None, quick: bool, only: str = "*") -> list[Corpus | Tagged]:
    """Made-up sentences, and real ones where there are any."""
    found: list[Corpus | Tagged] = list(CORPORA[quick])
    if data is not None and archive(data).is_file() and not quick:
        found += [Tagged(archive(data), trained) for trained in (50, 200, 500)]
    return [corpus for corpus in found if fnmatch(corpus.name, only)]


def run(console: Console, corpora: Sequence[Corpus | Tagged]) -> dict[str, dict[str, list[float]]]:
    """Measure, print and return calls per sentence by corpus and solver."""
    found = {}
    for corpus in corpora:
        graph = corpus.graph()
        with console.status(corpus.name):
            paths = {
                name: [path(graph, corpus, solver) for solver in solvers]
                for name, solvers in SOLVERS.items()
                if isinstance(corpus, Corpus) or name.startswith("Box")  # copies take hours
            }
            start, target = apart(graph), best_bound(graph, paths)
        found[corpus.name] = {
            name: [
                min(first_below(*way, start - q * (start - target)) for way in ways)
                for q in QUANTILES
            ]
            for name, ways in paths.items()
        }
        tables.show(
            console,
            corpus.title,
            ("solver", *(f"{q:.0%} of the way" for q in QUANTILES)),
            [
                (name, *(f"{calls:.1f}" if np.isfinite(calls) else "–" for calls in row))
                for name, row in found[corpus.name].items()
            ],
            caption="calls per sentence until the bound is there; max-marginals count twice; – not "
            f"in {MOST_ITERATIONS} iterations",
        )
    return found


def best_bound(graph: at.FactorGraph, paths: dict[str, list[Any]]) -> float:
    """The relaxation's optimum by AD3, or as near as anybody came where that takes too long."""
    known = at.decode(graph, at.AD3(gap_tolerance=1e-5), time_limit=TARGET_SECONDS).bound
    return min(known, *(min(bounds) for ways in paths.values() for _, bounds in ways))


def apart(graph: at.FactorGraph) -> float:
    """The bound of sentences that nothing links: where box solvers begin."""
    problem, scores = flat(graph)
    solver = at.BoxSubgradient()
    return solver.bound(problem, scores, solver.init(problem, scores))


def path(
    graph: at.FactorGraph, corpus: Corpus | Tagged, solver: Any
) -> tuple[list[float], list[float]]:
    """Calls per sentence and bounds, iteration by iteration; consensus variables are free."""
    problem, scores = flat(graph)
    workspace = solver.init(problem, scores)
    boxed = isinstance(solver, at.BoxSubgradient | at.BoxMPLP)
    asked = corpus.sentences if boxed else 0  # before there is anything to change
    calls, bounds, best = [], [], np.inf
    for _ in range(MOST_ITERATIONS):
        before = (workspace.linked.nu.copy(), getattr(workspace, "passed", 0)) if boxed else None
        info = solver.advance(problem, scores, workspace, 1)
        best = min(best, solver.bound(problem, scores, workspace))
        asked += sentences_asked(solver, workspace, before, corpus.sentences)
        calls.append(asked / corpus.sentences)
        bounds.append(best)
        if info.finished:
            break
    return calls, bounds


def sentences_asked(solver: Any, workspace: Any, before: Any, sentences: int) -> int:
    """How often sentences were asked in one iteration.

    Subgradient steps ask the sentences whose multipliers changed, `BoxMPLP` counts its passes;
    ``before`` the iteration they were these.  Copies change nearly everywhere: all sentences
    count, twice for their max-marginals.
    """
    if isinstance(solver, at.BoxSubgradient):
        linked = workspace.linked
        word = linked.boxes.lits.reshape(-1, 2)[linked.nu != before[0], 0]
        return len(np.unique(linked.submodels.owner[word]))
    if isinstance(solver, at.BoxMPLP):
        return workspace.passed - before[1]
    return 2 * sentences if isinstance(solver, at.MPLP) else sentences


def first_below(calls: list[float], bounds: list[float], goal: float) -> float:
    """Calls at which the bound first was below ``goal``; inf if it never was."""
    return next((c for c, bound in zip(calls, bounds, strict=True) if bound <= goal), np.inf)
