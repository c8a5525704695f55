"""A structure of your own: a tour that visits cities in order and stays within a budget.

The structure is one compiled function that finds the best tour. Everything else (joining it with
other factors, the bound, evidence) is the library's work; `check_structure` compares it with
enumeration before it is trusted.
"""

import numpy as np
from numba import njit

import assent as at
from assent.testing import check_structure


# [kernel]
@njit
def best_tour(start, data, scores, inner, scale, states):
    """Stops 0..d-1 are visited (state 1) or not (0); data[i, j] is the distance from i to j.

    The tour begins at stop 0 and may be at most data[-1] long in all.
    """
    d = len(states)
    limit = data[d * d]
    best = np.full((d, limit + 1), -np.inf)  # best[i, l]: tours of length l that end at i
    came = np.full((d, limit + 1), -1)
    best[0, 0] = scores[1]
    for j in range(1, d):
        skipped = 0.0
        for i in range(j - 1, -1, -1):
            leg = data[i * d + j]
            for length in range(limit - leg + 1):
                total = best[i, length] + skipped + scores[2 * j + 1]
                if total > best[j, length + leg]:
                    best[j, length + leg] = total
                    came[j, length + leg] = i
            skipped += scores[2 * i]  # the stops between i and j are not visited
    last, length, top = 0, 0, -np.inf
    rest = 0.0
    for i in range(d - 1, -1, -1):
        for long in range(limit + 1):
            if best[i, long] + rest > top:
                last, length, top = i, long, best[i, long] + rest
        rest += scores[2 * i]
    states[:] = 0
    at_stop = last
    while at_stop >= 0 and top > -np.inf:
        states[at_stop] = 1
        before = came[at_stop, length]
        if before >= 0:
            length -= data[before * d + at_stop]
        at_stop = before
    return top, 0.0


# [kernel]


def tour(stops, distances, limit):
    """The structure over the literals ``stops[d]``."""
    return at.Custom(stops, kernel=best_tour, data=[*np.ravel(distances), limit])


rng = np.random.default_rng(7)
small = at.FactorGraph()
check_structure(tour(small.binary(5), rng.integers(1, 4, (5, 5)), 6))
print("best_tour agrees with enumeration")

towns = ["home", "Ambridge", "Borsel", "Cray", "Dunmore", "Ely", "Foss", "Glen"]
where = rng.integers(0, 10, (len(towns), 2))
distances = np.abs(where[:, None] - where[None]).sum(axis=2)
g = at.FactorGraph()
visit = g.binary(len(towns), scores=[0, 4, 5, 3, 6, 4, 5, 2], name="visit")
g.add(tour(visit, distances, limit=20))
g.add(at.AtMostOne(visit[[2, 4]]), name="Borsel and Dunmore compete")
g.add(at.Implies(visit[6], visit[1]), name="the key for Foss is in Ambridge")
result = at.decode(g)
chosen = [town for town, x in zip(towns, result[visit], strict=True) if x]
stops = np.flatnonzero(result[visit])
length = distances[stops[:-1], stops[1:]].sum()
print(f"tour: {' → '.join(chosen)} ({length} of 20 long)")
print(f"value {result.value:g}, bound {result.bound:g}: {result.status.name}")
