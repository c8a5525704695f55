"""One small problem from start to finish in compiled code: AD3, bounds, roundings, when to stop.

What :mod:`assent.solvers.base.loop` does for one problem of any size is done here for one of many
small ones: both advance AD3 by the same kernel from report to report, by the same schedule.
"""

from __future__ import annotations

from math import inf, isfinite, isnan

import numpy as np

from assent.kernels.ad3 import ad3_schedule, table_steps
from assent.kernels.ad3 import state as ad3_state
from assent.kernels.ad3.advance import advance, is_accelerated
from assent.kernels.ad3.anderson import make_history
from assent.kernels.ad3.dual_points import (
    drift_proves,
    latest_bound,
    relaxed_value,
    start,
    write_dual,
)
from assent.kernels.ad3.initial_multipliers import size_of_scores, size_of_tables
from assent.kernels.ad3.parity_knapsack_steps import ROWS
from assent.kernels.ad3.state import (
    CURRENT,
    DUAL,
    EXTRAPOLATED_AT,
    ITERATIONS,
    ONLY_THREAD,
    ORDERED,
    PENALTY,
    PREFERRED,
    PRIMAL,
    WARM,
    Links,
    Outside,
    Quadratic,
)
from assent.kernels.batch.instance import (
    INFEASIBLE,
    OPTIMAL,
    RELAXED,
    RUNNING,
    TOO_MANY_ITERATIONS,
    BatchOutcome,
    BestSeen,
)
from assent.kernels.batch.instance_answers import (
    NO_VIOLATIONS_KNOWN,
    decide,
    offer,
    round_all,
    tables_of,
)
from assent.kernels.batch.searched_structures import (
    list_parts,
    make_flat_work,
    make_supports,
    weigh_parts,
)
from assent.kernels.core import schedule
from assent.kernels.core.barrier import BARRIER_SIZE
from assent.kernels.core.copies import copy_values
from assent.kernels.core.evaluate import weigh_entries
from assent.kernels.core.thread_shares import whole_division
from assent.kernels.jit import jit_inline, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.logic_projections import count_common

in_gauss_seidel_order = jit_internal_no_allocation(ad3_schedule.in_gauss_seidel_order)
stretch = jit_internal_no_allocation(schedule.stretch)
first_due = jit_internal_no_allocation(schedule.first_due)
rounding_due = jit_internal_no_allocation(schedule.rounding_due)
after_rounding = jit_internal_no_allocation(schedule.after_rounding)
after_ray = jit_internal_no_allocation(schedule.after_ray)
bounds_first = jit_internal_no_allocation(schedule.bounds_first)
is_settling = jit_internal_no_allocation(ad3_schedule.is_settling)
make_state = jit_internal(ad3_state.make_state)


@jit_internal
def make_outside(own, tables, layout, structures):
    """Empty state of the factors outside the fused loop."""
    groups = own.problem.groups
    longest, singles = 1, 0
    for g in range(count_common(groups.kind), groups.kind.size):
        longest = max(longest, groups.size[g])
        singles += groups.members[g]
    nothing = np.zeros(0)
    return Outside(
        tables, layout, make_supports(tables, layout), make_flat_work(tables, layout),
        np.zeros(tables.factor[-1], np.bool_), np.zeros(singles, np.bool_),
        np.zeros((ROWS, longest)), Quadratic(nothing, nothing, nothing, nothing), structures,
    )  # fmt: skip


@jit_internal
def fitting_penalty(own, tables, searched):
    """A penalty by the size of the scores, 1 if all are zero; see ``solvers.starting_point``."""
    scale = size_of_scores(own.problem.theta, own.degree, own.problem.pair)
    if tables is not None:
        table = own.table[: tables.entry[-1]]
        scale = max(scale, size_of_tables(tables.kind, tables.entry, tables.factor, table))
    if searched is not None:
        parts, table = searched.own.groups.tables, own.table[searched.own.first_entry :]
        scale = max(scale, size_of_tables(parts.kind, parts.entry, parts.factor, table))
    return scale if scale > 0.0 else 1.0


