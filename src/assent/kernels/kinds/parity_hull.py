"""Parity: an even number of literals is true (odd, when one of them is negated).

The hull of the even 0/1 vectors is the cube cut by one facet per odd set F of literals,
``sum_{i in F} (1 - x_i) + sum_{i not in F} x_i >= 1`` (Jeroslow 1975).  Flip the literals of F,
``t_i = 1 - x_i`` inside and ``t_i = x_i`` outside: the facet within the cube is the unit simplex
``t >= 0, sum t = 1``.  A point of the cube breaks at most one facet, the one whose F holds the
entries above 1/2 with, if they are even in number, the least decided entry changed over.
Projecting onto the hull is then projecting onto that one simplex (Barman et al. 2011, Zhang and
Siegel 2013).
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal
from assent.kernels.kinds.logic_projections import STEP_ABSOLUTE, clip01


@jit
def maximize_parity(scores, out):
    """Best even vertex for ``scores[n]``, written to ``out[n]``; returns its value.

    Example:
        >>> import numpy as np
        >>> out = np.empty(3)
        >>> float(maximize_parity(np.array([2.0, -1.0, -3.0]), out)), out.tolist()
        (1.0, [1.0, 1.0, 0.0])
    """
    weakest = 0
    odd = False
    value = 0.0
    for i in range(len(scores)):
        true = scores[i] > 0.0
        out[i] = 1 if true else 0
        odd = odd != true
        value += max(scores[i], 0.0)
        if abs(scores[i]) < abs(scores[weakest]):
            weakest = i
    if odd:
        # The cheapest way to the other parity changes the literal that matters least.
        out[weakest] = 1 - out[weakest]
        value -= abs(scores[weakest])
    return value


@jit_internal
def _changed_over(point):
    """Index of the entry to change over so that F is odd; -1 if F is odd without."""
    closest = 0
    odd = False
    for i in range(len(point)):
        odd = odd != (point[i] > 0.5)
        if abs(point[i] - 0.5) < abs(point[closest] - 0.5):
            closest = i
    return -1 if odd else closest


@jit_internal
def _flipped_offsets(point, changed, out):
    """``out = t - max(t)`` for the flipped point t.

    Only entries within 1 of the greatest take part in the simplex: however huge the point, the
    threshold between them is a number in [-1, 0].
    """
    greatest = -np.inf
    for i in range(len(point)):
        out[i] = 1.0 - point[i] if (point[i] > 0.5) != (i == changed) else point[i]
        greatest = max(greatest, out[i])
    for i in range(len(point)):
        out[i] -= greatest


@jit
def project_parity(point, out, warm):
    """Project ``point[n]`` (literal space) onto the parity polytope, into ``out[n]``.

    ``warm`` is the threshold an earlier call returned for a similar point, or any finite number;
    the return value is the one to remember.

    Example:
        >>> import numpy as np
        >>> out = np.empty(2)
        >>> _ = project_parity(np.array([0.25, 0.75]), out, 0.0)
        >>> out.tolist()
        [0.5, 0.5]
    """
    n = len(point)
    # 1. The one facet the clipped point may break, and by how much.
    changed = _changed_over(point)
    total = 0.0
    for i in range(n):
        out[i] = clip01(point[i])
        total += 1.0 - out[i] if (point[i] > 0.5) != (i == changed) else out[i]
    if total >= 1.0:
        return warm
    # 2. Threshold of the simplex, sum_i max(offset_i - tau, 0) = 1: the sum is convex and
    # decreasing, so Newton's method rises to the root after its first step.
    _flipped_offsets(point, changed, out)
    tau = min(max(warm, -1.0), -1.0 / n)
    for _ in range(n + 3):
        mass = 0.0
        count = 0.0
        for i in range(n):
            excess = out[i] - tau
            mass += max(excess, 0.0)
            count += 1.0 if excess > 0.0 else 0.0
        step = (mass - 1.0) / count
        tau += step
        if abs(step) <= STEP_ABSOLUTE:
            break
    # 3. Back from the flipped literals.
    for i in range(n):
        t = clip01(out[i] - tau)
        out[i] = 1.0 - t if (point[i] > 0.5) != (i == changed) else t
    return tau
