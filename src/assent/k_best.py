"""`k_best`: the best answers of a graph, in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.arguments import is_whole, shown
from assent.compile.compiled import Compiled, GraphScores, graph_scores
from assent.decode import check_settings, compiled_for
from assent.errors import ModelError
from assent.kernels.problem import Int64
from assent.model.graph import FactorGraph
from assent.model.variables import Categorical, Literals, coordinates_of
from assent.proof.replay import Others
from assent.result import Result, Status
from assent.trace import Progress

if TYPE_CHECKING:
    from assent.solvers.search.best_first import BestFirstSearch
    from assent.solvers.search.branch_and_bound import BranchAndBound
    from assent.solvers.search.lawler import Partition


def k_best(
    graph: FactorGraph,
    k: int,
    *,
    over: Literals | Categorical | Sequence[Literals | Categorical] | None = None,
    solver: BranchAndBound | None = None,
    scores: Mapping[Any, Any] | None = None,
    time_limit: float | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> list[Result]:
    """The ``k`` best assignments of a graph that differ from each other, best first.

    Each comes with a certificate: no assignment that differs from all before it scores more than
    its bound.  Fewer come back where there are no more, or where a limit or an interrupt ends the
    run: the last result is then STOPPED.

    Args:
        graph: what to decode.
        k: how many.
        over: variables in which answers are to differ; by default all but auxiliary ones, such
            as those by which a soft knapsack or a rule of `assent.logic` is written.
        solver: how to search; answers closer than its ``gap_tolerance`` may change places.
        scores: new scores for variables or handles, in place of those written.
        time_limit: seconds for all of them.
        callback: called with every `Progress`; returning ``True`` stops the run.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[3.0, 2.0, 1.5])
        >>> rule = g.add(at.AtMost(2, x))
        >>> [(r.value, r[x].tolist()) for r in at.k_best(g, 3)]
        [(5.0, [1, 1, 0]), (4.5, [1, 0, 1]), (3.5, [0, 1, 1])]
    """
    started = time.perf_counter()
    if not isinstance(graph, FactorGraph):
        raise TypeError(f"k_best takes a FactorGraph, got {type(graph).__name__}")
    if not is_whole(k):
        raise TypeError(f"k is a whole number of answers, got {shown(k)}")
    if k < 1:
        raise ValueError(f"k is at least 1, got {shown(k)}")
    check_settings(time_limit, callback, scores)
    from assent.solvers.search.branch_and_bound import BranchAndBound

    settings = BranchAndBound() if solver is None else solver
    if not isinstance(settings, BranchAndBound):
        raise TypeError(f"k_best searches with a BranchAndBound, got {shown(settings)}")
    own = graph_scores(graph, scores)
    compiled = compiled_for(graph, own)
    if compiled.conflict is not None:
        return []
    deadline = np.inf if time_limit is None else started + time_limit
    from assent.solvers.base.score_units import restated, solver_in_units, unit_of

    unit = unit_of(own)
    if unit == 1.0:
        return _list(settings, compiled, own, k, _coordinates(graph, over), deadline, callback)
    inner, scaled = solver_in_units(settings, unit), own.scaled(1.0 / unit)
    found = _list(inner, compiled, scaled, k, _coordinates(graph, over), deadline, callback)
    return [restated(result, own, unit) for result in found]


def _coordinates(graph: FactorGraph, over: Any) -> Int64:
    """The coordinates in which answers are to differ."""
    if over is None:
        over = [variable.symbol for variable in graph.own_variables]
        if not over:
            return np.zeros(0, np.int64)
    parts = list(over) if isinstance(over, (list, tuple)) else [over]
    for part in parts:
        if not isinstance(part, (Literals, Categorical)):
            raise TypeError(f"over takes variables of the graph, got {shown(part)}")
        if part.graph is not graph:
            raise ModelError(f"over: {part!r} belongs to another graph")
    codes = np.concatenate([np.zeros(0, np.int64), *(part.codes.ravel() for part in parts)])
    if not len(codes):
        raise ModelError("over is empty: answers need something to differ in")
    return np.unique(coordinates_of(codes)).astype(np.int64)


def _list(
    settings: BranchAndBound,
    compiled: Compiled,
    scores: GraphScores,
    k: int,
    coordinates: Int64,
    deadline: float,
    callback: Callable[[Progress], Any] | None,
) -> list[Result]:
    from assent.compile.closure import Closure
    from assent.solvers.base.protocol import Request
    from assent.solvers.base.stop_reasons import INTERRUPTED, TIME_LIMIT
    from assent.solvers.search.best_first import OUT_OF_MEMORY, BestFirstSearch, why_it_stopped
    from assent.solvers.search.lawler import Partition

    closure, report = Closure(compiled), callback or (lambda step: None)

    def search(known: Any, start: Any) -> BestFirstSearch:
        now = time.perf_counter()
        request = Request(now, None if deadline == np.inf else deadline - now, report=report)
        return BestFirstSearch(settings, compiled, scores, request, start, closure, known)

    partition = Partition(closure, coordinates, search)
    results: list[Result] = []
    try:
        while (cell := partition.best()) is not None:
            assert cell.search is not None
            results.append(_next_result(results, partition, cell.search, None))
            if len(results) == k:
                return results
            if not cell.search.finished():
                return _stopped(results, partition, why_it_stopped(cell.search))
            if time.perf_counter() >= deadline:
                return _stopped(results, partition, TIME_LIMIT)
            partition.give(cell)
    except (KeyboardInterrupt, MemoryError) as error:
        if partition.latest is None:
            raise
        was_asked = isinstance(error, KeyboardInterrupt)
        return _stopped(results, partition, INTERRUPTED if was_asked else OUT_OF_MEMORY)
    return results


def _next_result(
    before: list[Result], partition: Partition, search: BestFirstSearch, reason: str | None
) -> Result:
    """The answer of a search as the next one of a list."""
    from assent.solvers.search.best_first import conclude

    coordinates = partition.coordinates
    listed = [r.certificate.assignment[coordinates] for r in before]
    others = Others(coordinates, np.array(listed, np.int8)) if listed else None
    return conclude(search, reason, partition, others)


def _stopped(results: list[Result], partition: Partition, reason: str) -> list[Result]:
    """A list that a limit ended, with what the last search found; its last is STOPPED."""
    assert partition.latest is not None and partition.latest.search is not None
    search, coordinates = partition.latest.search, partition.coordinates
    found = search.incumbent.assignment
    given = [r.certificate.assignment[coordinates] for r in results]
    if not given or (found is not None and not any((found[coordinates] == x).all() for x in given)):
        results = [*results, _next_result(results, partition, search, reason)]
    return [*results[:-1], replace(results[-1], status=Status.STOPPED, message=reason)]
