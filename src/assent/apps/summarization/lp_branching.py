"""Branch and bound on linear programs: the best assignment of a graph with some hundred variables.

Relaxations of summaries are nearly integral: some twenty linear programs, each begun where the last
one ended, take less time than HiGHS needs to prepare a search of its own.
"""

from __future__ import annotations

import time
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import Float
from assent.solvers.programs.compact_lp import build_lp
from assent.solvers.programs.highs import highs_status, load_highs

# Farther from zero and one than this is a fraction: rounding errors of simplex are smaller.
_FRACTION = 1e-6
# Relative to the best value: an assignment that is better by less is not looked for.
_TOLERANCE = 1e-6


class _Node(NamedTuple):
    """A part of all assignments; the one with the least cost comes first."""

    cost: float  # of the linear program above it
    number: int
    low: Float  # [n] each
    high: Float


def best_assignment(graph: at.FactorGraph, seconds: float) -> NDArray[np.int8] | None:
    """The best assignment ``[N]`` of a graph of logic, or the best one found in the time.

    None if none is found.  Nodes with the best bounds come first; below each, one branch is
    followed to its end: the one in which the most doubtful variable is true.
    """
    compiled, deadline = graph.compile(), time.perf_counter() + seconds
    n = compiled.problem.n
    if compiled.conflict is not None:
        return None
    lp = build_lp(compiled.problem, compiled.flat_scores(graph_scores(graph)), integer=True)
    highs = load_highs(lp, {"presolve": "off"})  # with it, every program would begin anew
    best, least, number = None, np.inf, 0
    heap = [_Node(-np.inf, 0, np.zeros(n), np.ones(n))]
    while heap and time.perf_counter() < deadline:
        node: _Node | None = heappop(heap)
        while node is not None and node.cost < _worth(least):
            cost, x = _solve(highs, node)
            if cost >= _worth(least):
                break
            doubt = np.minimum(x, 1.0 - x)
            if doubt.max(initial=0.0) < _FRACTION:
                best, least = (x > 0.5).astype(np.int8), cost
                break
            at_most, at_least, number = node.high.copy(), node.low.copy(), number + 1
            at_most[doubt.argmax()], at_least[doubt.argmax()] = 0.0, 1.0
            heappush(heap, _Node(cost, number, node.low, at_most))
            node = _Node(cost, number, at_least, node.high)
    return None if best is None else compiled.full(best)


def _worth(least: float) -> float:
    """Costs below this are worth looking for."""
    return least - _TOLERANCE * abs(least) if np.isfinite(least) else least


def _solve(highs: Any, node: _Node) -> tuple[float, Float]:
    """The cost of a node's linear program, and its answer ``[n]``; infinite without one."""
    n = len(node.low)
    highs.changeColsBounds(n, np.arange(n, dtype=np.int32), node.low, node.high)
    highs.run()  # it takes a moment only: an interrupt can wait
    if highs_status(highs) != "optimal":
        return np.inf, np.zeros(n)
    found = np.array(highs.getSolution().col_value)[:n]
    return float(highs.getInfo().objective_function_value), np.clip(found, 0.0, 1.0)
