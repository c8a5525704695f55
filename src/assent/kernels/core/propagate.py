"""Unit propagation on the flat layout: what fixed coordinates imply for the others.

Every logic factor keeps two counters over its literals: how many are true and how many are free.
A coordinate that receives a value enters the *trail* once; taking it from the trail updates the
counters of its factors, and a factor whose counters leave no choice puts its remaining
coordinates on the trail.  A factor searches its literals at most twice between two backtracks, so
the whole costs O(links).

The counters of an ANYOF factor hold its inputs and its output at once: an input counts 2 and the
output 1.  Those of a KNAPSACK factor hold weights in whole units.  A factor that holds both ``x``
and ``~x`` counts the two as one true literal from the start: whatever ``x`` is, exactly one of
them holds.  Their links are *paired* and take no further part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import ANYOF, KNAPSACK, PARITY, SUM
from assent.kernels.search.integer_weights import knapsack_units, net_complements

FREE = -1  # a coordinate without a value

# The role of a link: the kind of its factor, and a role of its own for an ANYOF's output.
OUTPUT = 5

# What has just happened to a literal.
TURNED_FALSE, TURNED_TRUE, ANYTHING = 0, 1, 2

# What a factor's counters call for; the last bit of the others is the truth to be given.
NOTHING, LOST = 0, 1
INPUTS_FALSE, INPUTS_TRUE = 2, 3
HEAVY_FALSE = 4  # items that no longer fit
OUTPUT_FALSE, OUTPUT_TRUE = 6, 7

# Marks of links: one of an ``x, ~x`` pair of inputs; an output whose negation is an input.
PAIRED, SELF_DENYING = 1, 2

# Added to the counters of a factor that is given up: beyond any sum, and int64 holds it thrice.
OUT_OF_REACH = 1 << 60

# A use is coded as factor * 16 + role * 2 + negated in 32 bits.
MOST_FACTORS = 1 << 27


class LogicIndex(NamedTuple):
    """The logic factors of a problem and, per coordinate, its uses in them.

    The first six arrays are those of the compiled problem, and ``k`` as well but for the limits
    of KNAPSACK factors.  ``uses[start[v]:start[v + 1]]`` say what coordinate ``v`` does:
    ``factor << 4 | role << 1 | negated`` for each of its links that is not paired.  ``marks`` has
    one entry per link, or none at all when no factor holds both ``x`` and ``~x``.  The last three
    are empty where no factor is a KNAPSACK.
    """

    kind: np.ndarray  # int8[G]
    size: np.ndarray  # int32[G]
    members: np.ndarray  # int64[G]
    first_link: np.ndarray  # int64[G]
    first_factor: np.ndarray  # int64[G]
    lits: np.ndarray  # int32[L]
    k: np.ndarray  # int64[F]
    start: np.ndarray  # int32[n + 1]
    uses: np.ndarray  # int32[<= L]
    marks: np.ndarray  # uint8[L] or uint8[0]
    units: np.ndarray  # int64, one per link of the KNAPSACK groups, which stand last
    heaviest: np.ndarray  # int64, one per KNAPSACK factor
    loads: np.ndarray  # int64[uses] what a true literal adds to its factor's counter


class Trail(NamedTuple):
    """A partial assignment, the counters of all factors, and in which order values came.

    The first entries of ``order`` are coordinates with a value; the counters know some of them.
    """

    values: np.ndarray  # int8[n]: FREE, 0 or 1
    true: np.ndarray  # int64[F] true literals
    free: np.ndarray  # int64[F] free literals
    order: np.ndarray  # int32[n] coordinates in the order they received values


def build_links(problem: Any) -> LogicIndex:
    """Index the logic links of a compiled problem by coordinate, 4 bytes per link.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import SUM, make_problem
        >>> one_of = (SUM, np.array([[0, 1, ~2]], np.int32), np.array([1], np.int32))
        >>> logic = build_links(make_problem(3, np.zeros((0, 2), np.int32), [one_of]))
        >>> logic.uses.tolist() == [SUM << 1, SUM << 1, SUM << 1 | 1]
        True
    """
    if len(problem.k) >= MOST_FACTORS:
        raise ValueError(f"propagation handles fewer than {MOST_FACTORS} logic factors")
    if not len(problem.k):  # nothing to index, and nothing to compile for it
        nothing, start = np.zeros(0, np.int64), np.zeros(problem.n + 1, np.int32)
        uses, marks = np.zeros(0, np.int32), np.zeros(0, np.uint8)
        own = nothing, start, uses, marks, nothing, nothing, nothing
        return LogicIndex._make((*problem.groups[:6], *own))
    return index_logic(problem.groups, problem.n)


def fix(problem: Any, values: np.ndarray) -> tuple[np.ndarray, int]:
    """Close partial values under propagation.

    Args:
        problem: a compiled problem; ``k`` may be anything from 0 to the size of a factor.
        values: ``int8[n]`` with -1 for a free coordinate, else 0 or 1.  Not changed.

    Returns:
        The closed values and the first factor found violated, or -1.  After a conflict the
        values are those reached so far.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import SUM, make_problem
        >>> one_of = (SUM, np.array([[0, 1, ~2]], np.int32), np.array([1], np.int32))
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [one_of])
        >>> closed, conflict = fix(problem, np.array([1, -1, -1], np.int8))
        >>> closed.tolist(), conflict
        ([1, 0, 1], -1)
    """
    closed, conflict, _ = fix_in_order(problem, values)
    return closed, conflict


def fix_in_order(problem: Any, values: np.ndarray) -> tuple[np.ndarray, int, np.ndarray]:
    """:func:`fix`, and the coordinates with a value in the order they received it."""
    trail = make_trail(problem.n, len(problem.k))
    trail.values[:] = values
    conflict = _close(build_links(problem), trail)
    return trail.values, int(conflict), trail.order[: np.count_nonzero(trail.values != FREE)]


@jit
def make_trail(n, factors):
    """Room for values of ``n`` coordinates and for counters of ``factors``."""
    return Trail(
        np.empty(n, np.int8), np.empty(factors, np.int64), np.empty(factors, np.int64),
        np.empty(n, np.int32),
    )  # fmt: skip


@jit
def index_logic(groups, n):
    """The index of logic links by coordinate; see :func:`build_links`."""
    lits = groups.lits
    marks = np.zeros(lits.size, np.uint8)
    stamp, seen = np.full(n, -1, np.int64), np.empty(n, np.int32)
    complements = mark_complements(groups, stamp, seen, marks)
    limits = groups.k.astype(np.int64)
    units, heaviest = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if groups.capacity.size:
        units, heavy_limits = knapsack_units(groups)
        heaviest = np.empty_like(heavy_limits)
        stamp[:] = -1
        complements |= net_complements(
            groups, stamp, seen, marks, PAIRED, units, heavy_limits, heaviest
        )
        copy_values(heavy_limits, limits[limits.size - heavy_limits.size :])
    paired = 0
    for mark in marks:
        paired += mark == PAIRED
    if not complements:
        marks = np.zeros(0, np.uint8)
    start = np.zeros(n + 1, np.int32)
    uses = np.empty(lits.size - paired, np.int32)
    loads = np.empty(uses.size if units.size else 0, np.int64)
    index_uses(groups, marks, units, start, uses, loads)
    return LogicIndex(
        groups.kind, groups.size, groups.members, groups.link, groups.factor, lits, limits, start,
        uses, marks, units, heaviest, loads,
    )  # fmt: skip


@jit_internal_no_allocation
def mark_complements(groups, stamp, seen, marks):
    """Mark links whose complement is an input of the same factor; say whether there are any.

    ``stamp[v]`` is the last factor met that names ``v``, ``seen[v]`` the link that does.
    KNAPSACK factors, whose two literals differ in weight, are left out.
    """
    found = False
    for g in range(groups.kind.size):
        kind, size, first_factor = groups.kind[g], groups.size[g], groups.factor[g]
        m = groups.members[g] if kind != KNAPSACK else 0
        for f in range(m):
            for j in range(size):
                link = groups.link[g] + j * m + f
                v = coordinate(groups.lits[link])
                if stamp[v] == first_factor + f:
                    found = True
                    if kind == ANYOF and j == size - 1:
                        marks[link] = SELF_DENYING
                    else:
                        marks[link] = PAIRED
                        marks[seen[v]] = PAIRED
                stamp[v] = first_factor + f
                seen[v] = link
    return found


@jit_internal_no_allocation
def index_uses(groups, marks, units, start, uses, loads):
    """Fill a CSR from coordinates to their uses, and what these weigh, by a counting sort."""
    kind, size, members, lits = groups.kind, groups.size, groups.members, groups.lits
    for link in range(lits.size):
        if marks.size == 0 or marks[link] != PAIRED:
            start[coordinate(lits[link]) + 1] += 1
    for v in range(start.size - 1):
        start[v + 1] += start[v]
    # start[v] serves as the place of v's next use, which leaves it where v + 1 begins ...
    for g in range(kind.size):
        for j in range(size[g]):
            role = OUTPUT if kind[g] == ANYOF and j == size[g] - 1 else kind[g]
            for f in range(members[g]):
                link = groups.link[g] + j * members[g] + f
                if marks.size == 0 or marks[link] != PAIRED:
                    v = coordinate(lits[link])
                    negated = 1 if lits[link] < 0 else 0
                    uses[start[v]] = (groups.factor[g] + f) << 4 | role << 1 | negated
                    if loads.size:
                        heavy = kind[g] == KNAPSACK
                        loads[start[v]] = (
                            units[link - lits.size + units.size] if heavy else weight(role)
                        )
                    start[v] += 1
    # ... so everything moves up by one.
    for v in range(start.size - 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = 0


@jit
def _close(logic, trail):
    """Propagate given values from scratch; returns the first conflict or -1."""
    reset_counters(logic, trail.true, trail.free)
    tail = 0
    for v in range(trail.values.size):
        if trail.values[v] != FREE:
            trail.order[tail] = v
            tail += 1
    conflict, tail = start_units(logic, trail, tail)
    if conflict < 0:
        conflict, _, _ = propagate(logic, trail, np.int64(0), tail, np.bool_(True))
    return conflict


@jit_internal_no_allocation
def propagate_units(logic, trail, stop):
    """Forget all values, then propagate what holds in every assignment; see :func:`propagate`."""
    trail.values[:] = FREE
    reset_counters(logic, trail.true, trail.free)
    conflict, tail = start_units(logic, trail, np.int64(0))
    if conflict < 0 or not stop:
        conflict, _, tail = propagate(logic, trail, np.int64(0), tail, stop)
    return conflict, tail


@jit_internal_no_allocation
def coordinate(literal):
    """The coordinate a literal speaks about."""
    return literal if literal >= 0 else ~literal


@jit_internal_no_allocation
def weight(role):
    """What a true literal adds to its factor's counter, KNAPSACK factors apart."""
    return 2 if role == ANYOF else 1


