"""Features of positions in sequences: what templates see around a position, hashed."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.linear.hashed_keys import mix

# What stands before and after a sequence.  Any two keys do.
_BEFORE, _AFTER = np.uint64(0x452821E638D01377), np.uint64(0xBE5466CF34E90C6C)


@jit
def feature_rows(attributes, ends, templates, mask, out):
    """Rows of a table of weights, into ``out[positions, F]``.

    ``attributes[positions, A]`` are keys, ``ends[n + 1]`` where sequences begin and end.  A
    template is a list of pairs (offset, attribute), ``templates[F, pairs, 2]``; a negative
    attribute is none.
    """
    for s in range(len(ends) - 1):
        begin, end = ends[s], ends[s + 1]
        for t in range(begin, end):
            for f in range(len(templates)):
                key = np.uint64(f)
                for i in range(templates.shape[1]):
                    place, attribute = t + templates[f, i, 0], templates[f, i, 1]
                    if attribute < 0:
                        continue
                    if place < begin:
                        key = mix(key, _BEFORE)
                    elif place >= end:
                        key = mix(key, _AFTER)
                    else:
                        key = mix(key, attributes[place, attribute])
                out[t, f] = key & mask
