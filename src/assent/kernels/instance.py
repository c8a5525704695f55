"""One small problem from start to finish in compiled code: AD3, bounds, roundings, when to stop.

What :mod:`assent.solvers.driver` and :mod:`assent.solvers.ad3` do for one problem of any size
is done here for one of many small ones, with the same kernels and by the same schedule.
``tables``, ``layout`` and ``aside`` are ``None`` for problems that the blockwise kernels take
whole; these compile nothing of the rest.
"""

from __future__ import annotations

from math import inf, isfinite, isnan
from typing import NamedTuple

import numpy as np

from assent.kernels import schedule, structures
from assent.kernels.active_set import EXACT, Support, Work
from assent.kernels.ad3 import ROUND, SUMS, advance, fold, pull, rescale
from assent.kernels.bound import link_scores, scaled_bound
from assent.kernels.evaluate import assess, weigh_entries
from assent.kernels.extrapolate import extrapolate, forget, make_history
from assent.kernels.jit import jit
from assent.kernels.point import index_pairs
from assent.kernels.projections import LANE_ROWS, LANES
from assent.kernels.propagate import index_logic, inner, lean
from assent.kernels.rounding import (
    MAX_SWEEPS,
    on_grid,
    round_point,
    score_step,
    shake,
    tidy,
)
from assent.kernels.shares import PAIR_BLOCK, Division, whole_division
from assent.kernels.singles import ROWS, bound_singles, step_singles
from assent.kernels.start import (
    relaxed_score,
    size_of_scores,
    size_of_tables,
    start_links,
    take_links,
)
from assent.kernels.table_links import index_tables, table_field
from assent.kernels.threads import GATE_SIZE
from assent.problem import PARITY

# How a run ended; the first five are also what a caller may ask for by its stop flag.
RUNNING, TIME_OVER, INTERRUPTED = 0, 1, 2
TOO_MANY_ITERATIONS, OPTIMAL, RELAXED, INFEASIBLE = 3, 4, 5, 6

NO_VIOLATIONS_KNOWN = np.iinfo(np.int64).max

# Functions between the loop and the kernels it calls: inlined before compilation, which otherwise
# would optimise the kernels again at every level of the call tree.
glue = jit(inline="always")

stretch = lean(schedule.stretch)
following = lean(schedule.following)
is_resting = lean(schedule.is_resting)
is_better = lean(schedule.is_better)
look_due = lean(schedule.look_due)
penalty_factor = lean(schedule.penalty_factor)
vertices = lean(schedule.vertices)
is_guessing = lean(schedule.is_guessing)
perturbed_tries = lean(schedule.perturbed_tries)
looks_first = lean(schedule.looks_first)
empty_supports = inner(structures.make_supports)
empty_work = inner(structures.make_flat_work)


class Instance(NamedTuple):
    """A problem and its scores; names as in ``problem.Problem`` and ``ad3.Workspace``."""

    pair_var: np.ndarray
    kind: np.ndarray
    size: np.ndarray
    members: np.ndarray
    link: np.ndarray
    factor: np.ndarray
    lits: np.ndarray
    k: np.ndarray
    weights: np.ndarray
    capacity: np.ndarray
    weight: np.ndarray  # float64[G]
    of_link: np.ndarray  # float64[L], weight by link
    mass: np.ndarray  # float64[n]
    degree: np.ndarray
    theta: np.ndarray
    pair: np.ndarray
    table: np.ndarray
    constant: float
    total_weight: float  # of all links
    alpha: float  # over-relaxation


class Settings(NamedTuple):
    """What holds for all problems of a batch."""

    gap_tolerance: float
    residual_tolerance: float
    max_iterations: int
    adapt: bool
    cache_idle: bool
    extrapolate: bool
    ray_margin: float  # a proof of infeasibility is this clear of rounding, relatively
    chance: int  # state of the random numbers at the start


