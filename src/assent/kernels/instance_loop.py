"""One small problem from start to finish in compiled code: AD3, bounds, roundings, when to stop.

What :mod:`assent.solvers.driver` and :mod:`assent.solvers.ad3` do for one problem of any size
is done here for one of many small ones, with the same kernels and by the same schedule.
"""

from __future__ import annotations

from math import inf, isfinite, isnan

import numpy as np

from assent.kernels import schedule, structures
from assent.kernels.ad3 import ROUND
from assent.kernels.evaluate import weigh_entries
from assent.kernels.extrapolate import forget, make_history
from assent.kernels.instance import (
    INFEASIBLE,
    OPTIMAL,
    RELAXED,
    RUNNING,
    TOO_MANY_ITERATIONS,
    Links,
    Outcome,
    count_common,
    glue,
    make_aside,
    make_state,
    write,
)
from assent.kernels.instance_answers import NO_VIOLATIONS_KNOWN, offer, round_all
from assent.kernels.instance_bound import drift_proves, latest_bound, write_dual
from assent.kernels.instance_steps import (
    begin,
    fitting_penalty,
    iterate,
    leap_ahead,
    move_penalty,
    relaxed_value,
)
from assent.kernels.propagate import lean

stretch = lean(schedule.stretch)
following = lean(schedule.following)
is_resting = lean(schedule.is_resting)
look_due = lean(schedule.look_due)
penalty_factor = lean(schedule.penalty_factor)
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
            factor = penalty_factor(balance, iterations // ROUND - looked_at // ROUND)
            balance, looked_at = 0.0, iterations
            if factor != 1.0:
                move_penalty(own, table_lits, aside, state, factor)
                penalty *= factor
                forget(history)
        if leap_ahead(own, state, penalty, iterations, marks):
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
        for v in range(p.size):
            plain[v] = p[v] > 0.5 + schedule.UNDECIDED
        value, violations = offer(own, tables, plain, value, violations, x)
        tolerance = settings.gap_tolerance * (1.0 + abs(bound))
        solved = max(primal, moved) <= settings.residual_tolerance
        if solved:
            relaxed = relaxed_value(own, tables, layout, aside, p)
            solved = abs(bound - relaxed) <= tolerance
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
            now = Links(
                np.empty_like(state.w_pair), np.empty_like(state.w_logic),
                np.empty_like(state.w_table),
            )  # fmt: skip
            write_dual(own, table_lits, state, penalty, prefer_mean, iterations, now)
            way = Links(now.pair.copy(), now.logic.copy(), now.table.copy())
            if rays > 0 and drift_proves(
                own, tables, layout, aside, state, common, settings.ray_margin, before, way
            ):
                write(way.pair.ravel(), dual.pair.ravel())
                write(way.logic, dual.logic)
                write(way.table, dual.table)
                ending, bound = INFEASIBLE, -inf
            before = now
            rays += 1
        if ending == RUNNING and solved:
            ending = RELAXED
        if ending == RUNNING and iterations >= settings.max_iterations:
            ending = TOO_MANY_ITERATIONS
        if ending == RUNNING:
            ending = asked
        if ending != RUNNING:
            break
    # 6. State the outcome.
    if iterations == 0 and ending == OPTIMAL:  # the answer is all that is known, and exact
        primal, moved, relaxed = 0.0, 0.0, value
        write(x, p)
        if tables is not None:
            weigh_entries(tables, x, weights)
    else:
        relaxed = relaxed_value(own, tables, layout, aside, p)
        if tables is not None:
            structures.inner_marginals(tables, layout, aside.supports, weights)
    for v in range(p.size):
        p[v] = min(max(p[v], 0.0), 1.0)
    return Outcome(ending, value, bound, violations, iterations, primal, moved, penalty, relaxed)
