"""`decode`: from a graph to a certified answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.arguments import shown
from assent.compile.compiled import (
    Compiled,
    GraphScores,
    compile_graph,
    graph_scores,
    lay_out,
)
from assent.errors import ModelError, RecompileWarning
from assent.model.graph import FactorGraph
from assent.result import Result, WarmStartPoint
from assent.trace import Progress

if TYPE_CHECKING:
    from assent.solvers.base.protocol import Solver, WarmStart


def decode(
    graph: FactorGraph,
    solver: Solver | None = None,
    *,
    exact: bool = False,
    scores: Mapping[Any, Any] | None = None,
    warm_start: Result | None = None,
    time_limit: float | None = None,
    progress: bool = False,
    callback: Callable[[Progress], Any] | None = None,
    seed: int = 0,
) -> Result:
    """The best consistent answer to a graph, with a bound on how far from optimal it can be.

    Args:
        graph: what to decode; compiled once, however often it is decoded.
        solver: settings such as ``AD3(gap_tolerance=1e-4)``; by default `Auto`, which chooses.
        exact: go on until the answer is proven optimal, around the solver if one is given.
        scores: new scores for variables or handles of pairs and tables, in place of those written.
        warm_start: an earlier result on the same graph to start from.
        time_limit: seconds, compiling included, in which `Auto` improves the answer and goes on
            towards a proof; without one it ends soon after the relaxation is solved.
        progress: a live line at a terminal or in a notebook; elsewhere the logger ``assent``.
        callback: called with every `Progress`; returning ``True`` stops the run.
        seed: for the perturbed roundings tried at the end while a gap remains.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[2.0, 1.0, 3.0], name="x")
        >>> rule = g.add(at.AtMost(2, x))
        >>> result = at.decode(g)
        >>> result[x].tolist(), result.value, result.status.name
        ([1, 0, 1], 5.0, 'OPTIMAL')
    """
    started = time.perf_counter()
    if not isinstance(graph, FactorGraph):
        raise TypeError(f"decode takes a FactorGraph, got {type(graph).__name__}")
    from assent.solvers.base.driver import drive
    from assent.solvers.base.protocol import Request

    check_settings(time_limit, callback, scores, seed, progress)
    solver = choose_solver(asked_for(solver, exact), time_limit)
    own = graph_scores(graph, scores)
    before = None if warm_start is None else check_result(warm_start).warm_start_point()
    compiled = _compiled_in_time(graph, own, started, time_limit)
    if isinstance(compiled, Result):
        return compiled
    display, report = _reporting(progress, callback)
    request = Request(
        started=started,
        time_limit=time_limit,
        uses_time=time_limit is not None,
        report=report,
        seed=int(seed),
        warm_start=None if before is None else warm_start_of(before, compiled),
        known=None if before is None else before.assignment,
        display=display,
    )
    return drive(compiled, own, solver, request).by(request.deadline)


def check_settings(
    time_limit: Any, callback: Any, scores: Any, seed: Any = 0, progress: Any = False
) -> None:
    """Raise on settings that cannot be meant."""
    from assent.solvers.base.settings import check_flag, check_seed, check_time_limit

    check_time_limit(time_limit)
    check_seed(seed)
    check_flag("progress", progress)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is a function of a Progress, got {shown(callback)}")
    check_changes(scores)


def check_changes(scores: Any) -> None:
    """Raise unless new scores are a dict, or ``None``."""
    if scores is not None and not isinstance(scores, Mapping):
        raise TypeError(
            f"scores is a dict of variables or handles to new scores, got {shown(scores)}"
        )


def choose_solver(solver: Any, time_limit: float | None) -> Solver:
    """The solver, checked; one that runs in a single step is told the time limit itself."""
    if solver is None:
        from assent.solvers.ad3.ad3 import AD3

        return AD3()
    checked = check_solver(solver)
    return checked if time_limit is None else checked.limited(time_limit)


def check_solver(solver: Any) -> Solver:
    """The solver, if it is one."""
    from assent.solvers.base.protocol import Solver

    if not isinstance(solver, Solver):
        raise TypeError(f"a solver is a settings object such as AD3(), got {shown(solver)}")
    return solver


def asked_for(solver: Any, exact: bool) -> Any:
    """Auto unless a solver is given; to be exact a search around that one, unless it searches."""
    from assent.solvers.base.settings import check_exact

    check_exact(exact)
    from assent.solvers.auto.auto import Auto

    if solver is None:
        return Auto(exact=bool(exact))
    if not exact or check_solver(solver).searches:
        return solver
    if isinstance(solver, Auto):
        return replace(solver, exact=True)
    from assent.solvers.search.branch_and_bound import BranchAndBound

    return BranchAndBound(solver, second=None)


def _compiled_in_time(
    graph: FactorGraph, scores: GraphScores, started: float, time_limit: float | None
) -> Compiled | Result:
    """The graph's compiled form; an answer without it if its kernels are not ready in time."""
    from assent.kernels.compile_clock import CompileTimeout, compiling_until
    from assent.solvers.base.uncompiled import uncompiled_answer

    try:
        with compiling_until(np.inf if time_limit is None else started + time_limit):
            return compiled_for(graph, scores, frames=2)
    except CompileTimeout:
        return uncompiled_answer(lay_out(graph, scores), scores, started)


def compiled_for(graph: FactorGraph, scores: GraphScores, frames: int = 1) -> Compiled:
    """The graph's compiled form, made anew if other values are forbidden than before.

    ``frames`` are ours between the user's code and this, which a warning does not point to.
    """
    own = graph.compile()
    forbids = scores.forbids()
    for compiled in (own, graph._masked):
        if compiled is not None and compiled.forbids.same_as(forbids):
            return compiled
    warnings.warn(
        "the new scores forbid (-inf) other values than the graph's own: compiled again",
        RecompileWarning,
        stacklevel=2 + frames,
    )
    graph._masked = compile_graph(graph, scores)
    return graph._masked


def check_result(result: Any) -> Result:
    """A result to start from, or a complaint."""
    if not isinstance(result, Result):
        raise TypeError(f"warm_start is an earlier result, got {shown(result)}")
    return result


def warm_start_of(before: WarmStartPoint, compiled: Compiled) -> WarmStart | None:
    """What a solver starts from, if an earlier run tells anything about the problem."""
    if before.compiled is not compiled:
        if before.compiled.same_model_as(compiled):
            return None  # other values are forbidden now: only the answer carries over
        raise ModelError(
            "warm_start comes from another graph, or the graph changed since; decode it afresh"
        )
    if before.dual is None:
        return None
    from assent.solvers.base.protocol import WarmStart

    return WarmStart(before.marginals, before.dual, before.penalty)


def _reporting(
    progress: bool, callback: Callable[[Progress], Any] | None
) -> tuple[Any, Callable[[Progress], Any]]:
    """A live display (or None) and the function that receives every report."""
    display = None
    if progress:
        from assent.progress import live_display

        display = live_display()

    def report(step: Progress) -> Any:
        if display is not None:
            display.show(step)
        return callback(step) if callback is not None else None

    return display, report
