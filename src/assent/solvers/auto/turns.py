"""Solvers that take turns on one model: none costs more than a small multiple of the best one.

In every turn each solver goes on until it has spent as much as all others may have, which then
doubles; towards a proof whoever closed most of the gap in the last turn goes first.  What one of
them finds is offered to the others; nothing is lost when a turn ends.  Where presolving leaves less
of the graph, solvers of the graph as it was make way for the same ones on what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.compile_clock import CompileTimeout
from assent.kernels.core.schedule import is_better
from assent.kernels.problem import DualPoint
from assent.result import Result, Status
from assent.solvers.auto.presolving import Lifted
from assent.solvers.base.driver import begin
from assent.solvers.base.protocol import Request
from assent.solvers.base.resumable import Resumable
from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED, TIME_LIMIT
from assent.trace import Progress, Trace

# Every turn is this many times as long as the one before.
GROWTH = 2.0
# The answer of a solved relaxation is improved for EFFORT first turns if all variables differ from
# the relaxed ones, and in proportion.  As long as that helps, it goes on for as long again, EFFORT
# times or up to what everything else has taken.
EFFORT = 3

# What is said where no limit was reached and nobody can go on.
NO_PROOF = (
    "No step ended with a proof: the answer is the best of theirs, and result.plan names them. "
    "Decode with another solver, such as BranchAndBound() or BranchAndCut()."
)


class Goal(Enum):
    """What is asked for: when turns end, and what is said then."""

    RELAXATION = "a solved relaxation and a good answer"
    ANSWER = "the best answer of the time there is"
    PROOF = "the optimum"


@dataclass(frozen=True)
class PlanStep:
    """A solver that takes turns, why, and what it takes.

    Attributes:
        solver: its settings.
        why: what `result.plan` says of it; nothing where its own result says it.
        start: what it takes until its first iteration is done; the others spend as much before,
            unless they are over.
        pace: what every further one takes; infinite if it is not paused.
        bounds: whether it gives bounds; turns do not go on for those that give none.
        rounds: whether it looks for an answer in every turn towards a proof, as nobody else does;
            where the answer is the goal, everybody does.
    """

    solver: Any
    why: str
    start: float = 0.0
    pace: float = np.inf
    bounds: bool = True
    rounds: bool = False


@dataclass
class Contender:
    """A step, its solve, and what came of it once it is over."""

    step: PlanStep
    solve: Resumable
    result: Result | None = None
    closed: float = 0.0  # of the gap of all, in its last turn

    @property
    def spent(self) -> float:
        """What it has taken, by the estimates of its step."""
        start, pace = self.step.start, self.step.pace
        more = self.solve.done - 1.0
        return start + more * pace if more > 0.0 and pace < np.inf else start

    @property
    def has_begun(self) -> bool:
        """Whether there is anything to state of it."""
        return self.result is not None or bool(self.solve.message) or self.solve.iterations > 0

    def go_on(self, until: float) -> None:
        """Advance until so much is spent; the first iteration is always done.

        What has no pace goes to its end.
        """
        start, pace = self.step.start, self.step.pace
        self.solve.go_on(1.0 + max(0.0, (until - start) / pace) if pace < np.inf else np.inf)


@dataclass
class Turns:
    """A solve of a compiled graph by several solvers in turns; `Resumable` itself.

    ``done`` is what they have spent.

    Attributes:
        goal: what is asked for.
        turn: what every one may spend in the first turn.
        before: what others had spent on the model before these began.
        improving: what improves the answer of a solved relaxation, for a while.
    """

    steps: Iterator[PlanStep]
    compiled: Compiled
    scores: GraphScores
    request: Request
    tolerance: float
    goal: Goal
    turn: float
    before: float = 0.0
    improving: Iterable[PlanStep] = ()
    message: str = ""
    contenders: list[Contender] = field(default_factory=list)
    winner: Result | None = None
    called_off: bool = False
    waiting: PlanStep | None = None  # the next one to begin
    trace: Trace = field(default_factory=Trace)

    def __post_init__(self) -> None:
        told: Callable[[Progress], Any] = self.request.report

        def report(progress: Progress) -> bool:
            joint = self.trace.add(self._best_so_far(progress))
            self.called_off = told(joint) is True or self.called_off
            return self.called_off

        before = self.before  # is spent: nobody need wait for that again
        self.steps = (replace(s, start=max(0.0, s.start - before)) for s in self.steps)
        self.request = replace(self.request, report=report, display=None)
        self.first_turn = self.turn

    def _best_so_far(self, progress: Progress) -> Progress:
        """A report of one with the best bound and answer of all."""
        if not self.trace.reports:
            return progress
        last = self.trace.reports[-1]
        bound = min(progress.best_bound, last.best_bound)
        return replace(progress, best_bound=bound, value=max(progress.value, last.value))

    def go_on(self, until: float = np.inf) -> None:
        """Take turns until one has the answer, a limit is reached, or so much is spent."""
        try:
            while not self.message and self.done < until:
                self._take_turn(until)
        except (KeyboardInterrupt, CompileTimeout) as end:  # between two of them
            if not any(c.has_begun for c in self.contenders):
                raise
            self.message = TIME_LIMIT if isinstance(end, CompileTimeout) else INTERRUPTED

    def _take_turn(self, until: float) -> None:
        """Every contender goes on until it has spent a turn's worth.

        The last one has all there is until the next one is to begin.
        """
        for contender in self._in_order():
            if not (contender.step.bounds or self._left()):
                continue
            try:
                self._advance(contender)
            except CompileTimeout:  # there is no time for it, but perhaps for another
                self.contenders.remove(contender)
            if self.message:
                return
        if not self.contenders:
            raise CompileTimeout("no step is compiled in time")
        left = self._left()
        self.turn *= GROWTH
        if not left:
            out_of_time = any(c.solve.message == TIME_LIMIT for c in self.contenders)
            self.message = TIME_LIMIT if out_of_time else NO_PROOF
        elif len(left) == 1:
            end = until if self.waiting is None else min(until, self.waiting.start)
            self.turn = max(self.turn, left[0].spent + end - self.done)

    def _going(self) -> list[Contender]:
        """Those that are not over; bounds are those of what presolving left, if it left less."""
        going = [c for c in self.contenders if c.result is None]
        is_smaller = any(isinstance(c.solve, Lifted) for c in going)
        if is_smaller:
            going = [c for c in going if isinstance(c.solve, Lifted) or not c.step.bounds]
        return going

    def _left(self) -> list[Contender]:
        """Those that may go on; nobody if all that is left is an answer that nothing limits."""
        left = self._going()
        limited = self.request.deadline < np.inf
        return left if limited or any(c.step.bounds for c in left) else []

    def _advance(self, contender: Contender) -> None:
        """Have a contender go on for a turn, if there is time."""
        if self._out_of_time() and any(c.has_begun for c in self.contenders):
            self.message = TIME_LIMIT
            return
        if contender.solve.done and self.assignment is not None:
            contender.solve.offer(self.assignment)
        before = self.bound, self.value
        contender.go_on(self.turn)
        contender.closed = _less(before[0], self.bound) + _less(self.value, before[1])
        if contender.solve.message:
            contender.result = contender.solve.result()
            self._take(contender.result)

    def _in_order(self) -> Iterator[Contender]:
        """Those that are not over, then new ones.

        Towards a proof whoever closed most of the gap goes first.  For a relaxation the order is
        the plan's: linear programs close most, and their turns are the longest.
        """
        left = self._going()
        if self.goal is not Goal.RELAXATION:
            left.sort(key=lambda contender: -contender.closed)
        yield from left
        while (step := self._next_step()) is not None:
            with suppress(CompileTimeout):
                self.contenders.append(Contender(step, self._begin(step)))
                yield self.contenders[-1]

    def _next_step(self) -> PlanStep | None:
        """The step that is to begin, if it need not wait for the others."""
        step = self.waiting = self.waiting or next(self.steps, None)
        others = any(c.step.bounds for c in self._going())
        if step is None or (others and self.done < step.start):
            return None
        self.waiting = None
        return step

    def _begin(self, step: PlanStep) -> Resumable:
        """A solve that begins where the others stand."""
        known, dual = self.assignment, self.dual
        request = replace(
            self.request,
            known=self.request.known if known is None else known,
            dual=self.request.dual if dual is None else dual,
            relaxed=None if self.winner is None else self.winner.consensus,
            rounds_at_pauses=self.goal is Goal.ANSWER or (self.goal is Goal.PROOF and step.rounds),
        )
        solver = step.solver.in_time(request.deadline)
        return begin(self.compiled, self.scores, solver, request)

    def _take(self, result: Result) -> None:
        """See whether a result ends the turns."""
        proven = result.status in (Status.OPTIMAL, Status.INFEASIBLE)
        if proven or (result.status is Status.RELAXED and self.goal is Goal.RELAXATION):
            self.winner, self.message = result, result.message
            if not proven and not self.called_off:
                self._improve()
        elif self.called_off or result.message == INTERRUPTED:
            self.message = CALLED_OFF if self.called_off else INTERRUPTED
        elif self._out_of_time():
            self.message = TIME_LIMIT

    def _out_of_time(self) -> bool:
        return time.perf_counter() >= self.request.deadline

    def _improve(self) -> None:
        """Improve the answer, for longer and longer as long as that helps."""
        least = EFFORT * self.first_turn
        most = max(least * GROWTH**EFFORT, self.done)
        for step in self.improving:
            with suppress(CompileTimeout):
                contender = Contender(step, self._begin(step))
                self.contenders.append(contender)
                effort, before = least, self.value
                contender.go_on(effort)
                while _helps(self.value, before) and effort < most:
                    effort, before = min(GROWTH * effort, most), self.value
                    contender.go_on(effort)
                if contender.solve.message in (INTERRUPTED, CALLED_OFF):
                    self.message = contender.solve.message

    # ------------------------------------------------------------ where they stand

    @property
    def done(self) -> float:
        """What they have spent."""
        return sum(c.spent for c in self.contenders)

    @property
    def iterations(self) -> int:
        return sum(c.solve.iterations for c in self.contenders)

    @property
    def bound(self) -> float:
        return min((c.solve.bound for c in self.contenders), default=np.inf)

    @property
    def value(self) -> float:
        return max((c.solve.value for c in self.contenders), default=-np.inf)

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]`` of all, if there is one."""
        best = max(self.contenders, key=lambda c: c.solve.value, default=None)
        return None if best is None else best.solve.assignment

    @property
    def dual(self) -> DualPoint | None:
        """Link scores of the best bound that has any."""
        with_dual = [c.solve for c in self.contenders if c.solve.dual is not None]
        best = min(with_dual, key=lambda solve: solve.bound, default=None)
        return None if best is None else best.dual

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` from elsewhere."""
        self.request = replace(self.request, known=assignment)
        for contender in self.contenders:
            contender.solve.offer(assignment)

    # ------------------------------------------------------------ the end

    def result(self) -> Result:
        """The best answer and the best bound of all."""
        if self.winner is not None and self.winner.status is not Status.RELAXED:
            found = self.winner
        else:
            found = reduce(self._join, self._stated())
        if found.status in (Status.RELAXED, Status.STOPPED):
            status, message = self._without_proof()
            found = replace(found, status=status, message=message)
        return replace(found, trace=self.trace, iterations=self.iterations, plan=self.plan)

    def _without_proof(self) -> tuple[Status, str]:
        """What is said where no answer is proven best: whether the relaxation is solved."""
        relaxed = any(c.result and c.result.status is Status.RELAXED for c in self.contenders)
        ended = self.message in (INTERRUPTED, CALLED_OFF)
        if relaxed and not ended and self.goal is not Goal.PROOF:
            return Status.RELAXED, Status.RELAXED.value
        return Status.STOPPED, self.message

    def _stated(self) -> list[Result]:
        """The results that matter: who is over, and whoever has a better bound or answer."""
        ended = [c.result for c in self.contenders if c.result is not None]
        least = min((result.bound for result in ended), default=np.inf)
        most = max((result.value for result in ended), default=-np.inf)
        open_ = [c.solve for c in self.contenders if c.result is None and c.has_begun]
        better = [s for s in open_ if s.bound < least or s.value > most or not ended]
        best = self.assignment
        if best is not None:
            for solve in better:
                with suppress(CompileTimeout):  # whoever found it has it anyway
                    solve.offer(best)
        relaxed = [result for result in ended if result is not self.winner]
        last = [] if self.winner is None else [self.winner]
        return [*relaxed, *(solve.result() for solve in better), *last]

    def _join(self, first: Result, second: Result) -> Result:
        """The better answer of two with the better bound; the relaxed answer of the second."""
        answer = first if first.value > second.value or not second.feasible else second
        shown = first if first.bound < second.bound else second
        relaxed = max(second, first, key=_relaxed_so_far)
        claim = replace(
            shown.certificate,
            value=answer.certificate.value,
            bound=max(shown.bound, answer.certificate.value),
            feasible=answer.feasible,
            assignment=answer.certificate.assignment,
            relaxation=relaxed.certificate.relaxation,
        )
        closed = claim.feasible and claim.relative_gap <= self.tolerance
        status = Status.OPTIMAL if closed else second.status
        return replace(
            second,
            certificate=claim,
            status=status,
            message=status.value if closed else second.message,
            violated=answer.violated,
            consensus=relaxed.consensus,
            inner=relaxed.inner,
            penalty=relaxed.penalty,
        )

    @property
    def plan(self) -> str:
        """Who has had turns, and why; a step without words has them in its result."""
        told = [c.step.why or ("" if c.result is None else c.result.plan) for c in self.contenders]
        return " Then ".join(words for words in dict.fromkeys(told) if words)


def _helps(value: float, before: float) -> bool:
    """Whether an answer is better than the one before, or the first."""
    return value > before == -np.inf or is_better(value, before)


def _less(before: float, now: float) -> float:
    """How much less it is now; nothing where both are infinite."""
    return 0.0 if before == now else before - now


def _relaxed_so_far(result: Result) -> int:
    """Whether a relaxed answer comes with it, and if so, a solved one."""
    relaxation = result.certificate.relaxation
    return 0 if relaxation is None else 1 + relaxation.solved
