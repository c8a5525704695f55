"""How good answers are by default: without a limit, in a given time, and on the way to a proof.

The clock counts processor seconds, so that a busy machine spoils no answer.  A first decode, which
loads code, does not count.  What is missing is relative to 1 + the best known, which is what the
models' table says or whatever was found here, if that is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from benchmarks.collection import Instance
from benchmarks.cpu_clock import processor_seconds
from benchmarks.tables import circumstances, duration, number, show, verdict

GOOD = 0.01  # an answer is good if no more than this is missing
BARS = {"none": 0.85, "limit": 0.95}  # shares of good answers
OVERRUN = 0.1  # a limit is kept if no more than this share of it comes on top
SHORT = 2.0  # seconds of a first run, which loads code, that are followed by a second one
MODES = ("none", "limit", "exact")


@dataclass(frozen=True)
class Answer:
    """A value and the processor seconds that it took, reading the model included."""

    value: float
    seconds: float
    status: str


Found = dict[str, Answer]


def measure(instance: Instance, limit: float) -> Found:
    """The answers of one model."""
    found = {}
    for mode in MODES:
        settings: dict[str, Any] = {}
        if mode != "none":
            settings = {"time_limit": limit, "exact": mode == "exact"}
        found[mode] = _clocked(instance, settings)
        if found[mode].seconds < SHORT:
            found[mode] = _clocked(instance, settings)
    return found


def _clocked(instance: Instance, settings: dict[str, Any]) -> Answer:
    graph = instance.build()
    begun = processor_seconds()
    result = at.decode(graph, **settings)
    return Answer(result.value, processor_seconds() - begun, result.status.name)


def run(console: Console, instances: Iterable[Instance], limit: float) -> dict[str, Found]:
    """Measure and show."""
    rows = []
    for instance in instances:
        found = measure(instance, limit)
        known = None if instance.reference is None else instance.reference.reached
        best = max([-np.inf if known is None else known, *values(found)])
        rows.append((instance.name, best, found))
        console.print(*_row(*rows[-1]))
    show(
        console,
        f"Answers: what is missing, and processor seconds ({circumstances()})",
        ("model", "best known", *(f"{mode}{what}" for mode in MODES for what in ("", ", s"))),
        [_row(*row) for row in rows],
    )
    _summarise(console, rows, limit)
    return {name: found for name, _, found in rows}


def values(found: Found) -> list[float]:
    """What the answers of a model are worth."""
    return [answer.value for answer in found.values()]


def missing(best: float, answer: Answer) -> float:
    """What an answer is short of, relative to 1 + the best known."""
    return (best - answer.value) / (1.0 + abs(best))


def _row(name: str, best: float, found: Found) -> tuple[str, ...]:
    cells = [name, number(best, 6)]
    for answer in found.values():
        cells += [f"{100.0 * missing(best, answer):.3f} %", duration(answer.seconds)]
    return tuple(cells)


def _summarise(console: Console, rows: Sequence[tuple[str, float, Found]], limit: float) -> None:
    for mode, bar in BARS.items():
        good = [missing(best, found[mode]) <= GOOD for _, best, found in rows]
        share = float(np.mean(good))
        console.print(f"{mode}: {share:.1%} within {GOOD:.0%}, {verdict(share >= bar)}")
    behind = [
        name
        for name, best, found in rows
        if missing(best, found["limit"]) > missing(best, found["exact"]) + GOOD
    ]
    console.print(f"behind exact=True by more than {GOOD:.0%}: {', '.join(behind) or 'none'}")
    late = max(found[mode].seconds for _, _, found in rows for mode in ("limit", "exact"))
    console.print(f"longest: {late:.2f} s of {limit:g}, {verdict(late <= (1 + OVERRUN) * limit)}")
    none = [found["none"].seconds for _, _, found in rows]
    console.print(f"none: {duration(float(np.exp(np.mean(np.log(none)))))} as a geometric mean")
