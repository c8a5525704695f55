"""The linear system of a support, factorised and kept as vertices enter and leave.

With ``M`` the matrix whose columns are the vertices' coordinates, the weights of a projection (see
:mod:`assent.kernels.ad3.active_set`) are solved for with ``H = L D L'``, where ``H = M'M + 1`` on
the support: as they sum to one, the added ones change no solution, and they make ``H`` positive
definite exactly when the support is affinely independent.
"""

from __future__ import annotations

from assent.kernels.jit import jit, jit_inline_llvm

# Entries of H are small integers, so pivots are ratios of integer determinants: far above this,
# or zero up to rounding.
SMALLEST_PIVOT = 1e-9


@jit_inline_llvm
def row_place(i):
    """Where row ``i`` of the factors of H begins: L left of its diagonal, 1 / D, ``L^-1 1``.

    Each row is as long as its number and two; kept rows are then one stretch of memory.
    """
    return i * (i + 3) // 2


@jit
def packed_length(rows):
    """Length of ``rows`` packed rows; see ``row_place``.

    Example:
        >>> packed_length(2)
        5
    """
    return rows * (rows + 3) // 2


@jit_inline_llvm
def copy_rows(source, first, last, target):
    """Copy the rows of the factors of H of vertices ``first`` to ``last``."""
    begin, end = row_place(first), row_place(last)
    old, new = source[begin:end], target[begin:end]
    for i in range(len(new)):
        new[i] = old[i]


@jit_inline_llvm
def append_row(slots, states, size, work):
    """Extend the factors of H by vertex ``size``; returns whether it is independent of the others.

    If it is not, ``work.target`` holds its affine combination of them.
    """
    product = work.right  # of the new row of L with D
    place = row_place(size)
    new = work.rows[place : place + size + 2]
    pivot = 1.0
    one = 1.0
    for slot in range(len(slots.first)):
        pivot += 1.0 if states[size, slot] >= slots.first[slot] else 0.0
    for i in range(size):
        entry = 1.0  # of H: one more than the coordinates in common
        for slot in range(len(slots.first)):
            state = states[i, slot]
            if state == states[size, slot] and state >= slots.first[slot]:
                entry += 1.0
        place = row_place(i)
        row = work.rows[place : place + i + 2]
        for j in range(i):
            entry -= row[j] * product[j]
        product[i] = entry
        new[i] = entry * row[i]
        pivot -= entry * new[i]
        one -= new[i] * row[i + 1]
    if pivot > SMALLEST_PIVOT * (len(slots.first) + 1):
        new[size] = 1.0 / pivot
        new[size + 1] = one
        return True
    for i in range(size):
        work.target[i] = new[i]
    back_substitute(work.rows, size, work.target)
    return False


@jit_inline_llvm
def delete_row(rows, size, k):
    """Remove vertex ``k`` from the factors of H: a positive rank-one update of the rows below.

    Row and column ``k`` are gone after it; the rows below have moved up.
    """
    strength = 1.0 / rows[row_place(k) + k]
    for j in range(k + 1, size):
        place = row_place(j)
        step = rows[place + k]
        d_old = 1.0 / rows[place + j]
        d_new = d_old + strength * step * step
        gain = strength * step / d_new
        strength *= d_old / d_new
        rows[place + j] = 1.0 / d_new
        for i in range(j + 1, size):
            place = row_place(i)
            rows[place + k] -= step * rows[place + j]
            rows[place + j] += gain * rows[place + k]
    for i in range(k + 1, size):
        old = row_place(i)
        new = row_place(i - 1)
        for j in range(k):
            rows[new + j] = rows[old + j]
        for j in range(k + 1, i + 1):
            rows[new + j - 1] = rows[old + j]
        one = 1.0
        for j in range(i - 1):
            one -= rows[new + j] * rows[row_place(j) + j + 1]
        rows[new + i] = one


@jit_inline_llvm
def solve_kkt(size, work):
    """Weights on the support that are optimal but for their signs, into ``work.target``.

    Returns the multiplier tau: the score of every vertex of the support at the residual.
    """
    score, x = work.score, work.target
    # Relative to the first score: a common shift moves tau only, and small numbers stay exact.
    base = score[0]
    mass = 0.0
    pull = 0.0
    for i in range(size):
        place = row_place(i)
        row = work.rows[place : place + i + 2]
        xi = score[i] - base
        for j in range(i):
            xi -= row[j] * x[j]
        x[i] = xi
        scaled = row[i + 1] * row[i]
        mass += row[i + 1] * scaled
        pull += xi * scaled
    tau = (pull - 1.0) / mass
    for i in range(size):
        place = row_place(i) + i
        x[i] = (x[i] - tau * work.rows[place + 1]) * work.rows[place]
    back_substitute(work.rows, size, x)
    return tau + base + 1.0


@jit_inline_llvm
def back_substitute(rows, size, x):
    """Solve ``L' x = x`` in place."""
    for i in range(size - 1, 0, -1):
        place = row_place(i)
        row = rows[place : place + i]
        for j in range(i):
            x[j] -= row[j] * x[i]
