"""Drives a solver: from a compiled graph through the one loop to a result."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.core.schedule import first_chance
from assent.kernels.problem import DualPoint
from assent.result import Result
from assent.solvers.base.loop import Run, decided_alone
from assent.solvers.base.outcome import finished, refuted
from assent.solvers.base.protocol import Request, Resumable, Solver
from assent.trace import Trace


def drive(
    compiled: Compiled,
    graph_scores: GraphScores,
    solver: Any,
    request: Request,
) -> Result:
    """Solve a compiled graph and state the answer for the graph as written.

    ``solver`` is a :class:`Solver`, or settings with a method ``drive`` or ``begin`` of their own.
    """
    if compiled.conflict is not None:
        return refuted(compiled, graph_scores, request.started)
    if hasattr(solver, "drive"):  # it works on the graph, not on one flat problem
        return solver.drive(compiled, graph_scores, request)
    if not compiled.problem.n_links:
        return decided_alone(_run(compiled, graph_scores, solver, request))
    with request.display or nullcontext():
        solve = begin(compiled, graph_scores, solver, request)
        solve.go_on()
    return finished(solve.result)


def begin(
    compiled: Compiled, graph_scores: GraphScores, solver: Any, request: Request
) -> Resumable:
    """A solve of a graph of which factors are left, before its first iteration."""
    if hasattr(solver, "begin"):
        return solver.begin(compiled, graph_scores, request)
    if hasattr(solver, "drive"):
        return AtOnce(solver, compiled, graph_scores, request)
    run = _run(compiled, graph_scores, solver, request)
    run.workspace = solver.init(run.problem, run.scores, request.warm_start)
    if request.known is not None:
        run.offer(request.known)
    return run


class AtOnce:
    """A solve that cannot be divided: the first time it goes on, it goes to its end."""

    def __init__(
        self, solver: Any, compiled: Compiled, graph_scores: GraphScores, request: Request
    ) -> None:
        self.solver, self.compiled, self.graph_scores = solver, compiled, graph_scores
        self.request = request
        self.found: Result | None = None

    def go_on(self, until: float = np.inf) -> None:
        """Solve, whatever ``until`` says."""
        self.found = drive(self.compiled, self.graph_scores, self.solver, self.request)

    def result(self) -> Result:
        assert self.found is not None
        return self.found

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` to begin with."""
        self.request = replace(self.request, known=assignment)

    @property
    def message(self) -> str:
        return "" if self.found is None else self.found.message

    @property
    def trace(self) -> Trace:
        return Trace() if self.found is None else self.found.trace

    @property
    def iterations(self) -> int:
        return 0 if self.found is None else self.found.iterations

    @property
    def done(self) -> float:
        return 0.0 if self.found is None else 1.0

    @property
    def bound(self) -> float:
        return np.inf if self.found is None else self.found.bound

    @property
    def value(self) -> float:
        return -np.inf if self.found is None else self.found.value

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        known = self.found is not None and self.found.feasible
        return self.result().certificate.assignment if known else None

    @property
    def dual(self) -> DualPoint | None:
        return None


def _run(compiled: Compiled, graph_scores: GraphScores, solver: Solver, request: Request) -> Run:
    return Run(
        compiled=compiled,
        graph_scores=graph_scores,
        solver=solver,
        scores=compiled.flat_scores(graph_scores),
        deadline=request.deadline,
        started=request.started,
        report=request.report,
        chance=first_chance(request.seed),
        warm=request.warm_start is not None,
    )
