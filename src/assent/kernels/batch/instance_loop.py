"""One small problem from start to finish in compiled code: AD3, bounds, roundings, when to stop.

What :mod:`assent.solvers.base.driver` and :mod:`assent.solvers.ad3.ad3` do for one problem of any
size is done here for one of many small ones, with the same kernels and by the same schedule.
"""

from __future__ import annotations

from math import inf, isfinite, isnan

import numpy as np

from assent.kernels.ad3.anderson import make_history
from assent.kernels.ad3.iteration import ROUND
from assent.kernels.batch.instance import (
    INFEASIBLE,
    OPTIMAL,
    RUNNING,
    Links,
    Outcome,
    count_common,
    glue,
    make_aside,
    make_state,
)
from assent.kernels.batch.instance_answers import NO_VIOLATIONS_KNOWN, decide, offer, round_all
from assent.kernels.batch.instance_bound import is_ray, latest_bound, links_now, write_dual
from assent.kernels.batch.instance_ending import (
    end_without_proof,
    meets_bound,
    state_answer,
    state_marginals,
)
from assent.kernels.batch.instance_steps import (
    begin,
    fitting_penalty,
    iterate,
    leap_ahead,
    moved_penalty,
)
from assent.kernels.core import schedule
from assent.kernels.core.propagate import lean

stretch = lean(schedule.stretch)
following = lean(schedule.following)
is_resting = lean(schedule.is_resting)
look_due = lean(schedule.look_due)
is_guessing = lean(schedule.is_guessing)
tries_all = lean(schedule.tries_all)
looks_first = lean(schedule.looks_first)
takes_turns = lean(schedule.takes_turns)
is_settling = lean(schedule.is_settling)


@glue
def solve(
    own, tables, layout, table_lits, settings, penalty, known, stop, p, dual, warm, x, weights
):  # fmt: skip
    """Run AD3 on one problem until its own reason to stop, or the first report after ``stop``.

    Args:
        own: the problem.
        tables: its tables, ``None`` if the blockwise kernels take everything.
        layout: of the tables' supports, or ``None``.
        table_lits: literals of the tables, empty without.
        settings: of the batch.
        penalty: to start with; NaN to choose one by the scores.
        known: ``int8[n]`` an assignment from elsewhere, or empty.
        stop: a flag that others may set, see above.
        p: ``[n]`` the consensus to start from, and at the end.
        dual: the dual point of the bound, written.
        warm: link scores to start from, or empty ones.
        x: ``int8[n]`` the best assignment, written.
        weights: of the table entries, written.
    """
    # 1. Start.
    common = count_common(own.kind)
    state = make_state(own, common, table_lits.size, p)
    aside = make_aside(own, tables, layout, common)
    if isnan(penalty):
        penalty = fitting_penalty(own, tables)
    begin(own, table_lits, state, penalty, warm)
    value, violations, bound = -inf, NO_VIOLATIONS_KNOWN, inf
    if known.size:
        value, violations = offer(own, tables, known, value, violations, x)
    iterations, balance, looked_at, leapt_at, idle = 0, 0.0, 0, 0, 0.0
    bounds, prefer_mean, tried_at, chance = 0, True, inf, settings.chance
    next_rounding, rounded_at = schedule.FIRST_ROUNDING, 0
    next_ray, rays = schedule.FIRST_RAY, 0
    before = Links(state.w_pair[:0], state.w_logic[:0], state.w_table[:0])
    ending = RUNNING
    is_warm = warm.pair.size + warm.logic.size + warm.table.size > 0
    history = make_history(0)  # until guessing begins, which most problems do not live to see
    links = own.pair_var.size + own.lits.size + table_lits.size
    leaping = takes_turns(0, links, tables is not None) and not is_warm
    marks = np.zeros((3, links if leaping else 0))
    plain = np.empty(p.size, np.int8)
    look = looks_first(True, is_warm, violations)
    while True:
        # 2. Iterate until the next report.
        if settings.adapt and look_due(iterations, looked_at):
            rounds = iterations // ROUND - looked_at // ROUND
            penalty *= moved_penalty(own, table_lits, aside, state, history, balance, rounds)
            balance, looked_at = 0.0, iterations
        if leaping and leap_ahead(own, state, penalty, iterations, marks):
            leapt_at = iterations
        guessing = settings.extrapolate and is_guessing(iterations, links, is_warm)
        if guessing and history.z.size == 0:
            history = make_history(links + p.size)
            prefer_mean = False
        more = 0
        if not look:
            more = stretch(iterations, True, is_warm)
            more = max(1, min(more, settings.max_iterations - iterations))
        look = False
        primal, moved, tilt, idle = iterate(
            own, tables, layout, aside, state, common, penalty, settings.cache_idle, history,
            guessing, iterations, more, idle,
        )  # fmt: skip
        iterations += more
        balance += tilt
        # 3. Take a bound.
        residual = max(primal, moved)
        try_all = tries_all(bounds, residual, tried_at)
        if try_all:
            tried_at = residual
        latest, prefer_mean = latest_bound(
            own, tables, layout, aside, state, common, penalty, prefer_mean, iterations, try_all
        )
        bounds += 1
        change = bound - latest
        if latest < bound:
            write_dual(own, table_lits, state, penalty, prefer_mean, iterations, dual)
            bound = latest
        else:
            change = 0.0
        # 4. Try the marginals as they are; round, by schedule or at the end.
        decide(p, plain)
        value, violations = offer(own, tables, plain, value, violations, x)
        tolerance = settings.gap_tolerance * (1.0 + abs(bound))
        settled = residual <= settings.residual_tolerance
        solved = settled and meets_bound(own, tables, layout, aside, p, bound, tolerance)
        asked = stop[0]
        over = solved or asked != RUNNING or iterations >= settings.max_iterations
        due = iterations >= next_rounding
        resting = is_resting(change, tolerance, iterations, rounded_at)
        if over or due or (resting and not is_settling(iterations, leapt_at)):
            if due:
                next_rounding = following(iterations, schedule.ROUNDING_GROWTH)
            rounded_at = iterations
            value, violations, chance = round_all(
                own, tables, p, over and asked == RUNNING, is_warm, tolerance, bound, chance,
                value, violations, x,
            )  # fmt: skip
        # 5. Stop, with a proof or for want of time.
        if isfinite(bound) and bound - value <= tolerance:
            ending = OPTIMAL
        elif violations > 0 and iterations >= next_ray and (own.k.size or table_lits.size):
            next_ray = following(iterations, schedule.RAY_GROWTH)
            now = links_now(own, table_lits, state, penalty, prefer_mean, iterations)
            if rays > 0 and is_ray(
                own, tables, layout, aside, state, common, settings.ray_margin, before, now, dual
            ):
                ending, bound = INFEASIBLE, -inf
            before = now
            rays += 1
        if ending == RUNNING:
            ending = end_without_proof(solved, iterations >= settings.max_iterations, asked)
        if ending != RUNNING:
            break
    # 6. State the outcome.
    if iterations == 0 and ending == OPTIMAL:  # the answer is all that is known, and exact
        primal, moved, relaxed = 0.0, 0.0, value
        state_answer(tables, x, p, weights)
    else:
        relaxed = state_marginals(own, tables, layout, aside, p, weights)
    return Outcome(ending, value, bound, violations, iterations, primal, moved, penalty, relaxed)
