"""The best multipliers between two submodels whose disagreement is charged by a matrix.

With max-marginals ``m1`` and ``m2`` and penalties ``c[K, K]`` a block is worth

    least over 0 <= nu <= c of  max_i (m1(i) - sum_j nu(i, j)) + max_j (m2(j) + sum_i nu(i, j))

which may lie above what any pair of states is worth, so that no pair tells the multipliers.  Read
``nu`` as a flow from states of the first to states of the second: levels ``a`` and ``b`` of the
two sides can be had if all that stands above ``a`` flows away and nothing rises above ``b``.  Where
it cannot, a minimum cut says why, as a line that all levels obey: for its states A and B,

    |A| a + |B| b >= sum of m1 over A + sum of m2 over B - penalties from A to outside of B

The least ``b`` for an ``a`` is convex, so the best ``a`` lies where two such lines meet.  Of all
that are best, the middle is taken, and there the mean of the least flow and the largest: as in
Algorithm 4 of Belanger et al. (2014), which this is for penalties on the diagonal.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.graph_cut.maxflow import SOURCE, Network, max_flow
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation

# What is below this part of the largest number counts as nothing.
NEGLIGIBLE = 1e-13


@jit_internal
def make_network(k):
    """Arcs from every state of the first side, 0 … k - 1, to every one of the second."""
    first = np.arange(2 * k + 1).astype(np.int32) * np.int32(k)
    head, sister = np.empty(2 * k * k, np.int32), np.empty(2 * k * k, np.int32)
    for i in range(k):
        for j in range(k):
            there, back = i * k + j, (k + j) * k + i
            head[there], sister[there] = k + j, back
            head[back], sister[back] = i, there
    return Network(
        first, head, sister, np.empty(2 * k * k), np.empty(2 * k), np.zeros(2 * k, np.int32)
    )


@jit
def fill(network, m1, m2, c, a, b):
    """No flow yet; what stands above ``a`` wants to leave, and there is room up to ``b``."""
    k = len(m1)
    for i in range(k):
        network.terminal[i] = max(0.0, m1[i] - a)
        network.terminal[k + i] = -max(0.0, b - m2[i])
        for j in range(k):
            network.residual[i * k + j] = c[i, j]
            network.residual[(k + j) * k + i] = 0.0


@jit_internal
def cut_line(side, m1, m2, c):
    """The line of a minimum cut: its right-hand side, ``|A|`` and ``|B|``."""
    k = len(m1)
    height, first, second = 0.0, 0, 0
    for i in range(k):
        if side[k + i] == SOURCE:
            second += 1
            height += m2[i]
        if side[i] == SOURCE:
            first += 1
            height += m1[i]
            for j in range(k):
                if side[k + j] != SOURCE:
                    height -= c[i, j]
    return height, first, second


@jit_internal
def least_second(network, m1, m2, c, a, b, tiny):
    """The least level of the second side for ``a``, from ``b`` upwards, and the line there.

    The line's ``|B|`` is 0 where ``b`` was enough.
    """
    k = len(m1)
    side = np.empty(2 * k, np.int8)
    fill(network, m1, m2, c, a, b)
    line = (0.0, 0, 0)
    while True:
        max_flow(network, tiny, side)
        left = 0.0
        for i in range(k):
            left += max(0.0, network.terminal[i])
        if left <= 2 * k * tiny:
            return b, line
        found = cut_line(side, m1, m2, c)
        if found[2] == 0:  # nothing but rounding: from the lowest level on everything can leave
            return b, line
        higher = (found[0] - found[1] * a) / found[2]
        if higher <= b:
            return b, line
        for j in range(k):
            network.terminal[k + j] -= higher - b
        b, line = higher, found


@jit
def crossing(line, best):
    """Where the sum of the levels along a line is ``best``."""
    return (line[0] - line[2] * best) / (line[1] - line[2])


@jit_internal
def outermost(network, m1, m2, c, best, line, sign, tiny):
    """The last ``a`` whose levels add up to ``best``; ``line`` rises beyond it.

    ``sign`` is 1 for the lowest and -1 for the highest.
    """
    while True:
        a = crossing(line, best)
        _, found = least_second(network, m1, m2, c, a, best - a, tiny)
        if sign * (found[1] - found[2]) <= 0 or found[2] == 0 or crossing(found, best) == a:
            return a
        line = found


@jit_internal
def best_levels(network, m1, m2, c, tiny):
    """The least sum of the two levels, and the lowest and highest ``a`` that have it."""
    lowest, above = -np.inf, m2.max()
    for i in range(len(m1)):
        lowest = max(lowest, m1[i] - c[i].sum())
    b, left = least_second(network, m1, m2, c, lowest, above, tiny)
    best, right = lowest + b, (above, 0, 1)
    first = lowest
    if left[1] > left[2]:  # the sum falls from there on
        while True:
            a = (left[0] * right[2] - right[0] * left[2]) / (
                left[1] * right[2] - right[1] * left[2]
            )
            below = (left[0] - left[1] * a) / left[2]
            b, line = least_second(network, m1, m2, c, a, below, tiny)
            best = a + b
            if line[2] == 0 or line[1] == line[2] or b - below <= tiny:
                break
            if line[1] > line[2]:
                left = line
            else:
                right = line
        first = outermost(network, m1, m2, c, best, left, 1, tiny)
    last = outermost(network, m1, m2, c, best, right, -1, tiny)
    return best, first, max(first, last)


@jit
def largest(m1, m2, c):
    """The largest finite number of a block."""
    size = c.max()
    for i in range(len(m1)):
        if m1[i] > -np.inf:
            size = max(size, np.abs(m1[i]))
        if m2[i] > -np.inf:
            size = max(size, np.abs(m2[i]))
    return size


@jit
def best_matrix_block(m1, m2, c, nu):
    """The best multipliers of a block, into ``nu[K, K]``; returns the block's optimum.

    ``m1`` and ``m2`` are max-marginals without the block's own multipliers.

    Example:
        >>> import numpy as np
        >>> nu = np.zeros((2, 2))
        >>> c = np.array([[1.5, 0.0], [0.5, 4.0]])
        >>> best_matrix_block(np.array([3.0, 0.0]), np.array([0.0, 2.0]), c, nu)
        3.5
        >>> nu.tolist()
        [[1.5, 0.0], [0.25, 0.0]]
    """
    k = len(m1)
    if m1.max() == -np.inf or m2.max() == -np.inf:
        return -np.inf
    tiny = NEGLIGIBLE * largest(m1, m2, c)
    network = make_network(k)
    best, first, last = best_levels(network, m1, m2, c, tiny)
    a = 0.5 * (first + last)
    fill(network, m1, m2, c, a, best - a)
    side = np.empty(2 * k, np.int8)
    for i in range(k):
        copy_values(c[i], nu[i])
    for _ in range(2):  # the least flow, then all that there is room for
        max_flow(network, tiny, side)
        for i in range(k):
            network.terminal[i] = 0.0
            for j in range(k):
                left = network.residual[i * k + j]
                network.terminal[i] += left
                nu[i, j] = max(0.0, nu[i, j] - 0.5 * left)
    return best


@jit_internal_no_allocation
def is_matrix_slack(m1, m2, c, nu):
    """Whether the block's best states fit its multipliers already: nothing to gain."""
    k = len(m1)
    first, second = 0, 0
    highest, joined = -np.inf, -np.inf
    for i in range(k):
        own, other = m1[i], m2[i]
        for j in range(k):
            own -= nu[i, j]
            other += nu[j, i]
        if own > highest:
            highest, first = own, i
        if other > joined:
            joined, second = other, i
    for i in range(k):
        if i != second and nu[first, i] != c[first, i]:
            return False
        if i != first and nu[i, second] != 0.0:
            return False
    return True


@jit_internal
def step_matrix(m1, m2, c, old, new):
    """The best multipliers ``new[K, K]`` of a block; whether there is anything to gain.

    ``m1`` and ``m2`` are max-marginals at the multipliers ``old``, which are taken off them.
    """
    for i in range(len(m1)):
        for j in range(len(m1)):
            m1[i] += old[i, j]
            m2[j] -= old[i, j]
    if is_matrix_slack(m1, m2, c, old):
        return False
    for i in range(len(m1)):
        copy_values(old[i], new[i])
    best_matrix_block(m1, m2, c, new)
    return True
