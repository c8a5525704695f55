"""Suite ``tighten``: the relaxation tightened by cycles, until the answer is proven.

CPU seconds of a full decode, compiled graph included, the kernels loaded; what the relaxation
alone leaves, what tightening leaves, and how long anybody takes to recheck the proof.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from rich.console import Console

import assent as at
from benchmarks import tables
from benchmarks.collection import Instance

# CPU seconds to a proof, by the name of an instance: what the best known peer takes, or less.
BARS = (
    ("grid_ising_0", 3.0),
    ("ising_n30_*", 20.0),
    ("grid_potts1_0", 0.5),
    ("grid_potts10_0", 30.0),
    ("potts_n20_*", 60.0),
)
TIME_LIMIT = 60.0


@dataclass(frozen=True)
class Figures:
    """What one instance took."""

    name: str
    result: at.Result
    seconds: float
    checked: float  # seconds to recheck
    relaxed: float  # bound of the relaxation alone

    @property
    def proven(self) -> bool:
        return self.result.status is at.Status.OPTIMAL


def bar_of(name: str) -> float | None:
    """The CPU seconds in which an instance is meant to be proven, None where nothing is asked."""
    return next((bar for pattern, bar in BARS if fnmatch(name, pattern)), None)


def measure(instance: Instance) -> Figures:
    """Decode one instance and recheck the outcome."""
    graph = instance.build()
    begun = time.process_time()
    result = at.decode(graph, at.Tightened(), time_limit=TIME_LIMIT)
    seconds = time.process_time() - begun
    begun = time.process_time()
    assert result.certificate.verify(), f"{instance.name}: the proof does not hold"
    checked = time.process_time() - begun
    return Figures(instance.name, result, seconds, checked, result.trace.reports[0].bound)


def run(console: Console, chosen: Sequence[Instance]) -> list[Figures]:
    """Measure and print."""
    warm_up()
    found, notes = [], []
    for instance in chosen:
        try:
            found.append(measure(instance))
        except Exception as error:
            notes.append((instance.name, f"{type(error).__name__}: {error}"))
    rows = [_row(figures) for figures in found]
    tables.show(
        console,
        "Tightened by cycles",
        ("instance", "relaxed", "bound", "value", "gap", "rounds", "CPU", "recheck", "bar"),
        rows,
        f"at most {TIME_LIMIT:.0f} s each; {tables.circumstances()}",
        notes,
    )
    return found


def _row(figures: Figures) -> tuple[str, ...]:
    result, bar = figures.result, bar_of(figures.name)
    scores = (figures.relaxed, result.bound, result.value)
    return (
        figures.name,
        *(tables.number(score, 8) for score in scores),
        tables.number(result.certificate.relative_gap, 2),
        str(result.iterations),
        tables.duration(figures.seconds),
        tables.duration(figures.checked),
        "" if bar is None else tables.verdict(figures.proven and figures.seconds <= bar),
    )


def warm_up() -> None:
    """Load the kernels."""
    graph = at.FactorGraph()
    x = graph.binary(3, scores=1.0)
    graph.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
    at.decode(graph, at.Tightened())
