"""Answers to one small problem: what they are worth, and how marginals are rounded to them."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from assent.kernels.batch.instance import Best, write
from assent.kernels.core import schedule
from assent.kernels.core.evaluate import assess
from assent.kernels.core.propagate import index_logic
from assent.kernels.core.table_links import index_tables, table_field
from assent.kernels.jit import jit_inline, jit_internal, jit_internal_no_allocation
from assent.kernels.rounding.pair_rounding import round_pairs
from assent.kernels.rounding.round_marginals import (
    MAX_SWEEPS,
    on_grid,
    perturb,
    round_point,
    score_step,
    tidy,
)
from assent.kernels.rounding.running_sums import index_pairs

NO_VIOLATIONS_KNOWN = np.iinfo(np.int64).max

is_better = jit_internal_no_allocation(schedule.is_better)
perturbed_tries = jit_internal_no_allocation(schedule.perturbed_tries)


class Rounder(NamedTuple):
    """What roundings of one problem read."""

    logic: NamedTuple
    pairs: NamedTuple
    fields: NamedTuple | None
    theta: np.ndarray
    pair: np.ndarray


def tables_of(outside):
    """The tables outside the fused loop, or nothing."""
    return None if outside is None else outside.tables


@overload(tables_of)
def _choose_tables_of(outside):
    """One or the other by type: what may be either would have all of rounding compiled again."""
    if isinstance(outside, types.NoneType):
        return lambda outside: None
    return lambda outside: outside.tables


def fields_of(tables, table, n):
    """Room for the sums of tables, or nothing."""
    return None if tables is None else table_field(index_tables(tables, n), table)


@overload(fields_of)
def _choose_fields_of(tables, table, n):
    if isinstance(tables, types.NoneType):
        return lambda tables, table, n: None
    return lambda tables, table, n: table_field(index_tables(tables, n), table)


@jit_internal_no_allocation
def decide(p, x):
    """Coordinates ``x[n]`` whose marginals say so are 1, the others 0."""
    for v in range(p.size):
        x[v] = p[v] > 0.5 + schedule.UNDECIDED


@jit_inline
def offer(own, tables, x, best, kept):
    """Consider an assignment: the best feasible one stays in ``kept``, else the least violating."""
    value, violations = assess(own.problem, tables, own.table, x)
    if violations == 0:
        better = best.violations > 0 or is_better(value, best.value)
    else:
        better = violations < best.violations
    if better:
        write(x, kept)
        value = value if violations == 0 else -inf
        best = Best(value, violations, best.bound, best.random_state)
    return best


@jit_inline
def make_rounder(own, tables, n):
    """Adjacency and scores on a grid, by which near-ties are ties."""
    problem = own.problem
    step = score_step(problem.theta, problem.pair, own.table)
    return Rounder(
        index_logic(problem.groups, n),
        index_pairs(problem.pair_var, n),
        fields_of(tables, on_grid(own.table, step), n),
        on_grid(problem.theta, step),
        on_grid(problem.pair, step),
    )


@jit_internal
def round_any(logic, pairs, fields, theta, pair, p, held, thorough):
    """The assignment that marginals ``p`` are rounded to."""
    if fields is None and logic.k.size == 0:
        return round_pairs(pairs, theta, pair, p, held, MAX_SWEEPS, thorough)
    return round_point(logic, pairs, fields, theta, pair, p, held, MAX_SWEEPS, thorough)


@jit_inline
def round_all(own, tables, p, thorough, is_warm, tolerance, best, kept):
    """Offer rounded answers; if ``thorough``, perturbed ones as well while a gap remains."""
    rounder = make_rounder(own, tables, p.size)
    tidied, nobody = np.empty(p.size), np.zeros(0, np.int8)
    # One place that rounds, whatever is rounded: every further one would be compiled again.
    point, careful, left = p, thorough, -1
    while True:
        tidy(point, tidied)
        x = round_any(
            rounder.logic, rounder.pairs, rounder.fields, rounder.theta, rounder.pair, tidied,
            nobody, careful,
        )  # fmt: skip
        best = offer(own, tables, x, best, kept)
        if left < 0:
            left = perturbed_tries(thorough, is_warm, best.violations)
        if left == 0 or best.bound - best.value <= tolerance:
            return best
        point, random_state = perturb(p, best.random_state)
        best = Best(best.value, best.violations, best.bound, random_state)
        careful = False
        left -= 1
