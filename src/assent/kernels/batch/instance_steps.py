"""AD3's iterations on one small problem, with the factors outside the fused loop."""

from __future__ import annotations

from math import inf

import numpy as np

from assent.kernels.ad3 import table_steps
from assent.kernels.ad3.active_set import EXACT
from assent.kernels.ad3.anderson import extrapolate, forget
from assent.kernels.ad3.extrapolation import is_straight, leap, mark
from assent.kernels.ad3.initial_multipliers import (
    size_of_scores,
    size_of_tables,
    start_links,
    take_links,
)
from assent.kernels.ad3.iteration import ROUND, advance, fold, pull, rescale
from assent.kernels.ad3.parity_knapsack_steps import step_singles
from assent.kernels.batch.instance import ONLY_THREAD, glue
from assent.kernels.core import schedule
from assent.kernels.core.propagate import inner, lean

vertices = lean(schedule.vertices)
penalty_factor = lean(schedule.penalty_factor)
takes_turns = lean(schedule.takes_turns)
mark_at = lean(schedule.mark_at)
leap_length = lean(schedule.leap_length)


@inner
def fitting_penalty(own, tables):
    """A penalty by the size of the scores, 1 if all are zero; see ``solvers.starting_point``."""
    scale = size_of_scores(own.theta, own.degree, own.pair)
    if tables is not None:
        scale = max(scale, size_of_tables(tables.kind, tables.entry, tables.factor, own.table))
    return scale if scale > 0.0 else 1.0


@inner
def begin(own, table_lits, state, penalty, links):
    """Multipliers at the start: what link scores leave of ``theta`` is shared by weight.

    ``links`` are those of an earlier run, or empty.
    """
    pair_ends, w_pair = own.pair_var.ravel(), state.w_pair.ravel()
    share = own.theta.copy()
    even = np.zeros(0)
    if links.pair.size + links.logic.size + links.table.size > 0:
        take_links(pair_ends, links.pair.ravel(), share)
        take_links(own.lits, links.logic, share)
        take_links(table_lits, links.table, share)
    for v in range(share.size):
        share[v] /= own.mass[v] * penalty
    start_links(pair_ends, share, state.p, links.pair.ravel(), even, penalty, w_pair)
    start_links(own.lits, share, state.p, links.logic, own.of_link, penalty, state.w_logic)
    start_links(table_lits, share, state.p, links.table, even, penalty, state.w_table)


@glue
def step_aside(own, tables, layout, aside, state, common, alpha, penalty, cache, done, idle):
    """Step the factors outside the fused loop once; returns the sum of their squares."""
    full = not cache or (done + 1) % ROUND == 0
    squares = step_singles(
        own.kind[common:], own.size[common:], own.members[common:], own.link[common:],
        own.factor[common:], own.lits, own.weights, own.capacity, own.weight[common:], alpha, full,
        idle, state.w_logic, state.tau, aside.singles_asleep, state.p, state.totals[0],
        aside.scratch,
    )  # fmt: skip
    return squares + table_steps.step_tables(
        tables, layout, own.table, 1.0 / penalty, alpha, vertices(done, EXACT), full, idle,
        state.w_table, aside.tables_asleep, state.p, state.totals[0], aside.supports, aside.work,
    )  # fmt: skip


@glue
def step_fused(own, state, common, alpha, penalty, in_turn, cache, done, iterations, squares, idle):
    """Iterate the fused loop; ``squares`` belong to the factors stepped outside of it."""
    return advance(
        own.pair_var, own.kind[:common], own.size[:common], own.members[:common], own.link[:common],
        own.factor[:common], own.lits, own.k, own.weight, own.mass, own.total_weight, own.pair,
        penalty, alpha, in_turn, cache, done, iterations, squares, idle,
        state.w_pair, state.w_logic, state.tau, state.p,
        state.mean_w_pair, state.mean_w_logic, state.mean_p,
        state.pairs_asleep, state.logic_asleep, state.totals, state.block, state.lanes,
        state.division, ONLY_THREAD, state.gate, state.sums,
    )  # fmt: skip


@glue
def iterate(
    own, tables, layout, aside, state, common, penalty, cache, history, guessing, done, iterations,
    idle,
):  # fmt: skip
    """So many iterations; returns residuals, the balance for the penalty, and who is idle.

    Each begins where the last ones lead if ``guessing``; then nobody sleeps.
    """
    alpha, idling = own.alpha, cache and not guessing
    at_once = max(1, iterations) if tables is None and not guessing else 1
    primal, dual, balance = inf, inf, 0.0
    others = common < own.kind.size or state.w_table.size > 0
    links = own.pair_var.size + own.lits.size + state.w_table.size
    for t in range(done, done + iterations, at_once):
        if guessing:
            extrapolate(history, state.w_pair.ravel(), state.w_logic, state.w_table, state.p)
        squares = 0.0
        if tables is not None:
            squares = step_aside(
                own, tables, layout, aside, state, common, alpha, penalty, idling, t, idle
            )
        in_turn = takes_turns(t, links, others)
        primal, dual, more, idle = step_fused(
            own, state, common, alpha, penalty, in_turn, idling, t, at_once, squares, idle
        )
        balance += more
        if tables is not None and (t + 1) % ROUND == 0:
            fold(pull(t + 1), state.mean_w_table, state.w_table)
    return primal, dual, balance, idle


@inner
def leap_ahead(own, state, penalty, iterations, marks):
    """Mark where the multipliers are, if that is due; leap, if they come straight from there.

    ``marks[3, links]`` are empty where no leap is wanted.  Returns whether there was one.
    """
    number = mark_at(iterations)
    if number < 0 or marks.size == 0:
        return False
    mark(own.pair_var, own.lits, penalty, state.w_pair, state.w_logic, state.p, marks[number])
    if number < 2 or not is_straight(marks):
        return False
    leap(
        own.pair_var, own.lits, leap_length(iterations), state.w_pair, state.w_logic, state.p,
        state.mean_w_pair, state.mean_w_logic, state.mean_p,
    )  # fmt: skip
    state.pairs_asleep[:] = False
    state.logic_asleep[:] = False
    return True


@inner
def moved_penalty(own, table_lits, aside, state, history, balance, rounds):
    """Move the penalty if its balance since the last look asks for it; returns by what factor."""
    factor = penalty_factor(balance, rounds)
    if factor != 1.0:
        move_penalty(own, table_lits, aside, state, factor)
        forget(history)
    return factor


@inner
def move_penalty(own, table_lits, aside, state, factor):
    """Multiply the penalty: all multipliers are in its units.  Nobody sleeps after that."""
    none = own.pair_var[:0]
    for pair, logic, table, p in (
        (state.w_pair, state.w_logic, state.w_table, state.p),
        (state.mean_w_pair, state.mean_w_logic, state.mean_w_table, state.mean_p),
    ):
        rescale(own.pair_var, own.lits, 1.0 / factor, pair, logic, p)
        rescale(none, table_lits, 1.0 / factor, pair[:0], table, p)
    state.pairs_asleep[:] = False
    state.logic_asleep[:] = False
    if aside is not None:
        aside.tables_asleep[:] = False
        aside.singles_asleep[:] = False
