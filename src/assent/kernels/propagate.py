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

CAP = 0  # sum of literals <= k
SUM = 1  # sum of literals == k
ANYOF = 2  # last literal == OR of the others

FREE = -1  # a coordinate without a value


class Logic(NamedTuple):
    """The logic factors of a problem and, per coordinate, the links it takes part in.

    The first seven arrays are those of the compiled problem.  ``links[start[v]:start[v + 1]]``
    are the links of coordinate ``v`` in increasing order, paired ones left out.  ``paired`` has
    one flag per link, or no entry at all when no factor holds both ``x`` and ``~x``.
    """

    kind: np.ndarray  # int8[G]
    size: np.ndarray  # int32[G]
    count: np.ndarray  # int64[G]
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
    if not _mark_paired(*layout[:5], problem.lits, problem.n, paired):
        paired = np.zeros(0, np.uint8)
    start, links = _index_by_coordinate(problem.lits, problem.n, paired)
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
    logic = build_links(problem)
    values = np.array(values, np.int8)
    true, free = fresh_counters(logic)
    trail = np.empty(problem.n, np.int32)
    given = np.flatnonzero(values != FREE)
    trail[: len(given)] = given
    conflict, tail = start_units(logic, values, true, free, trail, len(given))
    if conflict < 0:
        conflict, _, _ = propagate(logic, values, true, free, trail, 0, tail, True)
    return values, int(conflict)


