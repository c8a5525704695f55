"""Suite ``certify``: value <= optimum <= bound on every instance, checked against HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.collection import Instance
from benchmarks.instances import Reference
from benchmarks.methods import both_highs, lp_optimum, recorded, target, warm_up

ROUNDING = 1e-7  # relative room for the tolerances of HiGHS


@dataclass(frozen=True)
class Check:
    """What was claimed about an instance and what is known; ``problems`` should be empty."""

    name: str
    status: str = ""
    value: float = np.nan
    optimum: float = np.nan
    lp: float = np.nan
    bound: float = np.nan
    seconds: float = np.nan
    to_target: float = np.nan  # seconds until the bound was within the accuracy asked for
    problems: tuple[str, ...] = ()


def run(console: Console, instances: Sequence[Instance], *, time_limit: float) -> list[Check]:
    """Check all instances and print what was found."""
    recorded(warm_up)
    checks = []
    for instance in instances:
        with console.status(instance.name):
            try:
                checks.append(check(instance, time_limit))
            except Exception as error:
                note = f"failed: {type(error).__name__}: {error}"
                checks.append(Check(instance.name, problems=(note,)))
    tables.show(
        console,
        "Certificates: value ≤ optimum ≤ LP ≤ bound",
        ("instance", "value", "optimum", "LP", "bound", "status", "seconds", "at LP after",
         "certified"),
        [_row(check) for check in checks],
        caption="optimum: where it is known from elsewhere; every certificate is recomputed",
        notes=[(check.name, "; ".join(check.problems)) for check in checks],
    )  # fmt: skip
    return checks


def check(instance: Instance, time_limit: float) -> Check:
    """Decode one instance and compare its claims with the linear program and stated figures."""
    graph = instance.build()
    known = instance.reference or Reference(None, None, 0.0)
    lp = lp_optimum(both_highs(graph, time_limit), known)
    result = at.decode(graph, at.AD3(), time_limit=time_limit)
    reached = result.trace.seconds[result.trace.best_bound <= target(lp)]
    return Check(
        name=instance.name,
        status=result.status.name,
        value=result.value,
        optimum=np.nan if known.optimum is None else known.optimum,
        lp=lp,
        bound=result.bound,
        seconds=result.seconds,
        to_target=float(reached[0]) if len(reached) else np.nan,
        problems=tuple(_problems(result, lp, known)),
    )


def _problems(result: at.Result, lp: float, known: Reference) -> list[str]:
    """Every way in which the claims disagree with what is known; unknown (NaN) never does."""
    room = ROUNDING * (1.0 + abs(result.bound)) + known.slack
    optimum = np.nan if known.optimum is None else known.optimum
    stated_lp = np.nan if known.lp is None else known.lp
    found = {
        "value above the LP": result.value > lp + room,
        "value above the optimum": result.value > optimum + room,
        "bound below the optimum": result.bound < optimum - room,
        "bound below the LP": result.bound < lp - room,
        "bound has not reached the LP": result.bound > target(lp) + room,
        "HiGHS disagrees with the stated LP": abs(lp - stated_lp) > room,
        "certificate does not verify": not result.certificate.verify(),
    }
    return [problem for problem, is_so in found.items() if is_so]


def _row(check: Check) -> tuple[str, ...]:
    return (
        check.name,
        *(tables.number(v, 8) for v in (check.value, check.optimum, check.lp, check.bound)),
        check.status,
        tables.duration(check.seconds),
        tables.duration(check.to_target),
        "[red]no[/]" if check.problems else "[green]yes[/]",
    )
