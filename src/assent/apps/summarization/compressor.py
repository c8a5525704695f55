"""A compressor: what people would leave out of a sentence, learnt from what they left out.

It is a conditional random field over the dependency tree: every word is kept (1) or deleted (0),
with scores for words and for both ends of each arc.  That is the distribution of a `Compression`
factor, whose deletions and orphans are the arcs' scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assent.apps.model_file import damage_reported, read_model, write_model
from assent.apps.summarization.compression_features import (
    FeatureNames,
    arc_features,
    word_features,
)
from assent.apps.summarization.concepts import Concepts
from assent.apps.summarization.deletions import phrase_deletions
from assent.apps.summarization.summary_weights import SummaryWeights
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.models import TreeInput, TreeModel

KIND = "compressor"
# Of the features: weights say nothing to a reader with other ones.
VERSION = 1

# Phrases that people leave out less often than that, while keeping what they hang from, are
# not optional: without them a sentence says something else.
LEAST_PROBABILITY = 0.15


@dataclass(frozen=True)
class Compressor:
    """Probabilities that words are kept; made by `train_compressor`, or read with `load`.

    Attributes:
        words: names of the features of words.
        arcs: names of the features of arcs.
        weights: as `TreeModel` lays them out.
        threshold: words with less are deleted by `compress`.
        summaries: what concepts are worth and deletions cost, if summaries were learnt from.
    """

    words: FeatureNames = field(repr=False)
    arcs: FeatureNames = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    threshold: float = 0.5
    summaries: SummaryWeights | None = None

    def __post_init__(self) -> None:
        if self.weights.shape != (self.model.size,):
            raise ModelError(
                f"a compressor with {len(self.words.names)} and {len(self.arcs.names)} features "
                f"has {self.model.size} weights, got {self.weights.shape}"
            )

    @cached_property
    def model(self) -> TreeModel:
        """Words as nodes of a tree with two states."""
        return TreeModel((0, 1), len(self.words.names), len(self.arcs.names))

    def input(self, sentence: Sentence) -> TreeInput:
        """A sentence with heads, labels and tags as the model takes it."""
        return TreeInput(
            self.words.matrix(word_features(sentence)),
            sentence.tree - 1,
            self.arcs.matrix(arc_features(sentence)),
        )

    def probabilities(self, sentence: Sentence) -> NDArray[np.float64]:
        """Probabilities ``[n]`` that words are kept."""
        if not len(sentence):
            return np.empty(0)
        return self.model.label_marginals(self.input(sentence), self.weights)[:, 1]

    def compress(self, sentence: Sentence, threshold: float | None = None) -> NDArray[np.bool_]:
        """Which words ``[n]`` are kept: those with a probability of the threshold or more."""
        least = self.threshold if threshold is None else threshold
        return self.probabilities(sentence) >= least

    def deletions(self, sentence: Sentence) -> NDArray[np.float64]:
        """Scores ``[n]`` of arcs that a summary may cut: what the rules allow, at learnt prices.

        What people rather leave out than keep below a kept head costs as much as by rules, the
        rest its log-odds as well; ``-inf`` for what they seldom leave out.  Where summaries were
        learnt from, these say what the rest costs.
        """
        if self.summaries is not None:
            return self.summaries.priced(self._by_odds)(sentence)
        return self._by_odds(sentence)

    def _by_odds(self, sentence: Sentence) -> NDArray[np.float64]:
        space, scores = self.model.scored(self.input(sentence), self.weights)
        pairs = space.marginals(scores)[1][space.nodes :].reshape(-1, 2, 2)  # own state, the head's
        deleted, kept = pairs[:, 0, 1], pairs[:, 1, 1]
        with np.errstate(divide="ignore"):
            odds = np.log(deleted) - np.log(kept)
        seldom = deleted < LEAST_PROBABILITY * (deleted + kept)
        prices = np.zeros(len(sentence))
        prices[sentence.tree > 0] = np.where(seldom, -np.inf, np.minimum(odds, 0.0))
        return phrase_deletions(sentence) + prices

    def concepts(
        self, sentences: Sequence[Sentence], words: int, starts: Sequence[int] = ()
    ) -> Concepts | None:
        """Concepts at learnt weights for `summarize`; None where no summaries were learnt from."""
        return None if self.summaries is None else self.summaries.weighted(sentences, words, starts)

    def save(self, path: str | Path) -> None:
        """Write a model file; with 8 bits per weight."""
        settings = {"words": self.words.names, "arcs": self.arcs.names, "threshold": self.threshold}
        arrays = {"weights": self.weights}
        if self.summaries is not None:
            arrays |= {"concepts": self.summaries.concepts, "deletions": self.summaries.deletions}
        write_model(path, KIND, settings, arrays, version=VERSION, eight_bits=["weights"])

    @classmethod
    def load(cls, path: str | Path) -> Compressor:
        """Read a file that `save` wrote.

        Raises:
            ModelError: if it is damaged, or holds something else.
        """
        with damage_reported(path, KIND):
            settings, arrays = read_model(path, KIND, version=VERSION)
            summaries = None
            if "concepts" in arrays:
                summaries = SummaryWeights(
                    *(arrays[name].astype(np.float64) for name in ("concepts", "deletions"))
                )
            return cls(
                FeatureNames(tuple(settings["words"])), FeatureNames(tuple(settings["arcs"])),
                arrays["weights"].astype(np.float64), float(settings["threshold"]), summaries,
            )  # fmt: skip
