"""Projected subgradient (Martins 2014, Algorithm 1.1): every factor its best vertex, then a step.

Link scores always share out all of a coordinate's score.  One iteration, in the order of the code:

1. ``s <- s - eta * (z - p)`` with the vertices ``z`` and their mean ``p`` of the last iteration;
2. ``z``: the best vertex of every factor whose scores moved (the others have theirs already);
3. ``p``: the mean of each coordinate's copies; the dual value is known at this point;
4. ``eta``: the next step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    CODE,
    COUNT,
    ENTRY,
    FACTOR,
    LINK,
    PAIR,
    SIZE,
    TABLE,
)
from assent.kernels.core.factor_oracles import gather, maximize_logic, maximize_table
from assent.kernels.jit import jit, jit_internal_no_allocation

# Step rules.
HARMONIC = 0  # eta0 / t
ROOT = 1  # eta0 / sqrt(t)
GEOMETRIC = 2  # eta0 * DECAY^t
POLYAK = 3  # (dual - target) / ||g||^2
DECAY = 0.9

# Places in ``state``.
FIRST_STEP = 0  # eta0
DONE = 1  # iterations
INCREASES = 2  # iterations whose dual value was above that of the one before
LAST = 3  # dual value
BEST = 4  # lowest dual value
STEP = 5  # the step to take next
WEIGHT = 6  # sum of the steps: weight of all averages
MEAN_INNER = 7  # average inner value
TARGET = 8  # POLYAK: lowest dual value when the round began
CALLS = 9  # factors asked
SPREAD = 10  # mean square of z - p
MOVE = 11  # POLYAK: how far below the best dual value the target lies
ROUND = 12  # POLYAK: length of a round
LOOK = 13  # POLYAK: iteration at which the round ends
LONGER = 14  # POLYAK: how many times longer the round after one that brought too little is
STATES = 15


class StepRule(NamedTuple):
    """How steps shrink."""

    kind: int  # HARMONIC to POLYAK
    in_increases: bool  # t counts increases of the dual value, not iterations


class SubgradientPoint(NamedTuple):
    """Link scores, vertices and averages of a running solve; all written."""

    s: np.ndarray  # float64[links]
    z: np.ndarray  # float64[links] the factors' best vertices
    p: np.ndarray  # float64[n] mean of the copies
    kept: np.ndarray  # float64[factors] inner value of each
    total: np.ndarray  # float64[n] sum of the copies
    mean_p: np.ndarray  # float64[n] average of p, weighted by steps
    best_s: np.ndarray  # float64[links] where the dual value was lowest
    state: np.ndarray  # float64[STATES]


@jit_internal_no_allocation
def step_pairs(row, factors, every, point):
    """Steps 1 and 2 for pairs; returns dual value, inner value, squares and factors asked.

    ``every``: factors are asked although their scores did not move.
    """
    lits, inner, eta = factors.flat.lits, factors.inner, point.state[STEP]
    s, z, p, total = point.s, point.z, point.p, point.total
    dual = 0.0
    earned = 0.0
    squares = 0.0
    calls = 0
    for f in range(row[COUNT]):
        first = row[LINK] + 2 * f
        i, j = np.uint32(lits[first]), np.uint32(lits[first + 1])
        gap1 = z[first] - p[i]
        gap2 = z[first + 1] - p[j]
        s1 = s[first] - eta * gap1
        s2 = s[first + 1] - eta * gap2
        s[first] = s1
        s[first + 1] = s2
        # Asked without a branch, which would cost more than the question: a pair whose scores
        # did not move answers as before.
        calls += every | (gap1 != 0.0) | (gap2 != 0.0)
        score = inner[row[ENTRY] + f]
        both = s1 + s2 + score
        together = (both >= max(s1, s2)) & (both > 0.0)
        z1 = 1.0 if together | ((s1 >= s2) & (s1 > 0.0)) else 0.0
        z2 = 1.0 if together | ((s2 > s1) & (s2 > 0.0)) else 0.0
        z[first] = z1
        z[first + 1] = z2
        total[i] += z1
        total[j] += z2
        squares += z1 + z2
        earned += z1 * z2 * score
        dual += z1 * s1 + z2 * s2
    return dual + earned, earned, squares, calls


@jit_internal_no_allocation
def step_others(row, factors, every, point, work):
    """The same for a group of logic factors, tables or structures."""
    flat, eta = factors.flat, point.state[STEP]
    s, z, p, kept, total = point.s, point.z, point.p, point.kept, point.total
    dual = 0.0
    earned = 0.0
    squares = 0.0
    calls = 0
    size, across = row[SIZE], row[ACROSS]
    for f in range(row[COUNT]):
        first = row[LINK] + f * row[ALONG]
        moved = every
        for j in range(size):
            link = first + j * across
            lit = flat.lits[link]
            gap = z[link] - (1.0 - p[~lit] if lit < 0 else p[lit])
            if gap != 0.0:
                s[link] -= eta * gap
                moved = True
        if moved:
            calls += 1
            a = gather(row, flat, f, s, work.a)
            if row[CODE] < TABLE:
                maximize_logic(row, flat, f, a, work)
                kept[row[FACTOR] + f] = 0.0
            else:
                _, kept[row[FACTOR] + f] = maximize_table(row, flat, factors.inner, f, a, work)
            for j in range(size):
                z[first + j * across] = work.z[j]
        earned += kept[row[FACTOR] + f]
        for j in range(size):
            link = first + j * across
            lit = flat.lits[link]
            own = z[link]
            if lit < 0:
                total[~lit] += 1.0 - own
                dual -= s[link] * (1.0 - own)
                squares += (1.0 - own) * (1.0 - own)
            else:
                total[lit] += own
                dual += s[link] * own
                squares += own * own
    return dual + earned, earned, squares, calls


@jit_internal_no_allocation
def next_step(rule, squares, state):
    """Step 4.

    POLYAK aims below the best value by a margin that halves when a round brings too little, so
    that it needs no knowledge of the optimum (Bertsekas 1999, section 6.3.1).  Small margins make
    small steps: the next round is longer, or the way that is left would never be gone.
    """
    t = 1.0 + (state[INCREASES] if rule.in_increases else state[DONE] - 1.0)
    if rule.kind == HARMONIC:
        return state[FIRST_STEP] / t
    if rule.kind == ROOT:
        return state[FIRST_STEP] / np.sqrt(t)
    if rule.kind == GEOMETRIC:
        return state[FIRST_STEP] * DECAY ** (t - 1.0)
    if state[DONE] >= state[LOOK]:
        if state[TARGET] - state[BEST] < 0.5 * state[MOVE]:
            state[MOVE] *= 0.5
            state[ROUND] *= state[LONGER]
        state[TARGET] = state[BEST]
        state[LOOK] += state[ROUND]
    aim = state[BEST] - state[MOVE]
    return max(state[LAST] - aim, 0.0) / squares if squares > 0.0 else 0.0


@jit_internal_no_allocation
def count_iteration(dual, state):
    """Note an iteration's dual value."""
    state[DONE] += 1.0
    if state[DONE] > 1.0 and dual > state[LAST]:
        state[INCREASES] += 1.0
    state[LAST] = dual


