"""A step of Newton's method for projections onto cut polytopes with shared edges.

Where no group splits and no edge or node changes its piece, what is minimised is quadratic and one
step is exact.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.graph_cut.cut_task import cost, pull
from assent.kernels.jit import jit_internal, jit_internal_no_allocation

MOST_HALVINGS = 20

# Conjugate gradients stop when the residual is this small, relative to the first one; the
# curvature is at least 1 and at most 1 + 2 · neighbours, so a few dozen rounds are enough.
RESIDUAL = 1e-10
MOST_ROUNDS = 500

# Costs this close, relative to their size, count as equal.
ROUNDING = 1e-13


@jit_internal_no_allocation
def newton_system(task, moves, curved, gradient, diagonal):
    """Gradient and diagonal of the second derivatives; which nodes move, which edges curve."""
    x = task.x
    for node in range(len(x)):
        moves[node] = not task.known[node] and 0.0 < x[node] < 1.0
        gradient[node] = task.mass[node] * (x[node] - task.a[node])
        diagonal[node] = task.mass[node]
    for edge in range(len(task.b)):
        j, k = task.tail[edge], task.tip[edge]
        d, b = x[j] - x[k], task.b[edge]
        own = pull(b, d)
        if b < 0.0:
            own += -b if d > 0.0 else b
        curved[edge] = (b < 0.0 or abs(d) > b) and (moves[j] or moves[k])
        gradient[j] += own
        gradient[k] -= own
        if curved[edge]:
            diagonal[j] += 1.0
            diagonal[k] += 1.0


@jit_internal_no_allocation
def multiply(task, moves, curved, y, out):
    """``out = H y``; ``y`` is zero on nodes that do not move."""
    for node in range(len(y)):
        out[node] = task.mass[node] * y[node]
    for edge in range(len(curved)):
        if curved[edge]:
            j, k = task.tail[edge], task.tip[edge]
            own = y[j] - y[k]
            out[j] += own
            out[k] -= own
    for node in range(len(y)):
        if not moves[node]:
            out[node] = 0.0


@jit_internal
def newton_step(task):
    """Improve ``task.x`` where it is not at 0 or 1, as long as the cost does not rise."""
    x = task.x
    n = len(x)
    moves, curved = np.empty(n, np.bool_), np.empty(len(task.b), np.bool_)
    residual, diagonal = np.empty(n), np.empty(n)
    step, search, product = np.zeros(n), np.zeros(n), np.empty(n)
    newton_system(task, moves, curved, residual, diagonal)
    for node in range(n):
        residual[node] = -residual[node] if moves[node] else 0.0
    length, least = 0.0, 0.0
    for turn in range(MOST_ROUNDS):
        new = 0.0
        for node in range(n):
            new += residual[node] * residual[node] / diagonal[node]
        if turn == 0:
            least = RESIDUAL * RESIDUAL * new
        if new <= least:
            break
        for node in range(n):
            turned = 0.0 if turn == 0 else new / length * search[node]
            search[node] = residual[node] / diagonal[node] + turned
        length = new
        multiply(task, moves, curved, search, product)
        along = 0.0
        for node in range(n):
            along += search[node] * product[node]
        for node in range(n):
            step[node] += new / along * search[node]
            residual[node] -= new / along * product[node]
    worth = cost(task, x)
    trial, share = product, 1.0
    for _ in range(MOST_HALVINGS):
        for node in range(n):
            trial[node] = x[node]
            if moves[node]:
                trial[node] = min(max(x[node] + share * step[node], 0.0), 1.0)
        if cost(task, trial) <= worth + ROUNDING * abs(worth):
            copy_values(trial, x)
            return
        share *= 0.5
