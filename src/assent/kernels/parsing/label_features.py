"""Features of an arc's label: both ends, and what else the tree has around them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import (
    FINE_TAG,
    FORM,
    MORPHOLOGY,
    STEM,
    TAG,
    distance_bin,
)

LABELS, FAR_LABELS = 24, 25  # kinds of features


class TreeNeighbours(NamedTuple):
    """For every word of a tree: its outermost modifiers and its sibling toward the head.

    The word itself stands for one that is not there.
    """

    first: np.ndarray  # [n + 1] leftmost modifier
    last: np.ndarray  # [n + 1] rightmost modifier
    sibling: np.ndarray  # [n + 1] the next modifier of the same head, on the same side, inwards


@jit_internal
def make_neighbours(heads):
    """The neighbours in a tree ``heads[n]``."""
    words = len(heads)
    first, last = np.arange(words + 1), np.arange(words + 1)
    sibling = np.arange(words + 1)
    inner = np.full(words + 1, -1)
    for m in range(1, words + 1):
        h = heads[m - 1]
        first[h] = min(first[h], m)
        last[h] = max(last[h], m)
        if h < m:  # from the head outwards
            sibling[m] = inner[h] if inner[h] >= 0 else m
            inner[h] = m
    inner[:] = -1
    for m in range(words, 0, -1):
        h = heads[m - 1]
        if h > m:
            sibling[m] = inner[h] if inner[h] >= 0 else m
            inner[h] = m
    return TreeNeighbours(first, last, sibling)


@jit_internal_no_allocation
def label_places(tokens, heads, near, m, features):
    """Places of the first label of the arc into word ``m``; those of the others follow."""
    h = heads[m - 1]
    g = heads[h - 1] if h > 0 else 0
    toward = int(h < m)
    head, modifier, keys = tokens[h + 1], tokens[m + 1], features.keys
    hw, hx, mw, mx = head[FORM], head[FINE_TAG], modifier[FORM], modifier[FINE_TAG]
    first, last = tokens[near.first[m] + 1], tokens[near.last[m] + 1]
    sibling = tokens[near.sibling[m] + 1]
    pair, tags = mix(hx, mx), mix(head[TAG], modifier[TAG])
    keys[0] = mw
    keys[1] = mx
    keys[2] = hw
    keys[3] = hx
    keys[4] = mix(mw, mx)
    keys[5] = pair
    keys[6] = mix(hw, mw)
    keys[7] = mix(hw, mx)
    keys[8] = mix(hx, mw)
    keys[9] = tags
    keys[10] = mix(modifier[STEM], tags)
    keys[11] = mix(head[STEM], tags)
    keys[12] = mix(pair, mix(tokens[m, FINE_TAG], tokens[m + 2, FINE_TAG]))
    keys[13] = mix(pair, mix(tokens[h, FINE_TAG], tokens[h + 2, FINE_TAG]))
    keys[14] = mix(tokens[m, FORM], pair)
    keys[15] = mix(tokens[m + 2, FORM], pair)
    keys[16] = mix(first[FORM], pair)
    keys[17] = mix(first[FORM], mix(hw, modifier[TAG]))
    keys[18] = mix(first[FINE_TAG], mix(last[FINE_TAG], pair))
    keys[19] = mix(last[FORM], pair)
    keys[20] = mix(sibling[FINE_TAG], pair)
    keys[21] = mix(sibling[FORM], pair)
    keys[22] = mix(tokens[g + 1, FINE_TAG], pair)
    keys[23] = mix(tokens[g + 1, FORM], pair)
    keys[24] = mix(tags, mix(modifier[MORPHOLOGY], head[MORPHOLOGY]))
    edge = 2 * (near.sibling[m] == m) + (near.last[h] == m if toward else near.first[h] == m)
    keys[25] = mix(pair, np.uint64(edge))
    keys[26] = mix(mix(hw, mx), np.uint64(edge))
    keys[27] = mix(first[FORM], mw)
    size = write_places(features, 28, LABELS, toward, 0)
    return write_places(features, 11, FAR_LABELS, 2 * distance_bin(h, m) + toward, size)