@jit_inline
def begin(own, outside, searched, first, p, links):
    """State before the first iteration."""
    problem, groups = own.problem, own.problem.groups
    is_warm = first.warm.pair.size + first.warm.logic.size + first.warm.table.size > 0
    ordered = in_gauss_seidel_order(links, outside is not None)
    common = count_common(groups.kind)
    division = whole_division(
        len(problem.pair_var), groups.members[:common], p.size, groups.lits.size
    )
    state = make_state(own, division, links if ordered and not is_warm else 0, p)
    penalty = first.penalty
    if isnan(penalty):
        penalty = fitting_penalty(own, tables_of(outside), searched)
    state.numbers[PENALTY] = penalty
    state.numbers[WARM] = is_warm
    state.numbers[ORDERED] = ordered
    start(own, state, first.warm)
    return state


@jit_internal
def round_if_due(own, tables, searched, state, due, best, change, ending, out, tolerance):
    """Round, by schedule or at the end.

    ``ending`` says whether the run ends, and whether it takes its time to.
    """
    numbers = state.numbers
    iterations = int(numbers[ITERATIONS])
    settling = is_settling(iterations, int(numbers[EXTRAPOLATED_AT]))
    if ending[0] or rounding_due(due, iterations, change, tolerance, settling, 0):
        due = after_rounding(due, iterations)
        best = round_all(
            own, tables, searched, out.p, ending[1], numbers[WARM] != 0.0, tolerance, best, out.x
        )
    return due, best


@jit_internal
def find_ray(own, outside, state, settings, barrier, due, before, dual):
    """Whether the drift since the last dual point proves infeasibility: its way is then ``dual``.

    Also returns when to look again, and the dual point to measure from.
    """
    current = state.current
    now = Links(
        np.empty_like(current.pair), np.empty_like(current.logic), np.empty_like(current.table)
    )
    write_dual(own, state, ONLY_THREAD, barrier, now)
    proven = False
    if before.logic.size + before.table.size > 0:
        way = Links(now.pair.copy(), now.logic.copy(), now.table.copy())
        proven = drift_proves(own, outside, state, settings.ray_margin, before, way, barrier)
        if proven:
            copy_values(way.pair.ravel(), dual.pair.ravel())
            copy_values(way.logic, dual.logic)
            copy_values(way.table, dual.table)
    return proven, after_ray(due, int(state.numbers[ITERATIONS])), now


@jit_internal_no_allocation
def state_outcome(own, outside, searched, state, ending, best, out):
    """Weights of the table entries, the consensus cut to [0, 1], and what it is worth."""
    numbers, p = state.numbers, out.p
    if numbers[ITERATIONS] == 0.0 and ending == OPTIMAL:
        # The answer is all that is known, and exact: tables are where it puts them.
        numbers[PRIMAL] = numbers[DUAL] = 0.0
        relaxed = best.value
        copy_values(out.x, p)
        if outside is not None:
            weigh_entries(outside.tables, out.x, out.weights)
        list_parts(searched, out.x, out.weights)
    else:
        relaxed = relaxed_value(own, outside, p)
        if outside is not None:
            table_steps.inner_marginals(
                outside.tables, outside.layout, outside.supports, out.weights
            )
        weigh_parts(searched, out.weights)
        for v in range(p.size):
            p[v] = min(max(p[v], 0.0), 1.0)
    return BatchOutcome(
        ending, best.value, best.bound, best.violations, int(numbers[ITERATIONS]), numbers[PRIMAL],
        numbers[DUAL], numbers[PENALTY], relaxed,
    )  # fmt: skip


