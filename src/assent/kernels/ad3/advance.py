"""AD3 from one report to the next: the same for one problem of any size and for many small ones.

Before the iterations the penalty is adapted, if that is due; among them multipliers that drift are
extrapolated, or every iteration of a small problem begins where Anderson's method puts it.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from assent.kernels.ad3 import ad3_schedule
from assent.kernels.ad3.active_set import EXACT
from assent.kernels.ad3.anderson import accelerate, forget
from assent.kernels.ad3.extrapolation import extrapolate, is_straight, mark
from assent.kernels.ad3.iteration import (
    IDLE,
    MOST_IN_ORDER,
    ROUND,
    LogicState,
    StepScratch,
    balance_of,
    fold_point,
    make_buffers,
    pull,
    residuals,
    share_consensus,
    step_groups,
    step_pairs,
    sum_of,
    take_move,
)
from assent.kernels.ad3.outside_steps import activate_outside, rescale_outside, step_outside
from assent.kernels.ad3.state import (
    BALANCE,
    BALANCED_AT,
    DUAL,
    EXTRAPOLATED_AT,
    IDLE_SQUARES,
    ITERATIONS,
    ORDERED,
    PENALTY,
    PRIMAL,
    WARM,
    Consensus,
    Sweep,
)
from assent.kernels.core.barrier import wait_for_all
from assent.kernels.core.copies import copy_values, flat_view
from assent.kernels.core.thread_shares import PAIRS
from assent.kernels.jit import jit, jit_inline, jit_internal, jit_internal_no_allocation

# The running average circles as well, if less: the second one weighs iteration t by about t to this
# power.  Of 6, 12, 24 and 48 it needed the fewest iterations to 1e-5 and 1e-6.
SMOOTHING = 12

is_accelerated = jit_internal_no_allocation(ad3_schedule.is_accelerated)
penalty_due = jit_internal_no_allocation(ad3_schedule.penalty_due)
penalty_factor = jit_internal_no_allocation(ad3_schedule.penalty_factor)
mark_at = jit_internal_no_allocation(ad3_schedule.mark_at)
until_mark = jit_internal_no_allocation(ad3_schedule.until_mark)
extrapolation_length = jit_internal_no_allocation(ad3_schedule.extrapolation_length)
vertices = jit_internal_no_allocation(ad3_schedule.vertices)


class Mode(NamedTuple):
    """How iterations go: in Gauss-Seidel order, each from where Anderson's method puts it, or with
    blocks that are inactive while they agree.
    """

    in_order: bool
    accelerated: bool
    cached: bool


@jit
def advance(own, outside, state, history, settings, iterations, thread, barrier):
    """Run ``iterations`` of AD3 in place: until the next report.

    All threads of the division call this at once, each with its number.  ``history`` is empty
    unless iterations may be accelerated.
    """
    in_order = state.numbers[ORDERED] != 0.0
    buffers = make_buffers(own.problem.groups, state.current.p.size, in_order)
    advance_in(buffers, own, outside, state, history, settings, iterations, thread, barrier)


@jit_internal_no_allocation
def advance_in(buffers, own, outside, state, history, settings, iterations, thread, barrier):
    """The same with room for it: no reference to any of the arrays has to be counted."""
    numbers, division = state.numbers, state.division
    threads = len(division.shares)
    if not wait_for_all(barrier, threads):
        return
    begun = int(numbers[ITERATIONS])
    if settings.adapt and penalty_due(begun, int(numbers[BALANCED_AT])):
        wait_for_all(barrier, threads)  # everybody has read when the last check was
        if thread == 0:
            adapt_penalty(own, outside, state, history)
        wait_for_all(barrier, threads)
    current, warm = state.current, numbers[WARM] != 0.0
    links = current.pair.size + current.logic.size + current.table.size
    accelerated = history.z.size > 0 and is_accelerated(begun, links, warm)
    done, end = begun, begun + iterations
    while done < end:
        count = end - done
        in_order = numbers[ORDERED] != 0.0 and done < ad3_schedule.LAST_IN_ORDER
        if in_order and state.marks.size > 0:
            extrapolate_drift(own, state)
            count = min(count, until_mark(done))
        mode = Mode(in_order, accelerated, settings.cache_idle and not accelerated)
        iterate(buffers, own, outside, state, history, mode, count, thread, barrier)
        done += count
    if state.smooth.p.size > 0:
        share = 1.0 - (begun / end) ** SMOOTHING
        fold_point(share, state.smooth, state.mean, division, thread)


@jit_inline
def iterate(buffers, own, outside, state, history, mode, iterations, thread, barrier):
    """Iterate; see :mod:`assent.kernels.ad3.iteration`.

    Notes the last residuals, the sum over rounds of ``log(spread / move)``, which tells whether the
    penalty is right, and the limit on the mean squares of idle blocks to go on with.  In
    Gauss-Seidel order residuals compare a factor's copy with the consensus it met.
    """
    numbers, division, current = state.numbers, state.division, state.current
    groups, p, sums = own.problem.groups, state.current.p, state.sums
    share, threads = division.shares[thread], len(division.shares)
    pair_blocks = division.order[share[PAIRS] : share[PAIRS + 1]]
    done, limit = int(numbers[ITERATIONS]), numbers[IDLE_SQUARES]
    alpha = min(own.alpha, MOST_IN_ORDER) if mode.in_order else own.alpha
    rate = buffers.rate if mode.in_order else buffers.rate[:0]
    for v in range(len(rate)):
        rate[v] = alpha / own.mass[v]
    consensus = Consensus(p, rate, p if mode.in_order else state.totals[thread])
    logic = LogicState(groups.lits, groups.k, current.logic, state.tau, state.logic_inactive)
    scratch = StepScratch(buffers.ends, state.block[thread], state.lanes[thread], buffers.ks)
    squares, offsets, balance = 0.0, 0.0, 0.0
    for t in range(done + 1, done + iterations + 1):
        ends_round = t % ROUND == 0
        measured = ends_round or t == done + iterations
        if mode.accelerated:
            accelerate(history, flat_view(current.pair), current.logic, current.table, p)
        if mode.in_order and measured:
            copy_values(p, buffers.before)
        full = ends_round or not mode.cached
        sweep = Sweep(1.0 / numbers[PENALTY], alpha, full, limit, vertices(t - 1, EXACT))
        beside = 0.0
        if outside is not None:
            beside = step_outside(own, outside, state, consensus, sweep, t)
        sums[thread, 0] = step_pairs(
            own.problem, pair_blocks, sweep, current.pair, state.pairs_inactive, consensus,
            scratch.ends,
        ) + step_groups(own, logic, buffers.ones, share, sweep, consensus, scratch)  # fmt: skip
        wait_for_all(barrier, threads)
        squares = beside + sum_of(sums, 0)
        limit = IDLE**2 * squares / own.total_weight
        if not mode.in_order:
            sums[thread, 1] = share_consensus(
                own.mass, alpha, share, division.touched, p, state.totals
            )
        elif measured:
            sums[thread, 1] = take_move(own.mass, alpha, buffers.before, p)
        if ends_round:  # nobody moves between the two barriers, whosever share a link is
            fold_point(pull(t), state.mean, current, division, thread)
        wait_for_all(barrier, threads)
        offsets = sum_of(sums, 1)
        if ends_round:
            balance += balance_of(squares, offsets, own.total_weight)
    if thread == 0:
        primal, dual = residuals(squares, offsets, alpha, own.total_weight)
        numbers[PRIMAL] = sqrt(squares / own.total_weight) if mode.in_order else primal
        numbers[DUAL], numbers[IDLE_SQUARES] = dual, limit
        numbers[BALANCE] += balance
        numbers[ITERATIONS] = done + iterations


@jit_internal
def adapt_penalty(own, outside, state, history):
    """Check the penalty, at doubling distances; move it if it is clearly off.

    The copies of a coordinate spread about their mean as much as the mean moves when the
    penalty is right, on every kind of problem tried; the ratio falls about like the root
    of the penalty.  Checks at doubling distances are finitely many in any run, so that the
    convergence of the plain method is kept.
    """
    numbers = state.numbers
    done, before = int(numbers[ITERATIONS]), int(numbers[BALANCED_AT])
    factor = penalty_factor(numbers[BALANCE], done // ROUND - before // ROUND)
    numbers[BALANCE], numbers[BALANCED_AT] = 0.0, done
    if factor == 1.0:
        return
    for point in (state.current, state.mean):
        rescale(own, 1.0 / factor, point)
    numbers[PENALTY] *= factor
    forget(history)
    activate(state)
    if outside is not None:
        rescale_outside(outside, 1.0 / factor, state.current.p)
        activate_outside(outside)


@jit_internal_no_allocation
def rescale(own, ratio, point):
    """Change the penalty to ``rho / ratio``: multipliers ``u = w + p`` grow by ``ratio``."""
    pair_var, p = own.problem.pair_var, point.p
    for e in range(len(pair_var)):
        for i in range(2):
            mean = p[pair_var[e, i]]
            point.pair[e, i] = ratio * (point.pair[e, i] + mean) - mean
    for lits, w in ((own.problem.groups.lits, point.logic), (own.table_lits, point.table)):
        for link in range(len(lits)):
            lit = lits[link]
            mean = 1.0 - p[~lit] if lit < 0 else p[lit]
            w[link] = ratio * (w[link] + mean) - mean


@jit_internal_no_allocation
def activate(state):
    """All blocks of the fused loop take part in the next iteration."""
    for inactive in (state.pairs_inactive, state.logic_inactive):
        for block in range(len(inactive)):
            inactive[block] = False


@jit_internal
def extrapolate_drift(own, state):
    """Mark where the multipliers are, if that is due; extrapolate, if they come straight."""
    numbers, current = state.numbers, state.current
    pair_var, lits = own.problem.pair_var, own.problem.groups.lits
    done = int(numbers[ITERATIONS])
    number = mark_at(done)
    if number < 0:
        return
    mark(pair_var, lits, numbers[PENALTY], current, state.marks[number])
    if number == 2 and is_straight(state.marks):
        extrapolate(pair_var, lits, extrapolation_length(done), current, state.mean)
        numbers[EXTRAPOLATED_AT] = done
        activate(state)
