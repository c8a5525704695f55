"""Cardinality: a score per number of true literals, ``counts[0..n]``; -inf forbids a number.

For every number the best literals are those with the greatest scores: sorting answers
``maximize`` (here) and ``max_marginals``; a chain over the running count answers ``marginals``.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit


@jit
def descending_order(keys, order):
    """Write the indices of ``keys[n]`` from greatest to least into ``order[n]``.

    A heapsort, because Numba's own sorts take several times longer to compile than this.
    """
    n = len(keys)
    for i in range(n):
        order[i] = i
    unbuilt = n // 2
    end = n
    while end > 1:
        # Build the heap (least key at the root), then take the root to the end again and again.
        if unbuilt > 0:
            unbuilt -= 1
            item = order[unbuilt]
        else:
            end -= 1
            item = order[end]
            order[end] = order[0]
        hole = unbuilt
        child = 2 * hole + 1
        while child < end:
            if child + 1 < end and keys[order[child + 1]] < keys[order[child]]:
                child += 1
            if keys[order[child]] >= keys[item]:
                break
            order[hole] = order[child]
            hole = child
            child = 2 * hole + 1
        order[hole] = item


@jit
def maximize_cardinality(scores, counts, out):
    """Best vertex for ``scores[n]`` and ``counts[n + 1]``, written to ``out[n]``.

    Returns the value, -inf if every number is forbidden.  Among equal values the smallest
    number of true literals wins.

    Example:
        >>> import numpy as np
        >>> out = np.empty(3)
        >>> counts = np.array([0.0, -np.inf, 1.0, 0.0])
        >>> float(maximize_cardinality(np.array([2.0, -4.0, -1.0]), counts, out)), out.tolist()
        (2.0, [1.0, 0.0, 1.0])
    """
    order = np.empty(len(scores), np.int64)
    descending_order(scores, order)
    best = counts[0]
    number = 0
    total = 0.0
    for i in range(len(scores)):
        total += scores[order[i]]
        if total + counts[i + 1] > best:
            best = total + counts[i + 1]
            number = i + 1
    for i in range(len(scores)):
        out[order[i]] = 1 if i < number else 0
    return best
