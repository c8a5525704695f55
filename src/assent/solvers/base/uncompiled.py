"""An answer that needs no kernel: for time limits too short to compile one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import FREE, Compiled, GraphScores
from assent.kernels.compile_clock import (
    CompileTimeout,
    compile_seconds,
    compiling_until,
    solving_seconds,
)
from assent.kernels.problem import split_links
from assent.model.variables import Categorical, coordinates_of
from assent.proof import certify
from assent.result import Result
from assent.solvers.base.outcome import Outcome
from assent.solvers.base.stop_reasons import NOT_COMPILED
from assent.trace import Trace


def uncompiled_answer(compiled: Compiled, scores: GraphScores, started: float) -> Result:
    """Every variable by itself, and what all factors together could be worth.

    ``compiled`` may be a graph that is only laid out.
    """
    problem = compiled.problem
    dual = split_links(problem, np.zeros(problem.n_links))
    bound = np.inf
    try:
        with compiling_until(-np.inf):
            bound = certify.upper_bound(compiled, scores, compiled.graph_dual(dual, scores))
    except CompileTimeout:  # structures of many states
        pass
    return Outcome(
        compiled=compiled,
        scores=scores,
        assignment=best_alone(compiled, scores),
        bound=bound,
        dual=dual if bound < np.inf else None,
        message=NOT_COMPILED,
        trace=Trace([], compile_seconds(started)),
        seconds=solving_seconds(started),
        plan="Every variable by itself, as there was no time to compile a solver.",
    ).result()


def best_alone(compiled: Compiled, scores: GraphScores) -> NDArray[np.int8]:
    """The assignment ``[N]`` of what every variable prefers by its own scores."""
    known, evidence = compiled.fixed.copy(), compiled.evidence
    known[coordinates_of(evidence)] = evidence >= 0
    theta = np.where(known == FREE, scores.theta, np.where(known == 1, np.inf, -np.inf))
    out = (theta > 0.0).astype(np.int8)
    for array in compiled.graph.variables:
        if isinstance(array.symbol, Categorical):
            states = len(array.symbol.states)
            block = slice(array.start, array.start + len(array.scores))
            best = theta[block].reshape(-1, states).argmax(axis=1)
            out[block] = np.eye(states, dtype=np.int8)[best].ravel()
    return out
