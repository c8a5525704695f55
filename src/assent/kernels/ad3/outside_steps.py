"""AD3's steps of the factors outside the fused loop: parities, knapsacks, tables, structures.

They are stepped once per iteration, before the fused loop takes its own step; so is the quadratic
form of :mod:`assent.solvers.ad3.quadratic`.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.ad3.parity_knapsack_steps import bound_singles, step_singles
from assent.kernels.ad3.structure_steps import bound_models, step_models
from assent.kernels.ad3.table_steps import bound_tables, inner_value, step_tables
from assent.kernels.jit import (
    jit_inline,
    jit_internal,
    jit_internal_no_allocation,
    jit_no_allocation,
)


@jit_inline
def step_outside(own, outside, state, consensus, sweep, t):
    """Steps 1 and 2 in iteration ``t``; adds ``q - p`` to the consensus, returns its squares."""
    w = state.current
    squares = step_tables(
        outside.tables, outside.layout, own.table, sweep, w.table, outside.tables_inactive,
        consensus, outside.supports, outside.work,
    )  # fmt: skip
    if outside.singles_inactive.size:
        squares += step_singles(
            own.problem.groups, own.weight, sweep, w.logic, state.tau, outside.singles_inactive,
            consensus, outside.scratch,
        )  # fmt: skip
    if outside.quadratic.w.size:
        squares += step_quadratic(outside.quadratic, sweep, consensus)
    return squares + step_models(outside.structures, own.table, w.table, sweep, consensus, t)


@jit_internal_no_allocation
def step_quadratic(quadratic, sweep, consensus):
    """Steps 1 and 2 of the quadratic form, whose copies move by a formula."""
    squares, rho = 0.0, 1.0 / sweep.inverse_rho
    for v in range(len(quadratic.w)):
        own, curvature = consensus.p[v], quadratic.curvature[v]
        pulled = quadratic.linear[v] + curvature * quadratic.target[v]
        pulled += rho * (quadratic.w[v] + 2.0 * own)
        offset = min(max(pulled / (curvature + rho), 0.0), 1.0) - own
        quadratic.w[v] -= sweep.alpha * offset
        consensus.total[v] += offset
        squares += offset * offset
    return squares


@jit_internal_no_allocation
def rescale_outside(outside, ratio, p):
    """The quadratic form's multipliers after a change of the penalty; see ``advance.rescale``."""
    w = outside.quadratic.w
    for v in range(len(w)):
        w[v] = ratio * (w[v] + p[v]) - p[v]


@jit_internal_no_allocation
def activate_outside(outside):
    """All factors take part in the next iteration."""
    outside.tables_inactive[:] = False
    outside.singles_inactive[:] = False
    outside.structures.inactive[:] = False


@jit_internal
def bound_outside(own, outside, table, dual, residual):
    """Best values of all factors outside the fused loop at a ``bound_sweep.DualState``.

    Takes the link scores off ``residual[n]``; ``table`` are the entries.
    """
    best = bound_singles(own.problem.groups, dual, residual)
    states = np.empty(outside.tables.states.size, np.int32)
    best += bound_tables(
        outside.tables, outside.layout, table, dual, residual, states, outside.work
    )
    structures = outside.structures
    scores, values = table[structures.first_entry :], dual.table[structures.first_link :]
    return best + bound_models(structures.groups, scores, dual, values, residual)


@jit_no_allocation
def inner_values(outside):
    """Score of the inner parts of tables and structures in their own copies."""
    groups, supports = outside.structures.groups, outside.structures.supports
    total = inner_value(outside.tables, outside.layout, outside.supports)
    return total + inner_value(groups.tables, groups.layout, supports)
