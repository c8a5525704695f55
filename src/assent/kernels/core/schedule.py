"""When to report, to round and to try other things: the same for one problem and for many.

Plain Python functions: the driver calls them as they are, kernels compile them.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

# Reports come every few iterations at first, then ever rarer: a bound costs about an iteration.
FIRST_REPORT = 10
REPORT_GROWTH = 0.05
# Small problems report sooner, and each time try the marginals as they are: half of those with a
# tight relaxation are solved within fifteen iterations.  From a warm start most of them need one.
FIRST_SMALL_REPORT = 5
FIRST_WARM_REPORT = 1
NEXT_WARM_REPORT = 2
# Rounding costs several iterations: it is tried when their count has grown by this factor.
FIRST_ROUNDING = 150
ROUNDING_GROWTH = 4.0
# Where the bound rests only an answer is missing: rounding is then tried this much sooner.
RESTING_GROWTH = 1.15
# How many perturbed marginals are rounded at the end of a run.
PERTURBED_TRIES = 4
# Proofs of infeasibility are looked for this rarely, while nothing feasible is known.
FIRST_RAY = 100
RAY_GROWTH = 1.5
# A marginal within this of one half is no sign of either value.
UNDECIDED = 1e-4
# Answers whose scores differ by less than this, relatively, are equally good: the first stays.
TIE = 1e-10
# Of AD3's dual points only the best one is evaluated, except every fourth time.
TRY_ALL = 4
# Problems of up to this many links are small: many at once run in a compiled loop of their own.
SMALL_LINKS = 20_000

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

# The first iterations solve tables inexactly.  The first consensus is a guess not worth an exact
# answer, and tables of 81 by 81 states start in half the time; a finite number of errors leaves
# the method's convergence as it is.
INEXACT = 20

# Random numbers come from the multiplicative generator of Park and Miller: whole numbers that
# never overflow, the same everywhere.
CHANCE_FACTOR = 48271
RANDOM_RANGE = 2**31 - 1


def first_random_state(seed):
    """State of the random numbers for a seed."""
    state = seed % (RANDOM_RANGE - 1) + 1
    for _ in range(3):  # neighbouring seeds part ways
        state = next_random_state(state)
    return state


def next_random_state(state):
    """The next state, 1 to ``RANDOM_RANGE - 1``."""
    return state * CHANCE_FACTOR % RANDOM_RANGE


def stretch(iterations, small, warm):
    """Iterations until the next report; ``warm``: the run began at an earlier one's end."""
    if small and warm and iterations < FIRST_SMALL_REPORT:
        return FIRST_WARM_REPORT if iterations == 0 else NEXT_WARM_REPORT
    return max(FIRST_SMALL_REPORT if small else FIRST_REPORT, int(REPORT_GROWTH * iterations))


def bounds_first(small, warm, violations):
    """Whether a bound is taken before any iteration: the earlier answer may still be the best."""
    return small and warm and violations == 0


class Due(NamedTuple):
    """From which iterations on things are due that cost more than an iteration."""

    rounding: int
    rounded_at: int  # the last rounding, for whatever reason
    ray: int  # a proof of infeasibility is looked for


def first_due():
    """What is due before anything was done."""
    return Due(FIRST_ROUNDING, 0, FIRST_RAY)


# Why marginals are rounded at a report, if they are.
BY_SCHEDULE, AT_REST = 1, 2


def rounding_due(due, iterations, change, tolerance, settling, tries):
    """Whether to round: by schedule, or sooner where the bound rests and only an answer is missing.

    ``change`` is that of the bound since the last report, and says nothing while it is
    ``settling``.  Roundings at rest that have not closed the gap, the ``tries``, tell of a
    relaxation that is not tight, on which fifteen of them would take a quarter of the time.
    """
    patience = 1.0 + (RESTING_GROWTH - 1.0) * (1 + tries)
    if abs(change) <= tolerance and not settling and iterations >= patience * due.rounded_at:
        return AT_REST
    return BY_SCHEDULE if iterations >= due.rounding else 0


def after_rounding(due, iterations):
    """What is due after a rounding."""
    is_due = iterations >= due.rounding
    later = int(iterations * ROUNDING_GROWTH) + 1 if is_due else due.rounding
    return Due(later, iterations, due.ray)


def after_ray(due, iterations):
    """What is due after a look for a proof of infeasibility."""
    return Due(due.rounding, due.rounded_at, int(iterations * RAY_GROWTH) + 1)


def perturbed_tries(thorough, warm, violations):
    """How many perturbed marginals are rounded; the run before has tried, if it left an answer."""
    return PERTURBED_TRIES if thorough and not (warm and violations == 0) else 0


def is_better(value, than):
    """Whether an answer is worth changing to."""
    return value > than + TIE * (1.0 + abs(than))


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