@jit_internal_no_allocation
def take_bound(own, outside, state, best, barrier, dual):
    """The best so far with the bound of the latest dual point, and how far that brought it down."""
    latest = latest_bound(own, outside, state, ONLY_THREAD, barrier)
    if not latest < best.bound:
        return best, 0.0
    write_dual(own, state, ONLY_THREAD, barrier, dual)
    return BestSeen(best.value, best.violations, latest, best.random_state), best.bound - latest


@jit_internal_no_allocation
def is_solved(own, outside, state, settings, bound, tolerance):
    """Whether the relaxation is: all agree, and the consensus is worth what the bound says."""
    residual = max(state.numbers[PRIMAL], state.numbers[DUAL])
    settled = residual <= settings.residual_tolerance
    return settled and abs(bound - relaxed_value(own, outside, state.current.p)) <= tolerance


@jit_internal
def solve(own, outside, searched, settings, first, stop, out):
    """Run AD3 on one problem until its own reason to stop, or the first report after ``stop``.

    ``outside`` is ``None`` if the fused loop takes all factors, ``searched`` if there are no
    structures; ``settings`` are the batch's, and ``stop`` is a flag that others may set.
    """
    # 1. Start.
    tables, p = tables_of(outside), out.p
    links = own.problem.pair_var.size + own.problem.groups.lits.size + own.table_lits.size
    state = begin(own, outside, searched, first, p, links)
    numbers, plain = state.numbers, np.empty(p.size, np.int8)
    barrier = np.zeros(BARRIER_SIZE, np.int64)
    is_warm = numbers[WARM] != 0.0
    best = BestSeen(-inf, NO_VIOLATIONS_KNOWN, inf, settings.random_state)
    if first.known.size:
        best = offer(own, tables, searched, first.known, best, out.x)
    due = first_due()
    before = Links(state.current.pair[:0], state.current.logic[:0], state.current.table[:0])
    history = make_history(0)  # until acceleration begins, which most problems do not live to see
    bound_only = bounds_first(True, is_warm, best.violations)
    ending = RUNNING
    while ending == RUNNING:
        # 2. Iterate until the next report.
        done = int(numbers[ITERATIONS])
        if not bound_only:
            fresh = settings.extrapolate and history.z.size == 0
            if fresh and is_accelerated(done, links, is_warm):
                history = make_history(links + p.size)
                numbers[PREFERRED] = CURRENT
            more = max(1, min(stretch(done, True, is_warm), settings.max_iterations - done))
            advance(own, outside, state, history, settings, more, ONLY_THREAD, barrier)
            done += more
        bound_only = False
        # 3. Take a bound; try the marginals as they are; round, by schedule or at the end.
        best, change = take_bound(own, outside, state, best, barrier, out.dual)
        decide(p, plain)
        best = offer(own, tables, searched, plain, best, out.x)
        tolerance = first.least_gap + settings.relative_gap * abs(best.bound)
        solved = is_solved(own, outside, state, settings, best.bound, tolerance)
        asked, last = stop[0], done >= settings.max_iterations
        over = solved or asked != RUNNING or last
        due, best = round_if_due(
            own, tables, searched, state, due, best, change, (over, over and asked == RUNNING), out,
            tolerance,
        )  # fmt: skip
        # 4. Stop, with a proof or for want of time.
        open_still = not (isfinite(best.bound) and best.bound - best.value <= tolerance)
        ending = OPTIMAL
        if open_still:
            ending = RELAXED if solved else TOO_MANY_ITERATIONS if last else asked
        strict = state.tau.size + own.table_lits.size > 0
        if open_still and best.violations > 0 and strict and done >= due.ray:
            proven, due, before = find_ray(
                own, outside, state, settings, barrier, due, before, out.dual
            )
            if proven:
                ending = INFEASIBLE
                best = BestSeen(best.value, best.violations, -inf, best.random_state)
    # 5. State the outcome.
    return state_outcome(own, outside, searched, state, ending, best, out)
