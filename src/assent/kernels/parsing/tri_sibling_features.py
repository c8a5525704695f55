"""Features of tri-siblings: a head and three modifiers in a row on one side."""

from __future__ import annotations

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, TAG

TRI_SIBLINGS = 13  # kind of features


@jit_internal_no_allocation
def tri_sibling_places(tokens, h, first, second, m, toward, features):
    """Places for modifiers ``first``, ``second`` and ``m`` of ``h``, with none in between.

    The head itself in place of ``first`` or ``m`` says that none is before, or that none follows.
    """
    head, keys = tokens[h + 1], features.keys
    a, b, c = tokens[first + 1], tokens[second + 1], tokens[m + 1]
    row = mix(a[FINE_TAG], mix(b[FINE_TAG], c[FINE_TAG]))
    tags = mix(a[TAG], mix(b[TAG], c[TAG]))
    keys[0] = mix(row, head[FINE_TAG])
    keys[1] = row
    keys[2] = mix(tags, head[TAG])
    keys[3] = mix(tags, head[FORM])
    keys[4] = mix(tags, b[FORM])
    form = 4 * toward + 2 * (first == h) + (m == h)
    return write_places(features, 5, TRI_SIBLINGS, form, 0)
