"""Learnt weights of a summary: what concepts are worth, and what deletions cost beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assent.apps.summarization.concept_features import NAMES, concept_features
from assent.apps.summarization.concepts import Concepts, bigram_concepts
from assent.apps.summarization.deletions import OPTIONAL, PHRASE_SCORE, Deletions
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.kernels.problem import Float

# Features of an arc that may be cut: its relation, and one for all.
RELATIONS = (*sorted(OPTIONAL), "one")


def arc_relations(sentence: Sentence) -> Float:
    """Features ``[n, len(RELATIONS)]`` of every word's arc: the relation, without its subtype."""
    found = np.zeros((len(sentence), len(RELATIONS)))
    found[:, -1] = 1.0
    for word, label in enumerate(sentence.deprels):
        relation = label.partition(":")[0]
        if relation in OPTIONAL:
            found[word, RELATIONS.index(relation)] = 1.0
    return found


@dataclass(frozen=True)
class SummaryWeights:
    """Weights of features; made by `train_summarizer`.

    Attributes:
        concepts: ``[len(NAMES)]`` of concepts.
        deletions: ``[len(RELATIONS)]`` of arcs that are cut.
    """

    concepts: Float
    deletions: Float

    def __post_init__(self) -> None:
        shapes = self.concepts.shape, self.deletions.shape
        if shapes != ((len(NAMES),), (len(RELATIONS),)):
            raise ModelError(
                f"weights of summaries are {len(NAMES)} and {len(RELATIONS)} numbers, got {shapes}"
            )

    def weighted(
        self, sentences: Sequence[Sentence], budget: int, starts: Sequence[int] = ()
    ) -> Concepts:
        """Concepts of a collection with learnt weights; what is worth less than nothing is 0.

        Where nothing is worth anything, all weigh what they do without learning.
        """
        own = bigram_concepts(sentences, budget=budget, starts=starts)
        learnt = concept_features(sentences, own, starts) @ self.concepts
        return replace(own, weights=np.maximum(learnt, 0.0)) if (learnt > 0.0).any() else own

    def priced(self, deletions: Deletions) -> Deletions:
        """Scores of what may be deleted, at learnt prices."""
        return lambda own: prices(deletions(own) > -np.inf, arc_relations(own), self.deletions)


def prices(allowed: NDArray[np.bool_], relations: Float, weights: Float) -> Float:
    """Scores ``[n]`` of deletions where they are ``allowed[n]``, ``-inf`` elsewhere.

    Nothing is deleted for nothing: what is learnt to earn something costs a little all the same.
    """
    return np.where(allowed, np.minimum(relations @ weights, 0.01 * PHRASE_SCORE), -np.inf)
