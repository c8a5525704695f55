"""Scores of the parts of a sentence: sums of the weights of their features."""

from __future__ import annotations

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit
from assent.kernels.parsing.feature_places import make_features
from assent.kernels.parsing.part_visits import visit_parts
from assent.kernels.parsing.sentence_parts import SentenceScores, count_inner


@looks_up("weights")
@jit
def score_parts(tokens, parts, kinds, weights):
    """The scores of all parts of a sentence."""
    arcs, words = len(parts.arcs.head), len(tokens) - 3
    scores = SentenceScores(
        np.zeros(arcs), np.zeros(count_inner(parts)), np.zeros(len(parts.pairs)),
        np.zeros(arcs if parts.nonprojective else 0),
        np.zeros(words * words if parts.paths else 0),
    )  # fmt: skip
    visit_parts(tokens, parts, kinds, weights, make_features(weights), None, scores)
    return scores
