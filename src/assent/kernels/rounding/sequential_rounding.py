"""Sequential rounding: settle the surest coordinate, propagate, go on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.propagate import FREE, Trail, backtrack, propagate, propagate_units
from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.rounding.running_sums import Pairs, other_end

# A marginal this far from one half decides by itself; nearer ones leave the choice to the scores,
# given what is settled already.  On frustrated grids 0.1 to 0.5 do equally well, 0 worse.
DECIDED = 0.15

# Links that may be undone after conflicts, as a multiple of all links.  Beyond it rounding no
# longer tries the opposite value, so that hopeless inputs stay linear.
UNDO_EFFORT = 8

# Fresh starts after a dead end, the coordinate that met it going first.
RESTARTS = 4

# The same in the order of hubs, while few links were undone.  In flow models of trees, where the
# order of confidence meets hundreds of dead ends, one to twenty such starts found an answer.
HUB_RESTARTS = 24

# Confidence is compared in steps of 1 / 65535: finer differences are noise of an unfinished solve,
# and 16-bit keys sort in linear time.
CONFIDENCE_STEPS = np.iinfo(np.uint16).max


class Rounding(NamedTuple):
    """One rounding under way: what it reads, and what it writes."""

    pairs: Pairs
    theta: np.ndarray  # float64[n]
    pair: np.ndarray  # float64[P]
    p: np.ndarray  # float64[n] marginals
    trail: Trail
    field: np.ndarray  # float64[n] what being 1 adds, by values and else marginals; written
    frozen: np.ndarray  # uint8[n] coordinates never in question; written


@jit_internal
def settle_all(logic, rounding):
    """Sequential rounding into the values of its trail."""
    doubt = doubts(rounding.p)
    order = confidence_order(doubt)
    effort = RESTARTS * UNDO_EFFORT * logic.uses.size
    for attempt in range(RESTARTS + HUB_RESTARTS):
        if attempt == RESTARTS:
            hubs_first(logic.start, doubt)
            order = confidence_order(doubt)
        last = attempt == RESTARTS + HUB_RESTARTS - 1 or effort < 0
        if last:
            effort = UNDO_EFFORT * logic.uses.size
        stuck, effort = settle(logic, rounding, order, last, effort)
        if stuck < 0 or last:
            break
        bring_forward(order, stuck)


@jit_internal_no_allocation
def hubs_first(start, doubt):
    """Rewrite keys to sort by how many logic links there are, in powers of two, then by doubt.

    What is decided for a hub propagates far; the many coordinates around it, which merely spell
    out what hubs imply, paint themselves into corners when they go first.
    """
    for v in range(doubt.size):
        links, halvings = start[v + 1] - start[v], 0
        while links > 1 and halvings < 15:
            links >>= 1
            halvings += 1
        doubt[v] = np.uint16((15 - halvings) << 12) | (doubt[v] >> np.uint16(4))


@jit_internal
def doubts(p):
    """Keys ``uint16[n]`` that sort marginals by how sure they are."""
    doubt = np.empty(p.size, np.uint16)
    for v in range(p.size):
        doubt[v] = confidence_key(2.0 * abs(p[v] - 0.5))
    return doubt


@jit_internal
def surest_first(p):
    """Coordinates ``int32[n]`` by decreasing confidence of their marginals, ties by index."""
    return confidence_order(doubts(p))


@jit_internal_no_allocation
def confidence_key(confidence):
    """Sorts by decreasing confidence, 0 to 1."""
    return np.uint16((1.0 - confidence) * CONFIDENCE_STEPS)


@jit_internal
def confidence_order(doubt):
    """Places by increasing ``doubt`` (``uint16``, 0 is sure), ties by index: two counting sorts."""
    order, other = np.empty(doubt.size, np.int32), np.empty(doubt.size, np.int32)
    for place in range(doubt.size):
        order[place] = place
    begins = np.empty(257, np.int64)
    for shift in range(0, 16, 8):
        begins[:] = 0
        for place in range(doubt.size):
            begins[((doubt[place] >> shift) & 255) + 1] += 1
        for digit in range(256):
            begins[digit + 1] += begins[digit]
        for place in order:
            digit = (doubt[place] >> shift) & 255
            other[begins[digit]] = place
            begins[digit] += 1
        order, other = other, order
    return order


@jit_internal_no_allocation
def bring_forward(order, place):
    """Move an entry to the front, those before it one back."""
    first = order[place]
    for at in range(place, 0, -1):
        order[at] = order[at - 1]
    order[0] = first


@jit_internal_no_allocation
def start_rounding(logic, rounding):
    """Propagate what holds in every feasible assignment; returns the trail's end."""
    values = rounding.trail.values
    expected_field(rounding.theta, rounding.pairs.var, rounding.pair, rounding.p, rounding.field)
    _, tail = propagate_units(logic, rounding.trail, np.bool_(False))
    for v in range(values.size):
        rounding.frozen[v] = values[v] != FREE
    settle_field(rounding, np.int64(0), tail)
    return tail


