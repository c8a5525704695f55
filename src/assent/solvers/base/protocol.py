"""What the driver asks of every solver: settings that make, advance and read a workspace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.resumable import AtOnce, Resumable
from assent.solvers.base.settings import check_settings
from assent.trace import Progress

if TYPE_CHECKING:
    from assent.compile.compiled import Compiled, GraphScores
    from assent.result import Result


@dataclass(frozen=True)
class Info:
    """What a person wants to see of a running solver.

    ``finished`` is set by solvers that know they are done, whatever the residuals say; ``reason``
    tells why nothing more will come, finished or not.  ``calls`` counts how often a factor was
    asked anything.  ``settling``: the bound is expected to be worse for a while.  ``work`` is that
    of linear programs, estimated microseconds; nothing where ``iterations`` tell.
    """

    iterations: int
    primal_residual: float
    dual_residual: float
    penalty: float = float("nan")
    finished: bool = False
    reason: str = ""
    calls: int = 0
    settling: bool = False
    work: float = 0.0


@dataclass(frozen=True)
class WarmStart:
    """What a later solve needs: consensus ``marginals[n]``, a dual point and its penalty.

    With other scores each link keeps its multiplier and takes its share of the difference.
    """

    marginals: Float
    dual: DualPoint
    penalty: float


@dataclass(frozen=True)
class Request:
    """What is asked for besides a model and a solver: limits, callbacks, a warm start.

    Attributes:
        started: when the clock began, as ``time.perf_counter`` has it.
        time_limit: seconds from then, or None.
        uses_time: whether all of that time may go into a better answer; else it only limits.
        report: receives every `Progress`; an answer of True ends the run.
        seed: for perturbed roundings.
        warm_start: an earlier run's end to begin at.
        known: an assignment ``[N]`` from an earlier run, an answer to start from.
        dual: link scores from an earlier run, for a search to begin at.
        relaxed: a relaxed answer ``[N]``, for a search to begin where the known one differs.
        rounds_at_pauses: whether a decoder that is paused looks for an answer where it stands.
        display: a live display to be open meanwhile, or None.
    """

    started: float
    time_limit: float | None = None
    uses_time: bool = False
    report: Callable[[Progress], Any] = lambda step: None
    seed: int = 0
    warm_start: WarmStart | None = None
    known: NDArray[np.int8] | None = None
    dual: DualPoint | None = None
    relaxed: Float | None = None
    rounds_at_pauses: bool = False
    display: Any = None

    @property
    def deadline(self) -> float:
        """When the time is over; infinite without a limit."""
        return np.inf if self.time_limit is None else self.started + self.time_limit

    def share(self, part: float) -> float | None:
        """Seconds from the start at which a part of the time that is left is over, or None."""
        if self.time_limit is None:
            return None
        now = time.perf_counter()
        return now - self.started + part * max(self.deadline - now, 1e-3)


class Solver:
    """Settings of a solver: frozen, as all state lives in what it makes.

    Attributes:
        gap_tolerance: an answer counts as optimal within ``gap_tolerance * (scale + |bound|)``,
            where the scale is that of the scores, or within an `AbsoluteGap`.
        takes_time_limit: whether it has a ``time_limit``, as its steps may take long.
        in_score_units: names of the settings that are in units of score.
    """

    gap_tolerance: float
    in_score_units: ClassVar[tuple[str, ...]] = ()
    takes_time_limit: ClassVar[bool] = False

    @property
    def searches(self) -> bool:
        """Whether it proves optimality by itself, its bound being that of a search."""
        return False

    def limited(self, seconds: float) -> Any:
        """The same with a time limit, if its steps are long."""
        own: Any = self
        if self.takes_time_limit and own.time_limit is None:
            return replace(own, time_limit=max(seconds, 1e-3))
        return self

    def in_time(self, deadline: float) -> Any:
        """The same until a time of the clock, if that is finite."""
        return self if np.isinf(deadline) else self.limited(deadline - time.perf_counter())


class IterativeSolver(Solver):
    """A solver of flat problems, iteration by iteration.

    A solver makes a workspace, advances it and reads it.  What follows `marginals` here are
    abilities that some have; the defaults are those of a solver without them.

    Attributes:
        residual_tolerance: residuals at which the relaxation counts as solved.
        max_iterations: the most iterations.
        long_iterations: whether reports are so far apart that each of them is worth a rounding.
        finds_rays: whether `ray` tells of infeasibility; else the drift of link scores does.
        has_first_bound: whether there is a bound before the first iteration, and `rest_at`.
    """

    residual_tolerance: float
    max_iterations: int
    long_iterations: ClassVar[bool] = False
    finds_rays: ClassVar[bool] = False
    has_first_bound: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_settings(self.gap_tolerance, self.residual_tolerance, self.max_iterations)

    def init(self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None) -> Any:
        """Workspace at the start."""
        raise NotImplementedError

    def advance(self, problem: Problem, scores: Scores, workspace: Any, iterations: int) -> Info:
        """Do ``iterations`` more."""
        raise NotImplementedError

    def bound(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """Upper bound from the current dual point."""
        return bound_at(problem, scores, self.dual_point(problem, scores, workspace))

    def marginals(self, workspace: Any) -> Float:
        """The relaxed answer ``[n]``."""
        raise NotImplementedError

    def dual_point(self, problem: Problem, scores: Scores, workspace: Any) -> DualPoint:
        """The current dual point; zero where there is none."""
        return split_links(problem, np.zeros(problem.n_links))

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """The relaxation's objective at the relaxed answer; nan where it is not known."""
        return np.nan

    def proof(self, compiled: Compiled, workspace: Any) -> Any:
        """What shows a bound that link scores do not, or None."""
        return None

    def ray(self, workspace: Any) -> DualPoint | None:
        """Link scores that prove infeasibility, if they were found."""
        return None

    def table_marginals(self, problem: Problem, workspace: Any) -> Float | None:
        """Weights of table entries, if they are kept."""
        return None

    def pause_after(self, workspace: Any, work: float) -> None:
        """Let the next `advance` end after so much more work, if its iterations can be paused."""

    def take_answer(self, workspace: Any, x: NDArray[np.int8]) -> None:
        """An answer ``x[n]`` from elsewhere, for those that compare with one."""

    def rest_at(self, problem: Problem, workspace: Any, answer: NDArray[np.int8]) -> Info:
        """End at an answer ``[n]`` that the first bound proves best."""
        raise NotImplementedError


class GraphSolver(Solver):
    """A solver of compiled graphs, around other solvers or with a search of its own.

    It implements `begin`, or `drive` where a solve cannot be divided.
    """

    @property
    def searches(self) -> bool:
        return True

    def begin(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Resumable:
        """A solve of a graph of which factors are left, before its first step."""
        return AtOnce(partial(self.drive, compiled, graph_scores), request)

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """The same to its end."""
        raise NotImplementedError
