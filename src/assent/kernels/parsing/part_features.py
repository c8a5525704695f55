"""Features of parts of several arcs: which keys each kind looks at, mixed from the words' columns.

A head in place of one of its modifiers says that none is before, or that none follows; ``toward``
is 1 on the right side of the head.  All functions return how many places there are.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, TAG, distance_bin

# Kinds of features, behind those of arcs.
SIBLINGS, SIBLINGS_ANYWHERE, GRANDPARENTS, GRAND_SIBLINGS = 8, 9, 10, 11
HEAD_BIGRAMS, TRI_SIBLINGS, PATHS = 12, 13, 14


@jit_internal_no_allocation
def sibling_places(tokens, h, s, m, toward, features):
    """Places for modifier ``m`` of ``h`` with ``s`` before it and none in between."""
    count = _write_keys(tokens, h, s, m, features.keys)
    count = _write_near_keys(tokens, h, s, m, s, count, features.keys)
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
def grandparent_places(tokens, g, h, m, features):
    """Places for modifier ``m`` of ``h``, which hangs on ``g``."""
    count = _write_keys(tokens, h, g, m, features.keys)
    count = _write_near_keys(tokens, h, g, m, h, count, features.keys)
    # Which way both arcs lead, and whether the modifier lies between the other two or beyond.
    form = 4 * (g < h) + 2 * (h < m) + (g < m)
    return write_places(features, count, GRANDPARENTS, form, 0)


@jit_internal_no_allocation
def _write_keys(tokens, h, s, m, keys):
    """Keys of a head, a modifier, and the sibling or grandparent ``s`` beside them."""
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
def _write_near_keys(tokens, h, s, m, middle, count, keys):
    """Append keys that speak of more: tags next to the modifier and the word that two arcs or two
    siblings have in the ``middle``, and how far all are.
    """
    head, sibling, modifier = tokens[h + 1], tokens[s + 1], tokens[m + 1]
    tags = mix(sibling[TAG], mix(modifier[TAG], head[TAG]))
    keys[count] = mix(head[FORM], mix(sibling[FORM], modifier[FINE_TAG]))
    keys[count + 1] = mix(head[FORM], mix(sibling[FINE_TAG], modifier[FORM]))
    keys[count + 2] = mix(tags, mix(tokens[m, TAG], tokens[m + 2, TAG]))
    keys[count + 3] = mix(tags, mix(tokens[middle, TAG], tokens[middle + 2, TAG]))
    keys[count + 4] = mix(tags, np.uint64(16 * distance_bin(h, s) + distance_bin(middle, m)))
    return count + 5


@jit_internal_no_allocation
def grand_sibling_places(tokens, g, h, s, m, toward, features):
    """Places for modifier ``m`` of ``h``, with ``s`` before it, where ``h`` hangs on ``g``."""
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


@jit_internal_no_allocation
def tri_sibling_places(tokens, h, first, second, m, toward, features):
    """Places for modifiers ``first``, ``second`` and ``m`` of ``h``, with none in between."""
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


@jit_internal_no_allocation
def path_places(tokens, a, d, features):
    """Places for word ``a`` anywhere above word ``d``."""
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
