"""The tagging task of suite ``corpus``: a chain trained on a few sentences, and the text it tags.

After Belanger et al. (2014) and Rush et al. (2012): a conditional random field with the tagger's
features is trained on a few sentences of a Penn Treebank sample and tags others.  Occurrences of
words that training has seen fewer than five times should agree.  The paper trains on subsets of a
chapter and tests on others; here training sentences are drawn from the first 1,500 of the sample
and the other 2,414 are tested.  What is chosen (regularisation, penalties, steps) is chosen on
sentences of the first 1,500 that other draws have not trained on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus import CorpusModel, text_model
from assent.apps.tagging import PerceptronSettings, Tagger, train_tagger
from assent.io import Sentence
from assent.learn import LogLikelihood
from benchmarks.treebank import read

TRAINED_FROM = 1500  # sentences of which training ones are drawn; the others are tested
PENALTY = 2.0  # in log-probabilities
TRAINER = LogLikelihood(C=10.0, max_iterations=60)
TABLE_BITS = 18  # as many rows as 500 sentences have features


@dataclass(frozen=True)
class Sample:
    """A tagger from a few sentences, and the text it tags.

    Attributes:
        model: the text, as a whole.
        gold: the right labels; -1 where training has none of them.
    """

    model: CorpusModel
    gold: NDArray[np.int32] = field(repr=False)

    def accuracy(self, states: NDArray[np.int32]) -> float:
        """Right tags in percent."""
        return 100.0 * float(np.mean(states == self.gold))


def sentences_of(path: Path) -> list[Sentence]:
    """The sample as sentences of a tagger."""
    return [
        Sentence.from_words([word for word, _ in own]).with_columns(xpos=[tag for _, tag in own])
        for own in read(path)
    ]


def trained_on(sentences: list[Sentence]) -> Tagger:
    """A conditional random field."""
    settings = PerceptronSettings(table_bits=TABLE_BITS)
    return train_tagger(sentences, columns=["xpos"], trainer=TRAINER, settings=settings)


def sample(path: Path, trained: int, seed: int, tested: bool = True) -> Sample:
    """Train on sentences drawn at random; if not ``tested``, tag those that were not drawn."""
    sentences = sentences_of(path)
    order = np.random.default_rng(seed).permutation(TRAINED_FROM)
    tagger = trained_on([sentences[i] for i in order[:trained]])
    text = sentences[TRAINED_FROM:] if tested else [sentences[i] for i in order[trained:]]
    model = text_model(tagger, text, PENALTY)
    return Sample(model, tagger.labels.numbers(text))