@jit_internal_no_allocation
def average(point, earned):
    """Take the latest copies into the averages, weighted by the step to come."""
    state, p, mean_p = point.state, point.p, point.mean_p
    state[WEIGHT] += state[STEP]
    pull = state[STEP] / state[WEIGHT] if state[WEIGHT] > 0.0 else 1.0
    for v in range(len(p)):
        mean_p[v] += pull * (p[v] - mean_p[v])
    state[MEAN_INNER] += pull * (earned - state[MEAN_INNER])


@jit
def advance(factors, rule, lazy, point, work, iterations):
    """Do ``iterations`` more; stops early where all copies agree.

    Ends with ``z`` at ``s``, ``state[STEP]`` still to be taken; ``best_s`` is the best point.
    """
    groups, theta, degree = factors.flat.groups, factors.theta, factors.degree
    p, total, state = point.p, point.total, point.state
    for _ in range(iterations):
        every = state[DONE] == 0.0 or not lazy
        total[:] = 0.0
        dual, earned, squares = factors.constant, 0.0, 0.0
        for g in range(len(groups)):
            row = groups[g]
            if row[CODE] == PAIR:
                part = step_pairs(row, factors, every, point)
            else:
                part = step_others(row, factors, every, point, work)
            dual += part[0]
            earned += part[1]
            squares += part[2]
            state[CALLS] += part[3]
        for v in range(len(p)):
            if degree[v] > 0:
                p[v] = total[v] / degree[v]
                squares -= total[v] * p[v]
            else:
                p[v] = 1.0 if theta[v] > 0.0 else 0.0
                dual += max(theta[v], 0.0)
        squares = max(squares, 0.0)
        count_iteration(dual, state)
        state[SPREAD] = squares / len(point.s)
        if dual < state[BEST]:
            state[BEST] = dual
            copy_values(point.s, point.best_s)
        state[STEP] = next_step(rule, squares, state)
        average(point, earned)
        if squares == 0.0:
            break
