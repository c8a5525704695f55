"""HiGHS on what is left of a problem: exact, but without a proof to recheck."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.kernels.problem import Problem, Scores
from assent.solvers.programs.compact_lp import build_lp
from assent.solvers.programs.highs import (
    highs_status,
    load_highs,
    read_highs,
    run_highs,
    search_options,
    searched_bound,
)


class Found(NamedTuple):
    """What a search found: an assignment ``[n]`` or None, and a bound; whether it finished."""

    assignment: NDArray[np.int8] | None
    bound: float
    finished: bool


def search_core(problem: Problem, scores: Scores, limit: float, gap: float) -> Found | None:
    """Search a small problem through HiGHS for at most ``limit`` seconds.

    None where a structure cannot be written as rows.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> scores = Scores(np.array([1.0, 1.0]), np.array([-3.0]))
        >>> round(search_core(problem, scores, 10.0, 1e-6).bound, 5)
        1.0
    """
    try:
        lp = build_lp(problem, scores, integer=True)
    except ModelError:
        return None
    options = {**search_options(gap, scores, lp), "time_limit": max(limit, 1e-3)}
    highs = load_highs(lp, options, np.append(np.ones(problem.n, bool), lp.rows.integral))
    run_highs(highs)
    status = highs_status(highs)
    if status == "interrupted":
        raise KeyboardInterrupt
    if status == "infeasible":
        return Found(None, -np.inf, True)
    columns, _ = read_highs(highs, lp)
    x = None if columns is None else (columns[: problem.n] > 0.5).astype(np.int8)
    return Found(x, searched_bound(highs, lp), status == "optimal")
