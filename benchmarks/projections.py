"""Suite ``projections``: nearest matchings and cuts, against a quadratic programming solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from scipy.spatial import cKDTree

import assent as at
from assent.factors.structure import Structure
from benchmarks import tables
from tests.oracles.quadratic import cut_rows, matching_rows, nearest_point

# The solver's own default.  Points then agree to about its square root.
ACCURACY = 1e-8

# Distance of a further point from the first, about, in every coordinate: what a step of learning
# or of AD3 moves.
NEARBY = 0.02

ROUNDS = 5  # the quickest one counts
BAR = 20.0  # times as quick as the rival


@dataclass(frozen=True)
class Task:
    """A structure, a point to project, and the same by the rival."""

    name: str
    structure: Structure
    point: np.ndarray
    rival: Callable[[], np.ndarray]


def matching(n: int, spread: float) -> Task:
    """A table of ``n`` by ``n`` normal numbers; each row and column at most once."""
    rng = np.random.default_rng(n)
    point = spread * rng.normal(size=n * n)
    structure = at.Matching(at.FactorGraph().binary((n, n)))
    polytope = matching_rows(n, n, np.ones(n), np.ones(n), False, False)
    return Task(
        f"matching {n} × {n}, spread {spread:g}", structure, point,
        lambda: nearest_point(point, *polytope, accuracy=ACCURACY),
    )  # fmt: skip


def scan(nodes: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours among random points in space, as of a range scan, and whether in the middle."""
    rng = np.random.default_rng(nodes)
    places = rng.random((nodes, 3))
    _, near = cKDTree(places).query(places, 5)
    pairs = np.stack([np.repeat(np.arange(nodes), 4), near[:, 1:].ravel()], axis=1)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    inside = ((places[:, :2] - 0.5) ** 2).sum(axis=1) < 0.1
    return pairs[rng.permutation(len(pairs))[:edges]], inside.astype(float)


def cut(nodes: int, edges: int, noise: float, strength: float) -> Task:
    """Noisy labels of a scan, edges inner with scores up to ``strength``."""
    ends, labels = scan(nodes, edges)
    rng = np.random.default_rng(0)
    point = labels + noise * rng.normal(size=nodes)
    scores = strength * rng.random(len(ends))
    structure = at.Cut(at.FactorGraph().binary(nodes), ends, scores=scores)
    rows, upper = cut_rows(nodes, ends)
    return Task(
        f"cut, {nodes} nodes, {len(ends)} edges inner, up to {strength:g}", structure, point,
        lambda: nearest_point(point, rows, upper, cost=scores, accuracy=ACCURACY)[:nodes],
    )  # fmt: skip


def shared_cut(nodes: int, edges: int, noise: float, shift: float) -> Task:
    """The scan's true cut, with noise on nodes and edges; ``shift`` makes edges negative."""
    ends, labels = scan(nodes, edges)
    rng = np.random.default_rng(0)
    true = np.concatenate([labels, labels[ends[:, 0]] != labels[ends[:, 1]]])
    point = true + noise * rng.normal(size=len(true))
    point[nodes:] += shift
    g = at.FactorGraph()
    structure = at.Cut(g.binary(nodes), ends, cut=g.binary(len(ends)))
    rows, upper = cut_rows(nodes, ends)
    name = f"cut, {nodes} nodes, {len(ends)} edges shared, noise {noise:g}, shift {shift:g}"
    return Task(
        name, structure, point, lambda: nearest_point(point, rows, upper, accuracy=ACCURACY)
    )


# Paper sizes: Taskar, Lacoste-Julien and Jordan (2006), sections 6.1 and 6.2.
TASKS: list[Callable[[], Task]] = [
    lambda: matching(30, 0.3),
    lambda: matching(30, 1.0),
    lambda: matching(30, 5.0),
    lambda: cut(7000, 17000, 1.0, 0.5),
    lambda: cut(7000, 17000, 1.0, 2.0),
    lambda: shared_cut(7000, 17000, 0.1, 0.0),
    lambda: shared_cut(7000, 17000, 0.5, 0.0),
    lambda: shared_cut(7000, 17000, 0.5, -0.5),
]
QUICK_TASKS: list[Callable[[], Task]] = [
    lambda: matching(30, 1.0),
    lambda: cut(700, 1700, 1.0, 0.5),
    lambda: shared_cut(700, 1700, 0.5, 0.0),
]


def run(console: Console, quick: bool = False) -> list[tuple[str, float, float, float, float]]:
    """Measure all tasks; print and return name, seconds cold, warm, the rival's, and distance."""
    results = []
    for make in QUICK_TASKS if quick else TASKS:
        task = make()
        with console.status(task.name):
            results.append((task.name, *measure(task)))
    tables.show(
        console,
        "project: nearest points of polytopes",
        ("polytope", "from nothing", "from a nearby one", "Clarabel", "times as quick", "apart"),
        [
            (
                name, tables.duration(cold), tables.duration(warm), tables.duration(rival),
                f"{rival / cold:.0f} … {rival / warm:.0f} (bar {BAR:.0f})", f"{apart:.0e}",
            )
            for name, cold, warm, rival, apart in results
        ],
        caption=f"CPU time of one thread, the quickest of {ROUNDS}; Clarabel once, at its default "
        f"accuracy; {tables.circumstances()}",
    )  # fmt: skip
    return results


def measure(task: Task) -> tuple[float, float, float, float]:
    """Seconds from nothing, from a nearby point, and of the rival; distance of both answers."""
    structure, rng = task.structure, np.random.default_rng(1)
    project = structure.kernels().project
    assert project is not None
    places, linked = int(structure.start[-1]), structure.linked
    base, inner = np.zeros(places), structure.scores[0].copy()
    for array in (base, inner):
        array.flags.writeable = False
    cold = warm = np.inf
    q, point = np.empty(places), np.zeros(places)
    for turn in range(ROUNDS + 1):  # the first one compiles
        memory = np.zeros(structure.memory())
        for again in (False, True):
            point[linked] = task.point + (NEARBY * rng.normal(size=len(task.point)) if again else 0)
            begun = time.thread_time()
            project(structure.start, structure.data, base, point, inner, 1.0, memory, q)
            spent = time.thread_time() - begun
            if turn and again:
                warm = min(warm, spent)
            elif turn:
                cold = min(cold, spent)
            if not again:
                mine = q[linked]
    theirs, rival = timed(task.rival)
    return cold, warm, rival, float(np.abs(mine - theirs).max())


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """An answer and its CPU seconds."""
    begun = time.thread_time()
    answer = function()
    return answer, time.thread_time() - begun
