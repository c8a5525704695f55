"""Marginals: the entropic answer of a factor at a temperature.

A vertex of score s has probability proportional to ``exp(s / temperature)``; the answers are the
probability of each literal and ``temperature * log(sum of the weights)``, which tends to the
maximum as the temperature falls.

One idea serves all forms: a chain over the literals whose state is how many were true so far.
The forms differ in how many states they need and in what follows the last one (FORBID, STAY or
WRAP).  Running forward, the chain keeps, for every state, the share of its weight that came in
through a true literal; running backward, the probabilities of the states flow along those
shares.  A share lies in [0, 1] whatever the temperature, hence so does every probability.

Weights are kept as ``mass * exp(level / temperature)`` with levels in units of score.  Levels
only meet as differences, which cannot overflow, and equal levels stay equal: ties are counted
in the mass, at any temperature.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal
from assent.kernels.problem import ANYOF, CAP, PARITY

# What follows when a literal is true in the chain's last state.
FORBID = 0  # no vertex has more true literals
STAY = 1  # beyond the last state the number no longer matters
WRAP = 2  # back to state 0

# A mass beyond this moves into the level; doubling it once more per literal is far from overflow.
LARGEST_MASS = 1e150


@jit
def marginals_pair(score, scores, temperature, out):
    """Pair ``score * x1 * x2`` with ``scores[2]``: probabilities ``out[3]`` of x1, x2 and both.

    Returns ``temperature * log(sum of the weights)``.

    Example:
        >>> import numpy as np
        >>> out = np.empty(3)
        >>> _ = marginals_pair(0.0, np.zeros(2), 1.0, out)
        >>> out.tolist()
        [0.5, 0.5, 0.25]
    """
    both = scores[0] + scores[1] + score
    best = max(max(0.0, scores[0]), max(scores[1], both))
    first = np.exp((scores[0] - best) / temperature)
    second = np.exp((scores[1] - best) / temperature)
    joint = np.exp((both - best) / temperature)
    total = np.exp(-best / temperature) + first + second + joint
    out[0] = (first + joint) / total
    out[1] = (second + joint) / total
    out[2] = joint / total
    return best + temperature * np.log(total)


@jit_internal
def _forward(scores, rule, temperature, mass, level, entered):
    """Run the chain over all literals; returns the score it has set aside.

    ``mass[S]`` and ``level[S]`` end as the weights of the states.  ``entered[j, c]`` is the share
    of state c after literal j that came from state c - 1 (for WRAP, 0 from the last) by a true
    literal; ``entered[j, S]`` the share of the last state that came from itself by one.
    """
    last = len(mass) - 1
    for c in range(last + 1):
        mass[c], level[c] = 0.0, -np.inf
    mass[0], level[0] = 1.0, 0.0
    best = 0.0
    for j in range(len(scores)):
        # Levels are relative to the better value of each literal, so they stay near 0 on the
        # vertices that matter.
        if_true = min(scores[j], 0.0)
        if_false = -max(scores[j], 0.0)
        best += max(scores[j], 0.0)
        last_mass, last_level = mass[last], level[last]
        for c in range(min(last, j + 1), -1, -1):
            old_mass, old_level = mass[c], level[c] + if_false
            again = 0.0
            if c == last and rule == STAY:
                # Both values of the literal stay here: count the worse beside the better.
                worse = np.exp(-abs(scores[j]) / temperature)
                old_level = level[c]
                old_mass *= 1.0 + worse
                again = (1.0 if scores[j] > 0.0 else worse) / (1.0 + worse)
            if c > 0:
                new_mass, new_level = mass[c - 1], level[c - 1] + if_true
            elif rule == WRAP:
                new_mass, new_level = last_mass, last_level + if_true
            else:
                new_mass, new_level = 0.0, -np.inf
            # An empty state has level -inf; two of them must not be compared.
            if new_mass == 0.0:
                share = 0.0
                mass[c], level[c] = old_mass, old_level
            elif new_level > old_level:
                old_mass *= np.exp((old_level - new_level) / temperature)
                mass[c], level[c] = old_mass + new_mass, new_level
                share = new_mass / mass[c]
            else:
                new_mass *= np.exp((new_level - old_level) / temperature)
                mass[c], level[c] = old_mass + new_mass, old_level
                share = new_mass / mass[c]
            if mass[c] > LARGEST_MASS:
                level[c] += temperature * np.log(mass[c])
                mass[c] = 1.0
            entered[j, c] = share
            if c == last:
                entered[j, last + 1] = (1.0 - share) * again
    return best


@jit_internal
def _backward(rule, entered, ends, out):
    """Let the probabilities ``ends[S]`` of the final states flow back; fills ``out[n]``.

    ``ends`` is used up: it holds the probabilities of the states before each literal in turn.
    """
    last = len(ends) - 1
    for j in range(len(out) - 1, -1, -1):
        true = 0.0
        from_last = ends[0] * entered[j, 0] if rule == WRAP else 0.0
        again = ends[last] * entered[j, last + 1]
        for c in range(min(last, j + 1) + 1):
            came = ends[c] * entered[j, c]
            true += came
            ends[c] -= came
            if c > 0:
                ends[c - 1] += came
        ends[last] += from_last
        out[j] = min(true + again, 1.0)


@jit_internal
def count_chain(scores, finals, rule, temperature, out, ends):
    """Marginals ``out[n]`` of a chain that counts true literals in the states of ``finals[S]``.

    ``finals`` scores the state at the end, -inf forbids it; ``ends[S]`` receives the final
    states' probabilities.  Returns ``temperature * log(sum of the weights)``, or -inf with all
    probabilities 0 if nothing is allowed.
    """
    states = len(finals)
    mass = np.empty(states)
    level = np.empty(states)
    entered = np.zeros((len(scores), states + 1))
    best = _forward(scores, rule, temperature, mass, level, entered)
    highest = -np.inf
    for c in range(states):
        level[c] += finals[c]
        highest = max(highest, level[c])
    if highest == -np.inf:
        for c in range(states):
            ends[c] = 0.0
        for j in range(len(scores)):
            out[j] = 0.0
        return highest
    total = 0.0
    for c in range(states):
        mass[c] *= np.exp((level[c] - highest) / temperature)
        total += mass[c]
    for c in range(states):
        mass[c] /= total
        ends[c] = mass[c]
    _backward(rule, entered, mass, out)
    return best + highest + temperature * np.log(total)


@jit
def marginals_cardinality(scores, counts, temperature, out, count_out):
    """Probabilities of the literals, ``out[n]``, and of their number, ``count_out[n + 1]``.

    ``counts[n + 1]`` scores the number of true literals.  Returns ``temperature * log(sum of the
    weights)``.  Time and memory O(n * m), m the greatest number allowed.

    Example:
        >>> import numpy as np
        >>> out, count_out = np.empty(2), np.empty(3)
        >>> not_both = np.array([0.0, 0.0, -np.inf])
        >>> _ = marginals_cardinality(np.zeros(2), not_both, 1.0, out, count_out)
        >>> np.round(count_out, 6).tolist()
        [0.333333, 0.666667, 0.0]
    """
    rule = np.int64(FORBID)  # the bare constant would compile the chain once more, for it alone
    states = len(counts)
    while states > 1 and counts[states - 1] == -np.inf:
        states -= 1
    for m in range(states, len(counts)):
        count_out[m] = 0.0
    return count_chain(scores, counts[:states], rule, temperature, out, count_out[:states])


@jit_internal
def _rule(form, negate):
    """What follows the last state; a negated CAP says "at least", so more are as good."""
    if form == PARITY:
        return WRAP
    if form == ANYOF or (form == CAP and negate):
        return STAY
    return FORBID


@jit
def marginals_form(form, k, scores, temperature, out):
    """Probability ``out[n]`` of each literal of a CAP, SUM, ANYOF or PARITY (literal space).

    An ANYOF's output comes last.  Returns ``temperature * log(sum of the weights)``.  Time
    O(n * min(k, n - k)) for CAP and SUM, O(n) otherwise.

    Example:
        >>> import numpy as np
        >>> out = np.empty(3)
        >>> _ = marginals_form(CAP, 1, np.zeros(3), 1.0, out)
        >>> out.tolist()
        [0.25, 0.25, 0.25]
    """
    n = len(scores)
    counted = scores[: n - 1] if form == ANYOF else scores
    binary = form in (ANYOF, PARITY)
    # Count whichever is rarer, true or false literals.
    negate = not binary and 2 * k > n
    last = 1 if binary else (n - k if negate else k)
    rule = _rule(form, negate)
    finals = np.zeros(last + 1)
    if form == ANYOF:
        finals[1] = scores[n - 1]
    elif form == PARITY:
        finals[1] = -np.inf
    elif form != CAP or negate:
        for c in range(last):
            finals[c] = -np.inf
    ends = np.empty(last + 1)
    sign = -1.0 if negate else 1.0
    value = count_chain(sign * counted, finals, rule, temperature, out[: len(counted)], ends)
    if form == ANYOF:
        out[n - 1] = ends[1]
    if negate:
        for j in range(n):
            value += scores[j]
            out[j] = 1.0 - out[j]
    return value
