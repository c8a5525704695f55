"""Features of grand-siblings: two modifiers in a row, their head, and the head of that."""

from __future__ import annotations

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, TAG

GRAND_SIBLINGS = 11  # kind of features


@jit_internal_no_allocation
def grand_sibling_places(tokens, g, h, s, m, toward, features):
    """Places for modifier ``m`` of ``h``, with ``s`` before it, where ``h`` hangs on ``g``.

    The head itself in place of ``s`` or ``m`` says that none is before, or that none follows.
    """
    above, head, keys = tokens[g + 1], tokens[h + 1], features.keys
    sibling, modifier = tokens[s + 1], tokens[m + 1]
    gx, hx, sx, mx = above[FINE_TAG], head[FINE_TAG], sibling[FINE_TAG], modifier[FINE_TAG]
    pair = mix(sx, mx)
    below, whole = mix(pair, gx), mix(pair, mix(gx, hx))
    tags = mix(mix(sibling[TAG], modifier[TAG]), above[TAG])
    keys[0] = whole
    keys[1] = below
    keys[2] = mix(tags, head[TAG])
    keys[3] = mix(tags, head[FORM])
    keys[4] = mix(tags, above[FORM])
    keys[5] = mix(below, sibling[FORM])
    keys[6] = mix(below, modifier[FORM])
    form = 8 * (g < h) + 4 * toward + 2 * (s == h) + (m == h)
    return write_places(features, 7, GRAND_SIBLINGS, form, 0)
