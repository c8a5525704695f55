"""Sweeps of TRW-S, max-sum diffusion and max-product over stars.

A *star* is a variable and all factors around it, its edges in the factor graph.

A *unit* is a categorical variable (the coordinates of an exactly-one factor) or a coordinate by
itself.  At a unit every factor around it reports its max-marginals ``m`` and gives them up, so that
the unit holds the total

    T = what its coordinates are left with + the reports;

then each factor gets back a share of ``T - c``, with ``c`` between the best and the second best
state (0 for a coordinate by itself).  All parts of a sum prefer the same state, so nothing is
lost, and the bound never rises.  Decoders differ in the shares alone:

- equal ones for everybody, the coordinate included: max-sum diffusion with star updates;
- none for the factors behind, equal ones for those ahead: TRW-S;
- all of it for everybody, which is no split of the total: max-product, without a bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.factor_list import CODE, ENTRIES, ENTRY, PAIR, PLACE, SIZE, TABLE
from assent.kernels.core.factor_oracles import gather, max_marginals_factor
from assent.kernels.jit import jit, jit_inline_llvm, jit_internal_no_allocation
from assent.kernels.kinds.table_scores import two_largest
from assent.kernels.problem import POTTS

# Columns of ``Stars.edges``, one row per factor (or slot of it) at a unit.
GROUP = 0
MEMBER = 1  # number of the factor in its group
OWN_LINK = 2  # its link here; the first of them where it has a slot for the whole unit
POSITION = 3  # number of that link in the factor
BEGIN = 4  # places of its slot
END = 5
AT = 6  # the place of its one link, -1 where it has a slot for the whole unit
RANK = 7  # which coordinate of the unit that link is
EDGE_COLUMNS = 8

POTTS_ONLY = -2
TABLES_ONLY = -3


class Stars(NamedTuple):
    """Who stands around whom.

    Unit ``u`` has the coordinates ``coordinates[first[u]:first[u + 1]]``; its exactly-one factor
    has links ``total[u] + i * stride[u]`` (``total[u]`` is -1 for a coordinate by itself).  Star
    ``i`` is at unit ``unit[i]`` and has the edges ``start[i]:start[i + 1]``.
    """

    first: np.ndarray  # int64[U + 1]
    coordinates: np.ndarray  # int64
    total: np.ndarray  # int64[U]
    stride: np.ndarray  # int64[U]
    unit: np.ndarray  # int64[S]
    start: np.ndarray  # int64[S + 1]
    edges: np.ndarray  # int64[R, EDGE_COLUMNS]
    alone: np.ndarray  # int32[S]: its coordinate if that is alone with pairs around it, else -1;
    # POTTS_ONLY or TABLES_ONLY if it is a categorical variable with nothing but Potts factors, or
    # tables of two slots, around it
    links: np.ndarray  # int32[R]: the column OWN_LINK, for that case


class StarScores(NamedTuple):
    """Link scores and what they leave; all written."""

    s: np.ndarray  # float64[links]
    r: np.ndarray  # float64[n] what link scores leave of the coordinates' own
    belief: np.ndarray  # float64[n] the units' totals


class StarBuffers(NamedTuple):
    """Scratch for the largest star: ``K`` states, ``R`` reports, of one state by one edge each."""

    dead: np.ndarray  # int64[K] -1: an edge rules the state out, 1: one insists on it, else 0
    total: np.ndarray  # float64[K]
    reports: np.ndarray  # float64[R]
    old: np.ndarray  # float64[R] scores of the star's links before
    about: np.ndarray  # int64[R, 3] of a report the edge, its link, and the state


# Columns of ``StarBuffers.about``.
EDGE, LINK, STATE = 0, 1, 2


@jit_inline_llvm
def pair_star(v, links, weights, inner, s, r, belief):
    """A star of pairs around coordinate ``v``, all steps in two short loops.

    What a link has been charged so far cancels out: its new score is its share less the report
    of the other end.
    """
    total = r[v]
    for i in range(len(links)):
        link = np.uint32(links[i])
        other = s[link ^ np.uint32(1)]
        report = max(0.0, other + inner[link >> np.uint32(1)]) - max(0.0, other)
        total += s[link] + report
        s[link] = -report
    rest = total
    for i in range(len(links)):
        share = weights[i] * total
        s[np.uint32(links[i])] += share
        rest -= share
    r[v] = rest
    belief[v] = total


@jit_inline_llvm
def pair_product(v, links, damping, inner, s, r, belief, reports):
    """The same for max-product: every pair hears all that the others know."""
    total = r[v]
    for i in range(len(links)):
        link = np.uint32(links[i])
        other = s[link ^ np.uint32(1)]
        reports[i] = max(0.0, other + inner[link >> np.uint32(1)]) - max(0.0, other)
        total += s[link] + reports[i]
    for i in range(len(links)):
        link = np.uint32(links[i])
        change = (1.0 - damping) * (total - reports[i] - s[link])
        s[link] += change
        r[v] -= change
    belief[v] = total


@jit_inline_llvm
def potts_report(there, diagonal, report):
    """The best that a Potts factor makes of its other side ``there[K]``, label by label."""
    top, rival = two_largest(there, 0, len(there))
    for k in range(len(report)):
        partner = there[rival] if k == top else there[top]
        report[k] = max(partner, there[k] + diagonal[k])


@jit_inline_llvm
def dense_report(there, table, is_first, report):
    """The best that a table of two slots makes of its other side, state by state."""
    size, others = len(report), len(there)
    if is_first:
        for k in range(size):
            row = table[k * others : (k + 1) * others]
            best = -np.inf
            for j in range(others):
                best = max(best, there[j] + row[j])
            report[k] = best
        return
    for k in range(size):
        report[k] = -np.inf
    for j in range(others):
        row = table[j * size : (j + 1) * size]
        for k in range(size):
            report[k] = max(report[k], there[j] + row[k])


@jit_internal_no_allocation
def unit_of(stars, star):
    """The unit of a star, where its coordinates begin, and their number."""
    u = stars.unit[star]
    return u, stars.first[u], stars.first[u + 1] - stars.first[u]


@jit_internal_no_allocation
def table_star(stars, flat, inner, star, weights, scores, buffers):
    """A star of tables around a categorical variable, in the manner of ``pair_star``.

    All joint states are possible.
    """
    s, r, total, reports = scores.s, scores.r, buffers.total, buffers.reports
    u, begin, size = unit_of(stars, star)
    own = stars.coordinates[begin : begin + size]
    own_factor = stars.total[u]
    stride = stars.stride[u]
    for k in range(size):
        total[k] = r[np.uint32(own[k])] + s[own_factor + k * stride]
    first, last = stars.start[star], stars.start[star + 1]
    for i in range(first, last):
        link = np.int64(stars.links[i])
        row = flat.groups[stars.edges[i, GROUP]]
        is_first = stars.edges[i, POSITION] == 0
        others = row[SIZE] - size
        begin = link + size if is_first else link - others
        there = s[begin : begin + others]
        entry = row[ENTRY] + stars.edges[i, MEMBER] * row[ENTRIES]
        entries = inner[entry : entry + row[ENTRIES]]
        report = reports[(i - first) * size : (i - first + 1) * size]
        if row[CODE] == TABLE + POTTS:
            potts_report(there, entries, report)
        else:
            dense_report(there, entries, is_first, report)
        for k in range(size):
            total[k] += s[link + k] + report[k]
    top, rival = two_largest(total, 0, size)
    c = 0.5 * (total[top] + total[rival])
    given = 0.0
    for i in range(first, last):
        given += weights[i]
        link = np.int64(stars.links[i])
        here = s[link : link + size]
        report = reports[(i - first) * size : (i - first + 1) * size]
        for k in range(size):
            here[k] = weights[i] * (total[k] - c) - report[k]
    for k in range(size):
        s[own_factor + k * stride] = c
        scores.belief[np.uint32(own[k])] = total[k] - c
        r[np.uint32(own[k])] = (1.0 - given) * (total[k] - c)


@jit_internal_no_allocation
def report_literal(row, flat, inner, edge, s, work):
    """Max-marginal difference of an edge with one link: what being true is worth to its factor."""
    if row[CODE] == PAIR:
        other = s[edge[OWN_LINK] ^ 1]
        score = inner[row[ENTRY] + edge[MEMBER]]
        return s[edge[OWN_LINK]] + max(0.0, other + score) - max(0.0, other)
    a = gather(row, flat, edge[MEMBER], s, work.a)
    max_marginals_factor(row, flat, inner, edge[MEMBER], a, work)
    against = -np.inf
    for at in range(edge[BEGIN], edge[END]):
        if at != edge[AT]:
            against = max(against, work.out[at])
    value = work.out[edge[AT]]
    if value == -np.inf:
        return -np.inf
    return value - against


@jit_internal_no_allocation
def note(buffers, place, edge, link, state, report, s):
    """Write a report down; returns the place of the next one."""
    about = buffers.about[place]
    about[EDGE], about[LINK], about[STATE] = edge, link, state
    buffers.reports[place], buffers.old[place] = report, s[link]
    return place + 1


@jit_internal_no_allocation
def collect(stars, flat, inner, star, scores, buffers, work):
    """All edges of a star report; ``total[K]`` is the sum of what is finite.

    Returns the number of reports.
    """
    s, r, dead, total = scores.s, scores.r, buffers.dead, buffers.total
    u, begin, size = unit_of(stars, star)
    for k in range(size):
        dead[k] = 0
        total[k] = r[stars.coordinates[begin + k]]
        if stars.total[u] >= 0:
            total[k] += s[stars.total[u] + k * stars.stride[u]]
    place = 0
    for i in range(stars.start[star], stars.start[star + 1]):
        edge = stars.edges[i]
        row = flat.groups[edge[GROUP]]
        if edge[AT] >= 0:
            report = report_literal(row, flat, inner, edge, s, work)
            if flat.lits[edge[OWN_LINK]] < 0:
                report = -report
            place = note(buffers, place, i, edge[OWN_LINK], edge[RANK], report, s)
            if np.isinf(report):
                dead[edge[RANK]] = -1 if report < 0.0 else 1
            else:
                total[edge[RANK]] += report
            continue
        a = gather(row, flat, edge[MEMBER], s, work.a)
        max_marginals_factor(row, flat, inner, edge[MEMBER], a, work)
        for k in range(size):
            report = work.out[flat.integers[row[PLACE] + edge[POSITION] + k]]
            place = note(buffers, place, i, edge[OWN_LINK] + k, k, report, s)
            if report == -np.inf:
                dead[k] = -1
            else:
                total[k] += report
    return place


@jit_internal_no_allocation
def centre(alone, size, dead, total):
    """The ``c`` of a star, its best state (-1 if none is possible) and the second best's total."""
    best = -1
    insisted = -1
    for k in range(size):
        if dead[k] == 1:
            insisted = k
        if dead[k] >= 0 and (best < 0 or total[k] > total[best]):
            best = k
    if alone:
        return 0.0, 0, 0.0
    if best < 0:
        return 0.0, -1, 0.0
    second = -np.inf
    for k in range(size):
        if k != best and dead[k] >= 0:
            second = max(second, total[k])
    if second == -np.inf or (insisted >= 0 and insisted != best):
        return total[best], best, total[best]
    return 0.5 * (total[best] + second), best, second


