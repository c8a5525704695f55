"""Knapsack: non-negative weights, a real capacity.

The set is the linear relaxation ``{0 <= x <= 1, weights . x <= capacity}``, not the hull of its
0/1 points, which has no tractable description: a declared relaxation, over which both questions
are answered exactly.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal
from assent.kernels.kinds.count_scores import descending_order
from assent.kernels.kinds.logic_projections import STEP_RELATIVE, clip01

# Ratios of a score or an entry to a tiny weight stay below this, so that doubling one is finite.
LARGEST_RATIO = 1e300

# Halvings that take any multiplier from the upper end of its bracket to full precision: a range
# of 1e-60 (200 halvings) and then the 53 bits.  Newton's method needs a handful.
MOST_STEPS = 260


@jit
def maximize_knapsack(scores, weights, capacity, out):
    """Best point for ``scores[n]``, written to ``out[n]`` (at most one entry fractional).

    Items enter by score per weight until the capacity is used up (Dantzig 1957).  Returns the
    value.

    Example:
        >>> import numpy as np
        >>> out = np.empty(3)
        >>> weights = np.array([2.0, 2.0, 0.0])
        >>> float(maximize_knapsack(np.array([3.0, 2.0, 1.0]), weights, 3.0, out))
        5.0
        >>> out.tolist()
        [1.0, 0.5, 1.0]
    """
    n = len(scores)
    worth = np.empty(n)
    for i in range(n):
        # Weightless items come first if they help.
        if weights[i] > 0.0:
            worth[i] = min(scores[i] / weights[i], LARGEST_RATIO)
        else:
            worth[i] = LARGEST_RATIO if scores[i] > 0.0 else 0.0
    order = np.empty(n, np.int64)
    descending_order(worth, order)
    value = 0.0
    remaining = capacity
    for i in order:
        if scores[i] <= 0.0:
            out[i] = 0.0
        elif weights[i] <= remaining:
            out[i] = 1.0
            remaining -= weights[i]
        else:
            out[i] = remaining / weights[i]
            remaining = 0.0
        value += scores[i] * out[i]
    return value


@jit_internal
def _load(point, weights, unit, multiplier):
    """Used capacity at a multiplier (weights scaled by ``unit``) and how fast it falls."""
    used = 0.0
    slope = 0.0
    for i in range(len(point)):
        weight = unit * weights[i]
        x = point[i] - multiplier * weight
        used += weight * clip01(x)
        slope += weight * weight if 0.0 < x < 1.0 else 0.0
    return used, slope


@jit_internal
def _fill(point, weights, unit, multiplier, limit, out):
    """The projection of a multiplier, into ``out[n]``, with the capacity kept.

    Differences of large numbers are rounded: what is too much by that is taken off.
    """
    used = 0.0
    for i in range(len(point)):
        out[i] = clip01(point[i] - multiplier * (unit * weights[i]))
        used += unit * weights[i] * out[i]
    if used > limit:
        for i in range(len(point)):
            out[i] *= limit / used if weights[i] > 0.0 else 1.0


@jit
def project_knapsack(point, weights, capacity, out, warm):
    """Project ``point[n]`` onto the relaxed knapsack, into ``out[n]``.

    The answer is ``clip(point - multiplier * weights, 0, 1)`` with the least multiplier >= 0
    that respects the capacity.  Returns the multiplier, for weights scaled so that the heaviest
    is 1; ``warm`` is the one an earlier call returned for a similar point, or any finite number.

    Example:
        >>> import numpy as np
        >>> out = np.empty(2)
        >>> _ = project_knapsack(np.array([1.0, 1.0]), np.array([2.0, 1.0]), 2.0, out, 0.0)
        >>> np.round(out, 9).tolist()
        [0.6, 0.8]
    """
    # 1. The clipped point, if it fits.
    heaviest = 0.0
    for i in range(len(point)):
        out[i] = clip01(point[i])
        heaviest = max(heaviest, weights[i])
    if heaviest == 0.0:
        return 0.0
    unit = 1.0 / heaviest
    limit = unit * capacity
    used, _ = _load(point, weights, unit, 0.0)
    if used <= limit:
        return 0.0
    # 2. A multiplier beyond the one that empties the sack.
    low = 0.0
    high = 0.0
    for i in range(len(point)):
        if weights[i] > 0.0 and point[i] > 0.0:
            high = max(high, min(point[i] / (unit * weights[i]), LARGEST_RATIO))
    high *= 2.0
    # 3. The load falls with the multiplier but is not convex: Newton inside a shrinking
    # bracket, the midpoint whenever Newton leaves it.  Only relative precision counts: an entry
    # strictly inside (0, 1) has multiplier * weight comparable to its point.
    multiplier = warm if low < warm < high else low
    for _ in range(MOST_STEPS):
        used, slope = _load(point, weights, unit, multiplier)
        if used > limit:
            low = multiplier
        else:
            high = multiplier
        step = (used - limit) / slope if slope > 0.0 else np.inf
        if abs(step) <= STEP_RELATIVE * multiplier:
            break
        following = multiplier + step
        if not low < following < high:
            following = 0.5 * (low + high)
            if not low < following < high:
                break
        multiplier = following
    _fill(point, weights, unit, multiplier, limit, out)
    return multiplier
