"""The hidden Markov model of word alignment (Vogel et al. 1996) on one sentence pair.

The words of one sentence are observed; the state of each is the position of the word of the other
sentence that it translates, or none (*null*).  A null word keeps the position before (Och and Ney
2003): the jump after it starts there.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal


@jit_internal
def transitions(jumps, states, null):
    """Probabilities ``[from, to]`` of positions, from weights ``jumps[2 W + 1]`` of distances.

    Distances beyond W weigh as W does.
    """
    reach = len(jumps) // 2
    table = np.empty((states, states))
    for i in range(states):
        total = 0.0
        for k in range(states):
            table[i, k] = jumps[min(max(k - i, -reach), reach) + reach]
            total += table[i, k]
        for k in range(states):
            table[i, k] *= (1.0 - null) / total
    return table


@jit_internal
def forward_pass(emission, null_emission, table, null, linked, position):
    """Scaled probabilities of a sentence up to each word.

    ``linked[observed, states]`` is that the word has a link, ``position`` that the next jump starts
    there; each row of the latter sums to one.
    """
    observed, states = emission.shape
    for j in range(observed):
        total = 0.0
        for i in range(states):
            if j == 0:
                linked[0, i] = (1.0 - null) / states * emission[0, i]
                position[0, i] = linked[0, i] + null / states * null_emission[0]
            else:
                reached = 0.0
                for k in range(states):
                    reached += position[j - 1, k] * table[k, i]
                linked[j, i] = reached * emission[j, i]
                position[j, i] = linked[j, i] + null * position[j - 1, i] * null_emission[j]
            total += position[j, i]
        for i in range(states):
            linked[j, i] /= total
            position[j, i] /= total


@jit
def hidden_markov_posteriors(emission, null_emission, jumps, null, posterior, jump_counts):
    """Probabilities ``posterior[observed, states]`` that a word translates another.

    Args:
        emission: ``[observed, states]`` probability of each word given the one it translates.
        null_emission: ``[observed]`` given none.
        jumps: ``[2 W + 1]`` weights of distances between positions.
        null: the probability of none.
        posterior: filled in; what a row lacks to one is none's.
        jump_counts: ``[2 W + 1]``, to which the expected numbers of jumps are added.

    Example:
        >>> import numpy as np
        >>> emission = np.array([[0.9, 0.1], [0.1, 0.9]])
        >>> out, counts = np.empty((2, 2)), np.zeros(3)
        >>> hidden_markov_posteriors(emission, np.zeros(2), np.ones(3), 0.0, out, counts)
        >>> out.round(2).tolist(), counts.round(2).tolist()
        ([[0.9, 0.1], [0.1, 0.9]], [0.01, 0.18, 0.81])
    """
    observed, states = emission.shape
    reach = len(jumps) // 2
    table = transitions(jumps, states, null)
    linked, position = np.empty((observed, states)), np.empty((observed, states))
    forward_pass(emission, null_emission, table, null, linked, position)
    behind, before = np.ones(states), np.empty(states)
    for j in range(observed - 1, -1, -1):
        total = 0.0
        for i in range(states):
            posterior[j, i] = linked[j, i] * behind[i]
            total += position[j, i] * behind[i]
        for i in range(states):
            posterior[j, i] /= total
        if j == 0:
            break
        total = 0.0
        for k in range(states):
            before[k] = null * null_emission[j] * behind[k]
            for i in range(states):
                before[k] += table[k, i] * emission[j, i] * behind[i]
            total += position[j - 1, k] * before[k]
        for k in range(states):
            for i in range(states):
                jump = table[k, i] * emission[j, i] * behind[i] * position[j - 1, k] / total
                jump_counts[min(max(i - k, -reach), reach) + reach] += jump
        # Scaled, since products over a sentence would leave the range of numbers.
        for k in range(states):
            behind[k] = before[k] / total
