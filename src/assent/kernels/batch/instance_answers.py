"""Answers to one small problem: what they are worth, and how marginals are rounded to them."""

from __future__ import annotations

from math import inf

import numpy as np
from numba import types
from numba.extending import overload

from assent.kernels.batch.instance import glue, groups_of, write
from assent.kernels.core import schedule
from assent.kernels.core.evaluate import assess
from assent.kernels.core.propagate import index_logic, lean
from assent.kernels.core.table_links import index_tables, table_field
from assent.kernels.problem import ScoredProblem
from assent.kernels.rounding.round_marginals import (
    MAX_SWEEPS,
    on_grid,
    round_point,
    score_step,
    shake,
    tidy,
)
from assent.kernels.rounding.running_sums import index_pairs

NO_VIOLATIONS_KNOWN = np.iinfo(np.int64).max

is_better = lean(schedule.is_better)
perturbed_tries = lean(schedule.perturbed_tries)


@glue
def assessed(own, tables, x):
    """Value of an assignment and how many factors it breaks."""
    problem = ScoredProblem(own.pair_var, groups_of(own), own.theta, own.pair, own.constant)
    return assess(problem, tables, own.table, x)


@lean
def decide(p, x):
    """Coordinates ``x[n]`` whose marginals say so are 1, the others 0."""
    for v in range(p.size):
        x[v] = p[v] > 0.5 + schedule.UNDECIDED


@glue
def offer(own, tables, x, value, violations, best):
    """Consider an assignment: the best feasible one stays in ``best``, else the least violating."""
    new_value, new_violations = assessed(own, tables, x)
    if new_violations == 0:
        better = violations > 0 or is_better(new_value, value)
    else:
        better = new_violations < violations
    if not better:
        return value, violations
    write(x, best)
    return new_value if new_violations == 0 else -inf, new_violations


def fields_of(tables, table, n):
    """Room for the sums of tables, or nothing."""
    return None if tables is None else table_field(index_tables(tables, n), table)


@overload(fields_of)
def _choose_fields_of(tables, table, n):
    """One or the other by type: what may be either would have all of rounding compiled again."""
    if isinstance(tables, types.NoneType):
        return lambda tables, table, n: None
    return lambda tables, table, n: table_field(index_tables(tables, n), table)


@glue
def round_once(
    own, tables, fields, logic, pairs, theta, pair, p, thorough, value, violations, best
):  # fmt: skip
    """Offer the rounding of marginals, by the scores ``theta`` and ``pair``."""
    tidied, nobody = np.empty(p.size), np.zeros(0, np.int8)
    tidy(p, tidied)
    x = round_point(
        logic, pairs, fields, theta, pair, tidied, nobody, np.int64(MAX_SWEEPS), thorough
    )
    return offer(own, tables, x, value, violations, best)


@glue
def round_all(
    own, tables, p, thorough, is_warm, tolerance, bound, chance, value, violations, best
):  # fmt: skip
    """Offer rounded answers; if ``thorough``, perturbed ones as well while a gap remains."""
    logic = index_logic(groups_of(own), p.size)
    pairs = index_pairs(own.pair_var, p.size)
    step = score_step(own.theta, own.pair, own.table)  # near-ties are ties
    theta, pair = on_grid(own.theta, step), on_grid(own.pair, step)
    fields = fields_of(tables, on_grid(own.table, step), p.size)
    # One place that rounds, whatever is rounded: every further one would be compiled again.
    point, careful, left = p, thorough, -1
    while True:
        value, violations = round_once(
            own, tables, fields, logic, pairs, theta, pair, point, careful, value, violations, best
        )
        if left < 0:
            left = perturbed_tries(thorough, is_warm, violations)
        if left == 0 or bound - value <= tolerance:
            return value, violations, chance
        point, chance = shake(p, chance)
        careful = False
        left -= 1
