"""Auto against every single solver: how much longer than the best of them for the instance.

A solver counts on an instance if its gap is no larger than Auto's.  Graphs are built anew for every
run, as they remember what was found out about them.  After a run for which no kernel had to be
compiled all take turns, and the median of their processor seconds counts; Auto runs twice in every
round, which tells how much of a ratio is noise.  A solver that takes twice as long as Auto is
stopped: the ratio is then known to be one half at most, and counts as that.  Where Auto itself is
stopped by the limit, so are the others.  Solvers of one step, which see no callback, get a limit on
the wall.

Two ratios are told.  *To the end* counts all of Auto's time, what it spends on a better answer that
it does not find included; where it finds one, no solver counts that did not, and the ratio is one
half.  *To the same result* compares like with like: the time until Auto's gap was no larger than
that of the best single solver, which is the quickest of those that count or, where Auto gets
further than all of them, of those that get furthest.

Stored models are divided by a hash of their names, those that earlier versions were seen to be
slow on go to the half that settings are chosen by; random models are divided by their seeds.  As
all stored families have been looked at by now, the half for reports has the UAI models once more,
with other scores.
"""

from __future__ import annotations

import gc
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
from assent.compile.compiled import graph_scores
from assent.kernels.compile_clock import always_compile, compile_seconds
from benchmarks.collection import (
    SHAKEN,
    Instance,
    instances,
    shaken_instances,
    uai_instances,
)
from benchmarks.fresh import fresh_instances
from benchmarks.tables import DASH, circumstances, duration, number, show, verdict

SOLVERS: dict[str, Any] = {
    "Elimination": at.Elimination(),
    "RoofDuality": at.RoofDuality(),
    "TRWS": at.TRWS(),
    "AD3": at.AD3(),
    "DepthFirst": at.DepthFirst(),
    "LinearProgram": at.LinearProgram(),
}
SAME_GAP = 1e-4  # relative: gaps that differ by less are the same
MEAN_BAR = 1.3  # geometric mean
SLOW_BAR, MOST_SLOW = 2.5, 0.05  # so many models at most may take longer than this
WORST_BAR, TOO_SHORT = 5.0, 0.02  # none longer than this, unless below so many seconds
LIMIT = 5.0  # processor seconds for Auto
AUTO, AGAIN = "Auto", "Auto again"
ROUNDS = 3, 7  # at least and at most, as many as fit into ...
ENOUGH = 0.1  # processor seconds of Auto
SLOW = 2.0  # seconds of a first run that count, code loaded or not: nobody runs again
GIVEN_UP = 2.0  # a solver is stopped after this multiple of Auto's time
WALL_LIMIT = 30.0  # seconds on the wall at most, for every solver
WALL_PER_CPU = 3.0  # ... and this multiple of the processor seconds allowed, as machines are busy
LOADING = 1.0  # seconds a first run may take longer, as code is loaded
COLD_RUNS = 10  # at most, in each of which the limit may leave other kernels to be compiled

SEEN = "seen"
HELD_OUT = "held out"
SEEDS = {
    SEEN: (
        100, 101, 200, 300, 301, 302, 400, 401, 402, 500, 501, 502, 600, 601, 602, 900, 901, 902,
        910, 911, 912, 3000, 3001, 4000, 4001, 4002, 4003, 5000, 5001, 7000, 7001, 7002, 7003,
        8000, 8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008, 8009, 9100, 9101,
    ),
    HELD_OUT: (9300, 9301, 9302, 9303, 9304),
}  # fmt: skip
RANDOM, STORED, UAI, OTHER_SCORES = "random", "stored", "UAI", "UAI with other scores"
# Known from before: they cannot be a test any more.
SEEN_BEFORE = (
    "ising_*", "grid_*_0", "grid_isingN200", "parse_planted_*", "parse_flow_n10_*",
    "sidechain/pdb1aho.uai", "segmentation/Segmentation_11.uai", "objectdetection/*",
    "bayes/water.uai", "promedas/or_chain_65.uai", "wcsp_uai14/wcsp_11.uai", "repo_coref",
)  # fmt: skip


