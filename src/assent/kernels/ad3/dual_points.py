"""AD3's dual points: their bounds, which one to take, link scores, what a drift proves."""

from __future__ import annotations

from math import inf

import numpy as np

from assent.kernels.ad3 import ad3_schedule
from assent.kernels.ad3.initial_multipliers import relaxed_score, start_links
from assent.kernels.ad3.iteration import ROUND
from assent.kernels.ad3.outside_steps import bound_outside, inner_values
from assent.kernels.ad3.state import (
    BOUNDED_AT,
    BOUNDS,
    CURRENT,
    DUAL,
    ITERATIONS,
    MEAN,
    ONLY_THREAD,
    PENALTY,
    PREFERRED,
    PRIMAL,
    SMOOTH,
    TRIED_AT,
)
from assent.kernels.core.bound_sweep import DualState, link_scores, scaled_bound
from assent.kernels.core.copies import as_read_only, copy_values, flat_view
from assent.kernels.core.residual_scores import take_links
from assent.kernels.jit import (
    jit_inline,
    jit_internal,
    jit_internal_no_allocation,
    jit_no_allocation,
)
from assent.kernels.problem import ScoredProblem

# Where this many iterations have passed since the last bound, three of them cost nothing.
RARE = 40

tries_all = jit_internal_no_allocation(ad3_schedule.tries_all)


@jit_no_allocation
def start(own, state, links):
    """Multipliers at the start: what link scores leave of ``theta`` is shared by weight.

    ``links`` are those of an earlier run, or empty; the penalty and ``p`` are the state's.
    """
    problem, current = own.problem, state.current
    penalty, lits, even = state.numbers[PENALTY], problem.groups.lits, own.of_link[:0]
    pair_ends, pair_links = flat_view(problem.pair_var), flat_view(links.pair)
    share = state.residuals[0]
    copy_values(problem.theta, share)
    if pair_links.size + links.logic.size + links.table.size > 0:
        take_links(pair_ends, pair_links, share)
        take_links(lits, links.logic, share)
        take_links(own.table_lits, links.table, share)
    for v in range(share.size):
        share[v] /= own.mass[v] * penalty
    p = current.p
    start_links(pair_ends, share, p, pair_links, even, penalty, flat_view(current.pair))
    start_links(lits, share, p, links.logic, own.of_link, penalty, current.logic)
    start_links(own.table_lits, share, p, links.table, even, penalty, current.table)


@jit_inline
def dual_state(own, state, point, thread):
    """The current dual point, the average or the average of averages; at first they are one."""
    penalty, scales = state.numbers[PENALTY], state.scales[thread]
    for g in range(own.weight.size):
        scales[g] = penalty * own.weight[g]
    scales[-1] = penalty
    chosen = state.current
    if point != CURRENT and state.numbers[ITERATIONS] >= ROUND:
        chosen = state.smooth if point == SMOOTH and state.smooth.p.size else state.mean
    return DualState(scales, chosen.pair, chosen.logic, chosen.table, 1.0, chosen.p)


@jit_inline
def bound_links(own, outside, state, problem, table, dual, thread, barrier):
    """Upper bound on the optimum; see :mod:`assent.kernels.core.bound_sweep`.

    ``problem`` and ``table`` have the scores, the instance's own or others.
    """
    residual = state.residuals[thread]
    residual[:] = 0.0
    if outside is not None:
        constant = problem.constant + bound_outside(own, outside, table, dual, residual)
        problem = ScoredProblem(
            problem.pair_var, problem.groups, problem.theta, problem.pair, constant
        )
    return scaled_bound(
        problem, dual, state.division, thread, barrier, state.residuals, state.parts, state.block
    )


@jit_no_allocation
def latest_bound(own, outside, state, thread, barrier):
    """Upper bound on the optimum at an average dual point or the current one.

    The best one is found out by trying all now and then.  All threads of the division call this
    at once.
    """
    numbers = state.numbers
    done, preferred = numbers[ITERATIONS], numbers[PREFERRED]
    residual = max(numbers[PRIMAL], numbers[DUAL])
    rare = state.smooth.p.size > 0 and done >= numbers[BOUNDED_AT] + RARE
    try_all = rare or tries_all(int(numbers[BOUNDS]), residual, numbers[TRIED_AT])
    best, chosen = inf, float(CURRENT if try_all else preferred)
    for point in (CURRENT, MEAN, SMOOTH):
        known = point == CURRENT or (state.smooth.p.size > 0 if point == SMOOTH else done >= ROUND)
        if known if try_all else point == preferred:
            dual = dual_state(own, state, point, thread)
            bound = bound_links(own, outside, state, own.problem, own.table, dual, thread, barrier)
            if bound < best:
                best, chosen = bound, float(point)
    # Whatever another thread still reads was read before the last barrier of the bound.
    if thread == 0:
        numbers[BOUNDS] += 1
        numbers[BOUNDED_AT] = done
        numbers[PREFERRED] = chosen
        if try_all:
            numbers[TRIED_AT] = residual
    return best


@jit_no_allocation
def write_dual(own, state, thread, barrier, out):
    """The dual point of the last bound as link scores, into ``out``."""
    dual = dual_state(own, state, int(state.numbers[PREFERRED]), thread)
    link_scores(
        own.problem.pair_var, own.problem.groups, dual, state.division, thread, barrier, out.pair,
        out.logic,
    )  # fmt: skip
    if thread == 0:
        for link in range(own.table_lits.size):
            lit = own.table_lits[link]
            literal = 1.0 - dual.p[~lit] if lit < 0 else dual.p[lit]
            out.table[link] = dual.scales[-1] * (dual.table[link] + literal)


@jit_internal_no_allocation
def subtract(values, out):
    """Take values off ``out`` and return the sum of the absolute differences."""
    total = 0.0
    for i in range(values.size):
        out[i] -= values[i]
        total += abs(out[i])
    return total


@jit_internal
def drift_proves(own, outside, state, margin, before, now, barrier):
    """Whether the way from one dual point to another is a Farkas ray: nothing is feasible then.

    It bounds the zero objective below zero, clearly so.  Leaves the way in ``now``.
    """
    size = subtract(before.pair.ravel(), now.pair.ravel())
    size += subtract(before.logic, now.logic) + subtract(before.table, now.table)
    table = np.zeros(own.table.size)
    for at in range(table.size):
        if own.table[at] == -inf:
            table[at] = -inf
    n, problem = own.problem.theta.size, own.problem
    dual = DualState(np.ones(own.weight.size + 1), now.pair, now.logic, now.table, 0.0, np.zeros(n))
    nothing = ScoredProblem(
        problem.pair_var, problem.groups, np.zeros(n), np.zeros(problem.pair.size), 0.0
    )
    only_forbids = as_read_only(table)
    bound = bound_links(own, outside, state, nothing, only_forbids, dual, ONLY_THREAD, barrier)
    return bound < -margin * size


@jit_no_allocation
def relaxed_value(own, outside, p):
    """Score of the consensus in the relaxation: each pair takes its best consistent value.

    A table's inner parts are those of its own copy, which agrees with the consensus up to the
    primal residual.
    """
    problem = own.problem
    total = problem.constant + relaxed_score(problem.theta, problem.pair_var, problem.pair, p)
    if outside is not None:
        total += inner_values(outside)
    return total