class State(NamedTuple):
    """Arrays of a running AD3; names as in ``ad3.Workspace``."""

    w_pair: np.ndarray
    w_logic: np.ndarray
    w_table: np.ndarray
    p: np.ndarray
    mean_w_pair: np.ndarray
    mean_w_logic: np.ndarray
    mean_w_table: np.ndarray
    mean_p: np.ndarray
    tau: np.ndarray
    pairs_asleep: np.ndarray
    logic_asleep: np.ndarray
    division: Division
    totals: np.ndarray
    block: np.ndarray
    lanes: np.ndarray
    sums: np.ndarray
    parts: np.ndarray
    gate: np.ndarray


class Links(NamedTuple):
    """A dual point: link scores."""

    pair: np.ndarray  # float64[P, 2]
    logic: np.ndarray  # float64[L]
    table: np.ndarray


class Aside(NamedTuple):
    """State of the factors outside the fused loop; see ``solvers.aside``."""

    supports: Support
    work: Work
    tables_asleep: np.ndarray
    singles_asleep: np.ndarray
    scratch: np.ndarray


class Outcome(NamedTuple):
    """How a run ended."""

    ending: int
    value: float
    bound: float
    violations: int
    iterations: int
    primal: float
    dual: float
    penalty: float
    relaxed: float  # score of the consensus in the relaxation


