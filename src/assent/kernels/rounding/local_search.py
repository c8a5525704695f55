"""Local search over assignments: single flips, and chains of flips that mend what they break.

An assignment is better when it breaks fewer logic factors, then when it breaks them by less, then
when it scores more; every move accepted makes it better in this order, so hard constraints that
hold keep holding.  In models of exactly-one factors no single flip is free: a chain flips one
coordinate, then in each factor this broke the coordinate that mends it at least cost, and so on;
moving the one of an exactly-one factor is its shortest case.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import OUTPUT, PAIRED, coordinate, group_of, link_load
from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.problem import ANYOF
from assent.kernels.rounding.running_sums import (
    change_of_flip,
    count_broken,
    excess,
    fill_sums,
    flip,
    gain_of_flip,
    is_among,
    other_end,
    rounding_noise,
)
from assent.kernels.rounding.state_switches import settled_by_switches, switch_sweep
from assent.kernels.rounding.table_clusters import cluster_sweep

# Flips in one chain.  Moving a word in the flow models of dependency parsing takes up to about
# thirty; beyond that chains hardly ever close.
MAX_CHAIN = 32

# Broken factors waiting to be mended in one chain; more than this is not coming back.
MAX_WAITING = 128

# Links one round of chains may look at, as a multiple of all logic links: keeps a round linear.
# Mending a broken assignment is worth more than improving one that holds.
CHAIN_EFFORT = 4
MENDING_EFFORT = 16

# The same per pair, for clusters.
CLUSTER_EFFORT = 64


@jit_internal_no_allocation
def flip_sweep(logic, pairs, pair, tables, point, broken, noise):
    """Visit every coordinate once and flip it if that is better.

    ``broken`` is the number of broken factors.  Returns it updated, and the number of flips.
    """
    flips = 0
    for v in range(point.x.size):
        gain = gain_of_flip(point, v)
        if point.frozen[v] or (broken == 0 and gain <= noise):
            continue
        more_broken, amount = change_of_flip(logic, tables, point, v)
        if more_broken > 0:
            continue
        if more_broken < 0 or amount < 0 or (amount == 0 and gain > noise):
            flip(logic, pairs, pair, tables, point, v)
            broken += more_broken
            flips += 1
    return broken, flips


@jit_internal_no_allocation
def cheapest_mend(logic, tables, point, factor, chain, length):
    """The coordinate whose flip mends a broken factor and costs least.

    Coordinates already in the chain stay.  Returns the coordinate (or -1), its change in broken
    factors, and the number of links looked at.
    """
    g = group_of(logic.first_factor, factor)
    k, true = logic.k[factor], point.true[factor]
    now = excess(logic.kind[g], k, true)
    best, best_broken, best_gain = -1, 0, 0.0
    work = np.int64(logic.size[g])
    for j in range(logic.size[g]):
        link = logic.first_link[g] + j * logic.members[g] + factor - logic.first_factor[g]
        literal = logic.lits[link]
        v = np.int64(coordinate(literal))
        if point.frozen[v] or (logic.marks.size and logic.marks[link] == PAIRED):
            continue
        role = OUTPUT if logic.kind[g] == ANYOF and j == logic.size[g] - 1 else logic.kind[g]
        holds = point.x[v] if literal >= 0 else 1 - point.x[v]
        if excess(role, k, true + (1 - 2 * holds) * link_load(logic, link, role)) >= now:
            continue
        if is_among(v, chain, length):
            continue
        broken, _ = change_of_flip(logic, tables, point, v)
        work += logic.start[v + 1] - logic.start[v]
        gain = gain_of_flip(point, v)
        if best < 0 or broken < best_broken or (broken == best_broken and gain > best_gain):
            best, best_broken, best_gain = v, broken, gain
    return best, best_broken, work


@jit_internal_no_allocation
def best_neighbour(logic, pairs, tables, point, noise, chain, length):
    """The coordinate tied to the chain by a pair that gains most and breaks nothing.

    Returns the coordinate (or -1), its change in broken factors, and the links looked at.
    """
    best, best_broken, best_gain, work = np.int64(-1), 0, noise, np.int64(0)
    for c in range(length):
        centre = chain[c]
        for place in range(pairs.start[centre], pairs.start[centre + 1]):
            v = other_end(pairs, place, centre)
            work += 1
            gain = gain_of_flip(point, v)
            if gain <= best_gain or point.frozen[v] or is_among(v, chain, length):
                continue
            broken, _ = change_of_flip(logic, tables, point, v)
            work += logic.start[v + 1] - logic.start[v]
            if broken <= 0:
                best, best_broken, best_gain = v, broken, gain
    return best, best_broken, work


@jit_internal_no_allocation
def push_broken(start, uses, k, true, v, waiting, height):
    """Put the broken factors of ``v`` on the pile; returns its height, -1 if it runs over."""
    for place in range(start[v], start[v + 1]):
        use = uses[place]
        if excess((use >> 1) & 7, k[use >> 4], true[use >> 4]) > 0:
            if height == waiting.size:
                return -1
            waiting[height] = use >> 1  # factor and role
            height += 1
    return height


@jit_internal_no_allocation
def drop_mended(k, true, waiting, height):
    """Take factors that hold again off the top of the pile."""
    while height > 0:
        top = waiting[height - 1]
        if excess(top & 7, k[top >> 3], true[top >> 3]) > 0:
            break
        height -= 1
    return height


@jit_internal_no_allocation
def try_chain(logic, pairs, pair, tables, point, first, noise, thorough, chain, waiting):
    """Flip ``first``, mend what breaks, and keep the outcome if it is better.

    Once nothing is broken the chain goes on to neighbours that would now gain, if
    ``thorough``.  Returns the change in broken factors, the number of flips kept, and the links
    looked at.
    """
    start, uses, k = logic.start, logic.uses, logic.k
    v, length, height = np.int64(first), 0, np.int64(0)
    gain, work = 0.0, np.int64(0)
    broken, _ = change_of_flip(logic, tables, point, v)
    while True:
        # 1. Flip, and note what this breaks.
        gain += gain_of_flip(point, v)
        flip(logic, pairs, pair, tables, point, v)
        chain[length] = v
        length += 1
        work += start[v + 1] - start[v]
        height = push_broken(start, uses, k, point.true, v, waiting, height)
        # 2. Take the latest factor still broken.
        height = drop_mended(k, point.true, waiting, height)
        if height < 0 or length == chain.size:
            break
        # 3. Mend it; with nothing to mend, look for a neighbour that gains.
        if height > 0:
            factor = np.int64(waiting[height - 1] >> 3)
            v, more_broken, looked = cheapest_mend(logic, tables, point, factor, chain, length)
        elif thorough:
            v, more_broken, looked = best_neighbour(
                logic, pairs, tables, point, noise, chain, length
            )
        else:
            break
        work += looked
        if v < 0:
            break
        broken += more_broken
    if broken < 0 or (broken == 0 and gain > noise):
        return broken, length, work
    # 4. Not better: take the flips back, latest first.
    for c in range(length - 1, -1, -1):
        flip(logic, pairs, pair, tables, point, np.int64(chain[c]))
    return 0, 0, work


@jit_internal
def chain_sweep(logic, pairs, pair, tables, point, broken, noise, thorough, after):
    """Try a chain from every coordinate that would gain alone or stands in a broken factor.

    If ``thorough``, also from those that only pairs hold back.
    Begins after the given coordinate and ends when all were visited or the effort is spent.
    Returns the number of broken factors, updated, the number of flips, and where to go on.
    """
    chain = np.empty(MAX_CHAIN, np.int32)
    waiting = np.empty(MAX_WAITING, np.int32)
    nothing = np.int64(0)
    effort = (MENDING_EFFORT if broken else CHAIN_EFFORT) * logic.uses.size
    if thorough:
        effort += CLUSTER_EFFORT * pair.size
    flips = 0
    v = after
    for _ in range(point.x.size):
        v = v + 1 if v + 1 < point.x.size else nothing
        if point.frozen[v]:
            continue
        if (
            tables is not None
            and broken == 0
            and settled_by_switches(logic, tables, point, v, noise)
        ):
            continue
        only_pairs = logic.start[v] == logic.start[v + 1]
        promising = thorough if only_pairs else gain_of_flip(point, v) > noise
        if broken > 0 and not promising:
            height = push_broken(logic.start, logic.uses, logic.k, point.true, v, waiting, nothing)
            promising = height != 0
        if not promising:
            continue
        change, kept, work = try_chain(
            logic, pairs, pair, tables, point, v, noise, thorough, chain, waiting
        )
        broken += change
        flips += kept
        effort -= work
        if effort < 0:
            break
    return broken, flips, v


@jit_internal
def improve(logic, pairs, tables, theta, pair, point, max_sweeps, thorough):
    """Local search from ``point`` (its ``x`` and ``frozen`` set); returns broken factors, flips.

    Sweeps of single flips, and of single switches of a table's variables, until none helps; then
    a round of chains, and again.  ``thorough`` extends the chains to clusters of coordinates tied
    by pairs, and switches clusters of variables tied by tables.
    """
    forbidding = fill_sums(logic, theta, pairs.var, pair, tables, point)
    noise = rounding_noise(theta, pair, tables)
    broken = forbidding + count_broken(logic, point.true)
    total, cursor, opened = 0, np.int64(-1), np.int64(-1)
    for _ in range(max_sweeps):
        broken, flips = flip_sweep(logic, pairs, pair, tables, point, broken, noise)
        if tables is not None:
            broken, switches = switch_sweep(logic, pairs, pair, tables, point, broken, noise)
            flips += switches
        if flips == 0 and (thorough or logic.k.size):
            broken, flips, cursor = chain_sweep(
                logic, pairs, pair, tables, point, broken, noise, thorough, cursor
            )
        if tables is not None and thorough and flips == 0:
            broken, flips, opened = cluster_sweep(
                logic, pairs, pair, tables, point, broken, noise, opened
            )
        total += flips
        if flips == 0:
            break
    return broken, total
