"""Features of a bitext's statistics: Dice, IBM Model 1, the hidden Markov model, frequencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.apps.alignment.features.cooccurrence import count_words
from assent.apps.alignment.features.link_counts import LinkCounts, count_links
from assent.apps.alignment.features.neighbours import competing
from assent.apps.alignment.features.spelling import cognates
from assent.apps.alignment.features.translation_model import TranslationModel, train_translation
from assent.apps.alignment.features.vocabulary import (
    Vocabulary,
    number_bitext,
    word_form,
    word_stem,
)
from assent.kernels.problem import Float, Int32, Int64

# Word pairs less probable than this under all models are forgotten: most of a bitext's pairs.
LEAST = 1e-5
# Links that a pair of cognates counts for beforehand: enough to decide for words seen once.
COGNATE = 0.5

KEYS: dict[str, Callable[[str], str]] = {"forms": word_form, "stems": word_stem}


@dataclass(frozen=True)
class Statistics:
    """What a bitext says about words by one key: their forms or their stems."""

    key: str  # which, of KEYS
    source: Vocabulary  # of the source side
    target: Vocabulary
    counts: tuple[Int64, Int64]  # numbers of sentences that the words of each side occur in
    dice: Float  # [pairs] of the models' table
    model_1: TranslationModel
    hidden_markov: TranslationModel
    links: LinkCounts | None = None  # None before a first aligner has linked the words

    def numbers(self, pair: SentencePair) -> tuple[Int32, Int32]:
        """The words of a sentence pair as numbers, -1 where unknown."""
        key = KEYS[self.key]
        return (
            self.source.find([key(word) for word in pair.source]),
            self.target.find([key(word) for word in pair.target]),
        )

    def features(self, pair: SentencePair) -> dict[str, Float]:
        """Tables ``[n, m]`` by name."""
        source, target = self.numbers(pair)
        index, *first = self.model_1.posteriors(source, target)
        _, forward, backward = self.hidden_markov.posteriors(source, target)
        dice = np.where(index >= 0, self.dice[np.maximum(index, 0)], 0.0)
        agreed = np.sqrt(forward * backward)
        found = {
            "Dice": dice,
            "Dice competing": competing(dice),
            "Model 1": np.sqrt(first[0] * first[1]),
            "HMM forward": forward,
            "HMM backward": backward,
            "HMM": agreed,
            "HMM forward log": _log(forward),
            "HMM backward log": _log(backward),
            "HMM log": _log(agreed),
            "HMM competing": competing(agreed),
        }
        if self.links is not None:
            found |= self.links.features(index)
        if self.key == "forms":
            found |= self._ranks(source, target)
        return {f"{name}, {self.key}": table for name, table in found.items()}

    def with_links(self, aligned: Iterable[tuple[SentencePair, Any]]) -> Statistics:
        """The same with counts of the links ``[n, m]`` of sentence pairs."""
        sentences = (
            (self.model_1.posteriors(*self.numbers(pair))[0], links) for pair, links in aligned
        )
        return replace(self, links=count_links(self.model_1.table, sentences))

    def _ranks(self, source: Any, target: Any) -> dict[str, Float]:
        """Features of how frequent both words are."""
        own, other = _frequency(source, self.counts[0]), _frequency(target, self.counts[1])
        difference = own[:, None] - other
        return {
            "difference of frequencies": np.abs(difference),
            "both frequent": np.minimum.outer(own, other),
            "both rare": np.minimum.outer(1.0 - own, 1.0 - other) ** 4,
        }


def _frequency(words: Any, counts: Int64) -> Float:
    """How frequent words are, from 0 for unknown ones to 1, on a logarithmic scale."""
    known = np.where(words >= 0, counts[np.maximum(words, 0)], 0)
    return np.log1p(known) / np.log(2.0 + counts.sum())


def _log(probability: Float) -> Float:
    """Logarithms of probabilities, from 0 for the least that matters to 1."""
    return 1.0 + np.log10(probability + 1e-4) / 4.0


def count_bitext(
    pairs: Iterable[SentencePair], key: str, report: Callable[[], Any] = lambda: None
) -> Statistics:
    """Statistics of a bitext; ``report`` is called after each pass over it."""
    source, target, text = number_bitext(pairs, KEYS[key])
    counts = count_words(text, len(source), len(target))
    words = np.repeat(np.arange(len(source)), np.diff(counts.table.start))
    prior = COGNATE * cognates(source.words, target.words, words, counts.table.target)
    first, second = train_translation(text, counts, prior, report)
    likely = [own.pairs for model in (first, second) for own in (model.forward, model.backward)]
    keep = np.max(likely, axis=0) >= LEAST
    return Statistics(
        key, source, target, (counts.source, counts.target), counts.dice()[keep],
        first.restricted(keep), second.restricted(keep),
    )  # fmt: skip
