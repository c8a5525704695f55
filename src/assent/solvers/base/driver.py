"""Drives a solver: from a compiled graph through the one loop to a result."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.core.schedule import first_chance
from assent.kernels.problem import DualPoint
from assent.result import Result, Status
from assent.solvers.auto.cutoff import Patience
from assent.solvers.base.loop import Run
from assent.solvers.base.outcome import conclude, decided_alone, finished, refuted
from assent.solvers.base.protocol import Info, Request, Solver
from assent.trace import Trace


def drive(
    compiled: Compiled,
    graph_scores: GraphScores,
    solver: Any,
    request: Request,
) -> Result:
    """Solve a compiled graph and state the answer for the graph as written.

    ``solver`` is a :class:`Solver`, or settings with a method ``drive`` of their own.
    """
    if compiled.conflict is not None:
        return refuted(compiled, graph_scores, request.started)
    if hasattr(solver, "drive"):  # it looks at the graph, not at one flat problem
        return solver.drive(compiled, graph_scores, request)
    if not compiled.problem.n_links:
        return decided_alone(_begin(compiled, graph_scores, solver, request))
    return finished(attempt(compiled, graph_scores, solver, request).result)


class Attempt(Protocol):
    """A run that is over, after which another solver may go on: `Ended`, or a `TableSearch`."""

    @property
    def message(self) -> str: ...

    @property
    def bound(self) -> float: ...

    @property
    def trace(self) -> Trace: ...

    @property
    def iterations(self) -> int: ...

    @property
    def assignment(self) -> NDArray[np.int8] | None: ...

    @property
    def dual(self) -> DualPoint | None: ...

    def result(self) -> Result: ...


@dataclass(frozen=True)
class Ended:
    """A run that is over; its result is stated and rechecked when somebody asks for it."""

    run: Run
    workspace: Any
    status: Status
    message: str
    info: Info

    @property
    def bound(self) -> float:
        return self.run.best.bound

    @property
    def trace(self) -> Trace:
        return self.run.trace

    @property
    def iterations(self) -> int:
        return self.info.iterations

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]`` for the graph as written, if there is one."""
        flat = self.run.best.assignment
        return None if flat is None else self.run.compiled.full(flat)

    @property
    def dual(self) -> DualPoint | None:
        """The link scores of the best bound."""
        return self.run.best.dual

    def result(self) -> Result:
        return conclude(self.run, self.workspace, self.status, self.message, self.info)


def attempt(
    compiled: Compiled,
    graph_scores: GraphScores,
    solver: Any,
    request: Request,
    patience: Any = None,
) -> Attempt:
    """The same on a graph of which factors are left; the result is stated on demand.

    ``patience`` says when the run is given up for another solver's: a `Patience`, or what a solver
    with a method ``attempt`` of its own asks instead.
    """
    if hasattr(solver, "attempt"):
        return solver.attempt(compiled, graph_scores, request, patience)
    run = _begin(compiled, graph_scores, solver, request, patience)
    known = None if request.known is None else request.known[compiled.free]
    if known is not None:
        run.offer_known(known)
    workspace = solver.init(run.problem, run.scores, request.warm_start)
    if known is not None:
        solver.take_answer(workspace, known)
    try:
        with request.display or nullcontext():
            status, message, info = run.loop(workspace)
    except KeyboardInterrupt:
        status, message, info = run.interrupted(workspace)
    return Ended(run, workspace, status, message, info)


def _begin(
    compiled: Compiled,
    graph_scores: GraphScores,
    solver: Solver,
    request: Request,
    patience: Patience | None = None,
) -> Run:
    return Run(
        compiled=compiled,
        graph_scores=graph_scores,
        solver=solver,
        scores=compiled.flat_scores(graph_scores),
        deadline=request.deadline,
        started=request.started,
        report=request.report,
        chance=first_chance(request.seed),
        patience=patience,
        warm=request.warm_start is not None,
    )
