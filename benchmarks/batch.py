"""Suite ``batch``: `decode_many` on small problems against a loop over ``scipy.optimize.milp``.

Both get prepared inputs, graphs compiled and matrices built, and prove their answers to the same
gap.  Times of one thread are of the processor, the quickest of several runs; several threads are
compared on the wall, in turns.

Warm starts are compared with cold ones twice: by full calls, which is what the bar is about, and
inside the compiled loop on problems with a tight relaxation.  What a call does besides (checking
new scores, laying problems end to end) is the same for both, and a relaxation that is not tight
has to converge to the last digit in either case.

The family ``weighted``, rarely tight, stands below the total and is no part of it.

A second table tells what it takes to write the graphs from their data (index arrays and scores are
there) and to compile them; and what is left of that where a graph is there already, of a `Template`
for instance, and only its scores are new.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from scipy.optimize import Bounds, LinearConstraint, milp

import assent as at
from assent.compile.compiled import graph_scores
from assent.decode import compiled_for
from assent.solvers.programs.compact_lp import CompactLP, build_lp
from benchmarks import tables
from benchmarks.methods import flat
from benchmarks.small_instances import FAMILIES, WEIGHTED, Family, changed_scores, small_instances
from benchmarks.threads import Speedup, quickest

GAP = 1e-6  # what both prove, relatively
SAME = 1e-5  # relative difference of equal values
CHANGE = 0.01  # of the scores, for warm starts
RUNS = 3
BAR_PEER, BAR_WARM, BAR_THREADS, BAR_BUILD = 10.0, 3.0, 1.6, 0.3


@dataclass(frozen=True)
class Figures:
    """Seconds per problem, and how the answers compare."""

    name: str
    count: int
    tight: int  # problems whose answer is proven optimal
    peer: float  # by milp
    cold: float
    changed: float  # after a change of scores, from scratch
    warm: float  # after a change of scores, from the earlier result
    changed_tight: float  # the same inside the loop, per problem with a tight relaxation
    warm_tight: float
    iterations: tuple[float, float]  # of the last two
    disagree: int  # proven optimal but not equal to milp's, or bounds on the wrong side


def run(console: Console, count: int, threads: int) -> tuple[list[Figures], Speedup]:
    """Measure families of small problems, all of them, and several threads on all of them."""
    with console.status("building and compiling"):
        graphs = small_instances(count)
        for graph in graphs:
            graph.compile()
        at.decode_many(graphs[: 9 * len(FAMILIES)], at.AD3())
    figures = []
    for number, family in enumerate(FAMILIES):
        with console.status(family.name):
            figures.append(measure(family.name, graphs[number :: len(FAMILIES)]))
    figures.append(total(figures))
    with console.status("weighted"):
        loose = small_instances(max(3, count // 10), families=(WEIGHTED,))
        figures.append(measure(WEIGHTED.name, loose))
    with console.status(f"{threads} threads"):
        gain = speedup(graphs, threads)
    tables.show(
        console,
        f"{count} small problems, each",
        ("family", "number", "proven", "milp", "many", "ratio", "bar",
         "1 % changed", "warm", "ratio", "bar", "tight, in loop", "ratio", "iterations", "wrong"),
        [row(f, barred=f.name == "all") for f in figures],
        caption="seconds of the processor per problem.\n"
        f"{threads} threads on all: {gain.ratio:.2f}× on the wall "
        f"{tables.against(gain.ratio, BAR_THREADS if threads == 2 else None, at_least=True)}, "
        f"of {gain.available:.2f}× that two calls at once get here; " + tables.circumstances(),
    )  # fmt: skip
    show_builds(console)
    return figures, gain


def show_builds(console: Console) -> None:
    """What it takes to write the graphs and to compile them, or to fill in new scores."""
    with console.status("writing and compiling"):
        seconds = {family.name: build_seconds(family) for family in (*FAMILIES, WEIGHTED)}
    rows = [
        (
            name,
            *(tables.duration(t) for t in (write, compile_, write + compile_)),
            tables.against(1e3 * (write + compile_), BAR_BUILD, at_least=False),
            tables.duration(fill),
        )
        for name, (write, compile_, fill) in seconds.items()
    ]
    tables.show(
        console, "From data to a compiled graph",
        ("family", "write", "compile", "both", "bar, ms", "scores only"), rows,
        caption="the quickest runs, averaged over graphs; " + tables.circumstances(),
    )  # fmt: skip


def row(f: Figures, barred: bool) -> tuple[str, ...]:
    """A line of the table."""
    faster, rewarmed = f.peer / f.cold, f.changed / f.warm
    return (
        f.name,
        str(f.count),
        f"{100.0 * f.tight / f.count:.0f} %",
        *(tables.duration(t) for t in (f.peer, f.cold)),
        f"{faster:.1f}×",
        tables.against(faster, BAR_PEER if barred else None, at_least=True),
        *(tables.duration(t) for t in (f.changed, f.warm)),
        f"{rewarmed:.1f}×",
        tables.against(rewarmed, BAR_WARM if barred else None, at_least=True),
        f"{tables.duration(f.changed_tight)} → {tables.duration(f.warm_tight)}",
        f"{f.changed_tight / f.warm_tight:.1f}×",
        f"{f.iterations[0]:.0f} → {f.iterations[1]:.0f}",
        str(f.disagree),
    )


def measure(name: str, graphs: Sequence[at.FactorGraph]) -> Figures:
    """One family."""
    solver = at.AD3(gap_tolerance=GAP)
    rng = np.random.default_rng(1)
    changes = [changed_scores(graph, CHANGE, rng) for graph in graphs]
    cold, results = timed(lambda: at.decode_many(graphs, solver=solver))
    changed, before = timed(lambda: at.decode_many(graphs, solver, scores=changes))
    warm, after = timed(lambda: at.decode_many(graphs, solver, scores=changes, warm_start=results))
    programs = [build_lp(*flat(graph)) for graph in graphs]
    begun = time.process_time()
    optima = [solve_milp(program) for program in programs]
    peer = time.process_time() - begun
    proven = np.array([status is at.Status.OPTIMAL for status in results.statuses])
    n = len(graphs)
    tight = [set(each) == {at.Status.OPTIMAL} for each in zip(
        results.statuses, before.statuses, after.statuses, strict=True
    )]  # fmt: skip
    chosen = np.flatnonzero(tight).tolist()
    return Figures(
        name, n, int(proven.sum()), peer / n, cold / n, changed / n, warm / n,
        *loop_seconds([graphs[i] for i in chosen], [changes[i] for i in chosen], solver),
        (float(before.iterations.mean()), float(after.iterations.mean())),
        disagreements(results, proven, np.array(optima)),
    )  # fmt: skip


def build_seconds(family: Family, count: int = 50) -> tuple[float, float, float]:
    """Seconds to write a graph from its data, to compile it, and to fill new scores into it.

    The quickest runs, on average.
    """
    drawn = [family.draw(np.random.default_rng((0, number))) for number in range(count)]
    best = np.full((count, 3), np.inf)
    rng = np.random.default_rng(1)
    for _ in range(3 * RUNS):  # each is over before the processor does something else
        for number, data in enumerate(drawn):
            begun = time.perf_counter()
            graph = family.write(**data)
            written = time.perf_counter()
            graph.compile()
            compiled = time.perf_counter()
            changes = changed_scores(graph, CHANGE, rng)
            ready = time.perf_counter()
            compiled_for(graph, graph_scores(graph, changes))
            found = written - begun, compiled - written, time.perf_counter() - ready
            best[number] = np.minimum(best[number], found)
    write, compile_, fill = best.mean(axis=0).tolist()
    return write, compile_, fill


def loop_seconds(
    graphs: Sequence[at.FactorGraph], changes: Sequence[Any], solver: at.AD3
) -> tuple[float, float]:
    """Seconds inside the compiled loop per problem after a change of scores, cold and warm."""
    if not graphs:
        return np.nan, np.nan
    earlier = at.decode_many(graphs, solver=solver)
    best = [np.inf, np.inf]
    for _ in range(RUNS):
        for i, start in enumerate((None, earlier)):
            results = at.decode_many(graphs, solver, scores=changes, warm_start=start)
            best[i] = min(best[i], float(np.mean([result.seconds for result in results])))
    return best[0], best[1]


def total(parts: Sequence[Figures]) -> Figures:
    """All families together."""
    count = sum(f.count for f in parts)

    def mean(read: Callable[[Figures], float]) -> float:
        return sum(f.count * read(f) for f in parts) / count

    return Figures(
        "all", count, sum(f.tight for f in parts), mean(lambda f: f.peer),
        mean(lambda f: f.cold), mean(lambda f: f.changed), mean(lambda f: f.warm),
        mean(lambda f: f.changed_tight), mean(lambda f: f.warm_tight),
        (mean(lambda f: f.iterations[0]), mean(lambda f: f.iterations[1])),
        sum(f.disagree for f in parts),
    )  # fmt: skip


def timed(work: Callable[[], at.Results]) -> tuple[float, at.Results]:
    """Processor seconds of the quickest of several calls, and what it returned."""
    best, answer = np.inf, None
    for _ in range(RUNS):
        begun = time.process_time()
        answer = work()
        best = min(best, time.process_time() - begun)
    assert answer is not None
    return best, answer


def solve_milp(program: CompactLP) -> float:
    """The optimum by HiGHS's branch and cut; the coordinates are integral, the rest follows."""
    n = len(program.column_upper) - len(program.rows.cost)
    integral = np.concatenate([np.ones(n), np.zeros(len(program.rows.cost))])
    answer: Any = milp(
        program.cost,
        integrality=integral,
        bounds=Bounds(0.0, program.column_upper),
        constraints=LinearConstraint(program.matrix, program.row_lower, program.row_upper),
        options={"mip_rel_gap": GAP},
    )
    return program.offset - program.scale * answer.fun if answer.success else -np.inf


def disagreements(results: at.Results, proven: np.ndarray, optima: np.ndarray) -> int:
    """Answers proven optimal that are not; values or bounds on the wrong side of the optimum."""
    slack = SAME * (1.0 + np.abs(optima))
    unequal = proven & ~(np.abs(results.values - optima) <= slack)
    wrong = (results.values > optima + slack) | (results.bounds < optima - slack)
    return int((unequal | wrong).sum())


def speedup(graphs: Sequence[at.FactorGraph], threads: int) -> Speedup:
    """Seconds on the wall with one thread and with several, and of two calls at once."""

    def apart() -> None:
        other = threading.Thread(target=at.decode_many, args=(graphs, at.AD3()))
        other.start()
        at.decode_many(graphs, at.AD3())
        other.join()

    alone, helped, both = quickest(
        lambda: at.decode_many(graphs, at.AD3()),
        lambda: at.decode_many(graphs, at.AD3(), threads=threads),
        apart,
    )
    return Speedup(alone, helped, both)
