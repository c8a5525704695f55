"""Weights of links in the consensus of their coordinates."""

from __future__ import annotations

from assent.kernels.jit import jit


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
