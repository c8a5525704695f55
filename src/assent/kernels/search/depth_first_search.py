"""Depth-first search over tables: cheap bounds, undone by going back to a row of numbers.

A node is bounded in *rounds*: two sweeps (:mod:`assent.kernels.search.table_sweeps`), then a probe
of every state.  States that would fall below the best answer are pruned.  When rounds no longer
help, one state of one variable makes two subproblems: it is taken, or it is pruned.

Whatever is used is written down, so that a proof can be read from it: the messages of a round,
and *events* in the order of the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.search.events import BRANCHED, CLOSED, EMPTY, PRUNED
from assent.kernels.search.literal_order import read_constraints
from assent.kernels.search.table_answers import improve, worth
from assent.kernels.search.table_sweeps import probe, prune_state, sweep

# Why a search returns.
DONE, PAUSED, LOG_FULL, TOO_DEEP = 0, 1, 2, 3

# What to do after a round.
BACK, AGAIN, DOWN = 0, 1, 2

# Places in ``SearchState.counts``.
DEPTH, ON_TRAIL, NODES, ROUNDS, EVENTS, ROWS, PLAYED = 0, 1, 2, 3, 4, 5, 6
FINISHED = 7  # 1 once all nodes are closed
COUNTS = 8

# Places in a row of ``SearchState.chosen``: the last three are how much there was before it.
VARIABLE, STATE, TRAIL_BEFORE, EVENTS_BEFORE, ROWS_BEFORE = 0, 1, 2, 3, 4
CHOSEN = 5

# Places in ``SearchState.figures``.
BEST = 0  # value of the best answer
TOLERANCE = 1  # a node is closed by a bound at most this much above the best, relatively
CONSTANT = 2  # what is added to values
CLOSED_BOUND = 3  # the largest bound of all that was closed
BOUND = 4  # of the present node, infinite before its first round
PROGRESS = 5  # the share of the tree that is closed, if all of it were as deep
LEAST = 6  # less than any answer is worth
LEAST_GAP = 7  # and this much more
FIGURES = 8

# Rounds of a node, and of the root; another is worth it if the last took off this share of what
# is missing.
MOST_ROUNDS, ROOT_ROUNDS = 1, 100
WORTH = 0.1
ROOT_WORTH = 0.02

# Rounds of improving an answer by single switches.
SWITCHES = 5


class SearchState(NamedTuple):
    """Where a search stands."""

    point: np.ndarray  # float64[M + S + V + 1]
    levels: np.ndarray  # float64[levels, M + S + V + 1]: points to go back to
    bounds: np.ndarray  # float64[levels]: theirs
    chosen: np.ndarray  # int64[levels, CHOSEN]: the state is -1 in the second branch
    losses: np.ndarray  # float64[S]
    x: np.ndarray  # int32[V]
    best: np.ndarray  # int32[V]: the best answer
    weight: np.ndarray  # float64[V]: how much branching on a variable has helped
    counts: np.ndarray  # int64[COUNTS]
    figures: np.ndarray  # float64[FIGURES]


class Log(NamedTuple):
    """What a proof is read from."""

    events: np.ndarray  # int64[...]
    rows: np.ndarray  # float64[rows, M]: messages


@jit_internal_no_allocation
def cutoff_of(figures):
    """A node with this bound need not be searched."""
    if figures[BEST] == figures[LEAST]:
        return figures[LEAST]
    value = abs(figures[BEST] + figures[CONSTANT])
    return figures[BEST] + figures[LEAST_GAP] + figures[TOLERANCE] * value


@jit_internal_no_allocation
def note(state, log, number):
    """Write a number down."""
    log.events[state.counts[EVENTS]] = number
    state.counts[EVENTS] += 1


@jit_internal_no_allocation
def close(state, log, bound):
    """Write down that the node is closed by the point as it is."""
    keep_messages(state, log)
    note(state, log, CLOSED)
    note(state, log, state.counts[ROWS] - 1)
    state.figures[CLOSED_BOUND] = max(state.figures[CLOSED_BOUND], bound)


@jit_internal_no_allocation
def keep_messages(state, log):
    """Keep the messages as they are."""
    row = log.rows[state.counts[ROWS]]
    copy_values(state.point[: len(row)], row)
    state.counts[ROWS] += 1


@jit_internal_no_allocation
def keep_better(net, state):
    """Keep the answer at hand if it is the best."""
    value = worth(net, state.x)
    if value > state.figures[BEST]:
        state.figures[BEST] = value
        copy_values(state.x, state.best)


@jit_internal_no_allocation
def offer(net, state, work):
    """Improve the answer at hand and keep it if it is the best."""
    improve(net, state.x, work.total, work.load, SWITCHES)
    keep_better(net, state)


@jit
def take_answer(net, state, states):
    """Begin with an answer, ``states[V]``, if it is better than the one at hand."""
    copy_values(states, state.x)
    keep_better(net, state)


@jit_internal_no_allocation
def lose_state(net, domains, state, v, s):
    """Prune a state, to be taken back when the search goes back."""
    domains.trail[state.counts[ON_TRAIL]] = v
    state.counts[ON_TRAIL] += 1
    prune_state(net, domains, v, s)


@jit_internal_no_allocation
def prune_losers(net, domains, state, log, bound, cutoff):
    """Prune all states with which the bound is no better than the answer; how many, -1 if empty.

    They are written down behind their count.
    """
    begin = state.counts[EVENTS]
    count = 0
    empty = False
    worst = state.figures[CLOSED_BOUND]
    for v in range(len(net.card)):
        i = 0
        while i < domains.size[v]:
            s = domains.states[net.first[v] + i]
            rest = bound - state.losses[net.first[v] + s]
            if rest > cutoff:
                i += 1
                continue
            if count == 0:
                keep_messages(state, log)
                note(state, log, PRUNED)
                note(state, log, state.counts[ROWS] - 1)
                note(state, log, 0)
            note(state, log, net.first[v] + s)
            lose_state(net, domains, state, v, s)
            worst = max(worst, rest)
            count += 1
        empty = empty or domains.size[v] == 0
    if count:
        log.events[begin + 2] = count
        state.figures[CLOSED_BOUND] = worst
    return -1 if empty else count


@jit_internal_no_allocation
def next_step(state, bound, cutoff, lost):
    """Whether another round is worth it, or branching is."""
    figures, counts = state.figures, state.counts
    fall = figures[BOUND] - bound
    figures[BOUND] = bound
    is_root = counts[DEPTH] == 0
    counts[ROUNDS] += 1
    most, worth_it = (ROOT_ROUNDS, ROOT_WORTH) if is_root else (MOST_ROUNDS, WORTH)
    if lost or (counts[ROUNDS] < most and fall > worth_it * (bound - cutoff)):
        return AGAIN
    return DOWN


@jit_internal_no_allocation
def play_round(net, domains, state, log, work):
    """One round of a node; returns what to do next."""
    figures = state.figures
    cutoff = cutoff_of(figures)
    read_constraints(net, domains, state.point, work)
    for forward in (True, False):
        bound = sweep(net, domains, state.point, forward, work)
        if bound <= cutoff:
            close(state, log, bound)
            return BACK
    bound = probe(net, domains, state.point, work, state.losses, state.x)
    offer(net, state, work)
    cutoff = cutoff_of(figures)
    if bound <= cutoff:
        close(state, log, bound)
        return BACK
    lost = prune_losers(net, domains, state, log, bound, cutoff)
    if lost < 0:
        note(state, log, EMPTY)
        return BACK
    if choose(net, domains, state) < 0 and not lost:  # all is decided, and rounding keeps it open
        close(state, log, bound)
        return BACK
    return next_step(state, bound, cutoff, lost)


@jit_internal_no_allocation
def choose(net, domains, state):
    """The variable to branch on: strongly tied to others, with few states left."""
    best, chosen = -1.0, -1
    for v in range(len(net.card)):
        if domains.size[v] > 1 and state.weight[v] > best * domains.size[v]:
            best, chosen = state.weight[v] / domains.size[v], v
    return chosen


@jit_internal_no_allocation
def best_state(net, domains, state, v):
    """The state of a variable that loses least."""
    best = domains.states[net.first[v]]
    for i in range(domains.size[v]):
        s = domains.states[net.first[v] + i]
        if state.losses[net.first[v] + s] < state.losses[net.first[v] + best]:
            best = s
    return best


@jit_internal_no_allocation
def go_down(net, domains, state, log):
    """Branch and go on with the first subproblem."""
    depth = state.counts[DEPTH]
    v = choose(net, domains, state)
    s = best_state(net, domains, state, v)
    copy_values(state.point, state.levels[depth])
    state.bounds[depth] = state.figures[BOUND]
    chosen = state.chosen[depth]
    chosen[VARIABLE], chosen[STATE], chosen[TRAIL_BEFORE] = v, s, state.counts[ON_TRAIL]
    chosen[EVENTS_BEFORE], chosen[ROWS_BEFORE] = state.counts[EVENTS], state.counts[ROWS]
    note(state, log, BRANCHED)
    note(state, log, net.first[v] + s)
    i = 0
    while i < domains.size[v]:
        t = domains.states[net.first[v] + i]
        if t == s:
            i += 1
        else:
            lose_state(net, domains, state, v, t)
    state.counts[DEPTH] = depth + 1
    state.counts[ROUNDS] = 0
    state.counts[NODES] += 1


@jit_internal_no_allocation
def go_back(net, domains, state):
    """Go on with the second branch of the deepest node that has one; whether there is any."""
    while state.counts[DEPTH] > 0:
        depth = state.counts[DEPTH] - 1
        chosen = state.chosen[depth]
        v, s = chosen[VARIABLE], chosen[STATE]
        if s < 0:
            state.counts[DEPTH] = depth
            continue
        while state.counts[ON_TRAIL] > chosen[TRAIL_BEFORE]:
            state.counts[ON_TRAIL] -= 1
            domains.size[domains.trail[state.counts[ON_TRAIL]]] += 1
        copy_values(state.levels[depth], state.point)
        chosen[STATE] = -1
        lose_state(net, domains, state, v, s)
        state.weight[v] += 1.0
        state.counts[ROUNDS] = 0
        state.counts[NODES] += 1
        return True
    return False


@jit
def search(net, domains, state, log, work, most):
    """Search for ``most`` rounds at most, or until room is short; says why it returned."""
    room = len(net.theta) + 8
    for _ in range(most):
        if len(log.events) - room < state.counts[EVENTS]:
            return LOG_FULL
        if len(log.rows) - 2 < state.counts[ROWS]:
            return LOG_FULL
        if len(state.levels) <= state.counts[DEPTH]:
            return TOO_DEEP
        step = play_round(net, domains, state, log, work)
        state.counts[PLAYED] += 1
        if step == BACK:
            state.figures[PROGRESS] += 0.5 ** state.counts[DEPTH]
        if step == BACK and not go_back(net, domains, state):
            state.counts[FINISHED] = 1
            return DONE
        if step == DOWN:
            go_down(net, domains, state, log)
        if step != AGAIN:
            state.figures[BOUND] = np.inf
    return PAUSED
