"""Cardinality as a structure: a slot per literal, an inner part per number of true ones.

Literals that are forced or forbidden are counted or left out beforehand; see ``docs`` on adding
a factor for the arguments.  There are no constants.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.marginals import marginals_cardinality
from assent.kernels.core.max_marginals import max_marginals_cardinality
from assent.kernels.jit import jit_internal, jit_structure
from assent.kernels.kinds.count_scores import maximize_cardinality


@jit_internal
def split_literals(scores, gain, free):
    """Sort the literals of ``scores[2 n]`` into those with a choice and those without.

    ``free[:k]`` are the literals with a choice, ``gain[:k]`` what being true adds.  Returns
    ``k``, how many are forced to be true, and the score of everything else being false; that is
    -inf if a literal can be neither.
    """
    k = 0
    forced = 0
    base = 0.0
    for i in range(len(scores) // 2):
        false, true = scores[2 * i], scores[2 * i + 1]
        if false == -np.inf:
            base += true
            forced += 1
        else:
            base += false
            if true > -np.inf:
                gain[k] = true - false
                free[k] = i
                k += 1
    return k, forced, base


@jit_structure
def maximize_counts(start, data, scores, inner, scale, states):
    """The best vertex."""
    n = len(states)
    gain = np.empty(n)
    free = np.empty(n, np.int64)
    k, forced, base = split_literals(scores, gain, free)
    chosen = np.empty(k)
    value = maximize_cardinality(gain[:k], scale * inner[forced : forced + k + 1], chosen)
    number = 0
    for i in range(n):
        states[i] = scores[2 * i] == -np.inf
        number += states[i]
    for i in range(k):
        states[free[i]] = chosen[i] > 0.5
        number += states[free[i]]
    return base + value, inner[number]


@jit_structure
def parts_counts(start, data, states, weight, out):
    """Add ``weight`` to the part of the number of true literals; every state is a vertex."""
    number = 0
    for state in states:
        number += state
    out[number] += weight
    return True


@jit_structure
def max_marginals_counts(start, data, scores, inner, out):
    """Best value with each place chosen, ``out[places]``."""
    n = len(out) // 2
    gain = np.empty(n)
    free = np.empty(n, np.int64)
    k, forced, base = split_literals(scores, gain, free)
    best = np.empty((k, 2))
    value = base + max_marginals_cardinality(gain[:k], inner[forced : forced + k + 1], best)
    for i in range(n):
        out[2 * i] = -np.inf if scores[2 * i] == -np.inf else value
        out[2 * i + 1] = value if scores[2 * i] == -np.inf else -np.inf
    for i in range(k):
        out[2 * free[i]] = base + best[i, 0]
        out[2 * free[i] + 1] = base + best[i, 1]


@jit_structure
def marginals_counts(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and of numbers; returns the log-partition times temperature."""
    n = len(out) // 2
    gain = np.empty(n)
    free = np.empty(n, np.int64)
    k, forced, base = split_literals(scores, gain, free)
    true = np.empty(k)
    out_inner[:] = 0.0
    own = slice(forced, forced + k + 1)
    value = base + marginals_cardinality(gain[:k], inner[own], temperature, true, out_inner[own])
    if value == -np.inf:  # nothing is possible
        out[:] = 0.0
        out_inner[:] = 0.0
        return value
    for i in range(n):
        out[2 * i + 1] = 1.0 if scores[2 * i] == -np.inf else 0.0
    for i in range(k):
        out[2 * free[i] + 1] = true[i]
    for i in range(n):
        out[2 * i] = 1.0 - out[2 * i + 1]
    return value