@dataclass
class Outcome:
    """Processor seconds and relative gap of every solver; infinite where it was refused."""

    name: str
    plan: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    gap: dict[str, float] = field(default_factory=dict)
    on_the_way: list[tuple[float, float]] = field(default_factory=list)  # Auto's seconds and gaps

    @property
    def group(self) -> str:
        """Where the model comes from."""
        if self.name.startswith(SHAKEN):
            return OTHER_SCORES
        if self.name.endswith(".uai"):
            return UAI
        seeds = (seed for half in SEEDS.values() for seed in half)
        return RANDOM if any(self.name.endswith(f"_s{seed}") for seed in seeds) else STORED

    @property
    def best(self) -> tuple[str, float]:
        """The quickest solver whose gap is no larger than Auto's."""
        name = min(filter(self.counts, SOLVERS), key=self.seconds.__getitem__, default="")
        return name, self.seconds.get(name, np.inf)

    def counts(self, solver: str) -> bool:
        """Whether a solver leaves no larger a gap."""
        return self.gap[solver] <= self.gap[AUTO] + SAME_GAP

    def ratio_to(self, solver: str) -> float:
        """Auto's time as a multiple of a solver's, one half where that got less far or is slow."""
        if not self.counts(solver):
            return 1.0 / GIVEN_UP
        return max(self.seconds[AUTO] / self.seconds[solver], 1.0 / GIVEN_UP)

    @property
    def ratio(self) -> float:
        """Auto's time as a multiple of the best one's."""
        return max(map(self.ratio_to, SOLVERS))

    @property
    def ratio_to_same(self) -> float:
        """Auto's time to a gap no larger than that of the best single solver, beside its time."""
        enough = max(min(self.gap[name] for name in SOLVERS), self.gap[AUTO]) + SAME_GAP
        able = [name for name in SOLVERS if self.gap[name] <= enough]
        best = min(able, key=self.seconds.__getitem__)
        reached = [seconds for seconds, gap in self.on_the_way if gap <= self.gap[best] + SAME_GAP]
        first = min([self.seconds[AUTO], *reached])
        return max(first / self.seconds[best], 1.0 / GIVEN_UP)

    @property
    def control(self) -> float:
        """Auto's time as a multiple of Auto's."""
        return self.seconds[AGAIN] / self.seconds[AUTO]


def measure(instance: Instance, limit: float) -> Outcome:
    """Run all solvers on one model, in turns."""
    outcome = Outcome(instance.name)
    allowed = limit
    going: dict[str, Any] = {}
    for name, solver in {AUTO: at.Auto(), AGAIN: at.Auto(), **SOLVERS}.items():
        seconds, result, way = _first(instance, solver, allowed + LOADING)
        outcome.seconds[name] = seconds
        outcome.gap[name] = np.inf if result is None else result.certificate.relative_gap
        if name in (AUTO, AGAIN):
            assert result is not None, "Auto refuses nothing"
            outcome.on_the_way = way
            outcome.plan = " + ".join(words.split()[0].strip(",:") for words in _steps(result))
        if name == AGAIN and seconds < limit:
            allowed = GIVEN_UP * seconds
        if result is not None and seconds <= min(SLOW, allowed + LOADING):
            going[name] = solver
    if AGAIN in going:
        _take_turns(instance, {AUTO: at.Auto(), **going}, allowed, outcome)
    return outcome