@jit_internal_no_allocation
def load(loads, place, role):
    """What a true literal adds to its factor's counter, by the place of its use."""
    return loads[place] if loads.size else np.int64(weight(role))


@jit_internal_no_allocation
def link_load(logic, link, role):
    """What a true literal adds to its factor's counter, by its link."""
    if role == KNAPSACK:
        return logic.units[link - logic.lits.size + logic.units.size]
    return np.int64(weight(role))


@jit_internal_no_allocation
def group_of(first_factor, factor):
    """The group a factor stands in: the last one that begins at or before it."""
    low, high = 0, first_factor.size
    while high - low > 1:
        middle = (low + high) // 2
        if first_factor[middle] <= factor:
            low = middle
        else:
            high = middle
    return low


@jit_internal_no_allocation
def reset_counters(logic, true, free):
    """Counters ``true[F]``, ``free[F]`` before any coordinate has a value."""
    for g in range(logic.kind.size):
        full = 2 * logic.size[g] - 1 if logic.kind[g] == ANYOF else logic.size[g]
        for f in range(logic.first_factor[g], logic.first_factor[g] + logic.members[g]):
            true[f] = 0
            free[f] = full if logic.kind[g] != KNAPSACK else 0
    if logic.units.size:
        add_units(logic, free)
    if logic.marks.size:
        count_paired(logic, true, free)


