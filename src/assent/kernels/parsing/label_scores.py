"""Labels of the arcs of a tree: the best ones, and steps that learn to find them.

The labels of all modifiers of a word are found together, from left to right (a chain), after that
of the word itself.  The weights of a feature for all labels stand next to each other in the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation, jit_no_allocation
from assent.kernels.parsing.arc_features import running_counts
from assent.kernels.parsing.feature_places import Features, make_features
from assent.kernels.parsing.label_features import (
    Modifiers,
    label_pair_places,
    label_places,
    make_modifiers,
    top_down,
)


class LabelWork(NamedTuple):
    """Scratch for the labels of n words, none of which has more than k modifiers."""

    features: Features
    modifiers: Modifiers
    counts: np.ndarray  # running counts of groups of tags
    scores: np.ndarray  # [k, L] of the labels of a word's modifiers
    pairs: np.ndarray  # [k + 1, (L + 1)^2] of the labels of neighbours; L stands for none
    best: np.ndarray  # [k, L]
    found: np.ndarray  # [k]
    out: np.ndarray  # [n] all labels found


@jit_internal
def _make_work(tokens, heads, labels, weights):
    modifiers = make_modifiers(heads)
    k = np.diff(modifiers.first).max()
    return LabelWork(
        make_features(weights), modifiers, running_counts(tokens), np.empty((k, labels)),
        np.empty((k + 1, (labels + 1) ** 2)), np.empty((k, labels)), np.empty(k, np.int64),
        np.zeros(len(heads), np.int64),
    )  # fmt: skip


@jit_internal_no_allocation
def _sum_weights(weights, features, size, out):
    """Sums of the weights that follow the first places, into a vector."""
    mask = np.uint32(features.mask)
    out[:] = 0.0
    for i in range(size):
        place = features.places[i]
        for label in range(len(out)):
            out[label] += weights[(place + np.uint32(label)) & mask]


@jit_internal_no_allocation
def _score_chain(tokens, heads, h, words, weights, work):
    """Scores of the labels of a word's modifiers ``words[k]``, and of those of neighbours."""
    k = len(words)
    for i in range(k + 1):
        s = words[i - 1] if i > 0 else h
        m = words[i] if i < k else h
        size = label_pair_places(tokens, h, s, m, work.features)
        _sum_weights(weights, work.features, size, work.pairs[i])
        if i < k:
            size = label_places(
                tokens, heads, work.modifiers, work.counts, work.out, m, work.features
            )
            _sum_weights(weights, work.features, size, work.scores[i])


@jit_no_allocation
def best_chain(scores, pairs, best, out):
    """Labels ``out[k]`` of most score, where ``scores[k, L]`` belong to single labels.

    ``pairs[k + 1, (L + 1)^2]`` belong to a label and the next, row by row; number L stands before
    the first and after the last one.  ``best[k, L]`` is scratch.
    """
    labels = scores.shape[1]
    width = labels + 1
    for i in range(len(out)):
        for b in range(labels):
            best[i, b] = pairs[0, labels * width + b] if i == 0 else -np.inf
            if i > 0:
                for a in range(labels):
                    best[i, b] = max(best[i, b], best[i - 1, a] + pairs[i, a * width + b])
            best[i, b] += scores[i, b]
    following = labels
    for i in range(len(out) - 1, -1, -1):
        total = -np.inf
        for a in range(labels):
            value = best[i, a] + pairs[i + 1, a * width + following]
            if value > total:
                out[i], total = a, value
        following = out[i]


@jit_internal_no_allocation
def _find_labels(words, work):
    """The best labels of a word's modifiers, into ``out``."""
    found = work.found[: len(words)]
    best_chain(work.scores, work.pairs, work.best, found)
    for i in range(len(words)):
        work.out[words[i] - 1] = found[i]


@looks_up("weights")
@jit
def best_labels(tokens, heads, labels, weights):
    """``[n]`` the best of ``labels`` labels for the arc into each word."""
    work = _make_work(tokens, heads, labels, weights)
    for h in top_down(work.modifiers):
        words = work.modifiers.words[work.modifiers.first[h] : work.modifiers.first[h + 1]]
        _score_chain(tokens, heads, h, words, weights, work)
        _find_labels(words, work)
    return work.out


@jit_internal_no_allocation
def _move_weights(places, size, wanted, found, mask, amount, step, weights, late):
    """Move an amount from one label to another at some places; returns by how much it is ahead."""
    ahead = 0.0
    for i in range(size):
        right, wrong = (places[i] + wanted) & mask, (places[i] + found) & mask
        ahead += weights[wrong] - weights[right]
        weights[right] += amount
        weights[wrong] -= amount
        late[right] += step * amount
        late[wrong] -= step * amount
    return ahead


@jit_internal_no_allocation
def _change(tokens, heads, h, words, gold, amount, step, weights, late, work):
    """Move an amount from the labels found for a word's modifiers to the right ones.

    Returns by how much those found scored more, and how many weights differ.
    """
    modifiers, features = work.modifiers, work.features
    labels, mask = work.scores.shape[1], np.uint32(features.mask)
    width = labels + 1
    ahead, different = 0.0, 0
    s, wanted_before, found_before = h, labels, labels
    for i in range(len(words) + 1):
        m = words[i] if i < len(words) else h
        wanted, found = (gold[m - 1], work.out[m - 1]) if i < len(words) else (labels, labels)
        if wanted != found:
            size = label_places(tokens, heads, modifiers, work.counts, work.out, m, features)
            different += 2 * size
            ahead += _move_weights(
                features.places, size, np.uint32(wanted), np.uint32(found), mask, amount, step,
                weights, late,
            )  # fmt: skip
        if wanted != found or wanted_before != found_before:
            size = label_pair_places(tokens, h, s, m, features)
            different += 2 * size
            right, wrong = wanted_before * width + wanted, found_before * width + found
            ahead += _move_weights(
                features.places, size, np.uint32(right), np.uint32(wrong), mask, amount, step,
                weights, late,
            )  # fmt: skip
        s, wanted_before, found_before = m, wanted, found
    return ahead, different


@jit
def label_step(tokens, heads, gold, labels, most, step, weights, late):
    """A step of MIRA for the modifiers of every word of a tree; returns how many were right.

    ``late`` is for averages, as in :mod:`assent.kernels.parsing.mira_update`.
    """
    work = _make_work(tokens, heads, labels, weights)
    right = 0
    for h in top_down(work.modifiers):
        words = work.modifiers.words[work.modifiers.first[h] : work.modifiers.first[h + 1]]
        _score_chain(tokens, heads, h, words, weights, work)
        for i in range(len(words)):
            work.scores[i, gold[words[i] - 1]] -= 1.0  # the cost of any other label
        _find_labels(words, work)
        wrong = 0
        for m in words:
            wrong += work.out[m - 1] != gold[m - 1]
        right += len(words) - wrong
        ahead, different = _change(tokens, heads, h, words, gold, 0.0, step, weights, late, work)
        if ahead + wrong > 0.0:
            change = min(most, (ahead + wrong) / different)
            _change(tokens, heads, h, words, gold, change, step, weights, late, work)
        for m in words:
            work.out[m - 1] = gold[m - 1]  # which the words below condition on
    return right
