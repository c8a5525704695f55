"""HiGHS on what is left of a problem: exact, but without a proof to recheck."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.kernels.problem import Problem, Scores
from assent.solvers.programs.compact_lp import CompactLP, build_lp
from assent.solvers.programs.highs import (
    highs_status,
    load_highs,
    read_highs,
    run_highs,
    search_options,
    searched_bound,
)


class Found(NamedTuple):
    """What a search found: an assignment ``[n]`` or None, and a bound; how it ended."""

    assignment: NDArray[np.int8] | None
    bound: float
    status: str  # of :func:`highs_status`


def search_core(problem: Problem, scores: Scores, limit: float, gap: float) -> Found | None:
    """Search a small problem through HiGHS for at most ``limit`` seconds.

    None where a structure cannot be written as rows.
    """
    try:
        lp = build_lp(problem, scores, integer=True)
    except ModelError:
        return None
    found = search_program(lp, scores, max(limit, 1e-3), gap)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return found


def search_program(lp: CompactLP, scores: Scores, limit: float | None, gap: float) -> Found:
    """Search the integer program of a problem through HiGHS."""
    n = len(scores.theta)
    options = {**search_options(gap, scores, lp), "time_limit": limit}
    highs = load_highs(lp, options, np.append(np.ones(n, bool), lp.rows.integral))
    highs.changeObjectiveOffset(-lp.offset / lp.scale)  # the gap is relative to all that is scored
    run_highs(highs)
    status = highs_status(highs)
    if status == "infeasible":
        return Found(None, -np.inf, status)
    columns, _ = read_highs(highs, lp)
    x = None if columns is None else (columns[:n] > 0.5).astype(np.int8)
    return Found(x, searched_bound(highs, lp), status)
