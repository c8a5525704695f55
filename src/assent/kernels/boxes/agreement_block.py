"""The best multipliers between two submodels that should agree (Belanger et al., 2014, corrected).

With max-marginals ``m1`` and ``m2`` over the states that should agree, and penalties ``c[K]``, the
multipliers of a block are best when they make the submodels' maxima add up to

    max over i, j of  m1(i) + m2(j) - c(i) [i != j]

For penalties that form a matrix see :mod:`assent.kernels.boxes.matrix_block`.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation


@jit_internal_no_allocation
def between(low, high, part):
    """The number that lies at ``part`` between two, whatever is infinite or rounded."""
    if low == -np.inf and high == np.inf:
        return 0.0
    if low == -np.inf:
        return high
    return low if high == np.inf else low + part * (high - low)


@jit
def best_block(m1, m2, c, nu, at_best=0.5, elsewhere=0.5):
    """The best multipliers of a block, into ``nu[K]``; returns the block's optimum.

    ``m1`` and ``m2`` are max-marginals without the block's own multipliers, ``c`` the penalties.
    All numbers of an interval are best: ``at_best`` says where in it to be (Algorithm 4 takes the
    middle) for the state that is best together, and ``elsewhere`` for the others.  There the low
    end leaves the first submodel as indifferent as can be, and the high end the second.

    Example:
        >>> import numpy as np
        >>> nu = np.zeros(2)
        >>> best_block(np.array([3.0, 0.0]), np.array([0.0, 2.0]), np.array([1.5, 4.0]), nu)
        3.5
        >>> nu.tolist()
        [1.5, 0.0]
    """
    k = len(nu)
    # The best pair of states that agree, and the best of any.
    best, first, second = -np.inf, 0, 0
    leaving, joining = 0, 0
    for i in range(k):
        if m1[i] + m2[i] > best:
            best, first, second = m1[i] + m2[i], i, i
        if m1[i] - c[i] > m1[leaving] - c[leaving]:
            leaving = i
        if m2[i] > m2[joining]:
            joining = i
    apart = m1[leaving] - c[leaving] + m2[joining]
    if leaving != joining and apart > best:
        best, first, second = apart, leaving, joining
    if best == -np.inf:
        return best
    if first == second:
        low, high = 0.0, c[first]
        for i in range(k):
            if i != first:
                low = max(low, m2[i] - m2[first])
                high = min(high, c[i] + m1[first] - m1[i])
        nu[first] = min(max(between(low, high, at_best), 0.0), c[first])
    else:
        nu[first] = c[first]
        nu[second] = 0.0
    for i in range(k):
        if i != first and i != second:
            low = max(0.0, m1[i] - m1[first] + nu[first])
            high = min(c[i], m2[second] - m2[i] + nu[second])
            nu[i] = min(max(between(low, high, elsewhere), 0.0), c[i])
    return best


@jit_internal_no_allocation
def is_slack(m1, m2, c, nu):
    """Whether the block's best states fit its multipliers already: nothing to gain."""
    first, second = 0, 0
    for i in range(len(nu)):
        if m1[i] - nu[i] > m1[first] - nu[first]:
            first = i
        if m2[i] + nu[i] > m2[second] + nu[second]:
            second = i
    if first == second:
        return True
    return nu[first] == c[first] and nu[second] == 0.0


@jit_internal
def step_agreement(m1, m2, c, old, new, at_best, elsewhere):
    """The best multipliers ``new[K]`` of a block; ``at_best`` and ``elsewhere`` as above.

    ``m1`` and ``m2`` are max-marginals at the multipliers ``old``, which are taken off them.
    """
    for i in range(len(m1)):
        m1[i] += old[i]
        m2[i] -= old[i]
    copy_values(old, new)
    best_block(m1, m2, c, new, at_best, elsewhere)
