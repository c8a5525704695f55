"""Max-marginals: the best value of a factor with each literal false and true.

One idea serves all forms: they score only the *number* of true literals.  Sort the scores and
let ``top[m]`` be the sum of the m greatest.  The best vertex with m true literals is worth
``top[m] + counts[m]``; a literal of rank r (0 is the greatest) is among its true ones if
``r < m``.  Otherwise making the literal true drives out the last of them, ``top[m - 1] + score``;
in the first case making it false lets the next one in, ``top[m + 1] - score``.  The best m on
either side of r are running maxima from the left and from the right.

The forms as numbers: CAP and SUM allow some of them, PARITY the even ones, a pair rewards two,
and ANYOF's output adds its own score to every number of true inputs but 0.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.kinds.count_scores import descending_order
from assent.kernels.problem import ANYOF, PARITY, SUM

# Columns of every answer ``out[n, 2]``.
IF_FALSE = 0
IF_TRUE = 1


@jit
def max_marginals_pair(score, scores, out):
    """Pair ``score * x1 * x2`` with ``scores[2]``; fills ``out[2, 2]``, returns the maximum."""
    both = scores[0] + scores[1] + score
    for i in range(2):
        out[i, IF_FALSE] = max(0.0, scores[1 - i])
        out[i, IF_TRUE] = max(scores[i], both)
    return max(out[0, IF_FALSE], out[0, IF_TRUE])


@jit
def max_marginals_cardinality(scores, counts, out):
    """Best value with each literal false and true, ``out[n, 2]``; -inf where there is none.

    ``counts[n + 1]`` scores the number of true literals.  Returns the maximum.

    Example:
        >>> import numpy as np
        >>> out = np.empty((2, 2))
        >>> exactly_one = np.array([-np.inf, 0.0, -np.inf])
        >>> float(max_marginals_cardinality(np.array([3.0, 1.0]), exactly_one, out)), out.tolist()
        (3.0, [[1.0, 3.0], [3.0, 1.0]])
    """
    n = len(scores)
    order = np.empty(n, np.int64)
    descending_order(scores, order)
    top = np.zeros(n + 1)
    for r in range(n):
        top[r + 1] = top[r] + scores[order[r]]
    # 1. From the left: numbers up to the rank leave the literal out unless it is forced in.
    without = counts[0]
    driving_out = -np.inf
    for r in range(n):
        out[order[r], IF_FALSE] = without
        out[order[r], IF_TRUE] = driving_out + scores[order[r]]
        without = max(without, top[r + 1] + counts[r + 1])
        driving_out = max(driving_out, top[r] + counts[r + 1])
    # 2. From the right: numbers above the rank take the literal in unless it is forced out.
    within = -np.inf
    letting_in = -np.inf
    for r in range(n - 1, -1, -1):
        within = max(within, top[r + 1] + counts[r + 1])
        i = order[r]
        out[i, IF_TRUE] = max(out[i, IF_TRUE], within)
        out[i, IF_FALSE] = max(out[i, IF_FALSE], letting_in - scores[i])
        letting_in = max(letting_in, top[r + 1] + counts[r])
    return without


@jit
def max_marginals_form(form, k, scores, out):
    """Best value of a CAP, SUM, ANYOF or PARITY with each literal false and true, ``out[n, 2]``.

    Literal space; an ANYOF's output comes last.  Returns the maximum.

    Example:
        >>> import numpy as np
        >>> out = np.empty((3, 2))
        >>> from assent.kernels.problem import CAP
        >>> float(max_marginals_form(CAP, 1, np.array([3.0, 1.0, -1.0]), out)), out.tolist()
        (3.0, [[1.0, 3.0], [3.0, 1.0], [3.0, -1.0]])
    """
    n = len(scores) - 1 if form == ANYOF else len(scores)
    counts = np.zeros(n + 1)
    for m in range(n + 1):
        if form == ANYOF:
            counts[m] = scores[n] if m > 0 else 0.0
        elif form == PARITY:
            counts[m] = -np.inf if m % 2 == 1 else 0.0
        elif m > k or (form == SUM and m < k):
            counts[m] = -np.inf
    best = max_marginals_cardinality(scores[:n], counts, out)
    if form == ANYOF:
        out[n, IF_FALSE] = 0.0
        out[n, IF_TRUE] = -np.inf
        for i in range(n):
            out[n, IF_TRUE] = max(out[n, IF_TRUE], out[i, IF_TRUE])
    return best
