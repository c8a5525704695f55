"""Auto against every single solver: how much longer than the best of them for the instance.

A solver counts on an instance if its gap is no larger than Auto's.  Limits of Auto were chosen by
looking at every other instance (those of an even number); the others are the test, though a few of
them (budgets, segmentations) led to changes later.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from benchmarks.collection import Instance
from benchmarks.tables import DASH, circumstances, duration, number, show, verdict

SOLVERS: dict[str, Any] = {
    "AD3": at.AD3(),
    "LinearProgram": at.LinearProgram(),
    "TRWS": at.TRWS(),
    "RoofDuality": at.RoofDuality(),
    "Elimination": at.Elimination(),
}
SAME_GAP = 1e-4  # relative: gaps that differ by less are the same
WORST_BAR, MEAN_BAR = 1.5, 1.1
REPEATS = 5
LONG = 0.3  # seconds: a run this long is not repeated
HOPELESS = 10.0  # nor one that took so many times as long as Auto


@dataclass
class Outcome:
    """Processor seconds and relative gap of every solver; infinite where it was refused."""

    name: str
    plan: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    gap: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> tuple[str, float]:
        """The quickest solver whose gap is no larger than Auto's."""
        fair = [s for s in SOLVERS if self.gap[s] <= self.gap["Auto"] + SAME_GAP]
        name = min(fair, key=self.seconds.__getitem__, default="")
        return name, self.seconds.get(name, np.inf)

    @property
    def ratio(self) -> float:
        """Auto's time as a multiple of the best one's; 0 where no other got as far."""
        return self.seconds["Auto"] / self.best[1]


def measure(instance: Instance, limit: float) -> Outcome:
    """Run all solvers on one graph."""
    graph = instance.build()
    graph.compile()
    outcome = Outcome(instance.name)
    for name, solver in {"Auto": at.Auto(), **SOLVERS}.items():
        hopeless = HOPELESS * outcome.seconds.get("Auto", np.inf)
        seconds, result = clock(graph, solver, limit, hopeless)
        outcome.seconds[name] = seconds
        outcome.gap[name] = np.inf if result is None else result.certificate.relative_gap
        if name == "Auto" and result is not None:
            outcome.plan = result.plan.split(",")[0].split(":")[0]
    return outcome


def clock(
    graph: at.FactorGraph, solver: Any, limit: float, hopeless: float
) -> tuple[float, at.Result | None]:
    """Processor seconds of the quickest run after the first one, and a result.

    The first run counts where it took so long that another would not help.
    """
    best, result = np.inf, None
    for run in range(REPEATS + 1):
        begun = time.process_time()
        try:
            result = at.decode(graph, solver, time_limit=limit)
        except at.ModelError:
            return np.inf, None
        took = time.process_time() - begun
        if run or took > hopeless:
            best = min(best, took)
        if took > hopeless or (run and took > LONG):
            break
    return best, result


def run(console: Console, chosen: Sequence[Instance], limit: float) -> list[Outcome]:
    """Measure and print: all instances, then the two halves by themselves."""
    outcomes = [measure(instance, limit) for instance in chosen]
    rows = []
    for i, outcome in enumerate(outcomes):
        name, seconds = outcome.best
        ratio = number(outcome.ratio) if np.isfinite(seconds) else "only one"
        rows.append(
            (
                outcome.name, outcome.plan, duration(outcome.seconds["Auto"]),
                number(outcome.gap["Auto"], 2), name or DASH, duration(seconds), ratio,
                "test" if i % 2 else "seen",
            )
        )  # fmt: skip
    columns = ("instance", "Auto took", "time", "gap", "best single", "time", "ratio", "half")
    show(console, "Auto and the best single solver", columns, rows, caption=circumstances())
    for half, part in (("seen", outcomes[0::2]), ("test", outcomes[1::2])):
        ratios = [o.ratio for o in part if np.isfinite(o.best[1])]
        if not ratios:
            continue
        worst, mean = max(ratios), float(np.exp(np.mean(np.log(ratios))))
        console.print(
            f"{half}: {len(part)} instances, worst {worst:.2f} {verdict(worst <= WORST_BAR)} "
            f"≤ {WORST_BAR}, geometric mean {mean:.2f} {verdict(mean <= MEAN_BAR)} ≤ {MEAN_BAR}"
        )
    return outcomes
