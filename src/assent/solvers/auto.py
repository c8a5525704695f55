"""Auto: looks at a model and picks a way to solve it; the default of `decode`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.compiled import Compiled, GraphScores
from assent.result import Result, Status
from assent.solvers.ad3 import AD3
from assent.solvers.choice import steps_for
from assent.solvers.driver import CALLED_OFF, INTERRUPTED, TIME_LIMIT, drive
from assent.solvers.protocol import Request, in_time
from assent.solvers.settings import check_exact
from assent.trace import Progress, Trace

# Constraints that contradict each other are looked for so long.
RAY_ITERATIONS = 2000

# A step that may not finish leaves so much of the time to the next one.
SHARE_OF_TIME = 0.6


@dataclass(frozen=True)
class Auto:
    """Look at the model and choose: shortcuts where it is easy, a decoder where it is not.

    ``result.plan`` says what was chosen and why.  Answers mean the same whatever is chosen: a
    value, a bound, a certificate that can be rechecked.

    Attributes:
        exact: go on until the answer is proven optimal.
        gap_tolerance: relative gap at which an answer counts as optimal.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> result = at.decode(g, at.Auto())
        >>> result.status.name, result.plan
        ('OPTIMAL', 'Elimination, as the graph is narrow: at most 2 variables beside each.')
    """

    exact: bool = False
    gap_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_exact(self.exact)
        if not 0.0 <= self.gap_tolerance < np.inf:
            raise ValueError(f"gap_tolerance is at least 0 and finite, got {self.gap_tolerance}")

    @property
    def searches(self) -> bool:
        """Whether it proves optimality by itself."""
        return self.exact

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Solve a compiled graph, step after step until one has the answer."""
        told = _Report(request.report)
        own = replace(request, display=None)
        done: list[str] = []
        result: Result | None = None
        with request.display or nullcontext():
            for step in steps_for(compiled, self.exact, self.gap_tolerance):
                report = told.until(step.many)
                limit = request.share(1.0 if step.is_last else SHARE_OF_TIME)
                own = replace(own, report=report, time_limit=limit)
                try:
                    found = drive(compiled, graph_scores, in_time(step.solver, own.deadline), own)
                except KeyboardInterrupt:  # before a solver began
                    if result is None:
                        raise
                    result = replace(result, status=Status.STOPPED, message=INTERRUPTED)
                    break
                done.append(step.words or found.plan)
                result = found if result is None else _joined(result, found, self.gap_tolerance)
                if _is_proven(result) or told.is_over or time.perf_counter() >= request.deadline:
                    break
                if found.message == INTERRUPTED:
                    break
                if result.feasible:
                    own = replace(own, known=result.certificate.assignment)
            if result is not None and result.status is Status.INFEASIBLE:
                with suppress(KeyboardInterrupt):  # it is proven, named or not
                    result = _named(result, compiled, graph_scores, request)
        assert result is not None, "there is always a step"
        ended = self.exact and result.status is Status.RELAXED  # there was more to be done
        if ended or result.message == CALLED_OFF:
            message = CALLED_OFF if told.is_over else TIME_LIMIT
            result = replace(result, status=Status.STOPPED, message=message)
        return replace(result, plan=" Then ".join(done))


def _named(result: Result, compiled: Compiled, scores: GraphScores, request: Request) -> Result:
    """An infeasible result that names constraints: by multipliers, or by leaving out others."""
    if result.certificate.conflict:
        return result
    from assent.conflict import SECONDS, small_conflict

    left = min(request.deadline - time.perf_counter(), SECONDS)
    if left <= 0.0:
        return result
    solver = AD3(max_iterations=RAY_ITERATIONS)
    limit = time.perf_counter() - request.started + left
    shown = drive(compiled, scores, solver, Request(request.started, limit))
    if shown.status is Status.INFEASIBLE:
        return shown
    claim = replace(result.certificate, conflict=small_conflict(compiled, left))
    return replace(result, certificate=claim)


class _Report:
    """Passes reports on, and remembers whether somebody said stop."""

    def __init__(self, report: Callable[[Progress], Any]) -> None:
        self.report, self.is_over = report, False

    def __call__(self, step: Progress) -> Any:
        answer = self.report(step)
        self.is_over = self.is_over or answer is True
        return answer

    def until(self, many: int | None) -> Callable[[Progress], Any]:
        """The same, and stop after so many iterations."""
        if many is None:
            return self
        return lambda step: self(step) is True or step.iteration >= many


def _is_proven(result: Result) -> bool:
    return result.status in (Status.OPTIMAL, Status.INFEASIBLE)


def _joined(first: Result, second: Result, tolerance: float) -> Result:
    """The later result, with the earlier one's bound and proof where those are better."""
    trace = Trace([*first.trace.reports, *second.trace.reports])
    second = replace(second, trace=trace, iterations=first.iterations + second.iterations)
    if second.status is Status.INFEASIBLE or second.bound <= first.bound:
        return second
    claim = replace(
        first.certificate,
        value=second.value,
        bound=max(first.bound, second.value),
        feasible=second.feasible,
        assignment=second.certificate.assignment,
    )
    closed = claim.relative_gap <= tolerance
    status = Status.OPTIMAL if closed else second.status
    return replace(
        second,
        certificate=claim,
        status=status,
        message=status.value if closed else second.message,
        consensus=first.consensus,
        inner=first.inner,
    )
