"""The one loop that every solver runs in: clock, reports, rounding, limits, best so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.certificate import Relaxation, state_relaxation
from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.compile_clock import solving_seconds
from assent.kernels.core import schedule
from assent.kernels.problem import DualPoint, Float, Problem, Scores
from assent.proof import certify
from assent.proof.gap_rule import allowed_gap
from assent.result import Result, Status
from assent.solvers.base import infeasibility
from assent.solvers.base.incumbent import Incumbent
from assent.solvers.base.outcome import Outcome
from assent.solvers.base.protocol import Info, IterativeSolver
from assent.solvers.base.rounding import Rounder, as_they_are
from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED, ITERATION_LIMIT, TIME_LIMIT
from assent.solvers.base.thread_team import in_order
from assent.trace import Progress, Trace

# One call into compiled code does about this many link updates (half a second), so that
# interrupts and time limits are noticed.
LINKS_PER_CALL = 1e8
# Beyond this many links no dual point is kept beside the solver's own, and answers are improved
# by quick moves only.
LARGE = 1_000_000

# A first rounding takes about as long as ROUNDING_ITERATIONS, a thorough one THOROUGH_ROUNDING
# times as long as a plain one.
ROUNDING_ITERATIONS = 10
THOROUGH_ROUNDING = 5.0

# Seconds of an iteration beside which a rounding costs little, for solvers that take few.
LONG_ITERATION = 0.05


@dataclass
class Best(Incumbent):
    """The best of everything seen so far: an assignment ``[n]``, a bound and its dual point."""

    bound: float = np.inf
    dual: DualPoint | None = None


@dataclass
class Run:
    """One decode in progress; it goes on from where it was until there is a ``message``."""

    compiled: Compiled
    graph_scores: GraphScores
    solver: IterativeSolver
    scores: Scores
    deadline: float
    started: float
    report: Callable[[Progress], Any]
    random_state: int  # state of the random numbers that perturb marginals
    warm: bool = False  # begun at the end of an earlier run
    rounds_at_pauses: bool = False
    workspace: Any = None
    info: Info = field(default_factory=lambda: Info(0, np.inf, np.inf))  # the latest
    status: Status = Status.STOPPED
    message: str = ""  # why it is over
    best: Best = field(default_factory=Best)
    trace: Trace = field(default_factory=Trace)
    due: schedule.Due = field(default_factory=schedule.first_due)
    ray_from: DualPoint | None = None
    has_ray: bool = False  # link scores have shown that nothing is feasible
    latest_bound: float = np.inf
    iterations: int = 0
    roundings_at_rest: int = 0
    pace: float = 0.0  # seconds an iteration took of late
    rounder: Rounder | None = None  # made when first needed

    @property
    def problem(self) -> Problem:
        return self.compiled.problem

    @property
    def done(self) -> float:
        return max(self.iterations, self.info.work)

    @property
    def bound(self) -> float:
        return self.best.bound

    @property
    def value(self) -> float:
        return self.best.value

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]`` for the graph as written, if there is one."""
        flat = self.best.assignment
        return None if flat is None else self.compiled.full(flat)

    @property
    def dual(self) -> DualPoint | None:
        """The link scores of the best bound."""
        return self.best.dual

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` for the graph as written from elsewhere."""
        flat = assignment[self.compiled.free]
        self.offer_known(flat)
        self.solver.take_answer(self.workspace, flat)

    def result(self) -> Result:
        """The best so far, stated and rechecked for the graph as written."""
        if not self.message and self.best.assignment is None:  # paused before any rounding
            self._round(thorough=False)
        best, solver, workspace, info = self.best, self.solver, self.workspace, self.info
        self.rounder = None
        if best.dual is None:
            best.dual = solver.dual_point(self.problem, self.scores, workspace)
        consensus = np.clip(solver.marginals(workspace), 0.0, 1.0)
        flat = (consensus > 0.5).astype(np.int8) if best.best is None else best.best
        return Outcome(
            compiled=self.compiled,
            scores=self.graph_scores,
            assignment=self.compiled.full(flat),
            bound=best.bound,
            dual=best.dual,
            is_ray=self.has_ray,
            searched=solver.searches,
            proof=None if self.has_ray else solver.proof(self.compiled, workspace),
            relaxation=None if best.bound == -np.inf else self.relaxation(),
            gap_tolerance=solver.gap_tolerance,
            status=self.status,
            message=self.message,
            trace=self.trace,
            iterations=info.iterations,
            seconds=solving_seconds(self.started),
            consensus=self.compiled.full(consensus),
            penalty=info.penalty,
            inner=solver.table_marginals(self.problem, workspace),
        ).result()

    @property
    def small(self) -> bool:
        """Whether a report takes no time to speak of."""
        return self.problem.n_links <= schedule.SMALL_LINKS

    @property
    def large(self) -> bool:
        """Whether memory is short: the dual point is then the last one, not the best one."""
        return self.problem.n_links > LARGE

    def go_on(self, until: float = np.inf) -> None:
        """Advance until there is a reason to stop, or so much is ``done`` in all."""
        try:
            while not self.message and self.done < until:
                self._step(until)
            if not self.message and self._rounds_at_pause():
                self._round(thorough=True)
        except KeyboardInterrupt:
            self._take_bound()
            self._round(thorough=False)
            self.status, self.message = Status.STOPPED, INTERRUPTED

    def _rounds_at_pause(self) -> bool:
        """Whether an answer is looked for; not before iterations outweigh what that takes."""
        late = self.iterations >= schedule.FIRST_ROUNDING
        return self.rounds_at_pauses and late and self._time_to_be_thorough()

    def _step(self, until: float) -> None:
        """Advance to the next report, and see whether that is the end."""
        look = not self.trace.reports and self._bounds_first()
        if not look:
            self.solver.pause_after(self.workspace, until - self.done)
            self._advance(self._count(until))
        info, before = self.info, self.best.bound
        self._take_bound()
        if self.small or info.finished:
            self._offer_as_they_are(self.solver.marginals(self.workspace))
        ending = self._ending()
        if info.finished and self._closed():
            pass  # the relaxed answer is integral and best: nothing to round
        elif ending or self._rounding_due(before):
            self._round(thorough=ending and self._time_to_be_thorough())
        stop = self.report(self.record()) is True
        status = self._status()
        if look and status is Status.OPTIMAL:
            assert self.best.assignment is not None
            self.info = self.solver.rest_at(self.problem, self.workspace, self.best.assignment)
        if status is not None:
            self.status, self.message = status, status.value
            return
        self.message = self._reason(stop)
        if stop and self.best.assignment is None and self.due.rounded_at < info.iterations:
            self._round(thorough=False)

    def _reason(self, stop: bool) -> str:
        """Why a run ends that has no proof; nothing if it goes on."""
        if self.info.reason:
            return self.info.reason
        if stop:
            return CALLED_OFF
        if self.info.iterations >= self.solver.max_iterations:
            return ITERATION_LIMIT
        return TIME_LIMIT if self._out_of_time() else ""

    def _bounds_first(self) -> bool:
        """Whether the earlier answer may be proven best without any iteration."""
        able = self.solver.has_first_bound and not self.problem.models
        return able and schedule.bounds_first(self.small, self.warm, self.best.violations)

    def _count(self, until: float) -> int:
        """How many iterations to do until the next report."""
        done = self.iterations
        step = schedule.stretch(done, self.small, self.warm)
        per_call = int(LINKS_PER_CALL // max(1, self.problem.n_links))
        most = min(self.solver.max_iterations - done, until - self.done)
        return max(1, int(min(step, max(1, per_call), most, self._in_time())))

    def _advance(self, count: int) -> None:
        begun = time.perf_counter()
        self.info = self.solver.advance(self.problem, self.scores, self.workspace, count)
        self.pace = solving_seconds(begun) / count
        self.iterations = self.info.iterations

    def _in_time(self) -> int:
        """How many iterations to do next: half of those there is time for, as they may get slower.

        A rounding at the end is set aside.
        """
        left = 0.5 * (self.deadline - time.perf_counter() - self._reserve())
        return self.solver.max_iterations if self.pace == 0.0 else int(min(left / self.pace, 1e9))

    def _out_of_time(self) -> bool:
        return time.perf_counter() + self._reserve() >= self.deadline

    def _time_to_be_thorough(self) -> bool:
        """A thorough rounding takes several times as long, and memory."""
        left = self.deadline - time.perf_counter()
        longest = 0.0 if self.rounder is None else self.rounder.thorough_seconds
        return not self.large and left > max(THOROUGH_ROUNDING * self._reserve(), 1.1 * longest)

    def _reserve(self) -> float:
        """Seconds to keep for the last rounding; before the first one, what it is likely to take.

        A tenth more than the longest, and at most half of the time: answers need iterations.
        """
        longest = 0.0 if self.rounder is None else self.rounder.seconds
        iterations = min(ROUNDING_ITERATIONS, self.solver.max_iterations)  # one step says little
        likely = 1.1 * longest or iterations * self.pace
        return min(likely, 0.5 * (self.deadline - self.started))

    def _take_bound(self) -> None:
        bound = self.solver.bound(self.problem, self.scores, self.workspace)
        self.latest_bound = bound
        if self.large:
            self.best.bound, self.best.dual = bound, None
        elif bound < self.best.bound:
            # The dual point first: an interrupt in between is then mended by asking again.
            self.best.dual = self.solver.dual_point(self.problem, self.scores, self.workspace)
            self.best.bound = bound

    def _rounding_due(self, bound_before: float) -> bool:
        """By the schedule of all loops; beside long iterations a rounding costs little."""
        if self.solver.long_iterations and self.pace > LONG_ITERATION:
            return True
        at_rest = 0 if self.small else self.roundings_at_rest  # small ones have time to spare
        why = schedule.rounding_due(
            self.due, self.info.iterations, bound_before - self.best.bound, self._tolerance(),
            self.info.settling, at_rest,
        )  # fmt: skip
        self.roundings_at_rest += why == schedule.AT_REST
        return bool(why)

    def _closed(self) -> bool:
        """Whether the answer is as good as the bound, or there is none to be had."""
        if not np.isfinite(self.best.bound):
            return self.best.bound == -np.inf
        return self.best.bound - self.best.value <= self._tolerance()

    def _tolerance(self) -> float:
        return allowed_gap(self.solver.gap_tolerance, self.best.bound, self.scores.scale)

    def _ending(self) -> bool:
        over = self.info.iterations >= self.solver.max_iterations or self._out_of_time()
        return over or self.info.finished or self._solved()

    def _solved(self) -> bool:
        """Whether the relaxation is: everybody agrees, and nothing is better."""
        residual = max(self.info.primal_residual, self.info.dual_residual)
        settled = self.info.finished or residual <= self.solver.residual_tolerance
        return settled and self.relaxation().delta <= self._tolerance()

    def _round(self, *, thorough: bool) -> None:
        """Offer a rounded answer; at the end, while a gap remains, perturbed ones as well."""
        self.due = schedule.after_rounding(self.due, self.iterations)
        marginals = self.solver.marginals(self.workspace)
        if not self.large and not self.small:
            self._offer_as_they_are(marginals)
        if self.rounder is None:
            self.rounder = Rounder(
                self.problem, self.scores, self.random_state, tied=not self.large
            )
        tasks = self.rounder.tasks(marginals, thorough)
        answers = in_order(tasks, getattr(self.workspace, "threads", 1))
        self.best.offer(*next(answers))
        for _ in range(schedule.perturbed_tries(thorough, self.warm, self.best.violations)):
            if self.best.bound - self.best.value <= self._tolerance() or self._out_of_time():
                break
            self.best.offer(*next(answers))

    def _offer_as_they_are(self, marginals: Float) -> None:
        self.offer_known(as_they_are(marginals))

    def offer_known(self, assignment: NDArray[np.int8]) -> None:
        """Offer an assignment from elsewhere."""
        self.best.consider(self.problem, self.scores, assignment)

    def record(self) -> Progress:
        """Write down where the run stands."""
        report = Progress(
            iteration=self.info.iterations,
            seconds=solving_seconds(self.started),
            bound=self.latest_bound,
            best_bound=self.best.bound,
            value=self.best.value,
            primal_residual=self.info.primal_residual,
            dual_residual=self.info.dual_residual,
            penalty=self.info.penalty,
            calls=self.info.calls,
        )
        return self.trace.add(report)

    def _status(self) -> Status | None:
        if self._closed():  # where nothing is possible, the solver has looked at everything
            return Status.INFEASIBLE if self.best.bound == -np.inf else Status.OPTIMAL
        if self._infeasible():
            return Status.INFEASIBLE
        if self._solved():
            return Status.RELAXED
        return None

    def relaxation(self) -> Relaxation:
        """How well the linear relaxation itself is solved."""
        value = self.solver.relaxed_value(self.problem, self.scores, self.workspace)
        return state_relaxation(
            value, self.info.primal_residual, self.best.bound, self.solver, self.scores.scale
        )

    def _infeasible(self) -> bool:
        """Whether a ray of multipliers bounds the zero objective below zero."""
        strict = self.problem.n_logic or len(self.problem.tables.lits)
        if self.best.assignment is not None or not strict:
            return False
        ray = self._ray()
        if ray is None:
            return False
        proven = infeasibility.proves(self.problem, ray, self.scores.table)
        if proven:
            self.best.dual = infeasibility.thin(self.problem, ray, self.scores.table)
            self.best.bound = -np.inf
            self.has_ray = True
        return proven

    def _ray(self) -> DualPoint | None:
        """Where multipliers may run away: the solver's own proof, or their drift of late."""
        if self.solver.finds_rays:
            return self.solver.ray(self.workspace)
        if self.info.iterations < self.due.ray:
            return None
        self.due = schedule.after_ray(self.due, self.info.iterations)
        now = self.solver.dual_point(self.problem, self.scores, self.workspace)
        before, self.ray_from = self.ray_from, now
        return None if before is None else infeasibility.drift(before, now)


def decided_alone(run: Run) -> Result:
    """No factor is left: every variable decides alone."""
    assignment = run.compiled.full((run.scores.theta > 0).astype(np.int8))
    check = certify.check_assignment(run.compiled, run.graph_scores, assignment)
    # The two are the same sum in another order: the answer's own value bounds itself.
    bound, value = run.scores.constant + float(np.maximum(run.scores.theta, 0.0).sum()), -np.inf
    if check.feasible:
        bound = value = check.value
    run.best.value, run.best.bound, run.latest_bound = value, bound, bound
    run.info = Info(0, 0.0, 0.0)
    run.report(run.record())
    return Outcome(
        compiled=run.compiled,
        scores=run.graph_scores,
        assignment=assignment,
        bound=bound,
        dual=DualPoint(np.zeros((0, 2)), np.zeros(0)),
        relaxation=Relaxation(bound, 0.0, 0.0, True),
        gap_tolerance=run.solver.gap_tolerance,
        status=Status.OPTIMAL,
        trace=run.trace,
        seconds=solving_seconds(run.started),
        inner=np.zeros(0),
        plan="Every variable by itself, as no factor is left.",
    ).result()
