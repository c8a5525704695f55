"""Switching the state of a variable that tables read: the shortest move that keeps it whole."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.rounding.running_sums import flip


@jit_internal_no_allocation
def is_plain(logic, point, v):
    """Whether ``v`` may move and stands in no logic factor but its variable's exactly-one."""
    return point.frozen[v] == 0 and logic.start[v + 1] - logic.start[v] == 1


@jit_internal_no_allocation
def state_of(tables, x, site):
    """The coordinate of a site that is 1; -1 unless there is exactly one."""
    links = tables.links
    begin = np.int64(links.site_link[site])
    found, count = np.int64(-1), 0
    for at in range(begin, begin + links.site_size[site]):
        v = links.lits[at]
        if x[v] == 1:
            found = np.int64(v)
            count += 1
    return found if count == 1 else np.int64(-1)


@jit_internal_no_allocation
def best_switch(logic, tables, point, site):
    """The best switch of a site among its plain states: from, to, tables mended, and gain.

    From and to are -1 if the site has to stay as it is.
    """
    links, field, blocked = tables.links, point.field, tables.blocked
    now = state_of(tables, point.x, site)
    if now < 0 or not is_plain(logic, point, now):
        return np.int64(-1), np.int64(-1), 0, 0.0
    begin = np.int64(links.site_link[site])
    best = now
    for at in range(begin, begin + links.site_size[site]):
        v = np.int64(links.lits[at])
        better = blocked[v] < blocked[best] or (
            blocked[v] == blocked[best] and field[v] > field[best]
        )
        if better and is_plain(logic, point, v):
            best = v
    if best == now:
        return np.int64(-1), np.int64(-1), 0, 0.0
    return now, best, int(blocked[now]) - int(blocked[best]), field[best] - field[now]


@jit_internal_no_allocation
def switch_sweep(logic, pairs, pair, tables, point, broken, noise):
    """Visit every site once and switch it to its best state.

    Returns the number of broken factors, updated, and the number of switches.
    """
    switches = 0
    for site in range(tables.links.site_link.size):
        now, best, mended, gain = best_switch(logic, tables, point, site)
        if mended > 0 or gain > noise:
            flip(logic, pairs, pair, tables, point, now)
            flip(logic, pairs, pair, tables, point, best)
            broken -= mended
            switches += 1
    return broken, switches


@jit_internal_no_allocation
def settled_by_switches(logic, tables, point, v, noise):
    """Whether no chain needs to start at ``v``: switches take care of it, or it would not gain."""
    site = tables.links.site_of[v]
    if site < 0:
        return False
    if point.x[v] == 1:
        return False
    now = state_of(tables, point.x, site)
    if now < 0:
        return False
    if is_plain(logic, point, now) and is_plain(logic, point, v):
        return True
    if tables.blocked[v] < tables.blocked[now]:
        return False
    return point.field[v] - point.field[now] <= noise
