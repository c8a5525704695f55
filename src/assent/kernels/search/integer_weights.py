"""Knapsack weights as whole numbers, so that counting them forth and back leaves no rounding.

A capacity becomes ``CAPACITY`` units.  Rounding an item costs at most half a unit, which is
granted to the limit: no assignment that fits is ever refused.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal
from assent.kernels.problem import KNAPSACK

# Units of a capacity: fine enough that the rounding of a thousand items stays below 1e-9 of it,
# coarse enough that int64 holds the sum of a hundred thousand.
CAPACITY = 1 << 42

# An item heavier than this many units never fits; no need to know by how much.
TOO_HEAVY = 2 * CAPACITY


@jit
def knapsack_units(groups):
    """Units ``int64`` of every knapsack link (in the order of ``weights``) and factor limits.

    Example:
        >>> from assent.kernels.problem import KNAPSACK, make_problem
        >>> items = KNAPSACK, np.array([[0, 1]], np.int32), np.ones(1, np.int32)
        >>> heavy = {"weights": [np.array([[1.0, 9.0]])], "capacity": [np.array([2.0])]}
        >>> problem = make_problem(2, np.zeros((0, 2), np.int32), [items], **heavy)
        >>> units, limit = knapsack_units(problem.groups)
        >>> (units / CAPACITY).tolist(), round(float(limit[0] / CAPACITY), 6)
        ([0.5, 2.0], 1.0)
    """
    weights = groups.weights
    units = np.empty(weights.size, np.int64)
    limits = np.empty(groups.capacity.size, np.int64)
    link, factor = 0, 0
    for g in range(np.searchsorted(groups.kind, KNAPSACK), groups.kind.size):
        size, count = groups.size[g], groups.members[g]
        for f in range(count):
            room = groups.capacity[factor]
            # Without room the heaviest item sets the scale: only weightless items fit.
            scale = room if room > 0.0 else 1e-300
            for j in range(size if room <= 0.0 else 0):
                scale = max(scale, weights[link + j * count + f])
            for j in range(size):
                own = weights[link + j * count + f]
                heavy = 0.5 * own >= scale
                units[link + j * count + f] = (
                    TOO_HEAVY if heavy else np.int64(np.rint(own / scale * CAPACITY))
                )
            limits[factor] = -1 if room < 0.0 else 0
            if room > 0.0:
                limits[factor] = CAPACITY + np.int64(size // 2)
            factor += 1
        link += size * count
    return units, limits


@jit_internal
def net_complements(groups, stamp, seen, marks, paired, units, limit, heaviest):
    """Of two items ``x`` and ``~x`` the lighter is carried in any case; say whether there are any.

    Its units leave the limit and the heavier item, and its link is marked ``paired``.  Fills
    ``heaviest`` with the units of each factor's heaviest item after that.  ``stamp[v]`` is the
    last KNAPSACK factor that named ``v``, and ``seen[v]`` where.
    """
    found, lits = False, groups.lits
    offset = lits.size - units.size
    factor = 0
    for g in range(np.searchsorted(groups.kind, KNAPSACK), groups.kind.size):
        size, count = groups.size[g], groups.members[g]
        for f in range(count):
            for j in range(size):
                link = groups.link[g] + j * count + f
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
            for j in range(size):
                place = groups.link[g] + j * count + f - offset
                heaviest[factor] = max(heaviest[factor], units[place])
            factor += 1
    return found
