"""The best alignments of many sentence pairs, decoded together."""

from __future__ import annotations

from collections.abc import Sequence

import assent as at
from assent.apps.alignment.model.alignment_space import AlignmentSpace
from assent.kernels.problem import Float
from assent.result_list import Results


def decode_alignments(
    spaces: Sequence[AlignmentSpace], scores: Sequence[Float], threads: int = 1
) -> Results:
    """The results of alignments with ``scores[size]`` of each, proven optimal.

    Example:
        >>> import numpy as np
        >>> space = AlignmentSpace(np.ones((1, 2), bool), 2, adjacent=False)
        >>> found = decode_alignments([space], [np.array([1.0, 0.4, -0.5, 0.0, 0.0])])
        >>> found[0][space.links].tolist()
        [[1, 0]]
    """
    given = [space.scores(space.parts(own)) for space, own in zip(spaces, scores, strict=True)]
    graphs = [space.graph for space in spaces]
    return at.decode_many(graphs, exact=True, scores=given, threads=threads)
