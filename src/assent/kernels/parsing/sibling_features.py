"""Features of siblings: two modifiers of a head, one after the other or anywhere on one side."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, TAG, distance_bin

SIBLINGS, SIBLINGS_ANYWHERE = 8, 9  # kinds of features


@jit_internal_no_allocation
def sibling_places(tokens, h, s, m, toward, features):
    """Places for modifier ``m`` of ``h`` with ``s`` before it and none in between.

    The head itself in place of ``s`` says that there is none before, and in place of ``m`` that
    none follows; ``toward`` is 1 on the right side of the head.
    """
    count = _write_keys(tokens, h, s, m, features.keys)
    count = _write_near_keys(tokens, h, s, m, count, features.keys)
    ends = 2 * (s == h) + (m == h)
    size = write_places(features, count, SIBLINGS, 2 * ends + toward, 0)
    if ends:
        return size
    features.keys[0] = mix(
        mix(tokens[s + 1, TAG], tokens[m + 1, TAG]), np.uint64(distance_bin(s, m))
    )
    return write_places(features, 1, SIBLINGS, 8 + toward, size)


@jit_internal_no_allocation
def any_sibling_places(tokens, h, s, m, toward, features):
    """Places for modifiers ``s`` and ``m`` of ``h`` on one side, whatever is in between."""
    count = _write_keys(tokens, h, s, m, features.keys)
    return write_places(features, count, SIBLINGS_ANYWHERE, toward, 0)


@jit_internal_no_allocation
def _write_keys(tokens, h, s, m, keys):
    head, sibling, modifier = tokens[h + 1], tokens[s + 1], tokens[m + 1]
    hw, hx, sw, sx = head[FORM], head[FINE_TAG], sibling[FORM], sibling[FINE_TAG]
    mw, mx = modifier[FORM], modifier[FINE_TAG]
    pair = mix(sx, mx)
    keys[0] = mix(pair, hx)
    keys[1] = pair
    keys[2] = mix(sibling[TAG], mix(modifier[TAG], head[TAG]))
    keys[3] = mix(pair, hw)
    keys[4] = mix(sw, mx)
    keys[5] = mix(sx, mw)
    keys[6] = mix(sw, mix(mx, hx))
    keys[7] = mix(sx, mix(mw, hx))
    keys[8] = mix(sw, mw)
    return 9


@jit_internal_no_allocation
def _write_near_keys(tokens, h, s, m, count, keys):
    """Append keys that speak of more: tags next to both modifiers, and how far they are."""
    head, sibling, modifier = tokens[h + 1], tokens[s + 1], tokens[m + 1]
    tags = mix(sibling[TAG], mix(modifier[TAG], head[TAG]))
    keys[count] = mix(head[FORM], mix(sibling[FORM], modifier[FINE_TAG]))
    keys[count + 1] = mix(head[FORM], mix(sibling[FINE_TAG], modifier[FORM]))
    keys[count + 2] = mix(tags, mix(tokens[m, TAG], tokens[m + 2, TAG]))
    keys[count + 3] = mix(tags, mix(tokens[s, TAG], tokens[s + 2, TAG]))
    keys[count + 4] = mix(tags, np.uint64(16 * distance_bin(h, s) + distance_bin(s, m)))
    return count + 5
