"""Auto: looks at a model and picks a way to solve it; the default of `decode`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.interrupts import Finishing
from assent.kernels.problem import DualPoint
from assent.result import Result, Status
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.auto.plan import steps_for
from assent.solvers.auto.step import Step
from assent.solvers.base.driver import Attempt, attempt, drive
from assent.solvers.base.outcome import finished
from assent.solvers.base.protocol import Request, in_time
from assent.solvers.base.settings import check_exact, check_tolerance
from assent.solvers.base.stop_reasons import CALLED_OFF, GIVEN_UP, INTERRUPTED, TIME_LIMIT
from assent.trace import Progress, Trace

# Constraints that contradict each other are looked for so long.
RAY_ITERATIONS = 2000

# A step that may not finish leaves so much of the time to the next one.
SHARE_OF_TIME = 0.6

# What is said where no limit was reached and all steps are made.
NO_PROOF = (
    "No step ended with a proof: the answer is the best of theirs, and result.plan names them. "
    "Decode with another solver, such as BranchAndBound() or BranchAndCut()."
)


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
        check_tolerance("gap_tolerance", self.gap_tolerance)

    @property
    def searches(self) -> bool:
        """Whether it proves optimality by itself."""
        return self.exact

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Solve a compiled graph, step after step until one has the answer."""
        told, found = _Report(request.report), _Found(self.gap_tolerance)
        done: list[str] = []
        interrupted = False
        with request.display or nullcontext():
            steps = steps_for(compiled, self.exact, self.gap_tolerance, Auto(exact=True))
            while True:
                try:
                    step = next(steps, None)
                    if step is None:
                        break
                    limit = request.share(1.0 if step.is_last else SHARE_OF_TIME)
                    own = Request(
                        started=request.started,
                        time_limit=limit,
                        report=told,
                        seed=request.seed,
                        warm_start=request.warm_start,
                        known=found.answer(request.known),
                        dual=found.dual(compiled),
                    )
                    latest = _take(step, compiled, graph_scores, own)
                except KeyboardInterrupt:  # before a solver began
                    if not done:
                        raise
                    interrupted = True
                    break
                with Finishing() as ending:
                    done.append(step.words or (latest.plan if isinstance(latest, Result) else ""))
                    found.add(latest)
                interrupted = ending.interrupted or latest.message == INTERRUPTED
                over = told.is_over or time.perf_counter() >= request.deadline
                if over or interrupted or found.is_enough(step.relaxed):
                    break
            result = finished(found.result)
            if interrupted and result.status in (Status.RELAXED, Status.STOPPED):
                result = replace(result, status=Status.STOPPED, message=INTERRUPTED)
            if result.status is Status.INFEASIBLE:
                with suppress(KeyboardInterrupt):  # it is proven, named or not
                    result = _named(result, compiled, graph_scores, request)
        if result.message == GIVEN_UP or (self.exact and result.status is Status.RELAXED):
            why = _why_it_ended(told, request)
            result = replace(result, status=Status.STOPPED, message=why)
        return replace(result, plan=" Then ".join(done))


def _take(step: Step, compiled: Compiled, scores: GraphScores, own: Request) -> Result | Attempt:
    """What comes of a step."""
    solver = in_time(step.solver, own.deadline)
    if step.patience is None:
        return drive(compiled, scores, solver, own)
    ended = attempt(compiled, scores, solver, own, step.patience)
    return ended if ended.message == GIVEN_UP else finished(ended.result)


def _why_it_ended(told: _Report, request: Request) -> str:
    """What is said of a run that ended where there was more to be done."""
    if told.is_over:
        return CALLED_OFF
    return TIME_LIMIT if time.perf_counter() >= request.deadline else NO_PROOF


def _named(result: Result, compiled: Compiled, scores: GraphScores, request: Request) -> Result:
    """An infeasible result that names constraints: by multipliers, or by leaving out others."""
    if result.certificate.conflict:
        return result
    from assent.proof.conflict import SECONDS, small_conflict

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


class _Found:
    """What the steps have found; runs that were given up are stated where nothing came after."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.latest: Result | None = None
        self.given_up: list[Attempt] = []  # after the latest result

    def is_enough(self, relaxed: bool) -> bool:
        """Whether there is a proof, or a ``relaxed`` answer if that will do."""
        status = None if self.latest is None or self.given_up else self.latest.status
        if relaxed and status is Status.RELAXED:
            return True
        return status in (Status.OPTIMAL, Status.INFEASIBLE)

    def add(self, found: Result | Attempt) -> None:
        """Take in what came of a step."""
        if not isinstance(found, Result):
            self.given_up.append(found)
            return
        for ended in reversed(self.given_up):
            found = _joined(ended, found, self.tolerance)
        self.given_up.clear()
        self.latest = found if self.latest is None else _joined(self.latest, found, self.tolerance)

    def answer(self, known: NDArray[np.int8] | None) -> NDArray[np.int8] | None:
        """The assignment to go on with; ``known`` if the steps have none."""
        if self.given_up:
            own = self.given_up[-1].assignment
            return known if own is None else own
        if self.latest is None or not self.latest.feasible:
            return known
        return self.latest.certificate.assignment

    def dual(self, compiled: Compiled) -> DualPoint | None:
        """The link scores of the last step, if it was about the same problem."""
        if self.given_up:
            return self.given_up[-1].dual
        claim = None if self.latest is None else self.latest.certificate
        return claim.flat_dual if claim is not None and claim.compiled is compiled else None

    def result(self) -> Result:
        """Everything so far."""
        if self.given_up:
            self.add(self.given_up.pop().result())
        assert self.latest is not None, "there is always a step"
        return self.latest


def _joined(first: Result | Attempt, second: Result, tolerance: float) -> Result:
    """The later result, with the earlier one's bound and proof where those are better.

    The relaxed answer is then the earlier one as well, unless that solved no relaxation.
    """
    trace = Trace([*first.trace.reports, *second.trace.reports])
    second = replace(second, trace=trace, iterations=first.iterations + second.iterations)
    if second.status is Status.INFEASIBLE or second.bound <= first.bound:
        return second
    if not isinstance(first, Result):
        first = first.result()
    relaxed = second if first.certificate.relaxation is None else first
    claim = replace(
        first.certificate,
        value=second.value,
        bound=max(first.bound, second.value),
        feasible=second.feasible,
        relaxation=relaxed.certificate.relaxation,
        assignment=second.certificate.assignment,
    )
    closed = claim.relative_gap <= tolerance
    status = Status.OPTIMAL if closed else second.status
    return replace(
        second,
        certificate=claim,
        status=status,
        message=status.value if closed else second.message,
        consensus=relaxed.consensus,
        inner=relaxed.inner,
    )
