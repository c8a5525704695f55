"""Suite ``scaling``: build, compile, iterate and decode from 10^3 to 10^7 pair factors."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import memory, plots, tables
from benchmarks.methods import flat, warm_up
from benchmarks.per_iteration import iteration_seconds
from benchmarks.synthetic import torus

BUILD_BAR = 2.0  # seconds for BUILD_FACTORS pair factors
BUILD_FACTORS = 1_000_000
BYTES_BAR = 100.0  # per factor, at the peak of a decode
# Below this a process's own noise (a few megabytes) exceeds what the factors need.
BYTES_FROM = 300_000
DECODE_ITERATIONS = 20  # enough for bounds and one rounding


@dataclass(frozen=True)
class Point:
    """Figures of one size; seconds and bytes."""

    factors: int
    build: float = np.nan
    compile: float = np.nan
    iteration: float = np.nan
    decode: float = np.nan
    built_bytes: float = np.nan  # peak until the graph is compiled, per factor
    bytes_per_factor: float = np.nan  # peak of everything, decode included
    gap: float = np.nan  # relative, after DECODE_ITERATIONS
    note: str = ""


def run(console: Console, sizes: Sequence[int], plot_folder: Path | None = None) -> list[Point]:
    """Measure every size in a fresh process, print, draw."""
    points = []
    for factors in sizes:
        with console.status(f"{factors:,} pair factors"):
            points.append(in_fresh_process(factors))
    tables.show(
        console,
        "Scaling on a toroidal grid (fresh process per size)",
        ("pair factors", "build", "bar", "compile", "per iteration", "ns per factor",
         f"decode {DECODE_ITERATIONS} it.", "gap", "bytes/factor compiled", "at peak", "bar"),
        [_row(point) for point in points],
        caption="build includes drawing random scores; bytes are the growth of resident memory",
        notes=[(f"{point.factors:,}", point.note) for point in points],
    )  # fmt: skip
    if plot_folder is not None:
        console.print(f"plot: {plots.scaling([p for p in points if not p.note], plot_folder)}")
    return points


def in_fresh_process(factors: int) -> Point:
    """`measure` in a process of its own, so that memory of other sizes is not counted."""
    command = [sys.executable, "-m", "benchmarks", "scaling-point", str(factors)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return Point(factors, note=f"failed ({done.returncode}): {reason[0]}")
    return Point(**json.loads(done.stdout.splitlines()[-1]))


def measure(factors: int) -> Point:
    """All figures of one size, in this process."""
    warm_up()
    side = max(2, math.isqrt(factors // 2))
    before = memory.forget_peak()
    begun = time.perf_counter()
    graph = torus(side)
    built = time.perf_counter()
    pairs = graph.compile().problem.n_pairs
    compiled = time.perf_counter()
    after_compiling = memory.peak()
    result = at.decode(graph, at.AD3(max_iterations=DECODE_ITERATIONS))
    decoded = time.perf_counter()
    highest = memory.peak()
    return Point(
        factors=pairs,
        build=built - begun,
        compile=compiled - built,
        iteration=iteration_seconds(*flat(graph)),
        decode=decoded - compiled,
        built_bytes=(after_compiling - before) / pairs,
        bytes_per_factor=(highest - before) / pairs,
        gap=result.certificate.relative_gap,
    )


def point_as_json(factors: int) -> str:
    """What the fresh process prints."""
    return json.dumps(asdict(measure(factors)))


def _row(point: Point) -> tuple[str, ...]:
    if point.note:
        return (f"{point.factors:,}", tables.FAILED, *[""] * 9)
    build_bar = BUILD_BAR if 0.9 * BUILD_FACTORS <= point.factors <= BUILD_FACTORS else None
    large = point.factors >= BYTES_FROM
    return (
        f"{point.factors:,}",
        tables.duration(point.build),
        tables.against(point.build + point.compile, build_bar, at_least=False),
        tables.duration(point.compile),
        tables.duration(point.iteration),
        f"{1e9 * point.iteration / point.factors:.1f}",
        tables.duration(point.decode),
        tables.number(point.gap, 2),
        f"{point.built_bytes:.0f}" if large else tables.DASH,
        f"{point.bytes_per_factor:.0f}" if large else tables.DASH,
        tables.against(point.bytes_per_factor, BYTES_BAR if large else None, at_least=False),
    )
