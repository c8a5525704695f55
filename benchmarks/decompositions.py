"""Suite ``decompositions``: one grid written edge by edge, binarized, as chains and as trees.

All have the same relaxation; what differs is how soon the bound gets there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.methods import ACCURACY, Outcome, ad3_to_bound, highs, recorded, repeated


@dataclass(frozen=True)
class Grid:
    """A square grid of multi-valued variables with random tables on its edges."""

    side: int
    states: int
    coupling: float
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.side}² grid, {self.states} states, coupling {self.coupling:g}"

    def terms(self) -> tuple[at.FactorGraph, at.Categorical, np.ndarray, np.ndarray]:
        """A graph with the variables alone, and the tables across and down."""
        rng = np.random.default_rng(self.seed)
        n, k = self.side, self.states
        graph = at.FactorGraph()
        label = graph.categorical(states=k, scores=rng.uniform(-1, 1, (n, n, k)), name="label")
        across = rng.uniform(-self.coupling, self.coupling, (n, n - 1, k, k))
        down = rng.uniform(-self.coupling, self.coupling, (n - 1, n, k, k))
        return graph, label, across, down


def plain(grid: Grid) -> at.FactorGraph:
    """A table for every edge."""
    graph, label, across, down = grid.terms()
    graph.add(at.Dense(label[:, :-1], label[:, 1:], scores=across))
    graph.add(at.Dense(label[:-1], label[1:], scores=down))
    return graph


def binarized(grid: Grid) -> at.FactorGraph:
    """Literals of joint states and exactly-one constraints."""
    return at.binarize(plain(grid)).graph


def chains(grid: Grid) -> at.FactorGraph:
    """A chain for every row and every column."""
    graph, label, across, down = grid.terms()
    for batch in at.grid_chains(label, across=across, down=down):
        graph.add(batch)
    return graph


def trees(grid: Grid) -> at.FactorGraph:
    """As few forests as it takes."""
    graph, label, across, down = grid.terms()
    cells = np.arange(grid.side**2).reshape(grid.side, grid.side)
    ends = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    scores = np.concatenate([t.reshape(-1, grid.states, grid.states) for t in (across, down)])
    nodes = [label[i, j] for i, j in np.ndindex(label.shape)]
    for tree in at.tree_cover(nodes, edges, scores=scores):
        graph.add(tree)
    return graph


WAYS: dict[str, Callable[[Grid], at.FactorGraph]] = {
    "plain": plain,
    "binarized": binarized,
    "chains": chains,
    "trees": trees,
}
GRIDS = {
    True: (Grid(6, 3, 1.0), Grid(10, 4, 1.0)),
    False: (Grid(6, 3, 1.0), Grid(6, 3, 5.0), Grid(10, 4, 1.0), Grid(10, 4, 5.0),
            Grid(20, 8, 1.0)),
}  # fmt: skip


def run(console: Console, grids: Sequence[Grid], time_limit: float) -> dict[str, list[Outcome]]:
    """Decode every grid written in every way until its bound is good; print how long it took."""
    results, rows, notes = {}, [], []
    for grid in grids:
        with console.status(grid.name):
            lp = highs(plain(grid), "ipm", time_limit).value
            outcomes = [_outcome(make, grid, lp, time_limit) for make in WAYS.values()]
        results[grid.name] = outcomes
        rows.append((grid.name, tables.number(lp, 7), *map(_cell, outcomes)))
        notes += [(f"{grid.name}, {w}", o.note) for w, o in zip(WAYS, outcomes, strict=True)]
    tables.show(
        console,
        f"AD3 iterations (and CPU time) until the bound is within {ACCURACY:g}·(1+|LP|)",
        ("grid", "LP", *WAYS),
        rows,
        caption=f"one LP value for all ways of writing it; {tables.circumstances()}",
        notes=notes,
    )
    return results


def _outcome(
    make: Callable[[Grid], at.FactorGraph], grid: Grid, lp: float, time_limit: float
) -> Outcome:
    if not np.isfinite(lp):
        return Outcome(note="no LP optimum to compare with")
    try:
        graph = make(grid)
        graph.compile()
    except Exception as error:
        return Outcome(note=f"failed: {type(error).__name__}: {error}")
    # Once for the compiler, before a clock runs.
    recorded(lambda: ad3_to_bound(graph, np.inf, time_limit))
    return repeated(lambda: ad3_to_bound(graph, lp, time_limit))


def _cell(outcome: Outcome) -> str:
    if not outcome.finished:
        return outcome.short_note
    return f"{outcome.iterations} ({tables.duration(outcome.cpu)})"
