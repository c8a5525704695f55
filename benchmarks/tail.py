"""Suite ``tail``: what the last digits of a bound cost, with parts of AD3 switched off."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent.kernels.ad3.state import CURRENT, MEAN
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.starting_point import initial_penalty
from assent.trace import Progress
from benchmarks import tables
from benchmarks.collection import Instance
from benchmarks.lp_optima import kept_optima
from benchmarks.methods import flat, recorded, warm_up

ACCURACIES = (1e-4, 1e-5, 1e-6)
MOST = 10_000  # iterations
BARRED = "potts_n20_*"  # models on which AD3 as it is has BAR seconds to the last digit
BAR = 0.5
RUNS = 3  # of which the quickest counts, where there is a bar


@dataclass(frozen=True)
class BoundAt(at.AD3):
    """AD3 whose bounds are taken at one dual point only."""

    point: int = CURRENT

    def bound(self, problem: Any, scores: Any, workspace: Any) -> float:
        """The bound at the point asked for."""
        links = self.dual_point(problem, scores, workspace)
        return bound_at(problem, scores, links)

    def dual_point(self, problem: Any, scores: Any, workspace: Any) -> Any:
        """The point asked for."""
        workspace.prefer(self.point)
        return super().dual_point(problem, scores, workspace)


def variants(graph: at.FactorGraph) -> dict[str, Any]:
    """AD3 as it is, and with one thing changed."""
    penalty = initial_penalty(*flat(graph))
    exact: dict[str, Any] = {
        "gap_tolerance": 0.0, "residual_tolerance": 0.0, "max_iterations": MOST,
    }  # fmt: skip
    return {
        "as it is": at.AD3(**exact),
        "bound at the average": BoundAt(point=MEAN, **exact),
        "bound at the iterate": BoundAt(point=CURRENT, **exact),
        "no over-relaxation": at.AD3(over_relaxation=1.0, **exact),
        "penalty fixed": at.AD3(adapt=False, **exact),
        "penalty × 4": at.AD3(penalty=4.0 * penalty, **exact),
        "penalty × 4, fixed": at.AD3(penalty=4.0 * penalty, adapt=False, **exact),
        "penalty ÷ 4": at.AD3(penalty=penalty / 4.0, **exact),
        "penalty ÷ 4, fixed": at.AD3(penalty=penalty / 4.0, adapt=False, **exact),
    }


def run(console: Console, instances: Sequence[Instance]) -> list[tuple[str, ...]]:
    """Iterations of every variant on every instance whose LP optimum is known."""
    recorded(warm_up)
    kept, rows = kept_optima(), []
    for instance in instances:
        stated = instance.reference.lp if instance.reference else None
        lp = kept.get(instance.name, np.nan) if stated is None else stated
        if not np.isfinite(lp):
            continue
        graph = instance.build()
        with console.status(instance.name):
            for number, (name, solver) in enumerate(variants(graph).items()):
                barred = number == 0 and fnmatch(instance.name, BARRED)
                rows.append((instance.name, name, *_cells(graph, solver, lp, barred)))
    columns = ("instance", "AD3", *(f"to {accuracy:g}" for accuracy in ACCURACIES), "time", "bar")
    tables.show(
        console, "Iterations until the bound is within …·(1+|LP|) of the LP", columns, rows,
        caption=f"a dash: not within {MOST} iterations; time: of the processor, to the last digit",
    )  # fmt: skip
    return rows


def _cells(graph: at.FactorGraph, solver: Any, lp: float, barred: bool) -> tuple[str, ...]:
    """Iterations, seconds to the last accuracy and, where there is one, the bar."""
    counts, seconds = iterations(graph, solver, lp)
    for _ in range(RUNS - 1 if barred else 0):
        seconds = min(seconds, iterations(graph, solver, lp)[1])
    verdict = tables.against(seconds, BAR if barred else None, at_least=False)
    return *(str(n or tables.DASH) for n in counts), tables.duration(seconds), verdict


def iterations(graph: at.FactorGraph, solver: Any, lp: float) -> tuple[list[int | None], float]:
    """Iterations until the best bound is as near to ``lp`` as each of the accuracies.

    And the seconds of processor time until it is as near as the last one, NaN if it never is.
    """
    counts: list[int | None] = [None] * len(ACCURACIES)
    begun = time.thread_time()

    def watch(step: Progress) -> bool:
        for place, accuracy in enumerate(ACCURACIES):
            if counts[place] is None and step.best_bound <= lp + accuracy * (1.0 + abs(lp)):
                counts[place] = step.iteration
        return counts[-1] is not None

    at.decode(graph, solver, callback=watch)
    seconds = time.thread_time() - begun
    return counts, np.nan if counts[-1] is None else seconds
