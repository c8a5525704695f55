"""Outcomes of the compiled loop, restated as results of the graphs they came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.certificate import state_relaxation
from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.batch import instance
from assent.kernels.problem import Float
from assent.proof.gap_rule import least_and_relative
from assent.result import Result, Status, WarmStartPoint
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.ad3.batch import Place
from assent.solvers.base import infeasibility
from assent.solvers.base.outcome import Outcome
from assent.solvers.base.stop_reasons import INTERRUPTED, ITERATION_LIMIT, ROUNDING_ONLY, TIME_LIMIT
from assent.trace import Progress, Trace

MESSAGES = {
    instance.TIME_OVER: TIME_LIMIT,
    instance.INTERRUPTED: INTERRUPTED,
    instance.TOO_MANY_ITERATIONS: ITERATION_LIMIT,
    instance.OPTIMAL: ROUNDING_ONLY,  # what is left to say where the gap as stated is not closed
}


class Figures(NamedTuple):
    """The figures of many problems."""

    values: Float
    bounds: Float
    statuses: list[Status]
    iterations: NDArray[np.int64]


def figures(places: Sequence[Place], solver: AD3) -> Figures:
    """Values, bounds and statuses as certificates state them."""
    fields = {name: i for i, name in enumerate(instance.BatchOutcome._fields)}
    rows = np.array([place.buffer.outcomes[place.number] for place in places])
    rows = rows.reshape(len(places), len(fields))
    feasible = rows[:, fields["violations"]] == 0
    values = np.where(feasible, rows[:, fields["value"]], -np.inf)
    endings = rows[:, fields["ending"]].astype(np.int64)
    ray = endings == instance.INFEASIBLE
    bounds = np.where(ray, -np.inf, np.maximum(rows[:, fields["bound"]], values))
    relative = least_and_relative(solver.gap_tolerance, 1.0)[1]
    least = np.array([place.buffer.least_gaps[place.number] for place in places])
    with np.errstate(invalid="ignore"):
        closed = feasible & (bounds - values <= least + relative * np.abs(bounds))
    statuses = [
        Status.OPTIMAL if done else _STATUSES.get(ending, Status.STOPPED)
        for done, ending in zip(closed.tolist(), endings.tolist(), strict=True)
    ]
    return Figures(values, bounds, statuses, rows[:, fields["iterations"]].astype(np.int64))


_STATUSES = {instance.RELAXED: Status.RELAXED, instance.INFEASIBLE: Status.INFEASIBLE}


def restate(
    compiled: Compiled,
    scores: GraphScores,
    solver: AD3,
    place: Place,
    value: float,
    bound: float,
    status: Status,
) -> Result:
    """The result of one problem in the terms of its graph."""
    buffer, b = place
    run, seconds = buffer.outcome(b), float(buffer.seconds[b])
    dual, is_ray = buffer.dual(b), status is Status.INFEASIBLE
    if is_ray:
        dual = infeasibility.thin(compiled.problem, dual, buffer.scores_of_tables(b))
    last = Progress(
        iteration=int(run.iterations),
        seconds=seconds,
        bound=float(bound),
        best_bound=float(bound),
        value=float(value),
        primal_residual=run.primal,
        dual_residual=run.dual,
        penalty=run.penalty,
    )
    return Outcome(
        compiled=compiled,
        scores=scores,
        assignment=compiled.full(buffer.assignment(b)),
        bound=float(bound),
        value=float(value) if run.violations == 0 else None,
        dual=dual,
        is_ray=is_ray,
        relaxation=state_relaxation(run.relaxed, run.primal, bound, solver, scores.scale),
        gap_tolerance=solver.gap_tolerance,
        status=status,
        message=MESSAGES[int(run.ending)] if status is Status.STOPPED else status.value,
        trace=Trace([last]),  # reports on the way are not kept
        iterations=int(run.iterations),
        seconds=seconds,
        consensus=compiled.full(buffer.consensus(b)),
        penalty=run.penalty,
        inner=buffer.entry_weights(b),
        plan="AD3, as the problem is one of many: small ones run in one compiled loop.",
    ).result()


def warm_start_point(compiled: Compiled, place: Place, status: Status) -> WarmStartPoint:
    """What a later run can start from, without the result itself."""
    buffer, b = place
    dual = None if status is Status.INFEASIBLE else buffer.dual(b)
    start = compiled.full(buffer.assignment(b))
    return WarmStartPoint(compiled, buffer.consensus(b), dual, float(buffer.penalties[b]), start)