@jit_internal_no_allocation
def add_units(logic, free):
    """Count all units of KNAPSACK factors as free."""
    for g in range(logic.kind.size):
        if logic.kind[g] == KNAPSACK:
            m = logic.members[g]
            for j in range(m * logic.size[g]):
                link = logic.first_link[g] + j
                free[logic.first_factor[g] + j % m] += link_load(logic, link, KNAPSACK)


@jit_internal_no_allocation
def count_paired(logic, true, free):
    """Count every pair ``x, ~x`` as one true literal; KNAPSACK factors have netted theirs."""
    for g in range(logic.kind.size):
        m = logic.members[g] if logic.kind[g] != KNAPSACK else 0
        for link in range(logic.first_link[g], logic.first_link[g] + m * logic.size[g]):
            if logic.marks[link] == PAIRED:
                f = logic.first_factor[g] + (link - logic.first_link[g]) % m
                free[f] -= weight(logic.kind[g])
                if logic.lits[link] >= 0:  # once per pair
                    true[f] += weight(logic.kind[g])


@jit_internal_no_allocation
def consequence(role, event, k, true, free):
    """What the counters of a factor call for after an event at a link with the given role.

    Literals are searched only when the event has just made the count tight, once per cause.
    """
    if role in (ANYOF, OUTPUT):
        inputs_free, output_free, output = free >> 1, free & 1, true & 1
        if true > 1 or inputs_free == 0:  # the inputs decide the output
            decided = 1 if true > 1 else 0
            if output_free:
                return OUTPUT_TRUE if decided else OUTPUT_FALSE
            return NOTHING if output == decided else LOST
        if output_free == 0:
            if output == 1 and inputs_free == 1:
                return INPUTS_TRUE
            if output == 0 and role == OUTPUT:
                return INPUTS_FALSE
        return NOTHING
    if role == PARITY:
        odd = true & 1
        if free == 0:
            return LOST if odd else NOTHING
        return NOTHING if free > 1 else INPUTS_FALSE + odd
    missing = k - true
    if missing < 0 or (role == SUM and missing > free):
        return LOST
    if role == KNAPSACK:
        return HEAVY_FALSE if free > missing and event != TURNED_FALSE else NOTHING
    if free > 0:
        if missing == 0 and event != TURNED_FALSE:
            return INPUTS_FALSE
        if role == SUM and missing == free and event != TURNED_TRUE:
            return INPUTS_TRUE
    return NOTHING


