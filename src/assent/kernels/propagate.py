"""Unit propagation on the flat layout: what fixed coordinates imply for the others.

Every logic factor keeps two counters over its literals (over its inputs only, for ANYOF): how
many are true and how many are free.  A coordinate that receives a value enters the *trail* once;
taking it from the trail updates the counters of its factors, and a factor whose counters leave
no choice puts its remaining coordinates on the trail.  A factor searches its literals at most
twice between two retreats, so the whole costs O(links).

A factor that holds both ``x`` and ``~x`` counts the two as one true literal from the start:
whatever ``x`` is, exactly one of them holds.  Their links are *paired* and take no further part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.jit import jit
from assent.problem import ANYOF, SUM

# Functions that only kernels call need no entry from Python, which takes longer to compile than
# most of their bodies.
inner = jit(no_cpython_wrapper=True, no_cfunc_wrapper=True)

FREE = -1  # a coordinate without a value

# Added to the counters of a factor that is given up: beyond any size, and int32 holds it thrice.
OUT_OF_REACH = 1 << 29

# What made a factor worth examining.  Kernels receive these as plain int64: Numba would compile
# one version per literal.
TURNED_FALSE = 0
TURNED_TRUE = 1
OUTPUT_CHANGED = 2
ANYTHING = 3


class Logic(NamedTuple):
    """The logic factors of a problem and, per coordinate, the links it takes part in.

    The first seven arrays are those of the compiled problem.  ``links[start[v]:start[v + 1]]``
    are the links of coordinate ``v`` in increasing order, paired ones left out.  ``paired`` has
    one flag per link, or no entry at all when no factor holds both ``x`` and ``~x``.
    """

    kind: np.ndarray  # int8[G]
    size: np.ndarray  # int32[G]
    members: np.ndarray  # int64[G]
    first_link: np.ndarray  # int64[G]
    first_factor: np.ndarray  # int64[G]
    lits: np.ndarray  # int32[L]
    k: np.ndarray  # int32[F]
    start: np.ndarray  # int32[n + 1]
    links: np.ndarray  # int32[<= L]
    paired: np.ndarray  # uint8[L] or uint8[0]


def build_links(problem: Any) -> Logic:
    """Index the links of a compiled problem by coordinate.

    Example:
        >>> import numpy as np
        >>> from assent.problem import SUM, make_problem
        >>> one_of = (SUM, np.array([[0, 1, ~2]], np.int32), np.array([1], np.int32))
        >>> logic = build_links(make_problem(3, np.zeros((0, 2), np.int32), [one_of]))
        >>> logic.links[logic.start[2] : logic.start[3]].tolist()
        [2]
    """
    layout = (
        problem.group_kind,
        problem.group_size,
        problem.group_count,
        problem.group_link,
        problem.group_factor,
        problem.lits,
    )
    paired = np.zeros(len(problem.lits), np.uint8)
    stamp = np.full(problem.n, -1, np.int64)
    if not _mark_paired(*layout, stamp, np.empty(problem.n, np.int32), paired):
        paired = np.zeros(0, np.uint8)
    start = np.zeros(problem.n + 1, np.int32)
    links = np.empty(len(problem.lits) - int(paired.sum()), np.int32)
    _index_by_coordinate(problem.lits, paired, start, links)
    return Logic(*layout, problem.k, start, links, paired)


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
        >>> from assent.problem import SUM, make_problem
        >>> one_of = (SUM, np.array([[0, 1, ~2]], np.int32), np.array([1], np.int32))
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [one_of])
        >>> closed, conflict = fix(problem, np.array([1, -1, -1], np.int8))
        >>> closed.tolist(), conflict
        ([1, 0, 1], -1)
    """
    values = np.array(values, np.int8)
    conflict = _close(build_links(problem), values, *workspace(problem))
    return values, int(conflict)


