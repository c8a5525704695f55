"""From the keys of a part to places in the table of weights, and to its score.

A template writes a key that says what it has seen; here the key is mixed with the number of its
template and the kind of part, and its last bits are a place in the table.  Places are shared where
they collide; a table of some million weights loses little by it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit_inline_llvm, jit_internal
from assent.kernels.linear.hashed_keys import mix

# Room for the keys and places of a part: an arc has most.
MOST_KEYS, MOST_PLACES = 64, 160

# A kind of part in a form: its direction, its distance.
FORMS = 64

_TEMPLATES = 256
_ONE = np.uint64(1)


class Features(NamedTuple):
    """What a part has: scratch for keys, and the places of its weights."""

    mask: np.uint64  # of the table of weights
    keys: np.ndarray  # [MOST_KEYS] uint64
    places: np.ndarray  # [MOST_PLACES] uint32


@jit_internal
def make_features(table):
    """Scratch for features with weights in a table whose length is a power of two."""
    return Features(
        np.uint64(len(table) - 1), np.empty(MOST_KEYS, np.uint64), np.empty(MOST_PLACES, np.uint32)
    )


@jit_inline_llvm
def write_places(features, count, kind, form, size):
    """Append the places of keys ``keys[:count]`` of a kind of part; returns the new size."""
    template = np.uint64((kind * FORMS + form) * _TEMPLATES)
    for t in range(count):
        features.places[size + t] = mix(features.keys[t], template) & features.mask
        template += _ONE
    return size + count


@jit_inline_llvm
def sum_at(weights, features, size):
    """The sum of the weights at the first places."""
    total = 0.0
    for i in range(size):
        total += weights[features.places[i]]
    return total