@jit_internal_no_allocation
def settle_against(logic, rounding, v, wanted, mark):
    """Give ``v`` a value and give up the factors in the way; returns the trail's end."""
    rounding.trail.values[v] = wanted
    rounding.trail.order[mark] = v
    _, _, tail = propagate(logic, rounding.trail, mark, mark + 1, np.bool_(False))
    return tail


@jit_internal
def settle(logic, rounding, order, last, effort):
    """Give every coordinate a value, in order, and propagate after each.

    Returns the place in ``order`` of the first coordinate that had no good value, or -1, and how
    many links may yet be undone of ``effort``.  Unless this is the ``last`` try, it ends there.

    1. Propagate what holds in every feasible assignment.
    2. Give the next coordinate the value its marginal asks for, or if that is undecided the one
       its score favours; on a conflict the opposite one.
    3. If both fail, give up the factors in the way and go on.
    """
    p, field, trail = rounding.p, rounding.field, rounding.trail
    tail = start_rounding(logic, rounding)
    stuck = -1
    for at in range(order.size):
        v = order[at]
        if trail.values[v] != FREE:
            continue
        mark = tail
        wanted = preferred(p[v], field[v])
        if logic.start[v] == logic.start[v + 1]:  # in no logic factor
            trail.values[v] = wanted
            trail.order[mark] = v
            tail = mark + 1
            settle_field(rounding, mark, tail)
            continue
        conflict, attempt = 0, 0
        while conflict >= 0 and attempt < 2 and effort >= 0:
            trail.values[v] = wanted if attempt == 0 else 1 - wanted
            trail.order[mark] = v
            conflict, head, tail = propagate(logic, trail, mark, mark + 1, np.bool_(True))
            if conflict >= 0:
                effort -= backtrack(logic, trail, mark, head, tail)
            attempt += 1
        if conflict >= 0:
            stuck = at if stuck < 0 else stuck
            if not last:
                return stuck, effort
            tail = settle_against(logic, rounding, v, wanted, mark)
        settle_field(rounding, mark, tail)
    return stuck, effort


@jit_internal_no_allocation
def preferred(p, field):
    """The value a coordinate would like, from its marginal and the score of being 1."""
    if abs(p - 0.5) > DECIDED or field == 0.0:
        return 1 if p > 0.5 else 0
    return 1 if field > 0.0 else 0


@jit_internal_no_allocation
def expected_field(theta, pair_var, pair, p, field):
    """What being 1 adds to each coordinate's score if the others equal their marginals."""
    for v in range(theta.size):
        field[v] = theta[v]
    for e in range(pair.size):
        i, j = pair_var[e, 0], pair_var[e, 1]
        field[i] += pair[e] * p[j]
        field[j] += pair[e] * p[i]


@jit_internal_no_allocation
def settle_field(rounding, mark, tail):
    """Replace marginals by values in the fields around the trail's entries ``mark`` to ``tail``."""
    pairs, pair, p, field = rounding.pairs, rounding.pair, rounding.p, rounding.field
    values, order = rounding.trail.values, rounding.trail.order
    for at in range(mark, tail):
        v = order[at]
        step = values[v] - p[v]
        for place in range(pairs.start[v], pairs.start[v + 1]):
            field[other_end(pairs, place, v)] += step * pair[pairs.edges[place]]
