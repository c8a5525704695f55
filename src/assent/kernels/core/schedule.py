"""When to report, to round and to try other things: the same for one problem and for many.

Plain Python functions: the driver calls them as they are, kernels compile them.
"""

from __future__ import annotations

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
# Problems of up to this many links are small: many at once run in a compiled loop of their own.
SMALL_LINKS = 20_000


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
    growth = 1.0 + (RESTING_GROWTH - 1.0) * (1 + tries)
    if abs(change) <= tolerance and not settling and iterations >= growth * due.rounded_at:
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
