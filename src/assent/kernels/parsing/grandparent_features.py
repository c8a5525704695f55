"""Features of grandparents: a modifier, its head, and the head of that."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_internal_no_allocation
from assent.kernels.linear.hashed_keys import mix
from assent.kernels.parsing.feature_places import write_places
from assent.kernels.parsing.token_columns import FINE_TAG, FORM, TAG, distance_bin

GRANDPARENTS = 10  # kind of features


@jit_internal_no_allocation
def grandparent_places(tokens, g, h, m, features):
    """Places for modifier ``m`` of ``h``, which hangs on ``g``; returns how many there are."""
    above, head, modifier, keys = tokens[g + 1], tokens[h + 1], tokens[m + 1], features.keys
    gw, gx, hw, hx = above[FORM], above[FINE_TAG], head[FORM], head[FINE_TAG]
    mw, mx = modifier[FORM], modifier[FINE_TAG]
    pair, tags = mix(gx, mx), mix(above[TAG], mix(modifier[TAG], head[TAG]))
    keys[0] = mix(pair, hx)
    keys[1] = pair
    keys[2] = tags
    keys[3] = mix(pair, hw)
    keys[4] = mix(gw, mx)
    keys[5] = mix(gx, mw)
    keys[6] = mix(gw, mix(mx, hx))
    keys[7] = mix(gx, mix(mw, hx))
    keys[8] = mix(gw, mw)
    keys[9] = mix(hw, mix(gw, mx))
    keys[10] = mix(hw, mix(gx, mw))
    # Tags next to the modifier and next to its head, and how long both arcs are.
    keys[11] = mix(tags, mix(tokens[m, TAG], tokens[m + 2, TAG]))
    keys[12] = mix(tags, mix(tokens[h, TAG], tokens[h + 2, TAG]))
    keys[13] = mix(tags, np.uint64(16 * distance_bin(g, h) + distance_bin(h, m)))
    # Which way both arcs lead, and whether the modifier lies between the other two or beyond.
    form = 4 * (g < h) + 2 * (h < m) + (g < m)
    return write_places(features, 14, GRANDPARENTS, form, 0)
