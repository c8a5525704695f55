"""Clusters of variables that tables tie together, switched one after the other.

A variable goes to a worse state; then those tied to it that would now gain follow, the best one
first.  The whole is kept as soon as it is better than before and taken back otherwise.
Variables are sites, written ``~s``, and the binary coordinates outside of them, written ``v``.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import coordinate
from assent.kernels.core.table_links import locate, row_start, slot_link
from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.rounding.running_sums import change_of_flip, flip, gain_of_flip, is_among
from assent.kernels.rounding.state_switches import best_switch, is_plain, state_of

# Variables in one cluster.  Sixteen turn over a small patch of an image; longer ones rarely pay.
MAX_CLUSTER = 16

# States one sweep may look at, as a multiple of all links of tables.
EFFORT = 32


@jit_internal_no_allocation
def response(logic, tables, point, variable):
    """The best move of one variable: coordinates to flip off and on, tables mended, and gain.

    A binary variable flips the first coordinate only (the second is -1); both are -1 if the
    variable has to stay.
    """
    if variable >= 0:
        v = np.int64(variable)
        if point.frozen[v]:
            return np.int64(-1), np.int64(-1), 0, 0.0
        broken, _ = change_of_flip(logic, tables, point, v)
        return v, np.int64(-1), -broken, gain_of_flip(point, v)
    return best_switch(logic, tables, point, ~variable)


@jit_internal_no_allocation
def best_follower(logic, tables, point, noise, members, length):
    """The variable tied to the cluster that mends or gains most by following.

    Returns the variable, its move as in :func:`response`, and the number of states looked at.
    """
    links = tables.links
    best, off, on = np.int64(0), np.int64(-1), np.int64(-1)
    most_mended, most_gained, work = 0, noise, np.int64(0)
    for c in range(length):
        of_site = members[c] < 0
        v = np.int64(links.lits[links.site_link[~members[c]]]) if of_site else members[c]
        for place in range(links.start[v], links.start[v + 1]):
            group, row, slot, _ = locate(links, np.int64(links.uses[place]))
            first = links.slot[group]
            if of_site != (links.first[first + slot] == 0):
                continue
            link, _ = row_start(links, group, row)
            for s in range(links.slot[group + 1] - first):
                other = np.int64(coordinate(links.lits[slot_link(links, group, link, s)]))
                if links.first[first + s] == 0:
                    other = ~np.int64(links.site_of[other])
                elif links.site_of[other] >= 0:
                    continue
                if s == slot or is_among(other, members, length):
                    continue
                work += links.states[first + s]
                leave, enter, mended, gain = response(logic, tables, point, other)
                if leave >= 0 and (
                    mended > most_mended or (mended == most_mended and gain > most_gained)
                ):
                    best, off, on, most_mended, most_gained = other, leave, enter, mended, gain
    return best, off, on, most_mended, most_gained, work


@jit_internal_no_allocation
def try_cluster(logic, pairs, pair, tables, point, move, noise, members, moves):
    """Start a cluster with a move of one variable, if there is one, and keep it if it is better.

    ``move`` is what :func:`opening` returns.  Returns the number of tables and factors mended, the
    variables moved, and the states looked at.
    """
    variable, off, on = move
    if off < 0:
        return 0, 0, np.int64(0)
    if variable >= 0:
        _, _, mended, gain = response(logic, tables, point, variable)
    else:
        mended = int(tables.blocked[off]) - int(tables.blocked[on])
        gain = point.field[on] - point.field[off]
    total_mended, total_gain, length, work = 0, 0.0, 0, np.int64(0)
    while off >= 0:
        # 1. Move, and stop when this pays.
        members[length], moves[length, 0], moves[length, 1] = variable, off, on
        length += 1
        flip_both(logic, pairs, pair, tables, point, off, on)
        total_mended += mended
        total_gain += gain
        if total_mended > 0 or (total_mended == 0 and total_gain > noise):
            return total_mended, length, work
        if length == MAX_CLUSTER:
            break
        # 2. Find the next to follow.
        variable, off, on, mended, gain, looked = best_follower(
            logic, tables, point, noise, members, length
        )
        work += looked
    # 3. Not better: take the moves back, latest first.
    for c in range(length - 1, -1, -1):
        flip_both(logic, pairs, pair, tables, point, moves[c, 1], moves[c, 0])
    return 0, 0, work


@jit_internal_no_allocation
def flip_both(logic, pairs, pair, tables, point, one, other):
    """Flip two coordinates, -1 standing for none."""
    if one >= 0:
        flip(logic, pairs, pair, tables, point, one)
    if other >= 0:
        flip(logic, pairs, pair, tables, point, other)


@jit_internal_no_allocation
def opening(logic, tables, point, v):
    """The variable of ``v`` and its move that flips ``v``, as coordinates off and on; -1 if none.

    Variables that logic ties to others are left to chains of flips.
    """
    site = tables.links.site_of[v]
    nothing = np.int64(-1)
    if site < 0:
        alone = logic.start[v] == logic.start[v + 1]
        return np.int64(v), np.int64(v) if alone else nothing, nothing
    now = state_of(tables, point.x, site)
    if now < 0 or now == v or not is_plain(logic, point, now) or not is_plain(logic, point, v):
        return ~np.int64(site), nothing, nothing
    return ~np.int64(site), now, np.int64(v)


@jit_internal
def cluster_sweep(logic, pairs, pair, tables, point, broken, noise, after):
    """Start a cluster from every state of every variable in turn, until the effort is spent.

    Begins after the given coordinate.  Returns the number of broken factors, updated, the number
    of variables moved, and where to go on.
    """
    links = tables.links
    members = np.empty(MAX_CLUSTER, np.int64)
    moves = np.empty((MAX_CLUSTER, 2), np.int64)
    effort = EFFORT * links.lits.size
    moved = 0
    v = after
    for _ in range(point.x.size):
        v = v + 1 if v + 1 < point.x.size else np.int64(0)
        if point.frozen[v] or links.start[v] == links.start[v + 1]:
            continue
        move = opening(logic, tables, point, v)
        mended, length, work = try_cluster(
            logic, pairs, pair, tables, point, move, noise, members, moves
        )
        broken -= mended
        moved += length
        effort -= work + 1
        if effort < 0:
            break
    return broken, moved, v
