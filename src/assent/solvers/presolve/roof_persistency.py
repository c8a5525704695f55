"""Persistent values of binary pairwise graphs, by one flow."""

from __future__ import annotations

import numpy as np

from assent.reductions.persistent_values import Persistent
from assent.reductions.reduction import Reduction, ReductionStep
from assent.solvers.direct.posiform import what_is_larger
from assent.solvers.direct.roof_duality import solve_roof

# Taking persistent values loses nothing but what is rounded, relative to the scores.
ROUNDED = 1e-9


def find_persistent(before: Reduction) -> tuple[ReductionStep, Reduction] | None:
    """Values that `RoofDuality` decides, and what they leave; None if there are none."""
    problem = before.compiled.problem
    if what_is_larger(problem):
        return None
    solution = solve_roof(problem, before.flat)
    sure = np.flatnonzero(solution.x != 0.5)
    if not len(sure):
        return None
    literals = before.coordinates(np.where(solution.x[sure] == 1.0, sure, ~sure))
    step = Persistent(literals, solution.dual)
    after = step.apply(before)
    size = before.scores.scale + abs(solution.relaxed_value)
    if after is None or after.loss - before.loss > ROUNDED * size:
        return None
    return step, after
