"""Suite ``own-structures``: a chain compiled by a user against the library's, inside AD3.

The user's is a plain Viterbi loop given to ``Custom(kernel=…)``; both decode the same grid, a chain
for every row and every column.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.decompositions import Grid
from benchmarks.methods import flat

BAR = 1.5
ITERATIONS = 50  # measured at a time, after as many to warm up
ROUNDS = 5  # the quickest counts
GRIDS = [Grid(8, 4, 1.0), Grid(8, 12, 1.0), Grid(16, 4, 1.0)]


@numba.njit
def viterbi(start, data, scores, inner, scale, states):
    """The best sequence: ``data`` is the number of states, ``inner`` the transition tables."""
    k, n = data[0], len(states)
    best = scores[:k].copy()
    after = np.empty(k)
    came = np.empty((n, k), np.int32)
    for t in range(1, n):
        table = inner[(t - 1) * k * k : t * k * k].reshape(k, k)
        for j in range(k):
            top, argument = -np.inf, 0
            for i in range(k):
                value = best[i] + scale * table[i, j]
                if value > top:
                    top, argument = value, i
            after[j] = top + scores[t * k + j]
            came[t, j] = argument
        best, after = after, best
    states[n - 1] = np.argmax(best)
    earned = 0.0
    for t in range(n - 1, 0, -1):
        states[t - 1] = came[t, states[t]]
        earned += inner[(t - 1) * k * k + states[t - 1] * k + states[t]]
    return best[states[n - 1]], earned


def built_in(grid: Grid) -> at.FactorGraph:
    """A `Chain` at a time."""
    return _lines(grid, lambda line, tables: at.Chain(line, transitions=tables))


def own(grid: Grid) -> at.FactorGraph:
    """A `Custom` at a time."""
    return _lines(
        grid,
        lambda line, tables: at.Custom(
            line, kernel=viterbi, scores=tables.ravel(), data=[grid.states]
        ),
    )


def _lines(grid: Grid, chain: Callable) -> at.FactorGraph:
    graph, label, across, down = grid.terms()
    for i in range(grid.side):
        graph.add(chain(label[i], across[i]))
        graph.add(chain(label[:, i], down[:, i]))
    return graph


def run(console: Console) -> list[tuple[Grid, float, float]]:
    """Measure, print and return seconds per iteration of the library's and the user's."""
    results = []
    for grid in GRIDS:
        with console.status(grid.name):
            results.append((grid, *per_iteration(built_in(grid), own(grid))))
    tables.show(
        console,
        "A user's compiled chain against the built-in one: AD3, per iteration",
        ("problem", "chains", "built in", "your own", "ratio", "bar"),
        [
            (
                grid.name,
                str(2 * grid.side),
                tables.duration(theirs),
                tables.duration(yours),
                f"{yours / theirs:.2f}",
                tables.against(yours / theirs, BAR, at_least=False),
            )
            for grid, theirs, yours in results
        ],
        caption=f"CPU time of one thread, the quickest of {ROUNDS}; {tables.circumstances()}",
    )
    return results


def per_iteration(*graphs: at.FactorGraph) -> list[float]:
    """CPU seconds per AD3 iteration, the graphs taking turns so that all see the same machine."""
    solver = at.AD3(cache_idle=False)
    running = []
    for graph in graphs:
        problem, scores = flat(graph)
        workspace = solver.init(problem, scores)
        solver.advance(problem, scores, workspace, ITERATIONS)
        running.append((problem, scores, workspace))
    quickest = [np.inf] * len(graphs)
    for _ in range(ROUNDS):
        for i, state in enumerate(running):
            begun = time.thread_time()
            solver.advance(*state, ITERATIONS)
            quickest[i] = min(quickest[i], (time.thread_time() - begun) / ITERATIONS)
    return quickest
