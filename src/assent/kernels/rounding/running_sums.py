"""An assignment with running sums: what a flip gains and which logic factors it breaks or mends.

``tables`` is ``None`` for problems without tables, which then compile none of their code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.core.propagate import OUTPUT, load, reset_counters
from assent.kernels.core.table_links import fill_table_field, flip_in_tables, links_by_coordinate
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import ANYOF, PARITY, SUM

# Gains below this part of the largest score are rounding noise of the running sums.
NOISE = 1e-12


class Pairs(NamedTuple):
    """The pair factors and, per coordinate, the pairs it takes part in.

    ``edges[start[v]:start[v + 1]]`` are the pairs of coordinate ``v``: 8 bytes per pair in all.
    Their other ends would take as much again, and save a rounding a seventh of its time.
    """

    var: np.ndarray  # int32[P, 2]
    start: np.ndarray  # int32[n + 1]
    edges: np.ndarray  # int32[2 P]


class RoundedPoint(NamedTuple):
    """An assignment with its running sums.

    ``field[v]`` is what ``x[v] = 1`` adds to the score given the other coordinates; ``true[F]``
    counts true literals as propagation does; ``frozen[v]`` marks coordinates that must not move.
    """

    x: np.ndarray  # int8[n]
    true: np.ndarray  # int64[F]
    scratch: np.ndarray  # int64[F]
    field: np.ndarray  # float64[n]
    frozen: np.ndarray  # uint8[n]


def build_pairs(problem: Any) -> Pairs:
    """Index the pair factors of a compiled problem by coordinate."""
    return index_pairs(problem.pair_var, problem.n)


@jit
def index_pairs(var, n):
    """The pairs of every coordinate; see :class:`Pairs`."""
    start, edges = links_by_coordinate(var.ravel(), n)
    for place in range(edges.size):
        edges[place] >>= 1  # a pair has two links
    return Pairs(var, start, edges)


@jit_internal_no_allocation
def largest_finite(values):
    """The largest size of a value that is not -inf, 0 without any."""
    largest = 0.0
    for i in range(values.size):
        if values[i] > -np.inf:
            largest = max(largest, abs(values[i]))
    return largest


@jit_internal_no_allocation
def rounding_noise(theta, pair, tables):
    """Gains up to this are noise."""
    largest = max(largest_finite(theta), largest_finite(pair))
    if tables is not None:
        largest = max(largest, largest_finite(tables.table))
    return NOISE * largest


@jit_internal_no_allocation
def other_end(pairs, place, v):
    """The coordinate that the pair at a ``place`` of ``edges`` ties to ``v``."""
    edge = pairs.edges[place]
    return np.int64(pairs.var[edge, 0]) + pairs.var[edge, 1] - v


@jit_internal_no_allocation
def is_among(item, items, count):
    """Whether an item is one of the first ``count``."""
    found = False
    for c in range(count):
        found |= items[c] == item
    return found


@jit_internal_no_allocation
def fill_sums(logic, theta, pair_var, pair, tables, point):
    """Compute the running sums of ``point`` from its assignment.

    Returns the number of tables that forbid it.
    """
    for v in range(theta.size):
        point.field[v] = theta[v]
    for e in range(pair.size):
        i, j = pair_var[e, 0], pair_var[e, 1]
        point.field[i] += pair[e] * point.x[j]
        point.field[j] += pair[e] * point.x[i]
    reset_counters(logic, point.true, point.scratch)
    for v in range(theta.size):
        for place in range(logic.start[v], logic.start[v + 1]):
            use = logic.uses[place]
            holds = point.x[v] ^ (use & 1)
            point.true[use >> 4] += holds * load(logic.loads, place, (use >> 1) & 7)
    if tables is not None:
        return fill_table_field(tables, point.x, point.field)
    return 0


@jit_internal_no_allocation
def excess(role, k, true):
    """By how much a factor with this counter is broken: 0 if it holds."""
    if role in (ANYOF, OUTPUT):
        return 1 if (true > 1) != (true & 1 == 1) else 0
    if role == PARITY:
        return true & 1
    if true > k:
        return true - k
    return k - true if role == SUM else 0


@jit_internal_no_allocation
def change_of_flip(logic, tables, point, v):
    """Change in the number of broken factors, and in their total excess, if ``v`` flips."""
    broken = 0
    amount = 0
    now = point.x[v]
    for place in range(logic.start[v], logic.start[v + 1]):
        use = logic.uses[place]
        factor, role = use >> 4, (use >> 1) & 7
        step = (1 - 2 * (now ^ (use & 1))) * load(logic.loads, place, role)
        before = excess(role, logic.k[factor], point.true[factor])
        after = excess(role, logic.k[factor], point.true[factor] + step)
        broken += int(after > 0) - int(before > 0)
        amount += after - before
    if tables is not None:
        broken += (1 - 2 * now) * int(tables.blocked[v])
    return broken, amount


@jit_internal_no_allocation
def flip(logic, pairs, pair, tables, point, v):
    """Flip ``v`` and keep the running sums right."""
    for place in range(logic.start[v], logic.start[v + 1]):
        use = logic.uses[place]
        step = 1 - 2 * (point.x[v] ^ (use & 1))
        point.true[use >> 4] += step * load(logic.loads, place, (use >> 1) & 7)
    step = 1 - 2 * point.x[v]
    for place in range(pairs.start[v], pairs.start[v + 1]):
        point.field[other_end(pairs, place, v)] += step * pair[pairs.edges[place]]
    if tables is not None:
        flip_in_tables(tables, v, step, point.x, point.field)
    point.x[v] += step


@jit_internal_no_allocation
def gain_of_flip(point, v):
    """Change of the score if ``v`` flips."""
    return point.field[v] if point.x[v] == 0 else -point.field[v]


@jit_internal_no_allocation
def count_broken(logic, true):
    """Number of broken factors by the counters."""
    broken = 0
    for g in range(logic.kind.size):
        for factor in range(logic.first_factor[g], logic.first_factor[g] + logic.members[g]):
            if excess(logic.kind[g], logic.k[factor], true[factor]) > 0:
                broken += 1
    return broken
