"""All features of a sentence pair's word pairs, as one array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.apps.alignment.data.links import Links
from assent.apps.alignment.features.neighbours import neighbour_features
from assent.apps.alignment.features.other_aligners import other_features
from assent.apps.alignment.features.positions import position_features
from assent.apps.alignment.features.spelling import spelling_features
from assent.apps.alignment.features.statistics import KEYS, Statistics, count_bitext
from assent.apps.alignment.features.words import agreed_links
from assent.kernels.problem import Float


@dataclass(frozen=True)
class FeatureSet:
    """Features of word pairs, with the statistics that they need."""

    statistics: tuple[Statistics, ...]  # of a bitext, by forms and by stems
    others: int = 0  # how many other aligners' links are given with each sentence pair

    def tables(self, pair: SentencePair, others: Sequence[Links] = ()) -> dict[str, Float]:
        """Tables ``[n, m]`` by name."""
        n, m = pair.shape
        found = {"constant": np.ones((n, m))}
        found |= position_features(n, m) | spelling_features(pair)
        for own in self.statistics:
            found |= own.features(pair)
        agreed = agreed_links(found)
        found |= neighbour_features("HMM", agreed)
        found["HMM and distance"] = agreed * found["distance"]
        frequent = found["both frequent, forms"]
        found |= {f"{name}, frequent": frequent * found[name] for name in WITH_FREQUENCY}
        if all(own.links is not None for own in self.statistics):
            linked = [found[f"linked both ways, {own.key}"] for own in self.statistics]
            found |= neighbour_features("linked", np.mean(linked, axis=0))
        if self.others:
            found |= other_features(others, (n, m))
        return found

    def with_links(self, aligned: Sequence[tuple[SentencePair, Any]]) -> FeatureSet:
        """The same with counts of the links ``[n, m]`` of sentence pairs."""
        return replace(self, statistics=tuple(own.with_links(aligned) for own in self.statistics))

    def features(self, pair: SentencePair, others: Sequence[Links] = ()) -> Float:
        """Features ``[n, m, D]``."""
        return np.stack(list(self.tables(pair, others).values()), axis=-1)


# What decides where words belong that occur in most sentences: their places and neighbours.  These
# features come once more for pairs of frequent words.
WITH_FREQUENCY = ("distance", "distance in words", "HMM before", "HMM after", "HMM near after",
                  "HMM backward, stems", "HMM forward, stems", "Dice competing, stems")  # fmt: skip


def fit_features(
    bitext: Iterable[SentencePair], others: int = 0, report: Callable[[], Any] = lambda: None
) -> FeatureSet:
    """Features with statistics of a bitext, which is iterated over once for each of `KEYS`."""
    return FeatureSet(tuple(count_bitext(bitext, key, report) for key in KEYS), others)
