"""When AD3 adapts its penalty, leaves the Gauss-Seidel order, extrapolates and accelerates.

Plain Python functions: the driver calls them as they are, kernels compile them.
"""

from __future__ import annotations

from math import exp

# Of AD3's dual points only the best one is evaluated, except every fourth time.
TRY_ALL = 4
# AD3's penalty is first checked after this many iterations, then at doubling distances.
FIRST_CHECK = 20
# Ratios of spread to move between 1/2 and 2 are left alone: the time to a good bound hardly
# depends on the penalty there.
BALANCED = 2.0
LARGEST_CHANGE = 4.0

# AD3's blocks of factors are visited in Gauss-Seidel order in the first iterations; after them the
# plain method goes on, whose convergence is proven.
LAST_IN_ORDER = 250
# Larger problems may be shared between threads, which cannot keep an order.
ORDERED_LINKS = 30_000

# In Gauss-Seidel order, multipliers that drift steadily are extrapolated
# (``kernels/ad3/extrapolation.py``): twice, so that the plain method's convergence stands.  Three
# marks each tell whether the drift is steady; the extrapolation follows at the last one.
MARKS = (20, 25, 30, 50, 55, 60)
# Its length grows with the iterations: it is eight and sixteen times the way from the average.
# Half or twice as much changes little.
LENGTH_GROWTH = 8 / 30
# An extrapolation leaves the bound behind; after this many iterations it is a better one.
SETTLING = 20

# A small problem's iterations are accelerated by Anderson's method between these two counts of
# iterations: before, the factors are still finding their faces, and most problems with a tight
# relaxation are solved; after, the plain method goes on, whose convergence is proven.
FIRST_ACCELERATED = 30
FIRST_WARM_ACCELERATED = 1
LAST_ACCELERATED = 1000
# Acceleration takes iterations off problems of up to this many links, and adds some to larger ones.
ACCELERATED_LINKS = 2_000

# The first iterations solve tables inexactly.  The first consensus is an initial point that is not
# worth an exact answer, and tables of 81 by 81 states start in half the time; a finite number of
# errors leaves the method's convergence as it is.
INEXACT = 20


def penalty_due(iterations, checked_at):
    """Whether AD3's penalty is due for a check."""
    return iterations >= max(FIRST_CHECK, 2 * checked_at)


def penalty_factor(balance, rounds):
    """What to multiply AD3's penalty by, given the sum over rounds of ``log(spread / move)``."""
    ratio = exp(balance / max(rounds, 1))
    if 1.0 / BALANCED <= ratio <= BALANCED:
        return 1.0
    return min(max(ratio, 1.0 / LARGEST_CHANGE), LARGEST_CHANGE)


def tries_all(bounds, residual, tried_at):
    """Whether all of AD3's dual points are evaluated, not just the one that was best.

    Now and then, and once the larger residual is a quarter of what it was when they were tried:
    where everybody comes to agree at once, averages stay behind.
    """
    return bounds % TRY_ALL == 0 or 4.0 * residual < tried_at


def vertices(iterations, exact):
    """How many vertices a table may try in the next iteration; ``exact`` are enough for any."""
    return iterations + 2 if iterations < INEXACT else exact


def is_accelerated(iterations, links, warm):
    """Whether the next iteration begins where Anderson's method puts it."""
    first = FIRST_WARM_ACCELERATED if warm else FIRST_ACCELERATED
    return links <= ACCELERATED_LINKS and first <= iterations < LAST_ACCELERATED


def in_gauss_seidel_order(links, others):
    """Whether AD3's blocks of factors are visited in Gauss-Seidel order in the first iterations.

    Not where ``others`` step some of the factors (another loop, other threads), nor on problems
    so small that they are accelerated: of 600 such problems two went astray between the two.
    """
    return ACCELERATED_LINKS < links < ORDERED_LINKS and not others


def mark_at(iterations):
    """Which of three marks is due: 0, 1 or 2, where an extrapolation may follow; else -1."""
    for i in range(len(MARKS)):
        if MARKS[i] == iterations:
            return i % 3
    return -1


def until_mark(iterations):
    """Iterations until the next mark; very many after the last one."""
    for mark in MARKS:
        if mark > iterations:
            return mark - iterations
    return 10**9


def extrapolation_length(iterations):
    """How many times the way from the average an extrapolation after ``iterations`` goes."""
    return LENGTH_GROWTH * iterations


def is_settling(iterations, extrapolated_at):
    """Whether an extrapolation is so recent that a resting bound says nothing."""
    return extrapolated_at > 0 and iterations <= extrapolated_at + SETTLING