@jit
def _mark_paired(kind, size, count, first_link, first_factor, lits, n, paired):
    """Flag links whose complement is an input of the same factor; say whether there are any."""
    seen = np.full(n, -1, np.int64)  # last link of the present factor that names the coordinate
    stamp = np.full(n, -1, np.int64)  # the factor that link belongs to
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
def _index_by_coordinate(lits, n, paired):
    """CSR from coordinates to their unpaired links."""
    start = np.zeros(n + 1, np.int32)
    for link in range(lits.size):
        if paired.size == 0 or paired[link] == 0:
            start[coordinate(lits[link]) + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    links = np.empty(start[n], np.int32)
    place = start[:n].copy()
    for link in range(lits.size):
        if paired.size == 0 or paired[link] == 0:
            v = coordinate(lits[link])
            links[place[v]] = link
            place[v] += 1
    return start, links


@jit
def coordinate(literal):
    """The coordinate a literal speaks about."""
    return literal if literal >= 0 else ~literal


@jit
def truth(literal, values):
    """1 or 0 for a literal whose coordinate has a value, else FREE."""
    if literal >= 0:
        return values[literal]
    value = values[~literal]
    return value if value == FREE else 1 - value


@jit
def group_of(logic, link):
    """The group a link stands in: the last one that begins at or before it."""
    low, high = 0, logic.first_link.size
    while high - low > 1:
        middle = (low + high) // 2
        if logic.first_link[middle] <= link:
            low = middle
        else:
            high = middle
    return low


@jit
def fresh_counters(logic):
    """Counters ``true[F]``, ``free[F]`` before any coordinate has a value."""
    true = np.zeros(logic.k.size, np.int32)
    free = np.zeros(logic.k.size, np.int32)
    for g in range(logic.kind.size):
        inputs = logic.size[g] - 1 if logic.kind[g] == ANYOF else logic.size[g]
        for f in range(logic.first_factor[g], logic.first_factor[g] + logic.count[g]):
            free[f] = inputs
    if logic.paired.size:
        for link in np.flatnonzero(logic.paired):
            g = group_of(logic, link)
            f = logic.first_factor[g] + (link - logic.first_link[g]) % logic.count[g]
            free[f] -= 1
            if logic.lits[link] >= 0:  # once per pair
                true[f] += 1
    return true, free


@jit
def assign(literal, wanted, values, trail, tail):
    """Make a free literal true (1) or false (0); returns the new end of the trail."""
    v = coordinate(literal)
    values[v] = wanted if literal >= 0 else 1 - wanted
    trail[tail] = v
    return tail + 1


@jit
def force_inputs(logic, g, f, wanted, values, trail, tail):
    """Give every free unpaired input of factor ``f`` (within its group) the wanted truth."""
    m = logic.count[g]
    inputs = logic.size[g] - 1 if logic.kind[g] == ANYOF else logic.size[g]
    for j in range(inputs):
        link = logic.first_link[g] + j * m + f
        if logic.paired.size and logic.paired[link]:
            continue
        if truth(logic.lits[link], values) == FREE:
            tail = assign(logic.lits[link], wanted, values, trail, tail)
    return tail


@jit
def examine_sum(logic, g, f, true, free, values, trail, tail, turned_true, turned_false):
    """Consequences of a CAP or SUM factor; the two flags say what has just changed.

    Returns whether the factor can no longer hold, and the new end of the trail.
    """
    factor = logic.first_factor[g] + f
    k = logic.k[factor]
    exact = logic.kind[g] == SUM
    if true[factor] > k or (exact and true[factor] + free[factor] < k):
        return True, tail
    if free[factor] > 0:
        if true[factor] == k:
            if turned_true:
                tail = force_inputs(logic, g, f, 0, values, trail, tail)
        elif exact and true[factor] + free[factor] == k and turned_false:
            tail = force_inputs(logic, g, f, 1, values, trail, tail)
    return False, tail


@jit
def examine_anyof(logic, g, f, true, free, values, trail, tail, output_changed):
    """Consequences of an ANYOF factor; the output's value is read directly.

    Returns whether the factor can no longer hold, and the new end of the trail.
    """
    factor = logic.first_factor[g] + f
    output = logic.lits[logic.first_link[g] + (logic.size[g] - 1) * logic.count[g] + f]
    held = truth(output, values)
    if true[factor] > 0 or free[factor] == 0:  # the inputs decide the output
        decided = 1 if true[factor] > 0 else 0
        if held == FREE:
            tail = assign(output, decided, values, trail, tail)
        return held != FREE and held != decided, tail
    if held == 0:
        if output_changed:
            tail = force_inputs(logic, g, f, 0, values, trail, tail)
    elif held == 1 and free[factor] == 1:
        tail = force_inputs(logic, g, f, 1, values, trail, tail)
    return False, tail


@jit
def start_units(logic, values, true, free, trail, tail):
    """Consequences of factors that leave no choice before anything is known.

    Returns the first factor that cannot hold (or -1) and the new end of the trail.
    """
    conflict = -1
    for g in range(logic.kind.size):
        m = logic.count[g]
        for f in range(m):
            if logic.kind[g] == ANYOF:
                output = logic.lits[logic.first_link[g] + (logic.size[g] - 1) * m + f]
                if truth(output, values) == FREE and _has_input(logic, g, f, ~output):
                    # ~z = OR(z, ...) : z true would make its own negation true.
                    tail = assign(output, 1, values, trail, tail)
                failed, tail = examine_anyof(logic, g, f, true, free, values, trail, tail, False)
            else:
                failed, tail = examine_sum(
                    logic, g, f, true, free, values, trail, tail, True, True
                )
            if failed and conflict < 0:
                conflict = logic.first_factor[g] + f
    return conflict, tail


@jit
def _has_input(logic, g, f, literal):
    """Whether an ANYOF factor counts the literal among its inputs."""
    for j in range(logic.size[g] - 1):
        if logic.lits[logic.first_link[g] + j * logic.count[g] + f] == literal:
            return True
    return False


@jit
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
        stop: return at the first conflict, or go on past factors that are lost.

    Returns:
        The first factor that cannot hold (or -1), and the new head and tail.  Every entry
        before the new head is fully counted, so that :func:`retreat` can undo it.
    """
    conflict = -1
    while head < tail:
        v = trail[head]
        head += 1
        for place in range(logic.start[v], logic.start[v + 1]):
            link = logic.links[place]
            g = group_of(logic, link)
            offset = link - logic.first_link[g]
            f = offset % logic.count[g]
            factor = logic.first_factor[g] + f
            holds = (values[v] == 1) == (logic.lits[link] >= 0)
            if logic.kind[g] != ANYOF:
                free[factor] -= 1
                true[factor] += holds
                failed, tail = examine_sum(
                    logic, g, f, true, free, values, trail, tail, holds, not holds
                )
            else:
                is_output = offset >= (logic.size[g] - 1) * logic.count[g]
                if not is_output:
                    free[factor] -= 1
                    true[factor] += holds
                failed, tail = examine_anyof(
                    logic, g, f, true, free, values, trail, tail, is_output
                )
            if failed and conflict < 0:
                conflict = factor
        if stop and conflict >= 0:
            break
    return conflict, head, tail


@jit
def retreat(logic, values, true, free, trail, mark, head, tail):
    """Undo ``trail[mark:tail]``, of which ``trail[mark:head]`` is counted; returns links undone."""
    work = 0
    for at in range(mark, tail):
        v = trail[at]
        if at < head:
            work += logic.start[v + 1] - logic.start[v]
            for place in range(logic.start[v], logic.start[v + 1]):
                link = logic.links[place]
                g = group_of(logic, link)
                offset = link - logic.first_link[g]
                if logic.kind[g] == ANYOF and offset >= (logic.size[g] - 1) * logic.count[g]:
                    continue
                factor = logic.first_factor[g] + offset % logic.count[g]
                free[factor] += 1
                true[factor] -= (values[v] == 1) == (logic.lits[link] >= 0)
        values[v] = FREE
    return work
