"""Suite ``decoders``: all decoders on the random grids of Martins et al. (2011), Figures 1 and 2.

30 x 30 Ising models with couplings in U[-c, c] and 20 x 20 Potts models of eight labels with
rewards in U[-10, 10], ten seeds each.  AD3 and the accelerated method appear twice: as published
(AD3 with a fixed penalty, on labels with every joint state a literal; smoothing at one temperature,
the most favourable of some) and as they come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent.kernels.core.evaluate import value
from assent.kernels.problem import Problem, Scores
from assent.trace import Progress
from benchmarks import plots, tables
from benchmarks.methods import flat
from benchmarks.papers.published import Published

NEAR = 1e-3  # distance of a good bound from the LP optimum, relative to 1 + |LP|
GOOD = 1e-2  # distance of a good answer from the best that anybody found
ITERATIONS = 1000  # the papers' plots end there
ANSWER_STEP = 5  # iterations between two readings of a decoder's own answer
SIDE = {"Ising": 30, "Potts": 20}
SEEDS = {True: 2, False: 10}


@dataclass(frozen=True)
class Family:
    """Random problems, and what the paper used for them.

    Attributes:
        penalty: η of DD-ADMM.
        accuracy: ε of the accelerated method: smoothing costs at most half of that.
        entropy: how much all factors together are smoothed by a temperature of 1.
    """

    name: str
    build: Callable[[np.random.Generator], at.FactorGraph]
    penalty: float
    accuracy: tuple[float, ...]
    entropy: float


@dataclass(frozen=True)
class Run:
    """Reports of one decode: iterations, processor seconds, distances, calls."""

    iterations: np.ndarray
    seconds: np.ndarray
    bound_off: np.ndarray
    value_off: np.ndarray
    calls: np.ndarray

    def first(self, column: np.ndarray, reached: np.ndarray) -> float:
        """The first entry of a column where something was reached, NaN if never."""
        return float(column[np.argmax(reached)]) if reached.any() else np.nan


def ising(coupling: float) -> Family:
    """A grid whose neighbours earn ``U[-c, c]`` for being equal."""

    def build(rng: np.random.Generator) -> at.FactorGraph:
        n = SIDE["Ising"]
        g = at.FactorGraph()
        theta = rng.uniform(-1.0, 1.0, (n, n))
        across = rng.uniform(-coupling, coupling, (n, n - 1))
        down = rng.uniform(-coupling, coupling, (n - 1, n))
        # c [x = y] = c - c x - c y + 2 c x y: one factor for each edge.
        for ends, c in ((np.s_[:, :-1], across), (np.s_[:, 1:], across), (np.s_[:-1], down),
                        (np.s_[1:], down)):  # fmt: skip
            theta[ends] -= c
        x = g.binary((n, n), scores=theta)
        g.add(at.Pair(x[:, :-1], x[:, 1:], scores=2.0 * across))
        g.add(at.Pair(x[:-1], x[1:], scores=2.0 * down))
        g.add_constant(float(across.sum() + down.sum()))
        return g

    return Family(
        f"Ising, coupling {coupling:g}", build, 5.0, (0.1, 1.0, 10.0, 100.0),
        edges(SIDE["Ising"]) * np.log(4.0),
    )  # fmt: skip


def potts() -> Family:
    """A grid of eight-valued variables whose neighbours earn ``U[-10, 10]`` for each label."""

    def build(rng: np.random.Generator) -> at.FactorGraph:
        n, k = SIDE["Potts"], 8
        g = at.FactorGraph()
        x = g.categorical((n, n), k, scores=rng.uniform(-1.0, 1.0, (n, n, k)))
        for a, b in ((x[:-1], x[1:]), (x[:, :-1], x[:, 1:])):
            g.add(at.Potts(a, b, scores=rng.uniform(-10.0, 10.0, (*a.shape, k))))
        return g

    return Family("Potts, 8 labels", build, 0.5, (1.0,), edges(SIDE["Potts"]) * np.log(64.0))


def edges(side: int) -> int:
    """How many pairs of neighbours a grid has."""
    return 2 * side * (side - 1)


FAMILIES = (*(ising(c) for c in (0.5, 1.0, 1.5, 2.0)), potts())


def solvers() -> dict[str, Any]:
    """The contestants as they come."""
    return {
        "AD3": at.AD3(),
        "Subgradient, η/t": at.Subgradient(step="harmonic", count="iterations"),
        "Subgradient": at.Subgradient(),
        "Accelerated": at.Accelerated(),
        "MPLP": at.MPLP(),
        "StarDiffusion": at.StarDiffusion(),
        "TRWS": at.TRWS(),
    }


def endless(solver: Any) -> Any:
    """The solver, which now stops when its iterations are used up or it rests."""
    return replace(solver, max_iterations=ITERATIONS, gap_tolerance=0.0)


def follow(graph: at.FactorGraph, solver: Any, lp: float, best: float) -> Run:
    """One decode with its reports, by processor time."""
    seconds: list[float] = []

    def note(step: Progress) -> None:
        seconds.append(time.thread_time() - begun)

    begun = time.thread_time()
    trace = at.decode(graph, solver, callback=note).trace
    scale = 1.0 + abs(lp)
    return Run(
        trace.iteration, np.array(seconds), (trace.best_bound - lp) / scale,
        (best - trace.value) / scale, trace.calls,
    )  # fmt: skip


def race(family: Family, seeds: int) -> dict[str, list[Run]]:
    """All solvers on all seeds; answers are measured from the best that any found."""
    runs: dict[str, list[Run]] = {}
    temperature = None
    for seed in range(seeds):
        graph = family.build(np.random.default_rng(seed))
        exact = at.decode(graph, at.LinearProgram())
        temperature = temperature or favourable(graph, family)
        entrants = {
            # Both indicators of a variable are penalised there.
            "AD3 as published": (literals_only(graph), Published(2.0 * family.penalty)),
            "Accelerated as published": (graph, at.Accelerated(temperature=temperature)),
            **{name: (graph, solver) for name, solver in solvers().items()},
        }
        own = {}
        for name, (written, solver) in entrants.items():
            if seed == 0:  # compile before a clock runs
                at.decode(written, solver, callback=lambda step: True)
            own[name] = follow(written, endless(solver), exact.bound, exact.value)
        for name, run in from_the_best(own).items():
            runs.setdefault(name, []).append(run)
    return runs


def from_the_best(runs: Mapping[str, Run]) -> dict[str, Run]:
    """The same runs, with answers measured from the best of them all."""
    best = min(0.0, *(run.value_off[-1] for run in runs.values()))
    return {name: replace(run, value_off=run.value_off - best) for name, run in runs.items()}


def literals_only(graph: at.FactorGraph) -> at.FactorGraph:
    """The graph without tables."""
    tables_left = len(graph.compile().problem.tables.lits) > 0
    return at.binarize(graph).graph if tables_left else graph


def favourable(graph: at.FactorGraph, family: Family) -> float:
    """The temperature, of those for the family's ε, that leads to the lowest bound."""
    choices = [accuracy / (2.0 * family.entropy) for accuracy in family.accuracy]
    if len(choices) == 1:
        return choices[0]
    bounds = [at.decode(graph, endless(at.Accelerated(temperature=t))).bound for t in choices]
    return choices[int(np.argmin(bounds))]


