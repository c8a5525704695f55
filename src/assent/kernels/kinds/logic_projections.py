"""Euclidean projections onto the hulls of the factor forms.

Every projection onto a logic hull is written with two numbers per factor: a threshold ``tau``
subtracted from the point and, for ANYOF, a ceiling the inputs may not exceed:
``q = clip(min(a - tau, ceiling), 0, 1)``.  Finding the numbers is the work; applying them is the
same for all forms and is fused into the solver's loop.

Factors of one group are handled ``LANES`` at a time in a block ``a[j, lane]``, so that
the inner loops run over neighbouring lanes and compile to vector instructions.  The loops ask
the array for its width: told a constant, the compiler unrolls them before it can vectorise.
Functions with one caller are inlined before compilation, which otherwise would optimise them
again at every level of the call tree.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import (
    jit,
    jit_inline,
    jit_internal,
    jit_internal_no_allocation,
    jit_internal_vector_sums,
    jit_no_allocation,
)
from assent.kernels.problem import ANYOF, CAP, PARITY

# Factors side by side in a block: four or eight vector registers wide, which took a tenth less time
# than half of it; a wider block would wait for the slowest of more lanes in Newton's method.
LANES = 32

# Rows of the per-lane scratch (one row of LANES numbers each).
TAU = 0  # threshold
CEILING = 1  # upper limit of an ANYOF's inputs
OUTPUT = 2  # value of an ANYOF's output before clipping
MASS = 3  # running sums of Newton's method
COUNT = 4
SQUARES = 5  # for the solver: sum of its squared residuals
LANE_ROWS = 6

# Newton stops when no threshold moves by more than rounding: an absolute part for points near
# the unit cube and a relative one for huge points.
STEP_ABSOLUTE = 1e-14
STEP_RELATIVE = 4.5e-16


@jit_no_allocation
def count_common(kind):
    """How many groups the blockwise kernels take; PARITY and KNAPSACK stand behind them."""
    common = 0
    while common < kind.size and kind[common] < PARITY:
        common += 1
    return common


@jit_internal
def gather_block(lits, values, factor, shift, first, stride, size, width, a):
    """Fill ``a[j, lane]`` for ``width`` neighbouring factors; spare lanes get 0.

    A link on coordinate v holds ``values[link] + factor * shift[v]``; a negated literal sees
    ``1 - shift[v]``.
    """
    for j in range(size):
        link = first + j * stride
        row_lits = lits[link : link + width]
        row = values[link : link + width]
        for lane in range(width):
            lit = row_lits[lane]
            own = factor * shift[np.uint32(lit ^ (lit >> 31))]
            a[j, lane] = row[lane] + (factor - own if lit < 0 else own)
        for lane in range(width, a.shape[1]):
            a[j, lane] = 0.0


@jit_internal_no_allocation
def clip01(x):
    """``x`` cut to the unit interval."""
    return min(max(x, 0.0), 1.0)


@jit
def project_pair(a1, a2, c):
    """Maximise ``c*w - ((z1-a1)**2 + (z2-a2)**2) / 2`` over the local polytope of a pair.

    Returns ``(z1, z2)``; ``w`` is ``min(z1, z2)`` for ``c >= 0`` and ``max(0, z1+z2-1)``
    otherwise.  A negative score is turned positive by negating the second coordinate
    (``z1*z2 = z1 - z1*(1-z2)``).
    """
    # z2 is negated where c < 0: written with a sign, since a branch would be mispredicted.
    sign = np.copysign(1.0, c)
    base = 0.5 - 0.5 * sign
    b1 = a1 + min(c, 0.0)
    b2 = base + sign * a2
    strength = abs(c)
    # The score pulls both coordinates together until they meet, then lifts them jointly.
    middle = 0.5 * (b1 + b2 + strength)
    distance = b1 - b2
    half = 0.5 * (distance - min(max(distance, -strength), strength))
    return clip01(middle + half), base + sign * clip01(middle - half)


@jit_internal_no_allocation
def project_two(kind, a1, a2):
    """Projection onto CAP or SUM of two literals (k = 1), the block kernels in one line.

    Half of all factors in models written with rules are of this form.
    """
    slackest = 0.0 if kind == CAP else -np.inf
    tau = max(max(max(a1, a2) - 1.0, 0.5 * (a1 + a2 - 1.0)), slackest)
    return clip01(a1 - tau), clip01(a2 - tau)


@jit_internal_no_allocation
def _excess(a, size, lanes, row):
    """MASS = sum of the entries' excess over the lane's number in ``row``, COUNT = how many."""
    for lane in range(a.shape[1]):
        excess = a[0, lane] - lanes[row, lane]
        lanes[MASS, lane] = max(excess, 0.0)
        lanes[COUNT, lane] = 1.0 if excess > 0.0 else 0.0
    for j in range(1, size):
        for lane in range(a.shape[1]):
            excess = a[j, lane] - lanes[row, lane]
            lanes[MASS, lane] += max(excess, 0.0)
            lanes[COUNT, lane] += 1.0 if excess > 0.0 else 0.0


@jit_internal_no_allocation
def _restart_lanes(a, size, lanes):
    """Put thresholds that no entry exceeds back to where the greatest entry alone gives 1."""
    for lane in range(a.shape[1]):
        if lanes[COUNT, lane] == 0.0:
            top = a[0, lane]
            for j in range(1, size):
                top = max(top, a[j, lane])
            lanes[TAU, lane] = top - 1.0


@jit_internal_vector_sums
def _simplex_newton(a, size, step_limit, lanes):
    """TAU such that ``sum_j max(a_j - tau, 0) = 1``, from the thresholds standing in TAU.

    The sum is convex and decreasing in tau: after one step Newton's iterates stay below the
    root and rise to it, visiting each active set at most once, whatever the start.
    """
    for _ in range(size + 4):
        _excess(a, size, lanes, TAU)
        moving = 0.0
        fewest = 1.0
        for lane in range(a.shape[1]):
            tau = lanes[TAU, lane]
            count = lanes[COUNT, lane]
            step = (lanes[MASS, lane] - 1.0) / max(count, 1.0)
            moving = max(moving, abs(step) - STEP_RELATIVE * abs(tau))
            fewest = min(fewest, count)
            lanes[TAU, lane] = tau + step
        if fewest == 0.0:
            _restart_lanes(a, size, lanes)
        elif moving <= step_limit:
            break


@jit_internal_no_allocation
def _simplex(a, size, step_limit, lanes):
    """TAU of the projection onto the unit simplex, per lane.

    The threshold is the largest of ``(sum of the r greatest - 1) / r``: closed form for two
    and three entries, Newton's method from the remembered threshold beyond.
    """
    if size == 2:
        for lane in range(a.shape[1]):
            a0, a1 = a[0, lane], a[1, lane]
            lanes[TAU, lane] = max(max(a0, a1) - 1.0, 0.5 * (a0 + a1 - 1.0))
    elif size == 3:
        for lane in range(a.shape[1]):
            a0, a1, a2 = a[0, lane], a[1, lane], a[2, lane]
            top = max(max(a0, a1), a2)
            bottom = min(min(a0, a1), a2)
            total = a0 + a1 + a2 - 1.0
            two = max(0.5 * (total - bottom), top - 1.0)
            lanes[TAU, lane] = max(two, total / 3.0)
    else:
        _simplex_newton(a, size, step_limit, lanes)


@jit_internal_no_allocation
def _box_threshold(a, size, lane, k, start):
    """``tau`` with ``sum_j clip(a_j - tau, 0, 1) = k`` for one lane and any ``0 < k < size``.

    The sum is decreasing but not convex: Newton inside a shrinking bracket, the midpoint
    whenever Newton leaves it.
    """
    low = a[0, lane]
    high = a[0, lane]
    for j in range(1, size):
        low = min(low, a[j, lane])
        high = max(high, a[j, lane])
    low -= 1.0  # every entry saturated: sum = size > k
    tau = min(max(start, low), high)
    # 200 halvings shrink any finite bracket below rounding; Newton needs a handful.
    for _ in range(200):
        total = 0.0
        slope = 0.0
        for j in range(size):
            z = a[j, lane] - tau
            total += clip01(z)
            slope += 1.0 if 0.0 < z < 1.0 else 0.0
        if total > k:
            low = tau
        else:
            high = tau
        step = (total - k) / max(slope, 1.0)
        if abs(step) <= STEP_ABSOLUTE + STEP_RELATIVE * abs(tau):
            break
        following = tau + step
        if slope == 0.0 or not low < following < high:
            following = 0.5 * (low + high)
            if not low < following < high:
                break
        tau = following
    return tau


@jit_internal_no_allocation
def _negate_lanes(a, size, k):
    """Replace ``a`` by ``1 - a`` in the lanes that allow all but one literal (k = size - 1)."""
    for j in range(size):
        for lane in range(a.shape[1]):
            if k[lane] == size - 1:
                a[j, lane] = 1.0 - a[j, lane]


@jit_inline
def _general_thresholds(size, k, step_limit, a, lanes):
    """TAU for lanes of any k: the simplex for 1 and, negated, for size - 1; else one by one."""
    for lane in range(a.shape[1]):
        if 1 < k[lane] < size - 1:
            start = lanes[TAU, lane]
            lanes[OUTPUT, lane] = _box_threshold(a, size, lane, k[lane], start)
        elif k[lane] != 1:
            lanes[TAU, lane] *= -1.0
    _negate_lanes(a, size, k)
    _simplex(a, size, step_limit, lanes)
    _negate_lanes(a, size, k)
    for lane in range(a.shape[1]):
        if 1 < k[lane] < size - 1:
            lanes[TAU, lane] = lanes[OUTPUT, lane]
        elif k[lane] != 1:
            lanes[TAU, lane] *= -1.0


@jit_inline
def _count_thresholds(kind, size, ones, k, step_limit, a, lanes):
    """Numbers of CAP and SUM."""
    if ones:
        _simplex(a, size, step_limit, lanes)
    else:
        _general_thresholds(size, k, step_limit, a, lanes)
    slackest = 0.0 if kind == CAP else -np.inf  # a slack limit does not push
    for lane in range(a.shape[1]):
        lanes[TAU, lane] = max(lanes[TAU, lane], slackest)
        lanes[CEILING, lane] = 1.0


@jit_internal_vector_sums
def _raise_output(a, size, step_limit, lanes):
    """CEILING = output of the projection onto ``inputs <= output`` (no cube yet), per lane.

    It is the largest of ``(output + sum of the r greatest inputs) / (1 + r)``: closed form up
    to two inputs, else Newton from the output itself, rising monotonically to the root.
    """
    last = size - 1
    if size == 2:
        for lane in range(a.shape[1]):
            lanes[CEILING, lane] = max(a[last, lane], 0.5 * (a[last, lane] + a[0, lane]))
        return
    if size == 3:
        for lane in range(a.shape[1]):
            b, a0, a1 = a[last, lane], a[0, lane], a[1, lane]
            one = 0.5 * (b + max(a0, a1))
            lanes[CEILING, lane] = max(max(b, one), (b + a0 + a1) / 3.0)
        return
    for lane in range(a.shape[1]):
        lanes[CEILING, lane] = a[last, lane]
    for _ in range(size + 3):
        _excess(a, size - 1, lanes, CEILING)
        moving = 0.0
        for lane in range(a.shape[1]):
            ceiling = lanes[CEILING, lane]
            pull = a[last, lane] - ceiling + lanes[MASS, lane]
            step = pull / (1.0 + lanes[COUNT, lane])
            moving = max(moving, abs(step) - STEP_RELATIVE * abs(ceiling))
            lanes[CEILING, lane] = ceiling + step
        if moving <= step_limit:
            break


@jit_inline
def _anyof_thresholds(size, step_limit, a, lanes):
    """Numbers of ANYOF: ``inputs <= output`` first; where that leaves ``output > sum(inputs)``
    the sum binds and ``(inputs, 1 - output)`` is projected onto the simplex.
    """
    last = size - 1
    _raise_output(a, size, step_limit, lanes)
    for lane in range(a.shape[1]):
        lanes[MASS, lane] = 0.0
    for j in range(size - 1):
        for lane in range(a.shape[1]):
            q = min(a[j, lane], lanes[CEILING, lane])
            lanes[MASS, lane] += clip01(q)
    short = False
    for lane in range(a.shape[1]):
        output = lanes[CEILING, lane]
        lanes[OUTPUT, lane] = output
        binds = clip01(output) > lanes[MASS, lane]
        # No ceiling where the sum binds: the simplex keeps the inputs below the output.
        lanes[CEILING, lane] = np.inf if binds else output
        short = short or binds
    if not short:
        for lane in range(a.shape[1]):
            lanes[TAU, lane] = 0.0
        return
    for lane in range(a.shape[1]):
        a[last, lane] = 1.0 - a[last, lane]
    _simplex(a, size, step_limit, lanes)
    for lane in range(a.shape[1]):
        a[last, lane] = 1.0 - a[last, lane]
        binds = lanes[CEILING, lane] == np.inf
        tau = lanes[TAU, lane]
        output = a[last, lane] + tau if binds else lanes[OUTPUT, lane]
        lanes[OUTPUT, lane] = output
        lanes[TAU, lane] = tau if binds else 0.0


@jit_inline
def find_thresholds(kind, size, ones, k, step_limit, a, lanes):
    """Fill TAU, CEILING and OUTPUT of a block of ``LANES`` factors of one form and size.

    ``a[size, LANES]`` holds the points (literal space) and row TAU of ``lanes`` the remembered
    thresholds (anything finite will do).  ``k[LANES]`` are the right-hand sides, read only if
    not all are ``ones``.  Newton's method ends with a step of at most ``step_limit``, exactly if
    that is ``STEP_ABSOLUTE``.
    """
    if kind == ANYOF:
        _anyof_thresholds(size, step_limit, a, lanes)
    else:
        _count_thresholds(kind, size, ones, k, step_limit, a, lanes)


@jit
def project_logic(kind, k, point, out):
    """Project one ``point[size]`` (literal space) onto the hull of a logic form, into ``out``.

    The contract's form of :func:`find_thresholds`; solvers use whole blocks.
    """
    size = len(point)
    a = np.zeros((size, LANES))
    lanes = np.zeros((LANE_ROWS, LANES))
    ks = np.full(LANES, k, np.int32)
    for j in range(size):
        a[j, :] = point[j]
    find_thresholds(kind, size, k == 1, ks, STEP_ABSOLUTE, a, lanes)
    for j in range(size):
        out[j] = clip01(min(point[j] - lanes[TAU, 0], lanes[CEILING, 0]))
    if kind == ANYOF:
        out[size - 1] = clip01(lanes[OUTPUT, 0])
