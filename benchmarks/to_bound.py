"""Suite ``to-bound``: time until the bound has reached the LP optimum, against HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks import plots, tables
from benchmarks.collection import Instance
from benchmarks.methods import (
    ACCURACY,
    Outcome,
    ad3_to_bound,
    both_highs,
    lp_optimum,
    recorded,
    repeated,
    warm_up,
)


@dataclass(frozen=True)
class Race:
    """One instance, all contestants."""

    instance: Instance
    ad3: Outcome
    highs: dict[str, Outcome] = field(default_factory=dict)

    @property
    def lp(self) -> float:
        """The LP optimum."""
        return lp_optimum(self.highs, self.instance.reference)

    @property
    def ratio(self) -> float:
        """How many times faster than the faster of the linear programs, in CPU time."""
        return self._fastest("cpu") / self.ad3.cpu

    @property
    def wall_ratio(self) -> float:
        """The same on the wall clock."""
        return self._fastest("seconds") / self.ad3.seconds

    def _fastest(self, clock: str) -> float:
        times = [getattr(o, clock) for o in self.highs.values() if o.finished]
        return min(times, default=np.nan)


def run(
    console: Console,
    instances: Sequence[Instance],
    *,
    time_limit: float,
    plot_folder: Path | None = None,
) -> list[Race]:
    """Run all races, print them, draw them."""
    recorded(warm_up)
    races = []
    for instance in instances:
        with console.status(instance.name):
            races.append(race(instance, time_limit))
    tables.show(
        console,
        f"Time until the bound is within {ACCURACY:g}·(1+|LP|) of the LP optimum",
        ("instance", "LP", "iterations", "iterating", "bounds", "rest",
         "AD3", "simplex", "IPM", "ratio", "on the wall", "bar"),
        [_row(race) for race in races],
        caption="CPU time of one thread, best of several runs, warm; ratio = faster HiGHS method "
        "/ AD3, then the same on the wall clock;\niterating, bounds, rest (rounding and all else): "
        "shares of AD3's time; " + tables.circumstances(),
        notes=[note for race in races for note in _notes(race)],
    )  # fmt: skip
    if plot_folder is not None and races:
        console.print(f"plot: {plots.bounds_over_time(races, plot_folder)}")
    return races


def race(instance: Instance, time_limit: float) -> Race:
    """Time everybody on one instance."""
    try:
        graph = instance.build()
        graph.compile()
    except Exception as error:
        return Race(instance, Outcome(note=f"failed: {type(error).__name__}: {error}"))
    highs = both_highs(graph, time_limit)
    lp = lp_optimum(highs, instance.reference)
    if not np.isfinite(lp):
        return Race(instance, Outcome(note="no LP optimum to compare with"), highs)
    ad3 = repeated(lambda: ad3_to_bound(graph, lp, time_limit))
    return Race(instance, ad3, highs)


def _row(race: Race) -> tuple[str, ...]:
    return (
        race.instance.name,
        tables.number(race.lp, 8),
        str(race.ad3.iterations or tables.DASH),
        *_shares(race.ad3),
        _time(race.ad3),
        *(_time(race.highs.get(method)) for method in ("simplex", "ipm")),
        *(f"{r:.3g}×" if np.isfinite(r) else tables.DASH for r in (race.ratio, race.wall_ratio)),
        tables.against(race.ratio, race.instance.bar, at_least=True),
    )


def _time(outcome: Outcome | None) -> str:
    if outcome is None:
        return tables.DASH
    return tables.duration(outcome.cpu) if outcome.finished else outcome.short_note


def _shares(ad3: Outcome) -> tuple[str, str, str]:
    if not ad3.shares:
        return (tables.DASH,) * 3
    iterating = ad3.shares["advance"]
    bounds = ad3.shares["bound"] + ad3.shares["dual_point"]
    return f"{iterating:.0%}", f"{bounds:.0%}", f"{1.0 - iterating - bounds:.0%}"


def _notes(race: Race) -> list[tuple[str, str]]:
    """What stopped whom, in full."""
    contestants = {"AD3": race.ad3, **race.highs}
    return [(f"{race.instance.name}, {name}", o.note) for name, o in contestants.items()]
