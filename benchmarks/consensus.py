"""Suite ``consensus``: sentences linked by words that should be tagged alike, four decoders.

Box solvers take soft agreement as bounds on multipliers; their counterparts copy variables, so
that agreement is a factor of its own (Belanger et al., 2014, figures 1 and 2).  What counts is how
often sentences are asked, until the bound has come a given part of the way to the relaxation's.
Subgradient steps are Polyak's and, as published, the best in hindsight of several rules and sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.methods import flat

SIZES = (0.01, 0.1, 1.0, 10.0)  # first steps
RULES: tuple[Any, ...] = ("harmonic", "root", "geometric")
COUNTS: tuple[Any, ...] = ("iterations", "increases")


def published(kind: Any) -> list[Any]:
    """Subgradient solvers with the paper's steps."""
    return [
        kind(step=rule, count=count, first_step=size)
        for rule, count, size in product(RULES, COUNTS, SIZES)
    ]


# Max-marginals count twice: they take two passes where a best sequence takes one.
SOLVERS: dict[str, tuple[list[Any], int]] = {
    "Subgradient": ([at.Subgradient()], 1),
    "Subgradient as published": (published(at.Subgradient), 1),
    "BoxSubgradient": ([at.BoxSubgradient()], 1),
    "BoxSubgradient as published": (published(at.BoxSubgradient), 1),
    "MPLP": ([at.MPLP()], 2),
    "BoxMPLP": ([at.BoxMPLP()], 2),
}
QUANTILES = (0.8, 0.9, 0.95, 0.98, 0.99)
MOST_ITERATIONS = 200


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
    seed: int = 0

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
        kind = np.where(rng.random(shape) < self.linked, rng.integers(self.types, size=shape), -1)
        where = np.nonzero(kind >= 0)
        graph.add(at.Soft(at.Agree(tag[where], top[kind[where]]), penalty=self.penalty))
        return graph


CORPORA = {
    True: [Corpus("dense", 40, 8, 5, 6, 0.5, 0.5), Corpus("sparse", 40, 8, 5, 20, 0.1, 0.5)],
    False: [
        Corpus("dense, two links each", 300, 6, 12, 30, 0.3, 5.0),
        Corpus("dense, seven links each", 300, 15, 12, 30, 0.5, 0.5),
        Corpus("sparse", 300, 15, 12, 100, 0.05, 0.5),
    ],
}


def run(console: Console, corpora: Sequence[Corpus]) -> dict[str, dict[str, list[float]]]:
    """Measure, print and return calls per sentence by corpus and solver."""
    found = {}
    for corpus in corpora:
        graph = corpus.graph()
        with console.status(corpus.name):
            target = at.decode(graph, at.AD3(gap_tolerance=1e-5)).bound
            paths = {
                name: [path(graph, corpus, solver, weight) for solver in solvers]
                for name, (solvers, weight) in SOLVERS.items()
            }
            start = apart(graph)
        found[corpus.name] = {
            name: [
                min(first_below(*way, start - q * (start - target)) for way in ways)
                for q in QUANTILES
            ]
            for name, ways in paths.items()
        }
        tables.show(
            console,
            f"{corpus.name}: {corpus.sentences} sentences of {corpus.length} words, "
            f"{corpus.states} tags, {corpus.types} consensus sets",
            ("solver", *(f"{q:.0%} of the way" for q in QUANTILES)),
            [
                (name, *(f"{calls:.1f}" if np.isfinite(calls) else "–" for calls in row))
                for name, row in found[corpus.name].items()
            ],
            caption="calls per sentence until the bound is there; max-marginals count twice; – not "
            f"in {MOST_ITERATIONS} iterations",
        )
    return found


def apart(graph: at.FactorGraph) -> float:
    """The bound of sentences that nothing links: where box solvers begin."""
    problem, scores = flat(graph)
    solver = at.BoxSubgradient()
    return solver.bound(problem, scores, solver.init(problem, scores))


def path(
    graph: at.FactorGraph, corpus: Corpus, solver: Any, weight: int
) -> tuple[list[float], list[float]]:
    """Calls per sentence and bounds, iteration by iteration.

    A box solver counts every submodel it asks, consensus variables included; of the others'
    calls only those to sentences count, one each per iteration.
    """
    problem, scores = flat(graph)
    workspace = solver.init(problem, scores)
    boxed = "Box" in type(solver).__name__
    calls, bounds, best = [], [], np.inf
    for iteration in range(1, MOST_ITERATIONS + 1):
        info = solver.advance(problem, scores, workspace, 1)
        best = min(best, solver.bound(problem, scores, workspace))
        asked = info.calls / corpus.sentences if boxed else iteration
        calls.append(weight * asked)
        bounds.append(best)
        if info.finished:
            break
    return calls, bounds


def first_below(calls: list[float], bounds: list[float], goal: float) -> float:
    """Calls at which the bound first was below ``goal``; inf if it never was."""
    return next((c for c, bound in zip(calls, bounds, strict=True) if bound <= goal), np.inf)
