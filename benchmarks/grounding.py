"""Suite ``grounding``: a million ground factors from five rules, in seconds and bytes."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console

import assent as at
from assent import logic
from benchmarks import memory
from benchmarks.tables import against, circumstances, duration, show

SIZES = (2_000, 20_000)  # people; the larger gives a little more than a million factors
SECONDS, MEBIBYTES = 10.0, 2048.0  # what a million may take


@dataclass(frozen=True)
class Point:
    """What grounding took."""

    factors: int
    auxiliaries: int
    seconds: float
    cpu: float
    bytes: int


def five_rules(people: int, seed: int = 0) -> logic.Rules:
    """Labels, experts and trust among people who know each other."""
    rng = np.random.default_rng(seed)
    person = logic.Domain("person", people)
    edges = np.unique(rng.integers(0, people, (3 * people, 2)), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    graph = at.FactorGraph()
    labels = graph.categorical(scores=rng.normal(size=(people, 6)), states="abcdef", name="label")
    label = logic.predicate(labels, person)
    expert = logic.predicate(graph.binary(people, name="expert"), person)
    friend = logic.relation("friend", edges, person, person)
    trust = logic.predicate(graph.binary(len(edges), name="trust"), person, person, at=edges)
    x, y, z, k = logic.variables("x y z k")
    rules = logic.Rules(graph)
    rules.add((friend(x, y) & label(x, k)) >> label(y, k), penalty=0.3, name="friends agree")
    rules.add((trust(x, y) & label(x, k)) >> label(y, k), name="trust is agreement")
    rules.add((friend(x, y) & friend(y, z) & expert(x)) >> (expert(z) | trust(x, y)),
              penalty=0.1, name="experts at two steps")  # fmt: skip
    rules.add((trust(x, y) & trust(y, z)) >> ~trust(z, x), where=x != z, name="no circles")
    rules.add(expert(x) == logic.at_least(2, y, trust(x, y)), name="experts trust two")
    return rules


def measure(people: int) -> Point:
    """Ground the five rules once."""
    before = memory.forget_peak()
    begun, cpu = time.perf_counter(), time.process_time()
    rules = five_rules(people)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    report = rules.report()
    return Point(report.factors, report.auxiliaries, seconds, cpu, memory.peak() - before)


def run(console: Console, sizes: tuple[int, ...] = SIZES) -> list[Point]:
    """All sizes, in a table."""
    points = [measure(people) for people in sizes]
    rows = [
        (
            f"{point.factors:,} factors",
            f"{point.auxiliaries:,}",
            duration(point.seconds),
            duration(point.cpu),
            f"{point.bytes / 2**20:.0f} MiB",
            against(point.seconds, SECONDS, at_least=False),
            against(point.bytes / 2**20, MEBIBYTES, at_least=False),
        )
        for point in points
    ]
    show(console, "Grounding five rules", ("size", "auxiliary variables", "wall", "CPU",
         "peak memory", "time", "memory"), rows, circumstances())  # fmt: skip
    return points
