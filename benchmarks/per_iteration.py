"""Suite ``per-iteration``: what one AD3 iteration costs per pair factor and per logic link."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

import assent as at
from assent.problem import Problem, Scores
from benchmarks import tables
from benchmarks.collection import Instance
from benchmarks.methods import flat
from benchmarks.synthetic import torus

PAIR_BAR = 10.0  # ns per pair factor and iteration
LINK_BAR = 12.0  # ns per logic link and iteration
# Iterations per call: ten as in a decode.  Residuals are computed in every iteration.
ITERATIONS = 10
SECONDS = 1.5  # spent on each figure; the quickest call counts
WARMING = 50  # iterations first, so that thresholds and branches have settled as in a decode


@dataclass(frozen=True)
class Cost:
    """Nanoseconds of one iteration, per unit named in the table."""

    name: str
    units: int
    nanoseconds: float
    note: str = ""


def run(console: Console, sides: Sequence[int], instances: Sequence[Instance]) -> list[Cost]:
    """Measure tori of the given sides, then the instances with logic factors; print both."""
    pairs = [_recorded(f"torus {side}²", lambda s=side: torus_cost(s)) for side in sides]
    tables.show(
        console,
        "AD3: nanoseconds per pair factor and iteration (uncached, residuals included)",
        ("problem", "pair factors", "ns per factor", "bar"),
        [_row(cost, PAIR_BAR) for cost in pairs],
        notes=[(cost.name, cost.note) for cost in pairs],
    )
    links = []
    for instance in instances:
        with console.status(instance.name):
            links += logic_costs(instance)
    if links:
        tables.show(
            console,
            "AD3: nanoseconds per link and iteration",
            ("problem", "links", "ns per link", "bar"),
            [_row(cost, LINK_BAR) for cost in links],
            caption="'logic' leaves the pair factors out; a pair factor has two links",
            notes=[(cost.name, cost.note) for cost in links],
        )
    return [*pairs, *links]


def torus_cost(side: int) -> Cost:
    """Cost per pair factor on a toroidal grid."""
    problem, scores = flat(torus(side))
    seconds = iteration_seconds(problem, scores)
    return Cost(f"torus {side}²", problem.n_pairs, 1e9 * seconds / problem.n_pairs)


def logic_costs(instance: Instance) -> list[Cost]:
    """Cost per link of an instance as it is, and of its logic factors alone."""
    try:
        problem, scores = flat(instance.build())
    except Exception as error:
        return [Cost(instance.name, 0, np.nan, f"failed: {type(error).__name__}: {error}")]
    if not problem.n_logic:
        return []
    costs = [(f"{instance.name} logic", *without_pairs(problem, scores))]
    if problem.n_pairs:
        costs.append((f"{instance.name} whole", problem, scores))
    return [_recorded(name, lambda n=name, p=p, s=s: _link_cost(n, p, s)) for name, p, s in costs]


def _link_cost(name: str, problem: Problem, scores: Scores) -> Cost:
    seconds = iteration_seconds(problem, scores)
    return Cost(name, problem.n_links, 1e9 * seconds / problem.n_links)


def without_pairs(problem: Problem, scores: Scores) -> tuple[Problem, Scores]:
    """The same logic factors and unary scores with every pair factor removed."""
    lits = problem.lits
    degree = np.bincount(np.where(lits < 0, ~lits, lits), minlength=problem.n).astype(np.int32)
    none = np.zeros((0, 2), np.int32)
    logic_only = replace(problem, pair_var=none, degree=degree)
    return logic_only, replace(scores, pair=np.zeros(0))


def iteration_seconds(problem: Problem, scores: Scores) -> float:
    """Seconds of one iteration in the quickest of many calls."""
    solver = at.AD3(cache_idle=False)  # every factor in every iteration
    workspace = solver.init(problem, scores, None)
    solver.advance(problem, scores, workspace, WARMING)
    quickest, spent, calls = np.inf, 0.0, 0
    while spent < SECONDS or calls < 3:
        begun = time.thread_time()  # of one thread: what other processes do does not count
        solver.advance(problem, scores, workspace, ITERATIONS)
        seconds = time.thread_time() - begun
        quickest, spent, calls = min(quickest, seconds), spent + seconds, calls + 1
    return quickest / ITERATIONS


def _recorded(name: str, measure) -> Cost:
    try:
        return measure()
    except Exception as error:
        return Cost(name, 0, np.nan, f"failed: {type(error).__name__}: {error}")


def _row(cost: Cost, bar: float) -> tuple[str, ...]:
    figure = tables.FAILED if cost.note else f"{cost.nanoseconds:.1f}"
    return (
        cost.name,
        f"{cost.units:,}",
        figure,
        tables.against(cost.nanoseconds, bar, at_least=False),
    )
