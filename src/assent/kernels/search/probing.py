"""What two coordinates imply together when both are true, but neither does alone."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import (
    FREE,
    lean,
    propagate,
    reset_counters,
    retreat,
    start_units,
)
from assent.kernels.jit import jit


@jit
def implied(logic, ends, values, true, free, trail, told, start, literals):
    """Propagate pairs of coordinates, one after the other, from where nothing is known.

    Args:
        logic: from :func:`~assent.kernels.core.propagate.build_links`.
        ends: ``int64[P, 2]`` the coordinates of every pair.
        values: ``int8[n]``, ``true`` and ``free``: ``int64[F]``, ``trail``: ``int32[n]``: room.
        told: ``int64[n]`` room, -1 everywhere.
        start: ``int64[P + 1]``, written: where the literals of every pair begin.
        literals: ``int64[M]``, written: what follows; ``n`` if a pair cannot be true.

    Returns:
        How many pairs were propagated: fewer than all if there is no more room for literals.

    Example:
        >>> from assent.kernels.core.propagate import build_links, workspace
        >>> from assent.kernels.problem import CAP, make_problem
        >>> two = CAP, np.array([[0, 1, ~2]], np.int32), np.array([2], np.int32)
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [two])
        >>> start, literals = np.zeros(2, np.int64), np.zeros(9, np.int64)
        >>> room = np.empty(3, np.int8), *workspace(problem), np.full(3, -1)
        >>> implied(build_links(problem), np.array([[0, 1]]), *room, start, literals)
        1
        >>> literals[: start[1]].tolist()
        [2]
    """
    n, stop = values.size, np.bool_(True)
    # 1. What holds anyway.
    values[:] = FREE
    reset_counters(logic, true, free)
    lost, tail = start_units(logic, values, true, free, trail, np.int64(0))
    if lost < 0:
        lost, _, tail = propagate(logic, values, true, free, trail, np.int64(0), tail, stop)
    start[0], mark = 0, tail
    for pair in range(len(ends)):
        at = start[pair]
        if at + n > literals.size:
            return pair
        possible = lost < 0
        # 2. Each alone: what follows is told by the pair's number.
        for side in range(2):
            conflict, head, tail = assume(logic, ends[pair, side], values, true, free, trail, mark)
            possible = possible and conflict < 0
            for place in range(mark, tail):
                told[trail[place]] = pair
            retreat(logic, values, true, free, trail, mark, head, tail)
        # 3. Both.
        if possible:
            _, middle, between = assume(logic, ends[pair, 0], values, true, free, trail, mark)
            conflict, head, tail = assume(logic, ends[pair, 1], values, true, free, trail, between)
            if conflict >= 0:
                literals[at] = n
                at += 1
            else:
                for place in range(mark, tail):
                    v = trail[place]
                    if told[v] != pair:
                        literals[at] = v if values[v] == 1 else ~v
                        at += 1
            retreat(logic, values, true, free, trail, between, head, tail)
            retreat(logic, values, true, free, trail, mark, middle, between)
        start[pair + 1] = at
    return len(ends)


@lean
def assume(logic, v, values, true, free, trail, tail):
    """Let a coordinate be true; returns the conflict (or -1) and the trail's head and tail."""
    if values[v] == 1:
        return np.int64(-1), tail, tail
    if values[v] == 0:
        return np.int64(0), tail, tail
    values[v] = 1
    trail[tail] = v
    conflict, head, tail = propagate(
        logic, values, true, free, trail, tail, tail + 1, np.bool_(True)
    )
    return np.int64(conflict), head, tail
