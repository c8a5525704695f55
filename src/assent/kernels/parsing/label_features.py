"""Features of an arc's label: both ends, and what else the tree has around them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.arc_features import code_between
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, MORPHOLOGY, STEM, TAG, distance_bin

# Kinds of features.
LABELS, FAR_LABELS, MODIFIER_LABELS, LABEL_PAIRS = 24, 25, 26, 27

# Modifiers of a word, or siblings, that have features each.
_MOST_MODIFIERS = 8


class Modifiers(NamedTuple):
    """The modifiers of every word of a tree, from left to right."""

    first: np.ndarray  # [n + 2] those of h are words[first[h] : first[h + 1]]
    words: np.ndarray  # [n]
    place: np.ndarray  # [n + 1] where a word stands in ``words``; nowhere for the root


@jit_internal
def make_modifiers(heads):
    """The modifiers of the root and of every word in a tree ``heads[n]``."""
    n = len(heads)
    first = np.zeros(n + 2, np.int64)
    for h in heads:
        first[h + 1] += 1
    first[:] = np.cumsum(first)
    words, place, used = np.empty(n, np.int64), np.zeros(n + 1, np.int64), first.copy()
    for m in range(1, n + 1):
        h = heads[m - 1]
        place[m] = used[h]
        words[used[h]] = m
        used[h] += 1
    return Modifiers(first, words, place)


@jit_internal
def top_down(modifiers):
    """The root and all words that have modifiers, heads before their modifiers."""
    out, size, done = np.zeros(len(modifiers.place), np.int64), 1, 0
    while done < size:
        h = out[done]
        for i in range(modifiers.first[h], modifiers.first[h + 1]):
            m = modifiers.words[i]
            if modifiers.first[m] < modifiers.first[m + 1]:
                out[size] = m
                size += 1
        done += 1
    return out[:size]


@jit_internal_no_allocation
def _sibling(modifiers, h, m, step):
    """The modifier next to ``m`` on its side of ``h``; the word itself if there is none."""
    other = modifiers.place[m] + step
    if not modifiers.first[h] <= other < modifiers.first[h + 1]:
        return m
    s = modifiers.words[other]
    return s if (s < h) == (m < h) else m


@jit_internal_no_allocation
def label_places(tokens, heads, modifiers, counts, labels, m, features):
    """Places of the first label of the arc into word ``m``; those of the others follow.

    Of ``labels[n]`` that of the arc into its head is known.
    """
    h = heads[m - 1]
    toward = int(h < m)
    count = _write_end_keys(tokens, h, m, features.keys)
    size = write_places(features, count, FAR_LABELS, 2 * distance_bin(h, m) + toward, 0)
    count = _write_tree_keys(tokens, heads, modifiers, m, count, features.keys)
    pair = mix(tokens[h + 1, FINE_TAG], tokens[m + 1, FINE_TAG])
    between = code_between(counts, h, m)
    features.keys[count] = mix(pair, between)
    features.keys[count + 1] = mix(tokens[m + 1, FORM], between)
    above = np.uint64(labels[h - 1] + 1 if h > 0 else 0)
    features.keys[count + 2] = mix(above, pair)
    features.keys[count + 3] = mix(above, tokens[m + 1, FORM])
    features.keys[count + 4] = mix(above, mix(tokens[h + 1, FORM], tokens[m + 1, FINE_TAG]))
    size = write_places(features, count + 5, LABELS, toward, size)
    size = _modifier_places(tokens, modifiers, h, m, m, features, size)
    return _modifier_places(tokens, modifiers, h, m, h, features, size)


@jit_internal_no_allocation
def _write_end_keys(tokens, h, m, keys):
    """Keys that speak of both ends; returns how many there are."""
    head, modifier = tokens[h + 1], tokens[m + 1]
    hw, hx, mw, mx = head[FORM], head[FINE_TAG], modifier[FORM], modifier[FINE_TAG]
    tags = mix(head[TAG], modifier[TAG])
    keys[0] = mw
    keys[1] = mx
    keys[2] = hw
    keys[3] = hx
    keys[4] = mix(mw, mx)
    keys[5] = mix(hx, mx)
    keys[6] = mix(hw, mw)
    keys[7] = mix(hw, mx)
    keys[8] = mix(hx, mw)
    keys[9] = tags
    keys[10] = mix(modifier[STEM], tags)
    return 11


@jit_internal_no_allocation
def _write_tree_keys(tokens, heads, modifiers, m, count, keys):
    """Append keys that speak of neighbours of the ends, in the sentence and in the tree."""
    h = heads[m - 1]
    g = heads[h - 1] if h > 0 else 0
    outward = 1 if h < m else -1
    s, t = _sibling(modifiers, h, m, -outward), _sibling(modifiers, h, m, outward)
    begin, end = modifiers.first[m], modifiers.first[m + 1]
    first = tokens[(modifiers.words[begin] if begin < end else m) + 1]
    last = tokens[(modifiers.words[end - 1] if begin < end else m) + 1]
    head, modifier = tokens[h + 1], tokens[m + 1]
    hx, mx = head[FINE_TAG], modifier[FINE_TAG]
    pair, tags = mix(hx, mx), mix(head[TAG], modifier[TAG])
    keys[count] = mix(head[STEM], tags)
    keys[count + 1] = mix(tags, mix(modifier[MORPHOLOGY], head[MORPHOLOGY]))
    keys[count + 2] = mix(modifier[MORPHOLOGY], hx)
    keys[count + 3] = mix(head[MORPHOLOGY], mx)
    keys[count + 4] = mix(pair, mix(tokens[m, FINE_TAG], tokens[m + 2, FINE_TAG]))
    keys[count + 5] = mix(pair, mix(tokens[h, FINE_TAG], tokens[h + 2, FINE_TAG]))
    keys[count + 6] = mix(first[FORM], mix(head[FORM], modifier[TAG]))
    keys[count + 7] = mix(first[FINE_TAG], mix(last[FINE_TAG], pair))
    keys[count + 8] = mix(first[FORM], modifier[FORM])
    edge = np.uint64(2 * (s == m) + (t == m))
    keys[count + 9] = mix(pair, edge)
    keys[count + 10] = mix(mix(head[FORM], mx), edge)
    keys[count + 11] = mix(tokens[m, FORM], pair)
    keys[count + 12] = mix(tokens[m + 2, FORM], pair)
    keys[count + 13] = mix(first[FORM], pair)
    keys[count + 14] = mix(last[FORM], pair)
    for i, word in enumerate((s, t, g)):
        keys[count + 15 + 2 * i] = mix(tokens[word + 1, FINE_TAG], pair)
        keys[count + 16 + 2 * i] = mix(tokens[word + 1, FORM], pair)
    return count + 21


@jit_internal_no_allocation
def _modifier_places(tokens, modifiers, h, m, top, features, size):
    """Append places for the words below one of the ends, each by itself; returns the new size."""
    pair = mix(tokens[h + 1, FINE_TAG], tokens[m + 1, FINE_TAG])
    tags = mix(tokens[h + 1, TAG], tokens[m + 1, TAG])
    begin, end = modifiers.first[top], modifiers.first[top + 1]
    for i in range(begin, min(end, begin + _MOST_MODIFIERS)):
        c = modifiers.words[i]
        if c != m:
            features.keys[0] = mix(tokens[c + 1, FINE_TAG], pair)
            features.keys[1] = mix(tokens[c + 1, FORM], tags)
            form = 8 * (top == h) + 4 * (c < h) + 2 * (h < m) + (c < m)
            size = write_places(features, 2, MODIFIER_LABELS, form, size)
    return size


@jit_internal_no_allocation
def label_pair_places(tokens, h, s, m, features):
    """Places of labels for modifiers ``s`` and ``m`` of ``h``, neighbours from left to right.

    Of the first two labels; those of the others follow. The head in place of ``s`` says that none
    is before, and in place of ``m`` that none follows.
    """
    keys = features.keys
    keys[0] = np.uint64(0)
    keys[1] = tokens[h + 1, TAG]
    form = 4 * ((s < h) + (s <= h)) + (m < h) + (m <= h)
    return write_places(features, 2, LABEL_PAIRS, form, 0)
