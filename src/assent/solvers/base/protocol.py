"""What the driver asks of every solver: settings that make, advance and read a workspace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint, Float, Problem, Scores
from assent.trace import Progress, Trace

if TYPE_CHECKING:
    from assent.result import Result


@dataclass(frozen=True)
class Info:
    """What a person wants to see of a running solver.

    ``finished`` is set by solvers that know they are done, whatever the residuals say; ``reason``
    tells why nothing more will come, finished or not.  ``calls`` counts how often a factor was
    asked anything.  ``settling``: the bound is expected to be worse for a while.
    """

    iterations: int
    primal_residual: float
    dual_residual: float
    penalty: float = float("nan")
    finished: bool = False
    reason: str = ""
    calls: int = 0
    settling: bool = False


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
    """What is asked for besides a model and a solver: how long, who is told, where to begin.

    Attributes:
        started: when the clock began, as ``time.perf_counter`` has it.
        time_limit: seconds from then, or None.
        report: receives every `Progress`; an answer of True ends the run.
        seed: for perturbed roundings.
        warm_start: an earlier run's end to begin at.
        known: an assignment ``[N]`` from an earlier run, an answer to start from.
        dual: link scores from an earlier run, for a search to begin at.
        display: a live display to be open meanwhile, or None.
    """

    started: float
    time_limit: float | None = None
    report: Callable[[Progress], Any] = lambda step: None
    seed: int = 0
    warm_start: WarmStart | None = None
    known: NDArray[np.int8] | None = None
    dual: DualPoint | None = None
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


class Resumable(Protocol):
    """A solve in progress: it goes on from where it was, and its best can be stated at any time.

    Attributes:
        message: why it is over; nothing as long as it can go on.
        bound: no assignment is worth more.
        value: what the best answer is worth; minus infinity if there is none.
        iterations: how many are done.
        trace: what was reported.
        done: the same as iterations, less where those go over a part of the model only.
    """

    message: str
    trace: Trace

    @property
    def bound(self) -> float: ...

    @property
    def value(self) -> float: ...

    @property
    def iterations(self) -> int: ...

    @property
    def done(self) -> float: ...

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]`` for the graph as written, if there is one."""

    @property
    def dual(self) -> DualPoint | None:
        """Link scores that another solve may begin at, if there are any."""

    def go_on(self, until: float = np.inf) -> None:
        """Advance to the end, or until so much is ``done`` in all."""

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` that was found elsewhere."""

    def result(self) -> Result:
        """The best so far, for the graph as written."""


def in_time(solver: Any, deadline: float) -> Any:
    """The solver, told how long it may take if it takes long steps."""
    if np.isinf(deadline) or getattr(solver, "time_limit", 0.0) is not None:
        return solver
    return replace(solver, time_limit=max(deadline - time.perf_counter(), 1e-3))


class Solver(Protocol):
    """A frozen settings object; all state lives in the workspace it makes.

    Four abilities are optional: ``ray(workspace)``, link scores that prove infeasibility (or
    None), ``table_marginals(problem, workspace)``, weights of table entries,
    ``proof(compiled, workspace)``, what shows a bound that link scores do not (or None), and
    ``rest_at(problem, workspace, answer)`` of solvers with a bound before the first iteration.
    Through ``take_answer(workspace, x)`` an answer is handed over that was known before; with
    ``long_iterations`` answers are sought at every report, where these are far apart.
    """

    @property
    def gap_tolerance(self) -> float: ...

    @property
    def residual_tolerance(self) -> float: ...

    @property
    def max_iterations(self) -> int: ...

    def init(self, problem: Problem, scores: Scores, warm_start: WarmStart | None) -> Any:
        """Workspace at the start."""

    def advance(self, problem: Problem, scores: Scores, workspace: Any, iterations: int) -> Info:
        """Do ``iterations`` more."""

    def bound(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """Upper bound from the current dual point."""

    def dual_point(
        self, problem: Problem, scores: Scores, workspace: Any, out: DualPoint | None = None
    ) -> DualPoint:
        """The current dual point, written into ``out`` if given."""

    def marginals(self, workspace: Any) -> Float:
        """The relaxed answer ``[n]``."""

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """The relaxation's objective at the relaxed answer."""
