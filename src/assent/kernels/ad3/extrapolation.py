"""Extrapolation along the drift of AD3's multipliers: many small steps taken at once.

Where a price has to travel along a path of factors, multipliers move by the same small step in
iteration after iteration.  The running average lags behind them, so that the way from it to the
iterate points where they go; an extrapolation takes that way several times.  An affine combination
keeps the multipliers a point of the dual, so that bounds stay bounds wherever it leads.

The way is only worth going if it is straight: the multipliers are marked at the ends of the last
two rounds, and the moves in them have to point the same way.  Otherwise the iterates circle, or are
about to arrive, and an extrapolation would lead away.
"""

from __future__ import annotations

from math import sqrt

from assent.kernels.jit import jit_no_allocation, jit_vector_sums

# The least cosine of the angle between the moves of two rounds.
STRAIGHT = 0.5


@jit_no_allocation
def mark(pair_var, lits, rho, point, out):
    """Link scores of a dual point, those of the pairs first, into ``out[links]``."""
    at = 0
    p = point.p
    for e in range(len(pair_var)):
        for i in range(2):
            out[at] = rho * (point.pair[e, i] + p[pair_var[e, i]])
            at += 1
    for link in range(len(lits)):
        lit = lits[link]
        out[at] = rho * (point.logic[link] + (1.0 - p[~lit] if lit < 0 else p[lit]))
        at += 1


@jit_vector_sums
def is_straight(marks):
    """Whether the moves between three ``marks[3, links]`` point the same way."""
    along, first, second = 0.0, 0.0, 0.0
    earlier, before, now = marks[0], marks[1], marks[2]
    for i in range(len(now)):
        one = before[i] - earlier[i]
        two = now[i] - before[i]
        along += one * two
        first += one * one
        second += two * two
    return along > STRAIGHT * sqrt(first) * sqrt(second)


@jit_no_allocation
def extrapolate(pair_var, lits, length, point, mean):
    """Move the multipliers away from their average by ``length`` times the way from it."""
    p, w_pair, w_logic = point.p, point.pair, point.logic
    for e in range(len(pair_var)):
        for i in range(2):
            v = pair_var[e, i]
            own = p[v] - mean.p[v]
            w_pair[e, i] += length * (w_pair[e, i] - mean.pair[e, i] + own)
    for link in range(len(lits)):
        lit = lits[link]
        own = mean.p[~lit] - p[~lit] if lit < 0 else p[lit] - mean.p[lit]
        w_logic[link] += length * (w_logic[link] - mean.logic[link] + own)