@jit_internal_no_allocation
def force(logic, factor, action, room, values, trail, tail):
    """Give the free literals an action speaks about its truth; returns the trail's new end.

    ``room`` is what a KNAPSACK factor can still carry.
    """
    if action == HEAVY_FALSE:
        return drop_heavy(logic, factor, room, values, trail, tail)
    g = group_of(logic.first_factor, factor)
    m = logic.members[g]
    first = logic.first_link[g] + factor - logic.first_factor[g]
    low, high = 0, np.int64(logic.size[g])
    if action >= OUTPUT_FALSE:
        low = high - 1
    elif logic.kind[g] == ANYOF:
        high -= 1
    for j in range(low, high):
        link = first + j * m
        literal = logic.lits[link]
        v = coordinate(literal)
        if values[v] == FREE and (logic.marks.size == 0 or logic.marks[link] != PAIRED):
            values[v] = action & 1 if literal >= 0 else 1 - (action & 1)
            trail[tail] = v
            tail += 1
    return tail


@jit_internal_no_allocation
def drop_heavy(logic, factor, room, values, trail, tail):
    """Make the free items of a KNAPSACK factor false that are heavier than its room."""
    if logic.heaviest[factor - logic.k.size + logic.heaviest.size] <= room:
        return tail
    g = group_of(logic.first_factor, factor)
    first = logic.first_link[g] + factor - logic.first_factor[g]
    for j in range(logic.size[g]):
        link = first + j * logic.members[g]
        literal = logic.lits[link]
        v = coordinate(literal)
        if values[v] == FREE and link_load(logic, link, KNAPSACK) > room:
            values[v] = 0 if literal >= 0 else 1
            trail[tail] = v
            tail += 1
    return tail


