"""Knapsack weights as whole numbers, so that counting them forth and back leaves no rounding.

A capacity becomes ``CAPACITY`` units.  Rounding an item costs at most half a unit, which is
granted to the limit; together with a small tolerance no assignment that fits is ever refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels.jit import jit
from assent.problem import KNAPSACK

# Units of a capacity: fine enough that the rounding of a thousand items stays below TOLERANCE,
# coarse enough that int64 holds the sum of a hundred thousand.
CAPACITY = 1 << 42

# An item heavier than this many units never fits; no need to know by how much.
TOO_HEAVY = 2 * CAPACITY

# Weights may exceed a capacity by this part of it: sums like 0.1 + 0.2 <= 0.3 should hold.
# Half of what an assignment is granted when it is checked, so that what fits here passes there.
TOLERANCE = 5e-10


def knapsack_units(problem: Any) -> tuple[np.ndarray, np.ndarray]:
    """Units ``int64`` of every knapsack link (in the order of ``weights``) and factor limits.

    Example:
        >>> from assent.problem import make_problem
        >>> group = (KNAPSACK, np.array([[0, 1]], np.int32), np.ones(1, np.int32))
        >>> weights, capacity = [np.array([[1.0, 9.0]])], [np.array([2.0])]
        >>> no_pairs = np.zeros((0, 2), np.int32)
        >>> problem = make_problem(2, no_pairs, [group], None, weights, capacity)
        >>> units, limit = knapsack_units(problem)
        >>> (units / CAPACITY).tolist(), round(float(limit[0] / CAPACITY), 6)
        ([0.5, 2.0], 1.0)
    """
    units = np.empty(len(problem.weights), np.int64)
    limits = [np.zeros(0, np.int64)]
    link = first = 0
    for g in np.flatnonzero(problem.group_kind == KNAPSACK):
        size, count = int(problem.group_size[g]), int(problem.group_count[g])
        weights = problem.weights[link : link + size * count].reshape(size, count)
        capacity = problem.capacity[first : first + count]
        # Without room the heaviest item sets the scale: only weightless items fit.
        scale = np.where(capacity > 0.0, capacity, weights.max(axis=0, initial=1e-300))
        with np.errstate(over="ignore"):
            parts = np.minimum(weights / scale, TOO_HEAVY / CAPACITY)
        units[link : link + size * count] = np.rint(parts * CAPACITY).astype(np.int64).ravel()
        room = int(CAPACITY * (1.0 + TOLERANCE)) + size // 2
        limits.append(np.where(capacity > 0.0, room, np.where(capacity < 0.0, -1, 0)))
        link += size * count
        first += count
    return units, np.concatenate(limits)


@jit
def net_complements(
    size, members, first_link, lits, stamp, seen, marks, paired, units, limit, heaviest
):  # fmt: skip
    """Of two items ``x`` and ``~x`` the lighter is carried in any case; say whether there are any.

    Its units leave the limit and the heavier item, and its link is marked ``paired``.  Fills
    ``heaviest`` with the units of each factor's heaviest item after that.  The groups are the
    KNAPSACK ones; ``stamp[v]`` is the last factor that named ``v``, and ``seen[v]`` where.
    """
    found = False
    offset = lits.size - units.size
    factor = 0
    for g in range(size.size):
        for f in range(members[g]):
            for j in range(size[g]):
                link = first_link[g] + j * members[g] + f
                v = lits[link] if lits[link] >= 0 else ~lits[link]
                if stamp[v] == factor:
                    found = True
                    here, there = link - offset, seen[v] - offset
                    lighter = min(units[here], units[there])
                    marks[link if units[here] == lighter else seen[v]] = paired
                    units[here] -= lighter
                    units[there] -= lighter
                    limit[factor] -= lighter
                stamp[v] = factor
                seen[v] = link
            heaviest[factor] = 0
            for j in range(size[g]):
                place = first_link[g] + j * members[g] + f - offset
                heaviest[factor] = max(heaviest[factor], units[place])
            factor += 1
    return found
