"""Soft output: the last literal should be the OR of the others; ``inner[0]`` is paid if not.

Of the others only two things matter: the best with none of them true, and with some.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.jit import jit_internal_no_allocation, jit_structure
from assent.kernels.kinds.soft_agreement import log_add


@jit_internal_no_allocation
def none_and_some(scores, n, states):
    """Best values of the first ``n`` literals with none true and with some; states of the latter.

    ``scores`` holds two places per literal, false and true.
    """
    none, some = 0.0, 0.0
    least, cheapest, chosen = np.inf, -1, False
    for i in range(n):
        false, true = scores[2 * i], scores[2 * i + 1]
        none += false
        states[i] = true > false
        chosen = chosen or states[i] == 1
        some += max(false, true)
        # With -inf on both sides nothing is possible, and the loss may be anything.
        loss = 0.0 if true >= false else false - true
        if loss < least:
            least, cheapest = loss, i
    if not chosen:
        if cheapest < 0:
            return none, -np.inf
        some -= least
        states[cheapest] = 1
    return none, some


@jit_structure
def maximize_output(start, data, scores, inner, scale, states):
    """The best vertex: its value and the inner score it earns."""
    n = len(states) - 1
    none, some = none_and_some(scores, n, states)
    paid = scale * inner[0]
    # By the output: false then true; by whether some are true.
    best, output, any_true = scores[2 * n] + none, 0, 0
    if scores[2 * n + 1] + some > best:
        best, output, any_true = scores[2 * n + 1] + some, 1, 1
    if scores[2 * n] + some + paid > best:
        best, output, any_true = scores[2 * n] + some + paid, 0, 1
    if scores[2 * n + 1] + none + paid > best:
        best, output, any_true = scores[2 * n + 1] + none + paid, 1, 0
    if any_true == 0:
        states[:n] = 0
    states[n] = output
    return best, 0.0 if output == any_true else inner[0]


@jit_structure
def parts_output(start, data, states, weight, out):
    """Add ``weight`` to the part that is paid; every state is a vertex."""
    n = len(states) - 1
    any_true = 0
    for i in range(n):
        any_true = max(any_true, states[i])
    if any_true != states[n]:
        out[0] += weight
    return True


@jit_structure
def max_marginals_output(start, data, scores, inner, out):
    """Best value with each place chosen, ``out[places]``: one search per place."""
    own = scores.copy()
    states = np.empty(len(scores) // 2, np.int32)
    for place in range(len(scores)):
        other = place ^ 1
        own[other] = -np.inf
        out[place] = maximize_output(start, data, own, inner, 1.0, states)[0]
        own[other] = scores[other]


@jit_structure
def marginals_output(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and of being paid; returns the log-partition times temperature."""
    n = len(scores) // 2 - 1
    none, some, every = 0.0, -np.inf, 0.0  # log weights
    for i in range(n):
        false, true = scores[2 * i] / temperature, scores[2 * i + 1] / temperature
        either = log_add(false, true)
        some = log_add(some + either, none + true)
        none += false
        every += either
    false, true = scores[2 * n] / temperature, scores[2 * n + 1] / temperature
    paid = inner[0] / temperature
    with_none = none + log_add(false, true + paid)
    with_some = some + log_add(true, false + paid)
    total = log_add(with_none, with_some)
    if total == -np.inf:
        out[:] = 0.0
        out_inner[:] = 0.0
        return -np.inf
    out_inner[0] = exp(none + true + paid - total) + exp(some + false + paid - total)
    out[2 * n] = exp(none + false - total) + exp(some + false + paid - total)
    out[2 * n + 1] = exp(some + true - total) + exp(none + true + paid - total)
    weight = log_add(true, false + paid)  # of the output, where some are true
    for i in range(n):
        own, other = scores[2 * i + 1] / temperature, scores[2 * i] / temperature
        rest = every - log_add(own, other)
        out[2 * i + 1] = exp(own + rest + weight - total)
        out[2 * i] = max(0.0, 1.0 - out[2 * i + 1])
    return temperature * total
