"""Aligner: features, a model and its weights, from sentence pairs to links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.apps.alignment.data.links import Links
from assent.apps.alignment.features.feature_set import FeatureSet
from assent.apps.alignment.features.words import adjacent_features, fertility_features
from assent.apps.alignment.model.alignment_model import AlignmentInput, AlignmentModel
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.models.matching_model import MatchingModel

# Sentence pairs decoded together: enough for one compiled loop, few enough to hold in memory.
TOGETHER = 64


@dataclass(frozen=True)
class Aligner:
    """A trained aligner; `train_aligner` makes one, `read_aligner` reads one from a file.

    Attributes:
        features: of word pairs, with the statistics of a bitext.
        model: `MatchingModel` where a word has one link at most, else `AlignmentModel`.
        adjacent: whether links of neighbouring words earn something together.
        weights: of the model.
    """

    features: FeatureSet
    model: MatchingModel | AlignmentModel
    adjacent: bool
    weights: Float

    def align(
        self, pairs: Iterable[SentencePair], others: Iterable[Sequence[Links]] | None = None
    ) -> Iterator[Links]:
        """The links of each sentence pair, as they come.

        Args:
            pairs: sentences, of a `Bitext` for instance.
            others: for each of them the links of other aligners, in the order of training.
        """
        stream = with_others(pairs, others, self.features.others)
        while block := list(islice(stream, TOGETHER)):
            full = [(pair, own) for pair, own in block if min(pair.shape)]
            inputs = [self.input(*one) for one in full]
            found = iter(self.model.predict_many(inputs, self.weights) if inputs else [])
            for pair, _ in block:
                yield Links.of_table(next(found)) if min(pair.shape) else Links(frozenset())

    def input(self, pair: SentencePair, others: Sequence[Links] = ()) -> Any:
        """A sentence pair as the model takes it."""
        tables = self.features.tables(pair, others)
        links = np.stack(list(tables.values()), axis=-1)
        if isinstance(self.model, MatchingModel):
            return links
        n, m = pair.shape
        return AlignmentInput(
            links,
            fertility_features(tables, 1),
            fertility_features(tables, 0),
            adjacent_features(tables) if self.adjacent else np.zeros((n - 1, m - 1, 0)),
        )


def with_others(
    pairs: Iterable[SentencePair], others: Iterable[Sequence[Links]] | None, count: int
) -> Iterator[tuple[SentencePair, Sequence[Links]]]:
    """Sentence pairs with the links of ``count`` other aligners."""
    if others is None:
        if count:
            raise ModelError(
                f"this aligner was trained with the links of {count} other aligner(s), and needs "
                "theirs, in the same order"
            )
        yield from ((pair, ()) for pair in pairs)
        return
    for pair, own in zip(pairs, others, strict=True):
        if len(own) != count:
            raise ModelError(
                f"links of {len(own)} other aligner(s) are given, and {count} are needed"
            )
        yield pair, own
