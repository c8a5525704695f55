"""Dual points of one small problem: their bounds, how they are written out, what a drift proves."""

from __future__ import annotations

from math import inf

import numpy as np

from assent.kernels.ad3 import table_steps
from assent.kernels.ad3.iteration import ROUND
from assent.kernels.ad3.parity_knapsack_steps import bound_singles
from assent.kernels.batch.instance import ONLY_THREAD, Links, glue, groups_of, write
from assent.kernels.core.bound_sweep import DualState, link_scores, scaled_bound
from assent.kernels.core.propagate import inner, lean
from assent.kernels.problem import ScoredProblem


@glue
def bound_links(
    own, tables, layout, aside, state, common, theta, pair, table, constant, scales,
    links, factor, p,
):  # fmt: skip
    """Upper bound on the optimum; see :mod:`assent.kernels.core.bound_sweep`."""
    if tables is not None:
        theta = theta.copy()
        constant += bound_singles(
            own.kind[common:], own.size[common:], own.members[common:], own.link[common:],
            own.factor[common:], own.lits, own.weights, own.capacity, own.k.size,
            scales[common:-1], links.logic, factor, p, theta,
        )  # fmt: skip
        constant += table_steps.bound_tables(
            tables, layout, table, scales[-1], links.table, factor, p, theta, aside.work
        )
    residuals = np.empty((1, p.size))
    return scaled_bound(
        ScoredProblem(own.pair_var, groups_of(own), theta, pair, constant),
        DualState(scales, links.pair, links.logic, links.table, factor, p),
        state.division, ONLY_THREAD, state.gate, residuals, state.parts,
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


@glue
def bound_of_state(own, tables, layout, aside, state, common, penalty, mean, done):
    """Upper bound on the optimum at the average or the current dual point."""
    links, p = dual_state(state, mean, done)
    return bound_links(
        own, tables, layout, aside, state, common, own.theta, own.pair, own.table, own.constant,
        scales_of(own, penalty), links, 1.0, p,
    )  # fmt: skip


@glue
def latest_bound(own, tables, layout, aside, state, common, penalty, mean, done, both):
    """The bound at the average (``mean``) or the current dual point, or the better of ``both``.

    Also returns whether it was the average.  At first they are one.
    """
    best, chosen = inf, mean and not both
    for point in (False, True):
        if point if both and done < ROUND else not both and point != mean:
            continue
        bound = bound_of_state(own, tables, layout, aside, state, common, penalty, point, done)
        if bound < best:
            best, chosen = bound, point
    return best, chosen


@inner
def write_dual(own, table_lits, state, penalty, mean, done, out):
    """The dual point as link scores."""
    links, p = dual_state(state, mean, done)
    link_scores(
        own.pair_var, groups_of(own),
        DualState(scales_of(own, penalty), links.pair, links.logic, links.table, 1.0, p),
        state.division, ONLY_THREAD, state.gate, out.pair, out.logic,
    )  # fmt: skip
    for link in range(table_lits.size):
        lit = table_lits[link]
        literal = 1.0 - p[~lit] if lit < 0 else p[lit]
        out.table[link] = penalty * (links.table[link] + literal)


@inner
def links_now(own, table_lits, state, penalty, mean, done):
    """The dual point as link scores of its own."""
    links = Links(
        np.empty_like(state.w_pair), np.empty_like(state.w_logic), np.empty_like(state.w_table)
    )
    write_dual(own, table_lits, state, penalty, mean, done, links)
    return links


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


@glue
def is_ray(own, tables, layout, aside, state, common, margin, before, now, out):
    """Whether the way from one dual point to another proves infeasibility; if so, it is written."""
    way = Links(now.pair.copy(), now.logic.copy(), now.table.copy())
    proven = drift_proves(own, tables, layout, aside, state, common, margin, before, way)
    if proven:
        write(way.pair.ravel(), out.pair.ravel())
        write(way.logic, out.logic)
        write(way.table, out.table)
    return proven


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
