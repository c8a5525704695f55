"""The nearest (fractional) matching to a table of numbers: a quadratic flow of least cost.

With a price ``u[i]`` per row and ``v[j]`` per column the nearest point to ``a`` is

    z[i, j] = clip(a[i, j] - u[i] - v[j], 0, 1)

where the right prices are those at which no row or column exceeds its capacity, none that must be
filled falls short of it, and only full ones have a price; prices of filled ones may be negative.
They maximise the dual function, which is concave and piecewise quadratic.  For given ``v`` each
row finds its own ``u`` by a threshold, so there remains a function of ``v``, which is maximised
by Newton's method: its second derivatives are those of the pieces in which ``z`` lies, and once
these are the right ones a step ends at the solution.  Where a step does not help, one sweep over
columns, then rows, that sets the price of each to its best is made instead.

The side with fewer nodes has Newton's prices.  All prices are kept from one projection to the
next.  Where nothing must be filled, no price is negative and a pair of ``a <= 0`` stays out: only
the others are looked at, most often a few per row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_inline, jit_internal, jit_internal_no_allocation, jit_structure
from assent.kernels.kinds.matchings.bipartite_matching import HEADER

# Sums of rows and columns are met up to this, relative to the size of the table: well above
# rounding, far below what anybody asks for.
TOLERANCE = 1e-13

# A piece may be flat in some direction, the price of a whole component of rows and columns that
# trade with nobody else; added to the second derivatives this share of the largest violation
# keeps the step at a sensible length, and vanishes with it.
DAMPING = 0.01
SMALLEST_DAMPING = 1e-12

# Values of the dual function this close, relative to their size, count as equal.
ROUNDING = 1e-13

# A step has to gain this share of what the slope promises.  Whatever gains at all would not do: two
# steps over the same ridge, there and back, can end at one value but for the last digit, for ever.
SUFFICIENT = 0.1

# A damped step changes a price by one over ``DAMPING`` at most: from a table of larger numbers, or
# from the prices of one, the right prices would be steps without number away.  Such a table is
# solved at a coarser scale first.  Prices found there are a few units off, which this factor, a
# power of two, leaves within reach.
REACH = 1.0 / DAMPING
REFINEMENT = 32.0

MOST_STEPS = 500
MOST_HALVINGS = 12
MOST_TRIALS = 100  # of a threshold; it takes a handful


class Prices(NamedTuple):
    """The pairs that may be matched, row after row, and prices; columns have Newton's."""

    a: np.ndarray  # float64[K]
    z: np.ndarray  # float64[K]
    column: np.ndarray  # int64[K]
    begin: np.ndarray  # int64[R + 1]: row i has the pairs begin[i]:begin[i + 1]
    rows: np.ndarray  # float64[R] capacities
    columns: np.ndarray  # float64[C]
    fill_rows: bool
    fill_columns: bool
    u: np.ndarray  # float64[R]
    v: np.ndarray  # float64[C]
    gradient: np.ndarray  # float64[C]: by how much columns exceed their capacity


@jit_inline
def newton_columns(data):
    """Whether Newton's prices are those of columns."""
    return data[1] <= data[0]


def matching_memory(rows: int, columns: int) -> int:
    """How many numbers a projection keeps for the next one."""
    return rows + columns


@jit_internal_no_allocation
def threshold(values, most, exactly, before):
    """The ``t`` at which ``sum(clip(values - t, 0, 1))`` is ``most``.

    If that is only an upper limit, ``t`` is at least 0.  A Newton step from ``before`` as
    long as it stays between what is known to be too low and too high.
    """
    low, high, total = np.inf, -np.inf, 0.0
    for value in values:
        low, high = min(low, value - 1.0), max(high, value)
        total += min(max(value, 0.0), 1.0)
    if not exactly and total <= most:
        return 0.0
    if most <= 0.0 or len(values) == 0:
        return max(high, 0.0)
    if len(values) <= most:
        return low
    t = before
    for _ in range(MOST_TRIALS):
        if not low < t < high:
            t = 0.5 * (low + high)
        total, free = -most, 0
        for value in values:
            rest = value - t
            if rest >= 1.0:
                total += 1.0
            elif rest > 0.0:
                total += rest
                free += 1
        if total > 0.0:
            low = t
        else:
            high = t
        if free > 0:
            step = total / free
            t += step
            if abs(step) <= 1e-15 * (1.0 + abs(t)):
                return t
        elif total == 0.0:
            return t
        else:
            t = 0.5 * (low + high)
    return t


