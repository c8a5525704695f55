"""A first look at all arcs: for every word a distribution over its heads, from a log-linear model.

Used to leave out arcs that no good tree has.  Every word keeps its best heads, those that are
probable enough, and the word before it; so the chain of all words is always left, a tree with a
single root.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.parsing.arc_features import (
    code_between,
    first_look_places,
    running_counts,
)
from assent.kernels.parsing.feature_places import make_features, sum_at
from assent.kernels.parsing.sentence_parts import make_arcs

# Smaller gradients change nothing that matters; most heads of a word are as good as impossible.
LEAST_GRADIENT = 1e-3

# Log-probabilities are told of nothing smaller.
LEAST_PROBABILITY = 1e-300


@jit_internal_no_allocation
def _head_scores(tokens, counts, m, weights, features, out):
    """Scores of all heads of word ``m`` into ``out[n + 1]``, then their probabilities."""
    best = -np.inf
    for h in range(len(out)):
        out[h] = -np.inf
        if h != m:
            size = first_look_places(tokens, h, m, code_between(counts, h, m), features)
            out[h] = sum_at(weights, features, size)
        best = max(best, out[h])
    total = 0.0
    for h in range(len(out)):
        out[h] = exp(out[h] - best)
        total += out[h]
    for h in range(len(out)):
        out[h] /= total


@jit
def head_posteriors(tokens, weights):
    """``[n + 1, n + 1]`` probability of each head (first axis) of every word but the root."""
    words = len(tokens) - 3
    features, counts = make_features(weights), running_counts(tokens)
    out, row = np.zeros((words + 1, words + 1)), np.empty(words + 1)
    for m in range(1, words + 1):
        _head_scores(tokens, counts, m, weights, features, row)
        out[:, m] = row
    return out


@jit_internal
def _keep_probable(row, m, most, least, allowed):
    """Mark the ``most`` best heads that are at least ``least`` times as probable as the best."""
    best = row.max()
    for _ in range(most):
        h = row.argmax()
        if row[h] < least * best:
            break
        allowed[h, m] = True
        row[h] = -1.0


@looks_up("weights")
@jit
def prune(tokens, weights, most, least, gold):
    """Candidate arcs of a sentence; heads in ``gold[n]``, if any are given, are kept."""
    words = len(tokens) - 3
    features, counts = make_features(weights), running_counts(tokens)
    row = np.empty(words + 1)
    allowed = np.zeros((words + 1, words + 1), np.bool_)
    for m in range(1, words + 1):
        _head_scores(tokens, counts, m, weights, features, row)
        _keep_probable(row, m, most, least, allowed)
        allowed[m - 1, m] = True
        if len(gold):
            allowed[gold[m - 1], m] = True
    return make_arcs(allowed)


@jit
def posterior_step(tokens, gold, rate, weights, squares):
    """A step of AdaGrad for the right heads of a sentence; returns their log-probability."""
    words = len(tokens) - 3
    features, counts = make_features(weights), running_counts(tokens)
    row = np.empty(words + 1)
    total = 0.0
    for m in range(1, words + 1):
        _head_scores(tokens, counts, m, weights, features, row)
        total += np.log(max(row[gold[m - 1]], LEAST_PROBABILITY))
        for h in range(words + 1):
            gradient = (1.0 if h == gold[m - 1] else 0.0) - row[h]
            if h == m or abs(gradient) < LEAST_GRADIENT:
                continue
            size = first_look_places(tokens, h, m, code_between(counts, h, m), features)
            for i in range(size):
                place = features.places[i]
                squares[place] += gradient * gradient
                weights[place] += rate * gradient / np.sqrt(squares[place])
    return total
