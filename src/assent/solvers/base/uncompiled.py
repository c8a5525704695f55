"""An answer that needs no kernel: for time limits too short to compile one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import FREE, Compiled, GraphScores
from assent.kernels.compile_clock import CompileTimeout, compiling_until, solving_seconds
from assent.kernels.problem import split_links
from assent.model.variables import Categorical
from assent.proof import certify
from assent.result import Result
from assent.solvers.base.outcome import Outcome
from assent.solvers.base.stop_reasons import NOT_COMPILED


def uncompiled_answer(compiled: Compiled, scores: GraphScores, started: float) -> Result:
    """Every variable by itself, and what all factors together could be worth."""
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
        seconds=solving_seconds(started),
        plan="Every variable by itself, as there was no time to compile a solver.",
    ).result()


def best_alone(compiled: Compiled, scores: GraphScores) -> NDArray[np.int8]:
    """The assignment ``[N]`` of what every variable prefers by its own scores."""
    theta = np.where(
        compiled.fixed == FREE, scores.theta, np.where(compiled.fixed == 1, np.inf, -np.inf)
    )
    out = (theta > 0.0).astype(np.int8)
    for array in compiled.graph.variables:
        if isinstance(array.symbol, Categorical):
            states = len(array.symbol.states)
            block = slice(array.start, array.start + len(array.scores))
            best = theta[block].reshape(-1, states).argmax(axis=1)
            out[block] = np.eye(states, dtype=np.int8)[best].ravel()
    return out
