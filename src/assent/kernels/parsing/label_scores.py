"""Labels of the arcs of a tree: the best one for each, and steps that learn to find it.

The weights of a feature for all labels stand next to each other in the table.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.parsing.feature_places import make_features
from assent.kernels.parsing.label_features import label_places, make_neighbours


@jit_internal_no_allocation
def _score_labels(weights, features, size, out):
    """Sums of the weights of all labels, into ``out[labels]``."""
    mask = np.uint32(features.mask)
    out[:] = 0.0
    for i in range(size):
        place = features.places[i]
        for label in range(len(out)):
            out[label] += weights[(place + np.uint32(label)) & mask]


@looks_up("weights")
@jit
def best_labels(tokens, heads, labels, weights):
    """``[n]`` the best of ``labels`` labels for the arc into each word."""
    features, near = make_features(weights), make_neighbours(heads)
    scores, out = np.empty(labels), np.empty(len(heads), np.int64)
    for m in range(1, len(heads) + 1):
        size = label_places(tokens, heads, near, m, features)
        _score_labels(weights, features, size, scores)
        out[m - 1] = scores.argmax()
    return out


@jit
def label_step(tokens, heads, gold, labels, most, step, weights, late):
    """A step of MIRA for every arc of a right tree; returns how many labels were right.

    ``late`` is for averages, as in :mod:`assent.kernels.parsing.mira_update`.
    """
    features, near = make_features(weights), make_neighbours(heads)
    scores = np.empty(labels)
    mask, right = np.uint32(features.mask), 0
    for m in range(1, len(heads) + 1):
        size = label_places(tokens, heads, near, m, features)
        _score_labels(weights, features, size, scores)
        wanted = gold[m - 1]
        scores[wanted] -= 1.0  # the cost of any other label
        found = scores.argmax()
        right += found == wanted
        loss = scores[found] - scores[wanted]
        if loss <= 0.0:
            continue
        change = min(most, loss / (2.0 * size))
        for i in range(size):
            for label, amount in ((wanted, change), (found, -change)):
                place = (features.places[i] + np.uint32(label)) & mask
                weights[place] += amount
                late[place] += step * amount
    return right
