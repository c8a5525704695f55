"""Where AD3 starts: the size of the scores, and multipliers that are a point of the dual."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation, jit_no_allocation
from assent.kernels.problem import DENSE

# Penalties relative to the typical size of the scores.  Tables have more entries to choose from
# than a pair, and their largest ones count for less.
OF_SCORES = 0.2
OF_TABLES = 0.15


@jit
def size_of_scores(theta, degree, pair):
    """A penalty fit for the scores of linked coordinates and of pairs."""
    linked = self_weighted_mean(np.where(degree > 0, theta, 0.0))
    return OF_SCORES * max(linked, self_weighted_mean(pair))


@jit
def size_of_tables(kind, entry, factor, table):
    """A penalty fit for the entries of tables and the inner scores of structures."""
    return OF_TABLES * self_weighted_mean(centred(kind, entry, factor, table))


@jit_internal_no_allocation
def self_weighted_mean(sizes):
    """The mean of ``|size|`` weighted by ``|size|``, safe for any finite sizes; 0 for none.

    Many zero or small scores beside a few large ones do not lower it, as they would a plain mean.
    """
    largest, squares, total = 0.0, 0.0, 0.0
    for size in sizes:
        largest = max(largest, abs(size))
    if largest == 0.0:
        return 0.0
    for size in sizes:
        part = abs(size) / largest
        squares += part * part
        total += part
    return largest * squares / total


@jit_internal
def centred(kind, entry, factor, table):
    """Finite entries less their table's mean (less 0 where tables are not DENSE), others 0."""
    out = np.zeros(table.size)
    for t in range(kind.size):
        members = factor[t + 1] - factor[t]
        width = (entry[t + 1] - entry[t]) // members
        for row in range(members):
            first = entry[t] + row * width
            total, number = 0.0, 0
            for at in range(first, first + width):
                if table[at] > -np.inf:
                    total += table[at]
                    number += 1
            centre = total / max(number, 1) if kind[t] == DENSE else 0.0
            for at in range(first, first + width):
                if table[at] > -np.inf:
                    out[at] = table[at] - centre
    return out


@jit
def weigh_links(group, size, count, lits, link, mass):
    """The weight of every logic link, that of its group, and what it adds to its coordinate's.

    ``mass[n]`` counts a coordinate's links before.
    """
    at = 0
    for g in range(len(group)):
        for _ in range(size[g] * count[g]):
            lit = lits[at]
            link[at] = group[g]
            mass[lit if lit >= 0 else ~lit] += group[g] - 1.0
            at += 1


@jit_internal_no_allocation
def start_links(lits, share, p, links, weight, penalty, w):
    """``w = u - p`` of links that carry a share of their coordinate's score and, if given, links.

    ``weight`` has one entry per link, or none where all are 1; so has ``links``, or none.
    """
    for link in range(lits.size):
        lit = lits[link]
        w[link] = -share[~lit] - (1.0 - p[~lit]) if lit < 0 else share[lit] - p[lit]
        if links.size:
            w[link] += links[link] / (penalty * (weight[link] if weight.size else 1.0))


@jit_no_allocation
def relaxed_score(theta, pair_var, pair, p):
    """Score of marginals in the relaxation: each pair takes its best consistent value."""
    total = 0.0
    for v in range(theta.size):
        total += theta[v] * p[v]
    for e in range(pair.size):
        first, second = p[pair_var[e, 0]], p[pair_var[e, 1]]
        # Both cases at once: a branch on the sign would be guessed wrong half of the time.
        most, least = min(first, second), max(0.0, first + second - 1.0)
        total += max(pair[e], 0.0) * most + min(pair[e], 0.0) * least
    return total
