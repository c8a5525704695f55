"""Parts of a graph that share no factor."""

from __future__ import annotations

import numpy as np

from assent.compile.compiled import FREE, Compiled
from assent.kernels.problem import Int32
from assent.model.variables import coordinates_of


def components(compiled: Compiled) -> Int32:
    """``[n]`` which part each free coordinate belongs to, numbered from 0.

    Factors tie what they are written over, even where they are sure to hold: this is what a proof
    can be checked by.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(compiled.fixed)
    ends, count = [np.zeros((2, 0), np.int64)], size
    for block in compiled.blocks:
        codes = block.factor.codes
        own = coordinates_of(codes)
        factor = np.broadcast_to(count + np.arange(len(own))[:, None], own.shape)
        is_free = compiled.fixed[own] == FREE
        ends.append(np.stack([own[is_free], factor[is_free]]))
        count += len(own)
    place = np.concatenate(ends, axis=1)
    graph = coo_matrix((np.ones(place.shape[1], np.int8), tuple(place)), (count, count))
    _, labels = connected_components(graph, directed=False)
    _, parts = np.unique(labels[compiled.free], return_inverse=True)
    return parts.astype(np.int32)