@jit_internal_no_allocation
def charge(flat, link, amount, s, r, v):
    """Add ``amount`` (for the coordinate ``v`` being 1) to a link's score, at its expense."""
    s[link] += -amount if flat.lits[link] < 0 else amount
    r[v] -= amount


@jit_internal_no_allocation
def take_over(stars, flat, star, count, c, scores, buffers):
    """The coordinates take over all reports: what they are left with is then ``total - c``."""
    s, r, dead = scores.s, scores.r, buffers.dead
    u, begin, size = unit_of(stars, star)
    if stars.total[u] >= 0:
        for k in range(size):
            link = stars.total[u] + k * stars.stride[u]
            charge(flat, link, c - s[link], s, r, stars.coordinates[begin + k])
    for place in range(count):
        _, link, state = buffers.about[place]
        v, report = stars.coordinates[begin + state], buffers.reports[place]
        # What an edge rules out or insists on costs it nothing: it takes over what would speak for
        # or against it, and no message about it is passed on.
        if not np.isinf(report):
            charge(flat, link, -report, s, r, v)
        elif dead[state] != 2:
            rest = buffers.total[state] - c
            amount = max(rest, 0.0) if report < 0.0 else min(rest, 0.0)
            charge(flat, link, amount, s, r, v)
            dead[state] = 2


