"""The contestants: AD3 until its bound is good enough, and HiGHS on our compact linear program."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import Problem, Scores
from assent.solvers.programs.highs import Method
from assent.trace import Progress, Trace
from benchmarks import synthetic, tables
from benchmarks.instances import Reference
from benchmarks.stopwatch import Stopwatch

ACCURACY = 1e-4  # a bound is good when within ACCURACY * (1 + |LP|) of the LP optimum
MOST_RUNS = 5
RUNNING_SECONDS = 3.0  # no further run is begun after that


@dataclass(frozen=True)
class Outcome:
    """How one contestant did; ``note`` says why where there is no result."""

    seconds: float = np.nan  # on the wall clock
    cpu: float = np.nan  # of its one thread: what other processes do does not count
    value: float = np.nan
    note: str = ""
    limited: bool = False  # ran out of time, as opposed to having failed
    iterations: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)  # of the time, by step
    trace: Trace | None = None

    @property
    def finished(self) -> bool:
        return bool(np.isfinite(self.seconds))

    @property
    def short_note(self) -> str:
        """A word for a table cell."""
        return "[red]limit[/]" if self.limited else tables.FAILED


def flat(graph: at.FactorGraph) -> tuple[Problem, Scores]:
    """The compiled problem of a graph and its scores."""
    compiled = graph.compile()
    return compiled.problem, compiled.flat_scores(graph_scores(graph))


def target(lp: float) -> float:
    """The largest bound that counts as having reached the LP optimum ``lp``."""
    return lp + ACCURACY * (1.0 + abs(lp))


def recorded(run: Callable[[], Outcome]) -> Outcome:
    """``run()``, or an outcome that says how it failed: a benchmark hides nothing."""
    try:
        return run()
    except Exception as error:
        return Outcome(note=f"failed: {type(error).__name__}: {error}")


def repeated(run: Callable[[], Outcome]) -> Outcome:
    """The quickest of several runs (disturbances only add time), fewer if they are long."""
    outcomes = [recorded(run)]
    while outcomes[-1].finished and len(outcomes) < MOST_RUNS:
        if sum(o.seconds for o in outcomes) >= RUNNING_SECONDS:
            break
        outcomes.append(recorded(run))
    finished = [o for o in outcomes if o.finished]
    if not finished:
        return outcomes[0]
    best = min(finished, key=lambda o: o.cpu)
    return replace(best, seconds=min(o.seconds for o in finished))


def ad3_to_bound(graph: at.FactorGraph, lp: float, time_limit: float) -> Outcome:
    """Decode until the best bound is good; the clocks include bounds and rounding."""
    cpu = 0.0

    def good(step: Progress) -> bool:
        nonlocal cpu
        cpu = time.thread_time() - begun
        return step.best_bound <= target(lp)

    solver = Stopwatch(at.AD3())
    begun = time.thread_time()
    result = at.decode(graph, solver, callback=good, time_limit=time_limit)
    last = result.trace.reports[-1]
    if not last.best_bound <= target(lp):
        off = (last.best_bound - lp) / (1.0 + abs(lp))
        note = f"{result.status.name} {off:.0e} above the LP after {last.seconds:.1f} s"
        return Outcome(value=last.best_bound, note=note, limited=True, trace=result.trace)
    return Outcome(
        seconds=last.seconds,
        cpu=cpu,
        value=last.best_bound,
        iterations=last.iteration,
        shares={step: spent / cpu for step, spent in solver.spent.items()},
        trace=result.trace,
    )


def warm_up() -> Outcome:
    """Compile or load every kernel before a clock runs."""
    ad3_to_bound(synthetic.torus(6), lp=-np.inf, time_limit=1.0)
    return ad3_to_bound(synthetic.assignment(6, 4), lp=-np.inf, time_limit=1.0)


def highs(graph: at.FactorGraph, method: Method, time_limit: float) -> Outcome:
    """Solve the compact linear program to optimality; time inside HiGHS only.

    On a busy machine that is longer on the wall than all the processor's: the less of both counts.
    """
    problem, scores = flat(graph)
    begun = time.process_time()
    solution = at.LinearProgram(method=method).solve(problem, scores, time_limit)
    if solution.status != "optimal":
        note = f"{solution.status} after {solution.seconds:.1f} s"
        return Outcome(note=note, limited=solution.status == "time limit")
    cpu = min(solution.seconds, time.process_time() - begun)
    return Outcome(seconds=solution.seconds, cpu=cpu, value=solution.value)


def both_highs(graph: at.FactorGraph, time_limit: float) -> dict[str, Outcome]:
    """Interior point, then simplex with no more time than decides which is faster."""
    ipm = repeated(lambda: highs(graph, "ipm", time_limit))
    left = 2.0 * ipm.seconds + 1.0 if ipm.finished else time_limit
    simplex = repeated(lambda: highs(graph, "simplex", left))
    return {"simplex": simplex, "ipm": ipm}


def lp_optimum(highs: Mapping[str, Outcome], known: Reference | None) -> float:
    """What HiGHS found, simplex first; else the stated figure; NaN if nobody knows."""
    stated = np.nan if known is None or known.lp is None else known.lp
    return next((o.value for o in highs.values() if o.finished), stated)
