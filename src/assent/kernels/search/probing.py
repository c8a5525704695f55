"""What two coordinates imply together when both are true, but neither does alone."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import lean, make_trail, propagate, propagate_units, retreat
from assent.kernels.jit import jit


@jit
def implied(logic, ends, start, literals):
    """Propagate pairs of coordinates, one after the other, from where nothing is known.

    Args:
        logic: from :func:`~assent.kernels.core.propagate.build_links`.
        ends: ``int64[P, 2]`` the coordinates of every pair.
        start: ``int64[P + 1]``, written: where the literals of every pair begin.
        literals: ``int64[M]``, written: what follows; ``n`` if a pair cannot be true.

    Returns:
        How many pairs were propagated: fewer than all if there is no more room for literals.

    Example:
        >>> from assent.kernels.core.propagate import build_links
        >>> from assent.kernels.problem import CAP, make_problem
        >>> two = CAP, np.array([[0, 1, ~2]], np.int32), np.array([2], np.int32)
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [two])
        >>> start, literals = np.zeros(2, np.int64), np.zeros(9, np.int64)
        >>> implied(build_links(problem), np.array([[0, 1]]), start, literals)
        1
        >>> literals[: start[1]].tolist()
        [2]
    """
    n = logic.start.size - 1
    trail, told = make_trail(n, logic.k.size), np.full(n, -1)
    lost, mark = propagate_units(logic, trail, np.bool_(True))
    start[0] = 0
    for pair in range(len(ends)):
        if start[pair] + n > literals.size:
            return pair
        count = 0
        if follow_alone(logic, ends, pair, trail, mark, told) and lost < 0:
            count = follow_both(logic, ends, pair, trail, mark, told, literals[start[pair] :])
        start[pair + 1] = start[pair] + count
    return len(ends)


@lean
def follow_alone(logic, ends, pair, trail, mark, told):
    """Tell, by the pair's number, what follows from either end; whether both are possible."""
    possible = True
    for side in range(2):
        conflict, head, tail = assume(logic, ends[pair, side], trail, mark)
        possible = possible and conflict < 0
        for place in range(mark, tail):
            told[trail.order[place]] = pair
        retreat(logic, trail, mark, head, tail)
    return possible


@lean
def follow_both(logic, ends, pair, trail, mark, told, literals):
    """What follows from both ends and was not told of one; returns the number of literals."""
    count = 0
    _, middle, between = assume(logic, ends[pair, 0], trail, mark)
    conflict, head, tail = assume(logic, ends[pair, 1], trail, between)
    if conflict >= 0:
        literals[0] = trail.values.size
        count = 1
    else:
        for place in range(mark, tail):
            v = trail.order[place]
            if told[v] != pair:
                literals[count] = v if trail.values[v] == 1 else ~v
                count += 1
    retreat(logic, trail, between, head, tail)
    retreat(logic, trail, mark, middle, between)
    return count


@lean
def assume(logic, v, trail, tail):
    """Let a coordinate be true; returns the conflict (or -1) and the trail's head and tail."""
    if trail.values[v] == 1:
        return np.int64(-1), tail, tail
    if trail.values[v] == 0:
        return np.int64(0), tail, tail
    trail.values[v] = 1
    trail.order[tail] = v
    conflict, head, tail = propagate(logic, trail, tail, tail + 1, np.bool_(True))
    return np.int64(conflict), head, tail