@jit_internal_no_allocation
def price_rows(p, values):
    """Best prices of rows, the ``z`` and the gradient they lead to; returns the dual value."""
    dual = 0.0
    for j in range(len(p.v)):
        p.gradient[j] = -p.columns[j]
        dual -= p.v[j] * p.columns[j]
    for i in range(len(p.u)):
        first, last = p.begin[i], p.begin[i + 1]
        for k in range(first, last):
            values[k - first] = p.a[k] - p.v[p.column[k]]
        u = threshold(values[: last - first], p.rows[i], p.fill_rows, p.u[i])
        p.u[i] = u
        dual -= u * p.rows[i]
        for k in range(first, last):
            rest = values[k - first] - u
            z = min(max(rest, 0.0), 1.0)
            p.z[k] = z
            if z > 0.0:
                p.gradient[p.column[k]] += z
                dual += (0.5 * z - rest) * z
    return dual


@jit_internal
def price_columns(p):
    """Best prices of columns for the rows' prices."""
    begin = np.zeros(len(p.v) + 1, np.int64)
    for j in p.column:
        begin[j + 1] += 1
    for j in range(len(p.v)):
        begin[j + 1] += begin[j]
    values, number = np.empty(len(p.a)), begin[:-1].copy()
    for i in range(len(p.u)):
        for k in range(p.begin[i], p.begin[i + 1]):
            j = p.column[k]
            values[number[j]] = p.a[k] - p.u[i]
            number[j] += 1
    for j in range(len(p.v)):
        own = values[begin[j] : begin[j + 1]]
        p.v[j] = threshold(own, p.columns[j], p.fill_columns, p.v[j])


@jit_internal_no_allocation
def is_free(p, j):
    """Whether the price of column ``j`` can move in the direction of its gradient."""
    return p.fill_columns or p.v[j] > 0.0 or p.gradient[j] > 0.0


@jit_internal_no_allocation
def violation(p):
    """The largest amount by which columns miss their capacities."""
    largest = 0.0
    for j in range(len(p.v)):
        if is_free(p, j):
            largest = max(largest, abs(p.gradient[j]))
    return largest


@jit_internal_no_allocation
def curvature(p, number_of, size, damping, h, inside):
    """Second derivatives ``h[size, size]`` of the free columns, with their sign turned.

    ``number_of[C]`` numbers these; it is -1 for others.
    """
    for s in range(size):
        for t in range(s + 1):
            h[s, t] = damping if s == t else 0.0
    for i in range(len(p.u)):
        count, free = 0, 0
        for k in range(p.begin[i], p.begin[i + 1]):
            if 0.0 < p.z[k] < 1.0:
                count += 1
                s = number_of[p.column[k]]
                if s >= 0:
                    inside[free] = s
                    free += 1
                    h[s, s] += 1.0
        if p.fill_rows or p.u[i] > 0.0:
            for one in range(free):
                row = h[inside[one]]
                for two in range(one + 1):
                    row[inside[two]] -= 1.0 / count


@jit_internal_no_allocation
def solve(h, x, size):
    """Solve ``h x = x`` in place by Cholesky's factors of ``h``, which is overwritten."""
    for s in range(size):
        for t in range(s + 1):
            total = h[s, t]
            for k in range(t):
                total -= h[s, k] * h[t, k]
            # The damping is a lower limit of every pivot, up to rounding.
            h[s, t] = np.sqrt(max(total, SMALLEST_DAMPING)) if s == t else total / h[t, t]
        for k in range(s):
            x[s] -= h[s, k] * x[k]
        x[s] /= h[s, s]
    for s in range(size - 1, -1, -1):
        x[s] /= h[s, s]
        for k in range(s):
            x[k] -= h[s, k] * x[s]


@jit_internal_no_allocation
def rescale(p, factor):
    """Multiply the table and all prices."""
    for numbers in (p.a, p.u, p.v):
        for k in range(len(numbers)):
            numbers[k] *= factor


