"""Features of paths: a word, and another one anywhere above it."""

from __future__ import annotations

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, TAG, distance_bin

PATHS = 14  # kind of features


@jit_internal_no_allocation
def path_places(tokens, a, d, features):
    """Places for word ``a`` above word ``d``; returns how many there are."""
    above, below, keys = tokens[a + 1], tokens[d + 1], features.keys
    pair, tags = mix(above[FINE_TAG], below[FINE_TAG]), mix(above[TAG], below[TAG])
    keys[0] = tags
    keys[1] = pair
    keys[2] = mix(above[FORM], below[FINE_TAG])
    keys[3] = mix(above[FINE_TAG], below[FORM])
    keys[4] = mix(above[FORM], below[FORM])
    keys[5] = below[FORM]
    keys[6] = above[FORM]
    # How far they are, on which side.
    size = write_places(features, 7, PATHS, int(a < d), 0)
    return write_places(features, 2, PATHS, 2 + 2 * distance_bin(a, d) + int(a < d), size)
