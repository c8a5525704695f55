"""Expected links by two alignment models that are trained to agree (Liang et al. 2006).

One model explains target words by source words, the other the reverse.  Both read one list of word
pairs that occur together: ``start[sources + 1]`` and ``target[pairs]``, sorted within a source.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.alignment.hidden_markov import hidden_markov_posteriors
from assent.kernels.jit import jit, jit_internal

# The probability of a word given another that it was never seen with, and with a model that has
# ruled the pair out: some word must remain possible.
LEAST = 1e-9


class PairTable(NamedTuple):
    """Word pairs that occur together."""

    start: np.ndarray  # int64[sources + 1]: where the pairs of a source word begin
    target: np.ndarray  # int32[pairs]: their target words, ascending for each source word


class Direction(NamedTuple):
    """The parameters of one model, or expected counts in their place."""

    pairs: np.ndarray  # float64[pairs]: the probability of the observed word given the other
    null: np.ndarray  # float64[words]: given none
    jumps: np.ndarray  # float64[2 W + 1]: weights of distances; of length 0 for IBM Model 1


@jit_internal
def find_pair(table, source, target):
    """The index of a word pair, or -1; words that are unknown are -1."""
    if source < 0 or target < 0:
        return -1
    low, high = table.start[source], table.start[source + 1]
    while low < high:
        middle = (low + high) // 2
        if table.target[middle] < target:
            low = middle + 1
        else:
            high = middle
    found = low < table.start[source + 1] and table.target[low] == target
    return low if found else -1


@jit_internal
def link_posteriors(direction, emission, null_emission, null, jump_counts):
    """Probabilities ``[observed, states]`` of links under one model."""
    observed, states = emission.shape
    posterior = np.empty((observed, states))
    if len(direction.jumps):
        hidden_markov_posteriors(
            emission, null_emission, direction.jumps, null, posterior, jump_counts
        )
        return posterior
    for j in range(observed):
        total = null * null_emission[j]
        for i in range(states):
            posterior[j, i] = (1.0 - null) / states * emission[j, i]
            total += posterior[j, i]
        for i in range(states):
            posterior[j, i] /= total
    return posterior


@jit
def sentence_posteriors(table, forward, backward, null, diagonal, source, target, counts):
    """Probabilities of the links of one sentence pair, and the indices of its word pairs.

    Args:
        table: the word pairs.
        forward: the model that explains target words.
        backward: the one that explains source words.
        null: the probability that a word has no link.
        diagonal: how fast links get less probable with the distance of relative positions.
        source: words ``[n]``; -1 where unknown.
        target: words ``[m]``.
        counts: a pair of arrays to which the expected jumps of both models are added.

    Returns:
        tables ``[n, m]``: indices (-1: unknown), links by the forward and by the backward model.
    """
    n, m = len(source), len(target)
    index = np.empty((n, m), np.int64)
    explained, explaining = np.empty((m, n)), np.empty((n, m))
    for i in range(n):
        for j in range(m):
            at = find_pair(table, source[i], target[j])
            index[i, j] = at
            near = np.exp(-diagonal * abs((i + 0.5) / n - (j + 0.5) / m))
            explained[j, i] = near * (max(forward.pairs[at], LEAST) if at >= 0 else LEAST)
            explaining[i, j] = near * (max(backward.pairs[at], LEAST) if at >= 0 else LEAST)
    none_target, none_source = np.full(m, LEAST), np.full(n, LEAST)
    for j in range(m):
        if target[j] >= 0:
            none_target[j] = max(forward.null[target[j]], LEAST)
    for i in range(n):
        if source[i] >= 0:
            none_source[i] = max(backward.null[source[i]], LEAST)
    ahead = link_posteriors(forward, explained, none_target, null, counts[0])
    back = link_posteriors(backward, explaining, none_source, null, counts[1])
    return index, ahead.T.copy(), back


@jit
def expected_counts(table, forward, backward, null, diagonal, texts, counts):
    """Sum the expected links of a bitext into ``counts``, two `Direction`.

    A link counts as the product of its probabilities under both models: the agreement.

    Args:
        table: the word pairs.
        forward: the model that explains target words.
        backward: the one that explains source words.
        null: the probability that a word has no link.
        diagonal: how fast links get less probable with the distance of relative positions.
        texts: ``(source words, their starts, target words, their starts)``, sentences one after
            the other.
        counts: filled up; for the forward and the backward model.
    """
    source, source_start, target, target_start = texts
    jumps = (counts[0].jumps, counts[1].jumps)
    for s in range(len(source_start) - 1):
        own = source[source_start[s] : source_start[s + 1]]
        other = target[target_start[s] : target_start[s + 1]]
        if len(own) == 0 or len(other) == 0:
            continue
        index, ahead, back = sentence_posteriors(
            table, forward, backward, null, diagonal, own, other, jumps
        )
        for i in range(len(own)):
            rest = 1.0
            for j in range(len(other)):
                both = ahead[i, j] * back[i, j]
                counts[0].pairs[index[i, j]] += both
                counts[1].pairs[index[i, j]] += both
                rest -= back[i, j]
            counts[1].null[own[i]] += max(rest, 0.0)
        for j in range(len(other)):
            rest = 1.0
            for i in range(len(own)):
                rest -= ahead[i, j]
            counts[0].null[other[j]] += max(rest, 0.0)
