"""Suite ``certify``: value <= optimum <= bound on every instance, and bounds that reach the LP.

Or, with ``exact``, answers that are proven optimal.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

import assent as at
from assent.trace import Progress
from benchmarks import tables
from benchmarks.collection import Instance
from benchmarks.instances import Reference
from benchmarks.lp_optima import kept_optima
from benchmarks.methods import ACCURACY, both_highs, lp_optimum, recorded, target, warm_up
from benchmarks.tables import circumstances

ROUNDING = 1e-7  # relative room for the tolerances of HiGHS
# Seconds on the wall for a second of processor time, where no callback reads that clock.
WALL_PER_CPU = 4.0


@dataclass(frozen=True)
class Check:
    """What was claimed about an instance and what is known; ``problems`` should be empty."""

    name: str
    status: str = ""
    value: float = np.nan
    optimum: float = np.nan
    best_known: float = np.nan  # a score that somebody has reached
    lp: float = np.nan
    bound: float = np.nan
    seconds: float = np.nan
    problems: tuple[str, ...] = ()

    @property
    def above(self) -> float:
        """How far the bound stays above the LP, relative to 1 + |LP|."""
        return (self.bound - self.lp) / (1.0 + abs(self.lp))

    @property
    def reached(self) -> bool:
        """Whether the bound is within the accuracy of the LP, or of a value, which is below it."""
        gap = (self.bound - self.value) / (1.0 + abs(self.bound))
        return self.above <= ACCURACY or gap <= ACCURACY


def run(
    console: Console, instances: Sequence[Instance], *, time_limit: float, exact: bool = False
) -> list[Check]:
    """Check all instances and print what was found."""
    recorded(warm_up)
    checks = []
    for instance in instances:
        with console.status(instance.name):
            try:
                checks.append((check_exact if exact else check)(instance, time_limit))
            except Exception as error:
                note = f"failed: {type(error).__name__}: {error}"
                checks.append(Check(instance.name, problems=(note,)))
    tables.show(
        console,
        "Certificates: value ≤ optimum ≤ LP ≤ bound",
        ("instance", "value", "optimum", "LP", "bound", "above LP", "status", "seconds",
         "claims"),
        [_row(check) for check in checks],
        caption="optimum: proven elsewhere, ≥ the best known; above LP: relative to 1 + |LP|; "
        "seconds: CPU of one thread;\n"
        f"claims: all hold, every certificate recomputed; {circumstances()}",
        notes=[(check.name, "; ".join(check.problems)) for check in checks],
    )  # fmt: skip
    proven = sum(check.status in ("OPTIMAL", "INFEASIBLE") for check in checks)
    hold = sum(not check.problems for check in checks)
    console.print(f"claims hold on {hold} of {len(checks)} instances, {proven} are proven")
    if not exact:
        _print_reached(console, checks, time_limit)
    return checks


def _print_reached(console: Console, checks: Sequence[Check], time_limit: float) -> None:
    compared = [check for check in checks if np.isfinite(check.lp) or check.reached]
    reached = sum(check.reached for check in compared)
    console.print(
        f"bound within {ACCURACY:g}·(1+|LP|) of the LP in {time_limit:g} s: {reached} of "
        f"{len(compared)} instances whose LP is known, or enclosed by value and bound "
        f"({len(checks) - len(compared)} are not)"
    )


def check(instance: Instance, time_limit: float) -> Check:
    """Decode one instance and compare its claims with the linear program and stated figures.

    The run ends where the bound has reached the LP (what is left of the gap is the relaxation's),
    or after ``time_limit`` seconds of processor time: what else the machine does does not count.
    """
    graph = instance.build()
    known = instance.reference or Reference(None, None, 0.0)
    lp = _lp(instance, graph, known, time_limit)
    graph.compile()
    begun = time.thread_time()

    def enough(step: Progress) -> bool:
        return step.best_bound <= target(lp) or time.thread_time() - begun > time_limit

    result = at.decode(graph, at.AD3(), callback=enough)
    return _checked(instance.name, result, lp, known, time.thread_time() - begun)


def check_exact(instance: Instance, time_limit: float) -> Check:
    """Ask for the optimum of one instance, and compare the claims with stated figures."""
    graph = instance.build()
    begun = time.process_time()

    def enough(step: Progress) -> bool:
        return time.process_time() - begun > time_limit

    result = at.decode(graph, exact=True, callback=enough, time_limit=WALL_PER_CPU * time_limit)
    known = instance.reference or Reference(None, None, 0.0)
    return _checked(instance.name, result, np.nan, known, time.process_time() - begun)


def _checked(name: str, result: at.Result, lp: float, known: Reference, seconds: float) -> Check:
    return Check(
        name=name,
        status=result.status.name,
        value=result.value,
        optimum=np.nan if known.optimum is None else known.optimum,
        best_known=np.nan if known.reached is None else known.reached,
        lp=lp,
        bound=result.bound,
        seconds=seconds,
        problems=tuple(_problems(result, lp, known)),
    )


def _lp(instance: Instance, graph: at.FactorGraph, known: Reference, time_limit: float) -> float:
    """The LP optimum: stated, kept, or found now; NaN if HiGHS does not finish in time."""
    stated = kept_optima().get(instance.name) if known.lp is None else known.lp
    return lp_optimum(both_highs(graph, time_limit), known) if stated is None else stated


def _problems(result: at.Result, lp: float, known: Reference) -> list[str]:
    """Every way in which the claims disagree with what is known; unknown (NaN) never does."""
    room = ROUNDING * (1.0 + abs(result.bound)) + known.slack
    optimum = np.nan if known.optimum is None else known.optimum
    best_known = np.nan if known.reached is None else known.reached
    is_best = result.status is at.Status.OPTIMAL
    left = max(result.certificate.gap, 0.0)
    found = {
        "value above the LP": result.value > lp + room,
        "value above the optimum": result.value > optimum + room,
        "bound below the optimum": result.bound < optimum - room,
        "bound below what is known to be reached": result.bound < best_known - room,
        "bound below the LP": result.bound < lp - room,
        "proven to be the best, but a better one is known": is_best
        and result.value < best_known - room - left,
        "proven to be infeasible, but an answer is known": result.status is at.Status.INFEASIBLE
        and np.isfinite(best_known),
        "certificate does not verify": not result.certificate.verify(),
    }
    return [problem for problem, is_so in found.items() if is_so]


def _row(check: Check) -> tuple[str, ...]:
    return (
        check.name,
        tables.number(check.value, 8),
        _known(check),
        *(tables.number(v, 8) for v in (check.lp, check.bound)),
        tables.number(check.above, 2) if not check.reached else "[green]reached[/]",
        check.status,
        tables.duration(check.seconds),
        "[red]no[/]" if check.problems else "[green]yes[/]",
    )


def _known(check: Check) -> str:
    if np.isfinite(check.optimum):
        return tables.number(check.optimum, 8)
    return f"≥ {tables.number(check.best_known, 8)}" if np.isfinite(check.best_known) else "–"