@jit_internal_no_allocation
def start_units(logic, trail, tail):
    """Consequences of factors that leave no choice before anything is counted.

    Returns the first factor that cannot hold (or -1) and the new end of the trail.
    """
    conflict, true, free = -1, trail.true, trail.free
    for g in range(logic.kind.size):
        last = logic.first_link[g] + (logic.size[g] - 1) * logic.members[g]
        for f in range(logic.members[g]):
            factor = logic.first_factor[g] + f
            action = consequence(
                logic.kind[g], ANYTHING, logic.k[factor], true[factor], free[factor]
            )
            if logic.marks.size and logic.marks[last + f] == SELF_DENYING:
                action = OUTPUT_TRUE  # ~z = OR(z, ...): z true would make its own negation true
            if action == LOST:
                conflict = factor if conflict < 0 else conflict
            elif action != NOTHING:
                room = logic.k[factor] - true[factor]
                tail = force(logic, factor, action, room, trail.values, trail.order, tail)
    return conflict, tail


@jit_internal_no_allocation
def propagate(logic, trail, head, tail, stop):
    """Work off ``order[head:tail]``: coordinates with a value that the counters do not know yet.

    Args:
        logic: from :func:`build_links`.
        trail: a :class:`Trail`, written.
        head: first entry not yet counted.
        tail: end of the trail.
        stop: return at the first conflict; otherwise give up the factors that cannot hold (their
            counters move out of reach, so that they imply nothing any more) and go on.

    Returns:
        The first factor that cannot hold (or -1), and the new head and tail.  Every entry
        before the new head is fully counted, so that :func:`backtrack` can undo it.
    """
    conflict = -1
    start, uses, loads, k = logic.start, logic.uses, logic.loads, logic.k
    values, true, free, order = trail.values, trail.true, trail.free, trail.order
    while head < tail and not (stop and conflict >= 0):
        v = order[head]
        head += 1
        for place in range(start[v], start[v + 1]):
            # 1. Count.
            use = uses[place]
            factor, role = np.int64(use >> 4), (use >> 1) & 7
            holds = values[v] ^ (use & 1)
            step = load(loads, place, role)
            true[factor] += holds * step
            free[factor] -= step
            # 2. Conclude.
            action = consequence(role, holds, k[factor], true[factor], free[factor])
            if action == LOST:
                conflict = factor if conflict < 0 else conflict
                if not stop:
                    true[factor] -= OUT_OF_REACH
                    free[factor] += 2 * OUT_OF_REACH
            elif action != NOTHING:
                room = k[factor] - true[factor]
                tail = force(logic, factor, action, room, values, order, tail)
    return conflict, head, tail


@jit_internal_no_allocation
def backtrack(logic, trail, mark, head, tail):
    """Undo ``order[mark:tail]``, of which ``order[mark:head]`` is counted; returns links undone."""
    work = 0
    start, uses, loads = logic.start, logic.uses, logic.loads
    values, true, free = trail.values, trail.true, trail.free
    for at in range(mark, tail):
        v = trail.order[at]
        if at < head:
            work += start[v + 1] - start[v]
            for place in range(start[v], start[v + 1]):
                use = uses[place]
                factor, step = use >> 4, load(loads, place, (use >> 1) & 7)
                true[factor] -= (values[v] ^ (use & 1)) * step
                free[factor] += step
        values[v] = FREE
    return work