@inner
def make_state(own, common, table_links, p):
    """Room for a run, with consensus ``p``."""
    pairs, links, n = len(own.pair_var), own.lits.size, p.size
    longest, blocks = 1, 0
    for g in range(common):
        longest = max(longest, own.size[g])
        blocks += (own.members[g] + LANES - 1) // LANES
    return State(
        np.empty((pairs, 2)), np.empty(links), np.empty(table_links), p,
        np.zeros((pairs, 2)), np.zeros(links), np.zeros(table_links), np.zeros(n),
        np.zeros(own.k.size), np.zeros((pairs + PAIR_BLOCK - 1) // PAIR_BLOCK, np.bool_),
        np.zeros(blocks, np.bool_), whole_division(pairs, own.members[:common], n, links),
        np.zeros((1, n)), np.zeros((1, longest * LANES)), np.zeros((1, LANE_ROWS, LANES)),
        np.zeros((1, SUMS)), np.empty((1, 2)), np.zeros(GATE_SIZE, np.int64),
    )  # fmt: skip


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
    return squares + structures.step_tables(
        tables, layout, own.table, 1.0 / penalty, alpha, vertices(done, EXACT), full, idle,
        state.w_table, aside.tables_asleep, state.p, state.totals[0], aside.supports, aside.work,
    )  # fmt: skip


@glue
def step_fused(own, state, common, alpha, penalty, cache, done, iterations, squares, idle):
    """Iterate the fused loop; ``squares`` belong to the factors stepped outside of it."""
    return advance(
        own.pair_var, own.kind[:common], own.size[:common], own.members[:common], own.link[:common],
        own.factor[:common], own.lits, own.k, own.weight, own.mass, own.total_weight, own.pair,
        penalty, alpha, cache, done, iterations, squares, idle, state.w_pair, state.w_logic,
        state.tau, state.p, state.mean_w_pair, state.mean_w_logic, state.mean_p,
        state.pairs_asleep, state.logic_asleep, state.totals, state.block, state.lanes,
        state.division, 0, state.gate, state.sums,
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
    for t in range(done, done + iterations, at_once):
        if guessing:
            extrapolate(history, state.w_pair.ravel(), state.w_logic, state.w_table, state.p)
        squares = 0.0
        if tables is not None:
            squares = step_aside(
                own, tables, layout, aside, state, common, alpha, penalty, idling, t, idle
            )
        primal, dual, more, idle = step_fused(
            own, state, common, alpha, penalty, idling, t, at_once, squares, idle
        )
        balance += more
        if tables is not None and (t + 1) % ROUND == 0:
            fold(pull(t + 1), state.mean_w_table, state.w_table)
    return primal, dual, balance, idle


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


@glue
def bound_links(
    own, tables, layout, aside, state, common, theta, pair, table, constant, scales,
    links, factor, p,
):  # fmt: skip
    """Upper bound on the optimum; see :mod:`assent.kernels.bound`."""
    if tables is not None:
        theta = theta.copy()
        constant += bound_singles(
            own.kind[common:], own.size[common:], own.members[common:], own.link[common:],
            own.factor[common:], own.lits, own.weights, own.capacity, own.k.size,
            scales[common:-1], links.logic, factor, p, theta,
        )  # fmt: skip
        constant += structures.bound_tables(
            tables, layout, table, scales[-1], links.table, factor, p, theta, aside.work
        )
        scales = common_scales(scales, common)
    residuals = np.empty((1, p.size))
    return scaled_bound(
        own.pair_var, own.kind[:common], own.size[:common], own.members[:common], own.link[:common],
        own.factor[:common], own.lits, own.k, theta, pair, constant, scales, links.pair,
        links.logic, factor, p, state.division, 0, state.gate, residuals, state.parts,
    )  # fmt: skip


@inner
def dual_state(state, mean, done):
    """The average or the current dual point, in AD3's form."""
    if mean and done >= ROUND:
        links = Links(state.mean_w_pair, state.mean_w_logic, state.mean_w_table)
        return links, state.mean_p
    return Links(state.w_pair, state.w_logic, state.w_table), state.p


@inner
def scales_of(own, penalty):
    """Scales of the groups and, last, of pairs and tables."""
    scales = np.empty(own.weight.size + 1)
    for g in range(own.weight.size):
        scales[g] = penalty * own.weight[g]
    scales[-1] = penalty
    return scales


@inner
def write_dual(own, table_lits, state, penalty, mean, done, out):
    """The dual point as link scores."""
    links, p = dual_state(state, mean, done)
    link_scores(
        own.pair_var, own.size, own.members, own.link, own.lits, scales_of(own, penalty),
        links.pair, links.logic, 1.0, p, state.division, 0, state.gate, out.pair, out.logic,
    )  # fmt: skip
    for link in range(table_lits.size):
        lit = table_lits[link]
        literal = 1.0 - p[~lit] if lit < 0 else p[lit]
        out.table[link] = penalty * (links.table[link] + literal)


@inner
def common_scales(scales, common):
    """Scales without those of the groups behind the common ones."""
    out = np.empty(common + 1)
    for g in range(common):
        out[g] = scales[g]
    out[common] = scales[-1]
    return out


@glue
def bound_of_state(own, tables, layout, aside, state, common, penalty, mean, done):
    """Upper bound on the optimum at the average or the current dual point."""
    links, p = dual_state(state, mean, done)
    return bound_links(
        own, tables, layout, aside, state, common, own.theta, own.pair, own.table, own.constant,
        scales_of(own, penalty), links, 1.0, p,
    )  # fmt: skip


@lean
def write(values, out):
    """Copy; a slice assignment would compile several times as long, for shapes that may differ."""
    for i in range(values.size):
        out[i] = values[i]


@lean
def subtract(values, out):
    """Take values off ``out``."""
    for i in range(values.size):
        out[i] -= values[i]


@lean
def total_size(values):
    """Sum of absolute values."""
    total = 0.0
    for i in range(values.size):
        total += abs(values[i])
    return total


@lean
def count_common(kind):
    """How many groups the blockwise kernels take; PARITY and KNAPSACK stand behind them."""
    common = 0
    while common < kind.size and kind[common] < PARITY:
        common += 1
    return common


@glue
def drift_proves(own, tables, layout, aside, state, common, margin, before, now):
    """Whether the way from one dual point to another bounds the zero objective below zero.

    Leaves the way in ``now``.
    """
    subtract(before.pair.ravel(), now.pair.ravel())
    subtract(before.logic, now.logic)
    subtract(before.table, now.table)
    size = total_size(now.pair.ravel()) + total_size(now.logic) + total_size(now.table)
    table = np.zeros(own.table.size)
    for at in range(table.size):
        if own.table[at] == -inf:
            table[at] = -inf
    bound = bound_links(
        own, tables, layout, aside, state, common, np.zeros(own.theta.size),
        np.zeros(own.pair.size), table, 0.0, np.ones(own.weight.size + 1), now, 0.0,
        np.zeros(own.theta.size),
    )  # fmt: skip
    return bound < -margin * size


@glue
def assessed(own, tables, x):
    """Value of an assignment and how many factors it breaks."""
    return assess(
        own.kind, own.size, own.members, own.link, own.factor, own.lits, own.k, own.weights,
        own.capacity, tables, own.table, own.theta, own.pair_var, own.pair, own.constant, x,
    )  # fmt: skip


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


@inner
def fields_of(tables, table, n):
    """Room for the sums of tables, or nothing."""
    if tables is None:
        return None
    return table_field(index_tables(tables, n), table)


@inner
def make_aside(own, tables, layout, common):
    """Empty state of the factors outside the fused loop, or nothing."""
    if tables is None:
        return None
    longest, singles = 1, 0
    for g in range(common, own.kind.size):
        longest = max(longest, own.size[g])
        singles += own.members[g]
    return Aside(
        empty_supports(tables, layout), empty_work(tables, layout),
        np.zeros(tables.factor[-1], np.bool_), np.zeros(singles, np.bool_),
        np.zeros((ROWS, longest)),
    )  # fmt: skip


@glue
def round_once(
    own, tables, fields, logic, pairs, theta, pair, p, thorough, value, violations, best
):  # fmt: skip
    """Offer the rounding of marginals, by the scores ``theta`` and ``pair``."""
    tidied, nobody = np.empty(p.size), np.zeros(0, np.int8)
    tidy(p, tidied)
    x = round_point(logic, pairs, fields, theta, pair, tidied, nobody, MAX_SWEEPS, thorough)
    return offer(own, tables, x, value, violations, best)


@glue
def round_all(
    own, tables, p, thorough, is_warm, tolerance, bound, chance, value, violations, best
):  # fmt: skip
    """Offer rounded answers; if ``thorough``, perturbed ones as well while a gap remains."""
    logic = index_logic(
        own.kind, own.size, own.members, own.link, own.factor, own.lits, own.k, own.weights,
        own.capacity, p.size,
    )  # fmt: skip
    pairs = index_pairs(own.pair_var, p.size)
    step = score_step(own.theta, own.pair, own.table)  # near-ties are ties
    theta, pair = on_grid(own.theta, step), on_grid(own.pair, step)
    fields = fields_of(tables, on_grid(own.table, step), p.size)
    value, violations = round_once(
        own, tables, fields, logic, pairs, theta, pair, p, thorough, value, violations, best
    )
    for _ in range(perturbed_tries(thorough, is_warm, violations)):
        if bound - value <= tolerance:
            break
        shaken, chance = shake(p, chance)
        value, violations = round_once(
            own, tables, fields, logic, pairs, theta, pair, shaken, False, value, violations, best
        )
    return value, violations, chance


@inner
def relaxed_value(own, tables, layout, aside, p):
    """Score of the consensus in the relaxation."""
    total = own.constant + relaxed_score(own.theta, own.pair_var, own.pair, p)
    if tables is not None:
        total += structures.inner_value(tables, layout, aside.supports)
    return total


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
    iterations, balance, looked_at, idle = 0, 0.0, 0, 0.0
    bounds, prefer_mean, chance = 0, True, settings.chance
    next_rounding, rounded_at = schedule.FIRST_ROUNDING, 0
    next_ray, rays = schedule.FIRST_RAY, 0
    before = Links(state.w_pair[:0], state.w_logic[:0], state.w_table[:0])
    ending = RUNNING
    is_warm = warm.pair.size + warm.logic.size + warm.table.size > 0
    history = make_history(0)  # until guessing begins, which most problems do not live to see
    links = own.pair_var.size + own.lits.size + table_lits.size
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
        # 3. Take a bound at the better one of two dual points, which are one at first.
        if bounds % schedule.TRY_ALL == 0:
            average = inf
            if iterations >= ROUND:
                average = bound_of_state(
                    own, tables, layout, aside, state, common, penalty, True, iterations
                )
            latest = bound_of_state(
                own, tables, layout, aside, state, common, penalty, False, iterations
            )
            prefer_mean = average < latest
            latest = min(latest, average)
        else:
            latest = bound_of_state(
                own, tables, layout, aside, state, common, penalty, prefer_mean, iterations
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
        if over or due or is_resting(change, tolerance, iterations, rounded_at):
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