@jit_internal
def newton(p):
    """Newton's steps from the prices at hand to the best ones."""
    columns = len(p.v)
    values = np.empty(columns)
    h, before = np.empty((columns, columns)), np.empty(columns)
    slope, step = np.empty(columns), np.empty(columns)
    free, inside = np.empty(columns, np.int64), np.empty(columns, np.int64)
    number_of = np.empty(columns, np.int64)
    size = 1.0
    for value in p.a:
        size = max(size, abs(value))
    dual = price_rows(p, values)
    for _ in range(MOST_STEPS):
        wrong = violation(p)
        if wrong <= TOLERANCE * size:
            return
        number = 0
        for j in range(columns):
            before[j] = p.v[j]
            number_of[j] = -1
            if is_free(p, j):
                number_of[j] = number
                free[number] = j
                slope[number] = step[number] = p.gradient[j]
                number += 1
        curvature(p, number_of, number, max(DAMPING * wrong, SMALLEST_DAMPING), h, inside)
        solve(h, step, number)
        better, length = False, 1.0
        for _ in range(MOST_HALVINGS):
            promised = 0.0
            for s in range(number):
                j = free[s]
                v = before[j] + length * step[s]
                p.v[j] = v if p.fill_columns else max(v, 0.0)
                promised += slope[s] * (p.v[j] - before[j])
            new = price_rows(p, values)
            # In the last steps values differ by rounding only.
            noise = ROUNDING * (abs(dual) + size)
            better = new - dual > max(SUFFICIENT * promised, noise)
            better = better or (new >= dual - noise and violation(p) <= 0.5 * wrong)
            if better:
                dual = new
                break
            length *= 0.5
        if not better:
            for j in range(columns):
                p.v[j] = before[j]
            price_rows(p, values)
            price_columns(p)
            dual = price_rows(p, values)


@jit_internal
def optimal_prices(p):
    """Find the prices; ``p.z`` is then the projection."""
    size, coarse = 1.0, 1.0
    for numbers in (p.a, p.u, p.v):
        for value in numbers:
            size = max(size, abs(value))
    while size * coarse > REACH:
        coarse /= REFINEMENT
    rescale(p, coarse)
    newton(p)
    while coarse < 1.0:
        rescale(p, REFINEMENT)
        coarse *= REFINEMENT
        newton(p)


@jit_structure
def project_matching(start, data, base, a, inner, scale, memory, q):
    """The nearest point ``q[places]`` to ``a[places]``; ``memory`` has the last prices."""
    n, m = data[0], data[1]
    own = newton_columns(data)
    rows, columns = (n, m) if own else (m, n)
    fill_rows, fill_columns = (data[2], data[3]) if own else (data[3], data[2])
    filled = fill_rows + fill_columns > 0
    full_rows, full_columns = np.empty(rows), np.empty(columns)
    for i in range(rows):
        full_rows[i] = data[HEADER + i + (0 if own else n)]
    for j in range(columns):
        full_columns[j] = data[HEADER + j + (n if own else 0)]
    value, column = np.empty(n * m), np.empty(n * m, np.int64)
    begin, count = np.zeros(rows + 1, np.int64), 0
    for i in range(rows):
        for j in range(columns):
            at = 2 * (i * m + j if own else j * m + i)
            q[at], q[at + 1] = 1.0, 0.0
            if base[at] == -np.inf:
                q[at], q[at + 1] = 0.0, 1.0
                full_rows[i] -= 1.0
                full_columns[j] -= 1.0
            elif base[at + 1] == 0.0 and (filled or a[at + 1] > 0.0):
                value[count], column[count] = a[at + 1], j
                count += 1
        begin[i + 1] = count
    p = Prices(
        value[:count], np.empty(count), column[:count], begin, full_rows, full_columns,
        fill_rows == 1, fill_columns == 1, memory[columns : columns + rows], memory[:columns],
        np.empty(columns),
    )  # fmt: skip
    optimal_prices(p)
    for i in range(rows):
        for k in range(begin[i], begin[i + 1]):
            at = 2 * (i * m + column[k] if own else column[k] * m + i)
            q[at], q[at + 1] = 1.0 - p.z[k], p.z[k]
    return 0.0
