"""Drives a solver: from a compiled graph through the one loop to a result."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.compile_clock import CompileTimeout, compile_seconds, compiling_until
from assent.kernels.random_numbers import first_random_state
from assent.result import Result
from assent.solvers.base.loop import Run, decided_alone
from assent.solvers.base.outcome import finished, refuted
from assent.solvers.base.protocol import GraphSolver, Request
from assent.solvers.base.resumable import Resumable
from assent.solvers.base.score_units import solve_in_units, unit_of
from assent.solvers.base.starting_point import in_proportion
from assent.solvers.base.uncompiled import uncompiled_answer


def drive(
    compiled: Compiled,
    graph_scores: GraphScores,
    solver: Any,
    request: Request,
) -> Result:
    """Solve a compiled graph and state the answer for the graph as written."""
    try:
        with compiling_until(request.deadline):
            result = _driven(compiled, graph_scores, solver, request)
    except CompileTimeout:
        result = finished(partial(uncompiled_answer, compiled, graph_scores, request.started))
    result.trace.compile_seconds = compile_seconds(request.started)
    return result


def _driven(compiled: Compiled, graph_scores: GraphScores, solver: Any, request: Request) -> Result:
    if compiled.conflict is not None:
        return refuted(compiled, graph_scores, request.started)
    if request.warm_start is not None:
        warm = in_proportion(request.warm_start, compiled.flat_scores(graph_scores))
        request = replace(request, warm_start=warm)
    unit = unit_of(graph_scores)
    if unit != 1.0:
        solve = partial(_driven, compiled)
        return solve_in_units(solve, graph_scores, solver, request, unit)
    if not compiled.problem.n_links:
        return decided_alone(_run(compiled, graph_scores, solver, request))
    with request.display or nullcontext():
        run = begin(compiled, graph_scores, solver, replace(request, display=None))
        run.go_on()
    return finished(run.result)


def begin(
    compiled: Compiled,
    graph_scores: GraphScores,
    solver: Any,
    request: Request,
) -> Resumable:
    """A solve of a graph of which factors are left, before its first iteration."""
    if isinstance(solver, GraphSolver):
        return solver.begin(compiled, graph_scores, request)
    run = _run(compiled, graph_scores, solver, request)
    run.workspace = solver.init(run.problem, run.scores, request.warm_start)
    if request.known is not None:
        run.offer(request.known)
    return run


def _run(compiled: Compiled, graph_scores: GraphScores, solver: Any, request: Request) -> Run:
    return Run(
        compiled=compiled,
        graph_scores=graph_scores,
        solver=solver,
        scores=compiled.flat_scores(graph_scores),
        deadline=request.deadline,
        started=request.started,
        report=request.report,
        random_state=first_random_state(request.seed),
        warm=request.warm_start is not None,
        rounds_at_pauses=request.rounds_at_pauses and not solver.searches,
    )