def median(runs: Sequence[Run], column: str) -> float:
    """Median over seeds of a column at the first good bound, infinite for those without."""
    found = [run.first(getattr(run, column), run.bound_off <= NEAR) for run in runs]
    return float(np.median(np.where(np.isnan(found), np.inf, found)))


COLUMNS = ("reached", "iterations", "calls", "cpu s", "bound off", "value off")


def row(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    """A solver's line of the table, under its name and ``COLUMNS``."""
    off = float(np.median([run.bound_off[-1] for run in runs]))
    short = float(np.median([run.value_off[-1] for run in runs]))
    reached = sum(bool((run.bound_off <= NEAR).any()) for run in runs)
    figures = [median(runs, column) for column in ("iterations", "calls", "seconds")]
    iterations, calls, seconds = map(tables.number, figures)
    return (
        name, f"{reached}/{len(runs)}", iterations, calls, seconds, f"{off:.1e}", f"{short:.1e}",
    )  # fmt: skip


def run(
    console: Console, seeds: int, folder: Path, families: Sequence[Family] = FAMILIES
) -> Mapping[str, dict[str, list[Run]]]:
    """Race, print a table for each family and draw all of them."""
    found = {}
    for family in families:
        with console.status(family.name):
            found[family.name] = race(family, seeds)
        tables.show(
            console,
            f"{family.name}: bound within {NEAR:g} of the LP optimum, medians of {seeds} seeds",
            ("solver", *COLUMNS),
            [row(name, runs) for name, runs in found[family.name].items()],
            caption="bound off: from the LP optimum at the end; value off: from the best answer "
            "that anybody found",
        )
    binary = [family for family in families if family.name.startswith("Ising")]
    if binary:
        show_answers(console, {f.name: unrounded_answers(f, seeds) for f in binary}, seeds)
    console.print(f"drawn to {plots.decoders(found, folder)}; {tables.circumstances()}")
    return found


def unrounded_answers(family: Family, seeds: int) -> dict[str, tuple[float, float]]:
    """How each decoder's own answer does: every variable takes its likelier value, no rounding.

    Returns medians by solver: iterations until the best so far is within ``GOOD`` of the best that
    anybody ends with, and its distance from that at the end.
    """
    entrants = {"AD3 as published": Published(2.0 * family.penalty), **solvers()}
    first: dict[str, list[float]] = {name: [] for name in entrants}
    off: dict[str, list[float]] = {name: [] for name in entrants}
    for seed in range(seeds):
        problem, scores = flat(family.build(np.random.default_rng(seed)))
        lines = {name: own_values(problem, scores, solver) for name, solver in entrants.items()}
        best = max(line[-1] for line in lines.values())
        for name, line in lines.items():
            short = (best - line) / (1.0 + abs(best))
            good = np.flatnonzero(short <= GOOD)
            first[name].append(ANSWER_STEP * (good[0] + 1.0) if len(good) else np.inf)
            off[name].append(short[-1])
    return {name: (float(np.median(first[name])), float(np.median(off[name]))) for name in first}


def own_values(problem: Problem, scores: Scores, solver: Any) -> np.ndarray:
    """The best value so far, every few iterations."""
    workspace = solver.init(problem, scores, None)
    values = []
    for _ in range(ITERATIONS // ANSWER_STEP):
        solver.advance(problem, scores, workspace, ANSWER_STEP)
        x = (solver.marginals(workspace) > 0.5).astype(np.int8)
        values.append(value(problem, scores, x))
    return np.maximum.accumulate(values)


def show_answers(
    console: Console, found: Mapping[str, Mapping[str, tuple[float, float]]], seeds: int
) -> None:
    """Print what `unrounded_answers` found, family by family."""
    names = next(iter(found.values()))
    tables.show(
        console,
        f"answers without rounding: iterations until within {GOOD:g} of the best, and distance at "
        f"the end, medians of {seeds} seeds",
        ("solver", *found),
        [(name, *(_answer(*own[name]) for own in found.values())) for name in names],
    )


def _answer(iterations: float, off: float) -> str:
    return f"{tables.number(iterations)}, {off:.1e}"
