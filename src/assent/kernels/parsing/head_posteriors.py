"""A first look at all arcs: for every word a distribution over its heads, from a log-linear model.

The model is one of heads, each for itself, or one of trees.

Used to leave out arcs that no good tree has.  Every word keeps its best heads, those that are
probable enough, and the word before it; so the chain of all words is always left, a tree with a
single root.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.kinds.sentences.spanning_trees import largest, through_arcs
from assent.kernels.parsing.arc_features import code_between, first_look_places, running_counts
from assent.kernels.parsing.feature_places import make_features, sum_at
from assent.kernels.parsing.sentence_parts import make_arcs

# Smaller gradients change nothing that matters; most heads of a word are as good as impossible.
LEAST_GRADIENT = 1e-3

# Smaller probabilities have no logarithm that matters.
LEAST_PROBABILITY = 1e-300


@jit_internal_no_allocation
def _score_heads(tokens, counts, m, weights, features, out):
    """Scores of all heads of word ``m`` into ``out[n + 1]``; it is not its own."""
    for h in range(len(out)):
        out[h] = -np.inf
        if h != m:
            size = first_look_places(tokens, h, m, code_between(counts, h, m), features)
            out[h] = sum_at(weights, features, size)


@jit_internal_no_allocation
def _to_probabilities(row):
    """A row of log-weights, in place."""
    best, total = largest(row), 0.0
    for h in range(len(row)):
        row[h] = exp(row[h] - best)
        total += row[h]
    for h in range(len(row)):
        row[h] /= total


@looks_up("weights")
@jit
def head_posteriors(tokens, weights):
    """``[n, n + 1]`` probability of each head of every word, which chooses it by itself."""
    words = len(tokens) - 3
    features, counts = make_features(weights), running_counts(tokens)
    out = np.empty((words, words + 1))
    for m in range(1, words + 1):
        _score_heads(tokens, counts, m, weights, features, out[m - 1])
        _to_probabilities(out[m - 1])
    return out


@jit
def tree_posteriors(alone):
    """The probabilities ``[n, n + 1]`` of heads, given that all choices make a tree.

    That tree has a single root.  Sums over all trees are determinants (the matrix-tree theorem),
    found on logarithms: :mod:`assent.kernels.kinds.sentences.spanning_trees`.
    """
    out = np.log(np.maximum(alone, LEAST_PROBABILITY))
    for m in range(len(out)):
        out[m, m + 1] = -np.inf
    through_arcs(out.copy(), True, 1.0, out)
    for m in range(len(out)):
        _to_probabilities(out[m])
    return out


@jit
def keep_probable(posteriors, most, least, gold):
    """Candidate arcs: the ``most`` best heads, if ``least`` times as probable as the best.

    Heads in ``gold[n]``, if any are given, are kept.
    """
    words = len(posteriors)
    allowed = np.zeros((words + 1, words + 1), np.bool_)
    for m in range(1, words + 1):
        row = posteriors[m - 1].copy()
        best = row.max()
        for _ in range(most):
            h = row.argmax()
            if row[h] < least * best:
                break
            allowed[h, m] = True
            row[h] = -1.0
        allowed[m - 1, m] = True
        if len(gold):
            allowed[gold[m - 1], m] = True
    return make_arcs(allowed)


@jit
def posterior_step(tokens, posteriors, gold, rate, weights, squares):
    """A step of AdaGrad for the right heads ``gold[n]``, from all heads' probabilities."""
    words = len(posteriors)
    features, counts = make_features(weights), running_counts(tokens)
    for m in range(1, words + 1):
        for h in range(words + 1):
            gradient = (1.0 if h == gold[m - 1] else 0.0) - posteriors[m - 1, h]
            if h == m or abs(gradient) < LEAST_GRADIENT:
                continue
            size = first_look_places(tokens, h, m, code_between(counts, h, m), features)
            for i in range(size):
                place = features.places[i]
                squares[place] += gradient * gradient
                weights[place] += rate * gradient / np.sqrt(squares[place])
