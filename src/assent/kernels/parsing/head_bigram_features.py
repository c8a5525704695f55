"""Features of head bigrams: two neighbouring words and the heads of both."""

from __future__ import annotations

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, TAG

HEAD_BIGRAMS = 12  # kind of features


@jit_internal_no_allocation
def head_bigram_places(tokens, left, right, m, features):
    """Places for word ``m`` with head ``left`` and the next word with head ``right``."""
    first, second, keys = tokens[m + 1], tokens[m + 2], features.keys
    a, b = tokens[left + 1], tokens[right + 1]
    pair, heads = mix(first[FINE_TAG], second[FINE_TAG]), mix(a[FINE_TAG], b[FINE_TAG])
    tags = mix(first[TAG], second[TAG])
    keys[0] = heads
    keys[1] = mix(pair, heads)
    keys[2] = mix(tags, mix(a[TAG], b[TAG]))
    keys[3] = mix(pair, a[FINE_TAG])
    keys[4] = mix(pair, b[FINE_TAG])
    keys[5] = pair
    # Where the heads are: the other word, the same word, left or right.
    same = 2 if left == m + 1 else 1 if right == m else 3 if left == right else 0
    form = 4 * same + 2 * (left > m) + (right > m + 1)
    return write_places(features, 6, HEAD_BIGRAMS, form, 0)