@jit_internal_no_allocation
def share_out(stars, flat, star, count, weights, scores, buffers):
    """Give every edge its share of what the coordinates are left with now."""
    s, r, total = scores.s, scores.r, buffers.total
    _, begin, size = unit_of(stars, star)
    for k in range(size):
        total[k] = r[stars.coordinates[begin + k]]
    for place in range(count):
        edge, link, state = buffers.about[place]
        if weights[edge] != 0.0:
            amount = weights[edge] * total[state]
            charge(flat, link, amount, s, r, stars.coordinates[begin + state])


@jit_internal_no_allocation
def send_all(stars, flat, star, count, best, second, damping, scores, buffers):
    """Give every edge all of what the coordinates are left with now: max-product.

    An edge with one link hears how its state compares with the best other one; of the links' old
    scores ``damping`` is kept.
    """
    s, r, total = scores.s, scores.r, buffers.total
    u, begin, size = unit_of(stars, star)
    for k in range(size):
        total[k] = r[stars.coordinates[begin + k]]
    for place in range(count):
        edge, link, state = buffers.about[place]
        v, rival = stars.coordinates[begin + state], 0.0
        if stars.edges[edge, AT] >= 0 and stars.total[u] >= 0:
            rival = second if state == best else total[best]
        charge(flat, link, total[state] - rival, s, r, v)
        back = damping * (buffers.old[place] - s[link])
        charge(flat, link, -back if flat.lits[link] < 0 else back, s, r, v)


