"""Suite ``per-iteration``: what one iteration costs per link, of AD3 and beside it of others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent.kernels.problem import Problem, Scores
from benchmarks import tables
from benchmarks.collection import Instance
from benchmarks.methods import flat
from benchmarks.synthetic import torus

PAIR_BAR = 10.0  # ns per pair factor and iteration
LINK_BAR = 12.0  # ns per logic link and iteration
POTTS_BAR = 0.6  # ms per iteration, on a torus of 20 × 20 variables with 8 labels
DENSE_BAR = 0.8  # µs per table of 8 × 8 and iteration
LABELS = 8
COUPLING = 10.0  # scores of tables and Potts factors are up to so large, those of labels up to 1
# Iterations per call: ten as in a decode.  Residuals are computed in every iteration.
ITERATIONS = 10
SECONDS = 1.5  # spent on each figure; the quickest call counts
WARMING = 50  # iterations first, so that thresholds and branches have settled as in a decode
DECODER_BAR = 2.0  # times AD3's time per link
DECODERS = {
    "Subgradient": at.Subgradient(lazy=False),
    "MPLP": at.MPLP(),
    "TRWS": at.TRWS(),
    "StarDiffusion": at.StarDiffusion(),
    "MaxProduct": at.MaxProduct(),
    "Accelerated": at.Accelerated(),
}
BARRED = ("Subgradient", "MPLP", "TRWS")  # the others have exponentials or no short way


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


def run_tables(console: Console, side: int) -> list[Cost]:
    """Measure tori of labels, with Potts factors and with tables; print both."""
    costs = []
    for kind in (at.Potts, at.Dense):
        name = f"{kind.__name__} {side}² × {LABELS}"
        with console.status(name):
            costs.append(_recorded(name, lambda n=name, k=kind: table_cost(n, k, side)))
    tables.show(
        console,
        f"AD3: iterations on tori of variables with {LABELS} labels",
        ("problem", "factors", "ms per iteration", "bar", "µs per factor", "bar"),
        [_table_row(cost, barred=side == 20) for cost in costs],
        caption="as the iterations of a decode: all factors, supports remembered",
        notes=[(cost.name, cost.note) for cost in costs],
    )
    return costs


def table_cost(name: str, kind: Any, side: int) -> Cost:
    """Cost per factor on a torus of labels."""
    problem, scores = flat(torus_of_labels(side, kind))
    factors = int(problem.tables.factor[-1])
    return Cost(name, factors, 1e9 * iteration_seconds(problem, scores) / factors)


def torus_of_labels(side: int, kind: Any) -> at.FactorGraph:
    """Random scores of labels, and of factors of one kind between neighbours."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    shape = (side, side, LABELS)
    x = graph.categorical((side, side), LABELS, scores=rng.uniform(-1.0, 1.0, shape))
    entries = (LABELS,) if kind is at.Potts else (LABELS, LABELS)
    number = np.arange(side)
    for other in (x[np.roll(number, -1)], x[:, np.roll(number, -1)]):
        scores = rng.uniform(-COUPLING, COUPLING, (side, side, *entries))
        graph.add(kind(x, other, scores=scores))
    return graph


def _table_row(cost: Cost, barred: bool) -> tuple[str, ...]:
    if cost.note:
        return (cost.name, tables.FAILED, "", "", "", "")
    total, each = 1e-6 * cost.units * cost.nanoseconds, 1e-3 * cost.nanoseconds
    is_potts = cost.name.startswith("Potts")
    bars = (POTTS_BAR, None) if is_potts else (None, DENSE_BAR)
    return (
        cost.name,
        f"{cost.units:,}",
        f"{total:.2f}",
        tables.against(total, bars[0] if barred else None, at_least=False),
        f"{each:.2f}",
        tables.against(each, bars[1] if barred else None, at_least=False),
    )


def compare(console: Console, side: int) -> dict[str, dict[str, float]]:
    """Nanoseconds per link and iteration of all decoders, grid by grid; print them beside AD3's."""
    found = {}
    for name, graph in grids(side).items():
        problem, scores = flat(graph)
        with console.status(name):
            own = {"AD3": iteration_seconds(problem, scores)}
            for decoder, solver in DECODERS.items():
                own[decoder] = iteration_seconds(problem, scores, solver)
        found[name] = {decoder: 1e9 * s / problem.n_links for decoder, s in own.items()}
    tables.show(
        console,
        "nanoseconds per link and iteration (times AD3's)",
        ("decoder", *found, "bar"),
        [_beside(decoder, list(found.values())) for decoder in ("AD3", *DECODERS)],
        caption="TRWS and StarDiffusion see every pair from both ends in an iteration",
    )
    return found


def grids(side: int) -> dict[str, at.FactorGraph]:
    """Pairs, Potts factors and tables on grids."""
    small = max(2, side // 5)
    return {
        f"pairs {side}²": torus(side),
        f"Potts {small}² × 8": labels(small, 8, at.Potts),
        f"tables {small}² × 3": labels(small, 3, at.Dense),
    }


def labels(side: int, states: int, kind: Any) -> at.FactorGraph:
    """A grid of labels with random factors of one kind."""
    rng = np.random.default_rng(0)
    graph = at.FactorGraph()
    x = graph.categorical((side, side), states, scores=rng.normal(size=(side, side, states)))
    shape = (states,) if kind is at.Potts else (states, states)
    for a, b in ((x[:-1], x[1:]), (x[:, :-1], x[:, 1:])):
        graph.add(kind(a, b, scores=rng.normal(size=(*a.shape, *shape))))
    return graph


def _beside(decoder: str, columns: Sequence[dict[str, float]]) -> tuple[str, ...]:
    worst = max(own[decoder] / own["AD3"] for own in columns)
    cells = (f"{own[decoder]:.1f} ({own[decoder] / own['AD3']:.2f})" for own in columns)
    bar = DECODER_BAR if decoder in BARRED else None
    return (decoder, *cells, tables.against(worst, bar, at_least=False))


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
        costs.append((f"{instance.name} all", problem, scores))
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


# Every factor in every iteration, and nothing but iterations.
EVERYBODY = at.AD3(cache_idle=False, extrapolate=False)


def iteration_seconds(problem: Problem, scores: Scores, solver: Any = EVERYBODY) -> float:
    """Seconds of one iteration in the quickest of many calls."""
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