def _take_turns(
    instance: Instance, going: dict[str, Any], allowed: float, outcome: Outcome
) -> None:
    """Medians of some rounds; whoever is clearly slower than Auto runs in the first one only."""
    fewest, most = ROUNDS
    rounds = min(max(int(ENOUGH / outcome.seconds[AGAIN]), fewest), most)
    took: dict[str, list[float]] = {name: [] for name in going}
    rng = np.random.default_rng(0)  # nobody always comes after the same one, whose data fill caches
    for turn in range(rounds):
        for name in rng.permutation(list(going)).tolist():
            if turn == 0 or took[name][0] <= GIVEN_UP * took[AUTO][0]:
                seconds, _, way = clock(instance, going[name], allowed)
                took[name].append(seconds)
                if name == AUTO and seconds == sorted(took[name])[len(took[name]) // 2]:
                    outcome.on_the_way = way
    for name, seconds in took.items():
        outcome.seconds[name] = float(np.median(seconds))


def _steps(result: at.Result) -> list[str]:
    return result.plan.split(" Then ")


def _first(
    instance: Instance, solver: Any, allowed: float
) -> tuple[float, at.Result | None, list[tuple[float, float]]]:
    """What `clock` tells of the first run for which no kernel had to be compiled."""
    for _ in range(COLD_RUNS):
        before = compile_seconds()
        found = clock(instance, solver, allowed)
        if compile_seconds() == before:
            break
    return found


def clock(
    instance: Instance, solver: Any, allowed: float
) -> tuple[float, at.Result | None, list[tuple[float, float]]]:
    """Processor seconds of one run, its result, and seconds and relative gaps on the way."""
    graph = instance.build()
    graph.compile()
    scale = graph_scores(graph).scale
    way: list[tuple[float, float]] = []
    limit = None  # which Auto would use up
    if not isinstance(solver, at.Auto):
        limit = min(WALL_LIMIT, LOADING + WALL_PER_CPU * allowed)
    gc.disable()  # nobody pays for the rubbish of others
    begun = time.process_time()

    def see(step: at.Progress) -> bool:
        took, size = time.process_time() - begun, scale + abs(step.best_bound)
        way.append((took, (step.best_bound - step.value) / size if np.isfinite(size) else np.inf))
        return took > allowed

    try:
        result = at.decode(graph, solver, time_limit=limit, callback=see)
    except at.ModelError:
        return np.inf, None, []
    finally:
        took = time.process_time() - begun
        gc.enable()
    return took, result, way


def is_seen(name: str) -> bool:
    """Whether settings may have been chosen by looking at a stored model."""
    before = any(fnmatch(name, pattern) for pattern in SEEN_BEFORE)
    return before or crc32(f"auto {name}".encode()) % 2 == 0


def chosen(data: Path | None, half: str, only: str, quick: bool) -> list[Instance]:
    """The models of one half."""
    stored = [*instances(data, quick=quick), *uai_instances(data)] if data else []
    found = [one for one in stored if is_seen(one.name) == (half == SEEN)]
    for seed in SEEDS[half][: 1 if quick else None]:
        found += fresh_instances(seed, quick)
    if half == HELD_OUT and not quick:
        found += shaken_instances(data, SEEDS[half][0])
    return [one for one in found if fnmatch(one.name, only)]


def run(
    console: Console, halves: dict[str, Iterable[Instance]], limit: float
) -> dict[str, list[Outcome]]:
    """Measure and print each half."""
    always_compile()
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
        outcome.name, outcome.plan, duration(outcome.seconds[AUTO]), number(outcome.gap[AUTO], 2),
        name or DASH, duration(seconds), number(outcome.ratio), number(outcome.ratio_to_same),
        number(outcome.control),
    )  # fmt: skip


def _show(console: Console, half: str, outcomes: Sequence[Outcome]) -> None:
    columns = (
        "instance", "Auto took", "time", "gap", "best single", "time", "to the end",
        "to the same", "control",
    )  # fmt: skip
    rows = [_row(outcome) for outcome in outcomes]
    title = f"Auto and the best single solver: {half}"
    show(console, title, columns, rows, caption=circumstances())
    if not outcomes:
        return
    for group in (RANDOM, STORED, UAI, OTHER_SCORES):
        _show_summary(console, f"{half}, {group}", [o for o in outcomes if o.group == group])
    _show_summary(console, f"{half}, all", outcomes)
    mean, worst, _ = _summary([max(o.control, 1.0 / o.control) for o in outcomes])
    console.print(f"Auto beside itself: worst {worst:.2f}, geometric mean {mean:.2f} either way")
    alone = {name: _summary([o.ratio_to(name) for o in outcomes]) for name in SOLVERS}
    for name, (mean, worst, slow) in sorted(alone.items(), key=lambda item: -item[1][0]):
        console.print(f"beside {name} on all: mean {mean:.2f}, worst {worst:.2f}, slow {slow}")


def _show_summary(console: Console, title: str, outcomes: Sequence[Outcome]) -> None:
    if not outcomes:
        return
    told = {
        "to the end": [outcome.ratio for outcome in outcomes],
        "to the same result": [outcome.ratio_to_same for outcome in outcomes],
    }
    long = np.array([outcome.seconds[AUTO] > TOO_SHORT for outcome in outcomes])
    for what, ratios in told.items():
        mean, worst, slow = _summary(ratios)
        too_slow = int((long & (np.array(ratios) > WORST_BAR)).sum())
        share = slow / len(outcomes)
        console.print(
            f"{title}, {what}: {len(outcomes)} models, geometric mean {mean:.2f} "
            f"{verdict(mean <= MEAN_BAR)} ≤ {MEAN_BAR}, above {SLOW_BAR}: {slow} ({share:.1%}) "
            f"{verdict(share <= MOST_SLOW)} ≤ {MOST_SLOW:.0%}, above {WORST_BAR} and "
            f"{duration(TOO_SHORT)}: {too_slow} {verdict(not too_slow)}, worst {worst:.2f}"
        )


def _summary(ratios: Sequence[float]) -> tuple[float, float, int]:
    """The geometric mean, the largest, and how many are slow."""
    array = np.array(ratios)
    return float(np.exp(np.log(array).mean())), float(array.max()), int((array > SLOW_BAR).sum())
