"""Any factor of a problem, asked for its best vertex, its max-marginals or its marginals.

A factor has *places*: the states of its slots, one after the other.  Every literal of a pair or a
logic factor is a slot of two, false at ``2 j`` and true at ``2 j + 1``; tables and structures have
the slots they were written with.  Answers are laid out by place, so that decoders need not know
kinds.  ``s`` holds a score per link, ``inner`` the scores of pairs, joint states and inner parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.factor_list import (
    ACROSS,
    ADDRESS,
    ALONG,
    AS_PLACES,
    BASE,
    CAPACITY,
    CODE,
    COUNT,
    DATA,
    DATA_END,
    ENTRIES,
    ENTRY,
    FACTOR,
    ITEM,
    LINK,
    PAIR,
    PLACE,
    PLACES,
    SIZE,
    SLOTS,
    START,
    TABLE,
    WEIGHT,
    Flat,
    largest,
)
from assent.kernels.core.marginals import marginals_form, marginals_pair
from assent.kernels.core.max_marginals import max_marginals_form
from assent.kernels.core.structure_addresses import (
    call_compiled,
    call_marginals,
    call_max_marginals,
    call_python,
)
from assent.kernels.jit import jit, jit_inline, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.count_scores import descending_order
from assent.kernels.kinds.knapsack_relaxation import maximize_knapsack
from assent.kernels.kinds.parity_hull import maximize_parity
from assent.kernels.kinds.table_scores import (
    marginals_dense,
    max_marginals_dense,
    max_marginals_potts,
    maximize_dense,
    maximize_potts,
    potts_table,
)
from assent.kernels.problem import ANYOF, CAP, DENSE, KNAPSACK, PARITY, POTTS, STRUCTURE


class OracleWork(NamedTuple):
    """Scratch for one factor at a time."""

    a: np.ndarray  # float64[places] scores of links or of places
    out: np.ndarray  # float64[places] the answer
    part: np.ndarray  # float64[entries] marginals of inner parts
    z: np.ndarray  # float64[size] a vertex, by link
    load: np.ndarray  # float64[size] weights of a knapsack
    order: np.ndarray  # int64[size]
    states: np.ndarray  # int32[slots]


def make_oracle_work(flat: Flat) -> OracleWork:
    """Room for the largest factor."""
    size, places, entries = largest(flat)
    slots = int(flat.groups[:, SLOTS].max(initial=1))
    return OracleWork(
        np.zeros(places), np.zeros(places), np.zeros(entries), np.zeros(size), np.zeros(size),
        np.zeros(size, np.int64), np.zeros(max(slots, 1), np.int32),
    )  # fmt: skip


@jit_inline
def gather(row, flat, f, s, a):
    """Scores of factor ``f``: of its links, or for a table of its places.

    Copied to ``a`` unless they lie side by side in ``s`` already.
    """
    first = row[LINK] + f * row[ALONG]
    if row[AS_PLACES] == 1:
        return s[first : first + row[PLACES]]
    if row[CODE] < TABLE:
        for j in range(row[SIZE]):
            a[j] = s[first + j * row[ACROSS]]
        return a[: row[SIZE]]
    for at in range(row[PLACES]):
        a[at] = flat.numbers[row[BASE] + at]
    for j in range(row[SIZE]):
        a[flat.integers[row[PLACE] + j]] += s[first + j]
    return a[: row[PLACES]]


@jit_internal_no_allocation
def maximize_counted(kind, k, a, z, order):
    """Best vertex ``z[n]`` of a CAP, SUM or ANYOF for scores ``a[n]``; returns its value."""
    n = len(a) - 1 if kind == ANYOF else len(a)
    top = 0
    value = 0.0
    for j in range(n):
        z[j] = 0.0
        if a[j] > a[top]:
            top = j
    if kind == ANYOF:
        z[n] = 0.0
        for j in range(n):
            value += max(a[j], 0.0)
        value += a[n] + min(a[top], 0.0)
        if value <= 0.0:
            return 0.0
        z[n] = 1.0
        for j in range(n):
            z[j] = 1.0 if a[j] > 0.0 or j == top else 0.0
        return value
    if k == 1:
        if kind == CAP and a[top] <= 0.0:
            return 0.0
        z[top] = 1.0
        return a[top]
    descending_order(a, order)
    for i in range(k):
        j = order[i]
        if kind == CAP and a[j] <= 0.0:
            break
        z[j] = 1.0
        value += a[j]
    return value


@jit_internal_no_allocation
def maximize_logic(row, flat, f, a, work):
    """Best vertex of a logic factor, by link, into ``work.z``; returns its value."""
    n = row[SIZE]
    z = work.z[:n]
    if row[CODE] == PARITY:
        return maximize_parity(a[:n], z)
    if row[CODE] == KNAPSACK:
        for j in range(n):
            work.load[j] = flat.numbers[row[WEIGHT] + f + j * row[ACROSS]]
        return maximize_knapsack(a[:n], work.load[:n], flat.numbers[row[CAPACITY] + f], z)
    return maximize_counted(row[CODE], flat.k[row[ITEM] + f], a[:n], z, work.order[:n])


@jit_internal
def maximize_table(row, flat, inner, f, a, work):
    """Best vertex of a table or structure; returns its value and its inner value."""
    start = flat.integers[row[START] : row[START] + row[SLOTS] + 1]
    first = row[ENTRY] + f * row[ENTRIES]
    entries = inner[first : first + row[ENTRIES]]
    places = a[: row[PLACES]]
    states = work.states[: row[SLOTS]]
    kind = row[CODE] - TABLE
    if kind == DENSE:
        value, earned = maximize_dense(start, places, entries, 1.0, states)
    elif kind == POTTS:
        value, earned = maximize_potts(start, places, entries, 1.0, states)
    elif kind == STRUCTURE:
        data = flat.integers[row[DATA] : row[DATA_END]]
        value, earned = call_compiled(row[ADDRESS], start, data, places, entries, 1.0, states)
    else:
        earned = call_python(row[ADDRESS], places, entries, 1.0, states)
        value = earned
        for slot in range(row[SLOTS]):
            value += places[start[slot] + states[slot]]
    for at in range(row[PLACES]):
        work.out[at] = 0.0
    for slot in range(row[SLOTS]):
        work.out[start[slot] + states[slot]] = 1.0
    for j in range(row[SIZE]):
        work.z[j] = work.out[flat.integers[row[PLACE] + j]]
    return value, earned


@jit_internal
def max_marginals_factor(row, flat, inner, f, a, work):
    """Best value with each place chosen, into ``work.out``; -inf where there is none."""
    if row[CODE] == PAIR:
        both = a[0] + a[1] + inner[row[ENTRY] + f]
        work.out[0] = max(0.0, a[1])
        work.out[1] = max(a[0], both)
        work.out[2] = max(0.0, a[0])
        work.out[3] = max(a[1], both)
        return
    if row[CODE] < TABLE:
        n = row[SIZE]
        best = work.out[: 2 * n].reshape(n, 2)
        max_marginals_form(row[CODE], flat.k[row[ITEM] + f], a[:n], best)
        return
    start = flat.integers[row[START] : row[START] + row[SLOTS] + 1]
    first = row[ENTRY] + f * row[ENTRIES]
    entries = inner[first : first + row[ENTRIES]]
    places, out = a[: row[PLACES]], work.out[: row[PLACES]]
    if row[CODE] == TABLE + DENSE:
        max_marginals_dense(start, places, entries, 1.0, out)
    elif row[CODE] == TABLE + POTTS:
        max_marginals_potts(start, places, entries, 1.0, out)
    else:
        data = flat.integers[row[DATA] : row[DATA_END]]
        call_max_marginals(row[ADDRESS], start, data, places, entries, out)
    for at in range(row[PLACES]):
        if not out[at] > -np.inf or places[at] == -np.inf:
            out[at] = -np.inf


@jit_internal
def marginals_factor(row, flat, inner, f, a, temperature, work):
    """Probabilities of the links, into ``work.z``; returns the log-partition times temperature."""
    n = row[SIZE]
    if row[CODE] == PAIR:
        score = inner[row[ENTRY] + f]
        value = marginals_pair(score, a[:2], temperature, work.out[:3])
        work.z[0], work.z[1] = work.out[0], work.out[1]
        return value
    if row[CODE] < TABLE:
        return marginals_form(row[CODE], flat.k[row[ITEM] + f], a[:n], temperature, work.z[:n])
    start = flat.integers[row[START] : row[START] + row[SLOTS] + 1]
    first = row[ENTRY] + f * row[ENTRIES]
    entries = inner[first : first + row[ENTRIES]]
    places, out = a[: row[PLACES]], work.out[: row[PLACES]]
    if row[CODE] == TABLE + DENSE:
        value = marginals_dense(start, places, entries, 1.0, temperature, out)
    elif row[CODE] == TABLE + POTTS:
        value = marginals_dense(start, places, potts_table(entries), 1.0, temperature, out)
    else:
        data = flat.integers[row[DATA] : row[DATA_END]]
        part = work.part[: row[ENTRIES]]
        value = call_marginals(row[ADDRESS], start, data, places, entries, temperature, out, part)
    for j in range(n):
        work.z[j] = out[flat.integers[row[PLACE] + j]]
    return value


def number_of_factors(flat: Flat) -> int:
    """All factors of all groups."""
    return int(flat.groups[:, COUNT].sum())


@jit
def maximize_all(flat, inner, first_group, s, z, value, earned, work):
    """Best vertices of the groups from ``first_group`` on, which are tables or structures.

    By link into ``z``, with values and inner values by factor, counted from the first group's.
    """
    before = flat.groups[first_group, FACTOR]
    for g in range(first_group, len(flat.groups)):
        row = flat.groups[g]
        for f in range(row[COUNT]):
            a = gather(row, flat, f, s, work.a)
            number = row[FACTOR] - before + f
            value[number], earned[number] = maximize_table(row, flat, inner, f, a, work)
            first = row[LINK] + f * row[ALONG]
            for j in range(row[SIZE]):
                z[first + j] = work.z[j]
