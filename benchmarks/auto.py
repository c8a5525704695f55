"""Auto against every single solver: how much longer than the best of them for the instance.

A solver counts on an instance if its gap is no larger than Auto's.  Graphs are built anew for
every run, as they remember what was found out about them.  A solver that takes twice as long as
Auto is stopped: the ratio is then known to be one half at most, and counts as that.

Stored models are divided by a hash of their names, those that earlier versions were seen to be
slow on go to the half that settings are chosen by; random models are divided by their seeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from rich.console import Console

import assent as at
from benchmarks.collection import Instance, instances, uai_instances
from benchmarks.fresh import fresh_instances
from benchmarks.tables import DASH, circumstances, duration, number, show, verdict

SOLVERS: dict[str, Any] = {
    "Elimination": at.Elimination(),
    "RoofDuality": at.RoofDuality(),
    "TRWS": at.TRWS(),
    "AD3": at.AD3(),
    "LinearProgram": at.LinearProgram(),
}
SAME_GAP = 1e-4  # relative: gaps that differ by less are the same
WORST_BAR, MEAN_BAR = 1.5, 1.1
LIMIT = 5.0  # processor seconds for Auto
REPEATS = 3
LONG = 0.5  # seconds: runs are repeated until they took this long together
GIVEN_UP = 2.0  # a solver is stopped after so many times as long as Auto took
PATIENCE = 30.0  # seconds on the wall, for solvers of one step, which see no callback
LOADING = 1.0  # seconds a first run may take longer, as code is loaded

SEEN = "seen"
HELD_OUT = "held out"
SEEDS = {SEEN: (100, 101), HELD_OUT: (200, 201, 202)}
# Known from before: they cannot be a test any more.
SEEN_BEFORE = (
    "grid_potts1_0", "sidechain/pdb1aho.uai", "segmentation/Segmentation_11.uai",
)  # fmt: skip


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
        """Auto's time as a multiple of the best one's, one half where no other got as far."""
        return max(self.seconds["Auto"] / self.best[1], 1.0 / GIVEN_UP)


def measure(instance: Instance, limit: float) -> Outcome:
    """Run all solvers on one model."""
    outcome = Outcome(instance.name)
    allowed = limit
    for name, solver in {"Auto": at.Auto(), **SOLVERS}.items():
        seconds, result = clock(instance, solver, allowed)
        outcome.seconds[name] = seconds
        outcome.gap[name] = np.inf if result is None else result.certificate.relative_gap
        if name == "Auto":
            assert result is not None, "Auto refuses nothing"
            outcome.plan = " + ".join(words.split()[0].strip(",:") for words in _steps(result))
            allowed = GIVEN_UP * seconds
    return outcome


def _steps(result: at.Result) -> list[str]:
    return result.plan.split(" Then ")


def clock(instance: Instance, solver: Any, allowed: float) -> tuple[float, at.Result | None]:
    """Processor seconds of the quickest of some runs, and its result."""
    best, found, total = np.inf, None, 0.0
    for run in range(REPEATS + 1):
        graph = instance.build()
        graph.compile()
        begun = time.process_time()
        over = begun + allowed + (0.0 if run else LOADING)
        try:
            result = at.decode(
                graph, solver, time_limit=PATIENCE,
                callback=lambda step, over=over: time.process_time() > over,
            )  # fmt: skip
        except at.ModelError:
            return np.inf, None
        took = time.process_time() - begun
        if took < best:
            best, found = took, result
        total += took
        if took > allowed + LOADING or (run and total > LONG):
            break
    return best, found


def is_seen(name: str) -> bool:
    """Whether settings may have been chosen by looking at a stored model."""
    return name in SEEN_BEFORE or crc32(f"auto {name}".encode()) % 2 == 0


def chosen(data: Path | None, half: str, only: str, quick: bool) -> list[Instance]:
    """The models of one half."""
    stored = [*instances(data, quick=quick), *uai_instances(data)] if data else []
    found = [one for one in stored if is_seen(one.name) == (half == SEEN)]
    for seed in SEEDS[half][: 1 if quick else None]:
        found += fresh_instances(seed, quick)
    return [one for one in found if fnmatch(one.name, only)]


def run(
    console: Console, halves: dict[str, Iterable[Instance]], limit: float
) -> dict[str, list[Outcome]]:
    """Measure and print each half."""
    found = {}
    for half, models in halves.items():
        found[half] = []
        for instance in models:
            found[half].append(measure(instance, limit))
            console.print(f"[dim]{' · '.join(_row(found[half][-1]))}[/]")
    for half, outcomes in found.items():
        _show(console, half, outcomes)
    return found


def _row(outcome: Outcome) -> tuple[str, ...]:
    name, seconds = outcome.best
    return (
        outcome.name, outcome.plan, duration(outcome.seconds["Auto"]),
        number(outcome.gap["Auto"], 2), name or DASH, duration(seconds), number(outcome.ratio),
    )  # fmt: skip


def _show(console: Console, half: str, outcomes: Sequence[Outcome]) -> None:
    columns = ("instance", "Auto took", "time", "gap", "best single", "time", "ratio")
    rows = [_row(outcome) for outcome in outcomes]
    title = f"Auto and the best single solver: {half}"
    show(console, title, columns, rows, caption=circumstances())
    if not outcomes:
        return
    ratios = np.array([outcome.ratio for outcome in outcomes])
    worst, mean = float(ratios.max()), float(np.exp(np.log(ratios).mean()))
    console.print(
        f"{half}: {len(ratios)} models, worst {worst:.2f} {verdict(worst <= WORST_BAR)} "
        f"≤ {WORST_BAR}, above it {int((ratios > WORST_BAR).sum())}, geometric mean {mean:.2f} "
        f"{verdict(mean <= MEAN_BAR)} ≤ {MEAN_BAR}"
    )