@jit_internal_no_allocation
def pass_once(stars, flat, inner, weights, damping, backward, scores, buffers, work):
    """All stars in turn."""
    s, r, belief = scores.s, scores.r, scores.belief
    dead, total = buffers.dead, buffers.total
    count = len(stars.unit)
    for number in range(count):
        star = count - 1 - number if backward else number
        if stars.alone[star] >= 0:
            own = slice(stars.start[star], stars.start[star + 1])
            v = np.uint32(stars.alone[star])
            if len(weights):
                pair_star(v, stars.links[own], weights[own], inner, s, r, belief)
            else:
                pair_product(v, stars.links[own], damping, inner, s, r, belief, buffers.reports)
            continue
        if stars.alone[star] <= POTTS_ONLY and len(weights):
            table_star(stars, flat, inner, star, weights, scores, buffers)
            continue
        u, begin, size = unit_of(stars, star)
        reports = collect(stars, flat, inner, star, scores, buffers, work)
        c, best, second = centre(stars.total[u] < 0, size, dead, total)
        if best < 0:
            continue
        for k in range(size):
            own = total[k] - c
            if dead[k] < 0:
                own = min(own, 0.0)
            belief[stars.coordinates[begin + k]] = max(own, 0.0) if dead[k] > 0 else own
        take_over(stars, flat, star, reports, c, scores, buffers)
        if len(weights):
            share_out(stars, flat, star, reports, weights, scores, buffers)
        else:
            send_all(stars, flat, star, reports, best, second - c, damping, scores, buffers)


@jit
def sweep(stars, flat, inner, shares, damping, passes, scores, buffers, work):
    """All stars in turn, in the passes ``passes[0]`` to ``passes[1]``: forward in even ones.

    ``shares[2, R]`` are those of the edges, forward and backward; there are none for max-product,
    which alone has ``damping``.
    """
    for number in range(passes[0], passes[1]):
        backward = number % 2 == 1
        pass_once(stars, flat, inner, shares[number % 2], damping, backward, scores, buffers, work)