def workspace(problem: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for the counters ``true[F]`` and ``free[F]`` and for the trail ``[n]``."""
    factors = len(problem.k)
    return np.empty(factors, np.int32), np.empty(factors, np.int32), np.empty(problem.n, np.int32)


@jit
def _close(logic, values, true, free, trail):
    """Propagate given values from scratch; returns the first conflict or -1."""
    reset_counters(logic, true, free)
    tail = 0
    for v in range(values.size):
        if values[v] != FREE:
            trail[tail] = v
            tail += 1
    conflict, tail = start_units(logic, values, true, free, trail, tail)
    if conflict < 0:
        stop = np.bool_(True)
        conflict, _, _ = propagate(logic, values, true, free, trail, np.int64(0), tail, stop)
    return conflict


@jit
def _mark_paired(kind, size, count, first_link, first_factor, lits, stamp, seen, paired):
    """Flag links whose complement is an input of the same factor; say whether there are any.

    ``stamp[v]`` is the last factor met that names ``v``, ``seen[v]`` the link that does.
    """
    found = False
    for g in range(kind.size):
        m = count[g]
        inputs = size[g] - 1 if kind[g] == ANYOF else size[g]
        for f in range(m):
            for j in range(inputs):
                link = first_link[g] + j * m + f
                v = coordinate(lits[link])
                if stamp[v] == first_factor[g] + f:
                    paired[link] = 1
                    paired[seen[v]] = 1
                    found = True
                stamp[v] = first_factor[g] + f
                seen[v] = link
    return found


@jit
def _index_by_coordinate(lits, paired, start, links):
    """Fill a CSR from coordinates to their unpaired links by a counting sort."""
    for link in range(lits.size):
        if paired.size == 0 or paired[link] == 0:
            start[coordinate(lits[link]) + 1] += 1
    for v in range(start.size - 1):
        start[v + 1] += start[v]
    # start[v] serves as the place of v's next link, which leaves it where v + 1 begins ...
    for link in range(lits.size):
        if paired.size == 0 or paired[link] == 0:
            v = coordinate(lits[link])
            links[start[v]] = link
            start[v] += 1
    # ... so everything moves up by one.
    for v in range(start.size - 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = 0


@inner
def coordinate(literal):
    """The coordinate a literal speaks about."""
    return literal if literal >= 0 else ~literal


@inner
def truth(literal, values):
    """1 or 0 for a literal whose coordinate has a value, else FREE."""
    if literal >= 0:
        return values[literal]
    value = values[~literal]
    return value if value == FREE else 1 - value


@inner
def group_of(logic, link):
    """The group a link (int64) stands in: the last one that begins at or before it."""
    low, high = 0, logic.first_link.size
    while high - low > 1:
        middle = (low + high) // 2
        if logic.first_link[middle] <= link:
            low = middle
        else:
            high = middle
    return low


@inner
def reset_counters(logic, true, free):
    """Counters ``true[F]``, ``free[F]`` before any coordinate has a value."""
    for g in range(logic.kind.size):
        inputs = logic.size[g] - 1 if logic.kind[g] == ANYOF else logic.size[g]
        for f in range(logic.first_factor[g], logic.first_factor[g] + logic.members[g]):
            true[f] = 0
            free[f] = inputs
    if logic.paired.size:
        for link in range(logic.paired.size):
            if logic.paired[link] == 0:
                continue
            g = group_of(logic, link)
            f = logic.first_factor[g] + (link - logic.first_link[g]) % logic.members[g]
            free[f] -= 1
            if logic.lits[link] >= 0:  # once per pair
                true[f] += 1


@inner
def assign(literal, wanted, values, trail, tail):
    """Give a free literal the wanted truth (a bool); returns the new end of the trail."""
    v = coordinate(literal)
    values[v] = wanted == (literal >= 0)
    trail[tail] = v
    return tail + 1


@inner
def force_inputs(logic, g, f, wanted, values, trail, tail):
    """Give every free unpaired input of factor ``f`` (within its group) the wanted truth."""
    m = logic.members[g]
    inputs = logic.size[g] - 1 if logic.kind[g] == ANYOF else logic.size[g]
    for j in range(inputs):
        link = logic.first_link[g] + j * m + f
        if logic.paired.size and logic.paired[link]:
            continue
        if truth(logic.lits[link], values) == FREE:
            tail = assign(logic.lits[link], wanted, values, trail, tail)
    return tail


@inner
def examine_sum(logic, g, f, event, true, free, values, trail, tail):
    """Consequences of a CAP or SUM factor.

    Returns whether the factor can no longer hold, and the new end of the trail.
    """
    factor = logic.first_factor[g] + f
    exact = logic.kind[g] == SUM
    missing = logic.k[factor] - true[factor]
    if missing < 0 or (exact and missing > free[factor]):
        return True, tail
    # The event tells whether the count has just become tight: search the literals only then.
    full = missing == 0 and event != TURNED_FALSE
    needed = exact and missing == free[factor] and event != TURNED_TRUE
    if free[factor] > 0 and (full or needed):
        tail = force_inputs(logic, g, f, missing > 0, values, trail, tail)
    return False, tail


@inner
def examine_anyof(logic, g, f, event, true, free, values, trail, tail):
    """Consequences of an ANYOF factor; the output's value is read directly.

    Returns whether the factor can no longer hold, and the new end of the trail.
    """
    factor = logic.first_factor[g] + f
    output = logic.lits[logic.first_link[g] + (logic.size[g] - 1) * logic.members[g] + f]
    held = truth(output, values)
    if true[factor] > 0 or free[factor] == 0:  # the inputs decide the output
        decided = true[factor] > 0
        if held == FREE:
            tail = assign(output, decided, values, trail, tail)
        return held != FREE and (held == 1) != decided, tail
    if (held == 0 and event == OUTPUT_CHANGED) or (held == 1 and free[factor] == 1):
        tail = force_inputs(logic, g, f, held == 1, values, trail, tail)
    return False, tail


@inner
def start_units(logic, values, true, free, trail, tail):
    """Consequences of factors that leave no choice before anything is counted.

    Returns the first factor that cannot hold (or -1) and the new end of the trail.
    """
    conflict = -1
    event = np.int64(ANYTHING)
    for g in range(logic.kind.size):
        m = logic.members[g]
        for f in range(m):
            if logic.kind[g] == ANYOF:
                output = logic.lits[logic.first_link[g] + (logic.size[g] - 1) * m + f]
                if truth(output, values) == FREE and _has_input(logic, g, f, ~output):
                    # ~z = OR(z, ...): z true would make its own negation true.
                    tail = assign(output, np.bool_(True), values, trail, tail)
                failed, tail = examine_anyof(logic, g, f, event, true, free, values, trail, tail)
            else:
                failed, tail = examine_sum(logic, g, f, event, true, free, values, trail, tail)
            if failed and conflict < 0:
                conflict = logic.first_factor[g] + f
    return conflict, tail


@inner
def _has_input(logic, g, f, literal):
    """Whether an ANYOF factor counts the literal among its inputs."""
    for j in range(logic.size[g] - 1):
        if logic.lits[logic.first_link[g] + j * logic.members[g] + f] == literal:
            return True
    return False


@inner
def propagate(logic, values, true, free, trail, head, tail, stop):
    """Work off ``trail[head:tail]``: coordinates with a value that the counters do not know yet.

    Args:
        logic: from :func:`build_links`.
        values: ``int8[n]``, written.
        true: ``int32[F]`` true inputs per factor, written.
        free: ``int32[F]`` free inputs per factor, written.
        trail: ``int32[n]`` coordinates in the order they received values, written.
        head: first entry not yet counted.
        tail: end of the trail.
        stop: return at the first conflict; otherwise give up the factors that cannot hold (their
            counters move out of reach, so that they imply nothing any more) and go on.

    Returns:
        The first factor that cannot hold (or -1), and the new head and tail.  Every entry
        before the new head is fully counted, so that :func:`retreat` can undo it.
    """
    conflict = -1
    while head < tail:
        v = trail[head]
        head += 1
        for place in range(logic.start[v], logic.start[v + 1]):
            link = np.int64(logic.links[place])
            g = group_of(logic, link)
            offset = link - logic.first_link[g]
            f = offset % logic.members[g]
            factor = logic.first_factor[g] + f
            event = TURNED_TRUE if (values[v] == 1) == (logic.lits[link] >= 0) else TURNED_FALSE
            if logic.kind[g] == ANYOF and offset >= (logic.size[g] - 1) * logic.members[g]:
                event = OUTPUT_CHANGED
            else:
                free[factor] -= 1
                true[factor] += event
            if logic.kind[g] == ANYOF:
                failed, tail = examine_anyof(logic, g, f, event, true, free, values, trail, tail)
            else:
                failed, tail = examine_sum(logic, g, f, event, true, free, values, trail, tail)
            if failed:
                if conflict < 0:
                    conflict = factor
                if not stop:
                    true[factor] -= OUT_OF_REACH
                    free[factor] += 2 * OUT_OF_REACH
        if stop and conflict >= 0:
            break
    return conflict, head, tail


@inner
def retreat(logic, values, true, free, trail, mark, head, tail):
    """Undo ``trail[mark:tail]``, of which ``trail[mark:head]`` is counted; returns links undone."""
    work = 0
    for at in range(mark, tail):
        v = trail[at]
        if at < head:
            work += logic.start[v + 1] - logic.start[v]
            for place in range(logic.start[v], logic.start[v + 1]):
                link = np.int64(logic.links[place])
                g = group_of(logic, link)
                offset = link - logic.first_link[g]
                if logic.kind[g] == ANYOF and offset >= (logic.size[g] - 1) * logic.members[g]:
                    continue
                factor = logic.first_factor[g] + offset % logic.members[g]
                free[factor] += 1
                true[factor] -= (values[v] == 1) == (logic.lits[link] >= 0)
        values[v] = FREE
    return work
