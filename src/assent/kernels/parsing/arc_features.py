"""Features of an arc: both ends, their neighbours, what stands between them, and how far."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_internal_no_allocation
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

ENDS, FAR_ENDS, BETWEEN, TAG_BETWEEN, FIRST_LOOK = range(5)  # kinds of features of arcs

# More words of a group between two ends count as this many.
_MANY = 3

# Different tags between two ends that have a feature each.
_MOST_BETWEEN = 12


@jit_internal_no_allocation
def first_look_places(tokens, h, m, features):
    """Places for a first look at all arcs of a sentence; returns how many there are."""
    head, modifier, keys = tokens[h + 1], tokens[m + 1], features.keys
    hw, hx, mw, mx = head[FORM], head[FINE_TAG], modifier[FORM], modifier[FINE_TAG]
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
    keys[12] = mix(mix(head[TAG], modifier[TAG]), np.uint64(abs(h - m)))
    return write_places(features, 13, FIRST_LOOK, 2 * distance_bin(h, m) + (h < m), 0)


@jit_internal_no_allocation
def arc_places(tokens, h, m, features):
    """Places of the weights of an arc; returns how many there are."""
    toward = int(h < m)
    count = _write_end_keys(tokens, h, m, features.keys)
    size = write_places(features, count, ENDS, toward, 0)
    size = write_places(features, count, FAR_ENDS, 2 * distance_bin(h, m) + toward, size)
    # Every tag that stands between, once: all of the same template.
    tags, seen = mix(tokens[h + 1, TAG], tokens[m + 1, TAG]), np.uint64(0)
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
            size = write_places(features, 1, TAG_BETWEEN, toward, size)
    counts = (min(verbs, _MANY) * (_MANY + 1) + min(marks, _MANY)) * (_MANY + 1)
    counts += min(coordinations, _MANY)
    features.keys[0] = mix(tags, np.uint64(counts))
    features.keys[1] = np.uint64(counts)
    features.keys[2] = seen
    features.keys[3] = mix(tags, seen)
    return write_places(features, 4, BETWEEN, toward, size)


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
    return 30
