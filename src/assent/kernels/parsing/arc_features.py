"""Features of an arc: both ends, their neighbours, what stands between them, and how far."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_inline_llvm, jit_internal, jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import (
    COORDINATION_GROUP,
    FINE_TAG,
    FORM,
    GROUP,
    MORPHOLOGY,
    PUNCTUATION_GROUP,
    STEM,
    TAG,
    VERB_GROUP,
    distance_bin,
)

# Kinds of features of arcs.
ENDS, FAR_ENDS, BETWEEN, TAG_BETWEEN, FIRST_LOOK, NONPROJECTIVE = range(6)

# More words of a group between two ends count as this many.
_MANY = 3

# Groups of tags, each of which has a column of running counts.
GROUPS = 4

# Longer arcs count as this long.
_LONG = 30

# Different tags between two ends that have a feature each.
_MOST_BETWEEN = 12


@jit_internal
def running_counts(tokens):
    """``[n + 4, GROUPS]`` how many words of each group stand before a row of ``tokens``."""
    out = np.zeros((len(tokens) + 1, GROUPS), np.int64)
    for i in range(len(tokens)):
        out[i + 1] = out[i]
        out[i + 1, tokens[i, GROUP]] += 1
    return out


@jit_inline_llvm
def code_counts(verbs, marks, coordinations):
    """One number for how many words of each group there are."""
    counts = min(verbs, _MANY) * (_MANY + 1) + min(marks, _MANY)
    return np.uint64(counts * (_MANY + 1) + min(coordinations, _MANY))


@jit_internal_no_allocation
def code_between(counts, h, m):
    """The same for the words between two ends, from running counts."""
    first, last = counts[min(h, m) + 2], counts[max(h, m) + 1]
    return code_counts(
        last[VERB_GROUP] - first[VERB_GROUP],
        last[PUNCTUATION_GROUP] - first[PUNCTUATION_GROUP],
        last[COORDINATION_GROUP] - first[COORDINATION_GROUP],
    )


@jit_internal_no_allocation
def first_look_places(tokens, h, m, between, features):
    """Places for a first look at all arcs of a sentence; returns how many there are.

    ``between`` is a number for what stands between the ends.
    """
    head, modifier, keys = tokens[h + 1], tokens[m + 1], features.keys
    hw, hx, mw, mx = head[FORM], head[FINE_TAG], modifier[FORM], modifier[FINE_TAG]
    mt = modifier[TAG]
    pair, words = mix(hx, mx), mix(hw, mw)
    keys[0] = hw
    keys[1] = hx
    keys[2] = mw
    keys[3] = mx
    keys[4] = pair
    keys[5] = mix(hw, mx)
    keys[6] = mix(hx, mw)
    left, right = mix(pair, tokens[h, FINE_TAG]), mix(pair, tokens[h + 2, FINE_TAG])
    keys[7] = mix(left, tokens[m, FINE_TAG])
    keys[8] = mix(left, tokens[m + 2, FINE_TAG])
    keys[9] = mix(right, tokens[m, FINE_TAG])
    keys[10] = mix(right, tokens[m + 2, FINE_TAG])
    keys[11] = words
    keys[12] = mix(mix(head[TAG], modifier[TAG]), np.uint64(min(abs(h - m), _LONG)))
    keys[13] = mix(pair, between)
    keys[14] = mix(mw, between)
    keys[15] = mix(hw, between)
    keys[16] = mix(hx, modifier[MORPHOLOGY])
    keys[17] = mix(head[MORPHOLOGY], mx)
    keys[18] = mix(mix(head[STEM], modifier[STEM]), pair)
    keys[19] = mix(mix(tokens[m, TAG], mt), mix(tokens[m + 2, TAG], head[TAG]))
    keys[20] = mix(mix(tokens[h, TAG], head[TAG]), mix(tokens[h + 2, TAG], mt))
    return write_places(features, 21, FIRST_LOOK, 2 * distance_bin(h, m) + (h < m), 0)


@jit_internal_no_allocation
def arc_places(tokens, h, m, features):
    """Places of the weights of an arc; returns how many there are."""
    toward = int(h < m)
    count = _write_end_keys(tokens, h, m, features.keys)
    size = write_places(features, count, ENDS, toward, 0)
    size = write_places(features, count, FAR_ENDS, 2 * distance_bin(h, m) + toward, size)
    # Every tag that stands between, once: all of the same template.
    tags, seen = mix(tokens[h + 1, TAG], tokens[m + 1, TAG]), np.uint64(0)
    pair = mix(tokens[h + 1, FINE_TAG], tokens[m + 1, FINE_TAG])
    verbs = marks = coordinations = found = 0
    for i in range(min(h, m) + 1, max(h, m)):
        group = tokens[i + 1, GROUP]
        verbs += group == VERB_GROUP
        marks += group == PUNCTUATION_GROUP
        coordinations += group == COORDINATION_GROUP
        bit = np.uint64(1) << (tokens[i + 1, TAG] & np.uint64(63))
        if not seen & bit and found < _MOST_BETWEEN:
            seen |= bit
            found += 1
            features.keys[0] = mix(tags, tokens[i + 1, TAG])
            features.keys[1] = mix(pair, tokens[i + 1, FINE_TAG])
            size = write_places(features, 2, TAG_BETWEEN, toward, size)
    counts = code_counts(verbs, marks, coordinations)
    features.keys[0] = mix(tags, counts)
    features.keys[1] = counts
    features.keys[2] = seen
    features.keys[3] = mix(tags, seen)
    features.keys[4] = mix(pair, counts)
    features.keys[5] = mix(tags, np.uint64(min(abs(h - m), _LONG)))
    features.keys[6] = mix(tokens[m + 1, FORM], counts)
    features.keys[7] = mix(tokens[h + 1, FORM], counts)
    return write_places(features, 8, BETWEEN, toward, size)


@jit_internal_no_allocation
def nonprojective_places(tokens, h, m, features):
    """Places for an arc over a word that is not below its head; returns how many there are."""
    keys = features.keys
    count = _write_end_keys(tokens, h, m, keys)
    keys[count] = np.uint64(distance_bin(h, m))
    keys[count + 1] = np.uint64(0)  # that there is such an arc
    return write_places(features, count + 2, NONPROJECTIVE, int(h < m), 0)


@jit_internal_no_allocation
def _write_end_keys(tokens, h, m, keys):
    """Keys that speak of both ends and their neighbours; returns how many there are."""
    head, modifier = tokens[h + 1], tokens[m + 1]
    hw, hs, ht, hx = head[FORM], head[STEM], head[TAG], head[FINE_TAG]
    mw, ms, mt, mx = modifier[FORM], modifier[STEM], modifier[TAG], modifier[FINE_TAG]
    hwx, mwx, pair, tags = mix(hw, hx), mix(mw, mx), mix(hx, mx), mix(ht, mt)
    keys[0] = hw
    keys[1] = hx
    keys[2] = hwx
    keys[3] = mw
    keys[4] = mx
    keys[5] = mwx
    keys[6] = mix(hwx, mwx)
    keys[7] = mix(hx, mwx)
    keys[8] = mix(hwx, mx)
    keys[9] = mix(hw, mw)
    keys[10] = pair
    keys[11] = tags
    keys[12] = mix(hs, ms)
    keys[13] = mix(hs, mx)
    keys[14] = mix(hx, ms)
    keys[15] = mix(tags, mix(head[MORPHOLOGY], modifier[MORPHOLOGY]))
    # Tags next to the ends.
    before, after = tokens[m, FINE_TAG], tokens[m + 2, FINE_TAG]
    left, right = mix(pair, tokens[h, FINE_TAG]), mix(pair, tokens[h + 2, FINE_TAG])
    keys[16] = mix(left, before)
    keys[17] = mix(left, after)
    keys[18] = mix(right, before)
    keys[19] = mix(right, after)
    keys[20] = left
    keys[21] = right
    keys[22] = mix(pair, before)
    keys[23] = mix(pair, after)
    # And the words there.
    keys[24] = mix(mwx, mix(hx, before))
    keys[25] = mix(mwx, mix(hx, after))
    keys[26] = mix(tokens[m, FORM], pair)
    keys[27] = mix(tokens[m + 2, FORM], pair)
    keys[28] = mix(tags, mix(tokens[m - 1, TAG], tokens[m, TAG]))
    keys[29] = mix(tags, mix(tokens[m + 2, TAG], tokens[min(m + 3, len(tokens) - 1), TAG]))
    keys[30] = mix(tokens[h, FORM], pair)
    keys[31] = mix(tokens[h + 2, FORM], pair)
    # Ends of words.
    keys[32] = mix(head[MORPHOLOGY], mx)
    keys[33] = mix(hx, modifier[MORPHOLOGY])
    keys[34] = mix(hw, modifier[MORPHOLOGY])
    keys[35] = mix(hw, modifier[TAG])
    keys[36] = mix(head[TAG], mw)
    return 37
