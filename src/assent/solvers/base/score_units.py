"""Scores far from one are solved in units near their size: no constant in a solver then matters.

The unit is a power of two, so that nothing is rounded, and what comes out is stated in the scores
as they were written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from assent.certificate import Certificate
from assent.compile.compiled import GraphScores
from assent.kernels.problem import DualPoint
from assent.proof.gap_rule import AbsoluteGap
from assent.proof.proof_tree import Scaled
from assent.result import Result
from assent.solvers.base.protocol import Request, Solver
from assent.trace import Progress

# Scales within this are left as they are: three decimal orders either side of one.
ORDINARY = (2.0**-10, 2.0**10)


def unit_of(scores: GraphScores) -> float:
    """What to divide scores by: a power of two near their scale, 1 if that is ordinary.

    Also 1 where a quotient would not be exact, as some scores are out of all proportion to others.
    """
    if ORDINARY[0] <= scores.scale <= ORDINARY[1]:
        return 1.0
    unit = 2.0 ** (math.frexp(scores.scale)[1] - 1)
    return unit if scores.is_exact_in(unit) else 1.0


def solve_in_units(
    solve: Callable[[GraphScores, Any, Request], Result],
    scores: GraphScores,
    solver: Any,
    request: Request,
    unit: float,
) -> Result:
    """What ``solve`` makes of the scores in some unit, stated in the scores as they are."""
    own = scores.scaled(1.0 / unit)
    inner = solver_in_units(solver, unit)
    return restated(solve(own, inner, _request_in_units(request, unit)), scores, unit)


def solver_in_units(solver: Any, unit: float) -> Any:
    """The same settings with all that is in units of score, those of solvers inside included."""
    changes: dict[str, Any] = {}
    for name in (f.name for f in fields(solver)):
        value = getattr(solver, name)
        if isinstance(value, Solver):
            changes[name] = solver_in_units(value, unit)
        elif isinstance(value, AbsoluteGap) or (name in solver.in_score_units and value):
            changes[name] = value / unit
    return replace(solver, **changes)


def _request_in_units(request: Request, unit: float) -> Request:
    warm, report = request.warm_start, request.report
    if warm is not None:
        warm = replace(warm, dual=_times(warm.dual, 1.0 / unit), penalty=warm.penalty / unit)
    dual = None if request.dual is None else _times(request.dual, 1.0 / unit)

    def tell(step: Progress) -> Any:
        return report(_report_times(step, unit))

    return replace(request, warm_start=warm, dual=dual, report=tell)


def restated(result: Result, scores: GraphScores, unit: float) -> Result:
    """A result about ``scores / unit`` as one about ``scores``."""
    reports = [_report_times(step, unit) for step in result.trace.reports]
    return replace(
        result,
        certificate=_restated(result.certificate, scores, unit),
        trace=replace(result.trace, reports=reports),
        penalty=result.penalty * unit,
    )


def _restated(claim: Certificate, scores: GraphScores, unit: float) -> Certificate:
    relaxed = claim.relaxation
    if relaxed is not None:
        relaxed = replace(relaxed, value=relaxed.value * unit, delta=relaxed.delta * unit)
    return replace(
        claim,
        value=claim.value * unit,
        bound=claim.bound * unit,
        relaxation=relaxed,
        scores=scores,
        flat_dual=None if claim.flat_dual is None else _times(claim.flat_dual, unit),
        proof=None if claim.proof is None else Scaled(unit, claim.proof),
    )


def _times(dual: DualPoint, factor: float) -> DualPoint:
    return DualPoint(dual.pair * factor, dual.logic * factor, dual.table * factor)


def _report_times(step: Progress, unit: float) -> Progress:
    return replace(
        step,
        bound=step.bound * unit,
        best_bound=step.best_bound * unit,
        value=step.value * unit,
        penalty=step.penalty * unit,
    )
