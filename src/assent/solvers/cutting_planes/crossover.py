"""Answers mixed: what the best ones disagree on is decided anew, all of it together.

A search that has found some answers knows where they are weak: where they differ from each other
or from the relaxed answer.  With everything else as in the best of them, an integer program of
few open columns is left, which HiGHS solves at once (Rothberg, 2007).  An answer speaks for
itself: nobody's word is taken.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.solvers.base.incumbent import Incumbent
from assent.solvers.cutting_planes.cutting_plane_program import GrowingProgram
from assent.solvers.programs.highs import highs_status, import_highspy, new_highs, run_highs

# Crossover may take this share of the processor's time, and begins after this many seconds of
# nodes.
SHARE, FIRST = 0.2, 0.3
# Seconds for a single time, at least.
LEAST = 0.5
# Coordinates that are to be open, and how many more are next time if that was too few.
OPEN, WIDER = 60, 1.5
# Coordinates nearer to 0 or 1 count as decided.
INTEGRAL = 1e-6


class Crossover:
    """When answers of a search are mixed, and how."""

    def __init__(self, incumbent: Incumbent) -> None:
        self.incumbent = incumbent
        self.begun = np.inf
        self.spent = 0.0
        self.next = 1  # nodes
        self.open = float(OPEN)
        self.relaxed: Float | None = None

    def begin(self, relaxed: Float) -> None:
        """Cases begin, below the relaxed answer ``[n]``."""
        self.begun, self.relaxed = time.process_time(), relaxed

    def is_due(self, nodes: int) -> bool:
        """Whether enough nodes have passed, and time."""
        passed = time.process_time() - self.begun
        enough = SHARE * passed > max(self.spent, SHARE * FIRST)
        due = nodes >= self.next and enough and self.incumbent.assignment is not None
        self.next = 2 * nodes if due else self.next
        return due

    def mix(self, program: GrowingProgram, deadline: float) -> float:
        """Decide anew what answers disagree on; the best value so far."""
        began = time.process_time()
        limit = max(LEAST, SHARE * (began - self.begun))
        left, before = deadline - time.perf_counter(), self.incumbent.value
        highs = _restricted(program, *self._range(program.x))
        highs.setOptionValue("time_limit", max(min(limit, left), 1e-3))
        run_highs(highs)
        if highs_status(highs) == "interrupted":
            raise KeyboardInterrupt
        solution = highs.getSolution()
        if solution.value_valid:
            columns = np.array(solution.col_value)[: program.problem.n]
            x = (columns > 0.5).astype(np.int8)
            self.incumbent.consider(program.problem, program.scores, x)
        if self.incumbent.value == before:
            self.open *= WIDER
        self.spent += time.process_time() - began
        return self.incumbent.value

    def _range(self, x: Float) -> tuple[Float, Float]:
        """Lower and upper ends ``[n]``, open where answers differ or a relaxed one is undecided."""
        assert self.incumbent.assignment is not None and self.relaxed is not None
        best = self.incumbent.assignment.astype(np.float64)
        open_ = (np.round(self.relaxed) != best) | ((x > INTEGRAL) & (x < 1.0 - INTEGRAL))
        for _, other in self.incumbent.pool:
            if open_.sum() >= self.open:
                break
            open_ |= other != best
        return np.where(open_, 0.0, best), np.where(open_, 1.0, best)


def _restricted(program: GrowingProgram, lower: Float, upper: Float) -> Any:
    """The program with all its rows as an integer program, coordinates within a range."""
    highspy = import_highspy()
    n = program.problem.n
    columns = np.arange(n, dtype=np.int32)
    highs = new_highs({})
    highs.passModel(program.highs.getLp())
    highs.changeColsIntegrality(n, columns, np.full(n, highspy.HighsVarType.kInteger))
    highs.changeColsBounds(n, columns, lower, upper)
    return highs
