"""The Hansards as examples: splits of the hand-aligned pairs, features with and without others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assent.apps.alignment import Links, SentencePair, alignment_scores, read_bitext, read_links
from assent.apps.alignment.features.feature_set import FeatureSet, fit_features
from assent.apps.alignment.features.words import adjacent_features, fertility_features
from assent.apps.alignment.model.alignment_model import AlignmentInput
from assent.learn import MIRA, Examples, WeightedHamming, train
from assent.models import MatchingModel, Model, PartialMatching

TRAINED = 100  # of the 447 pairs; the others are the test
# Directions and symmetrizations of other aligners; the first one's positions are English–French.
OTHERS = ("", ".reverse", ".grow-diagonal")
FIRST = MIRA(C=0.05, max_iterations=20)
MISSED = 1.5


@dataclass(frozen=True)
class Corpus:
    """Hand-aligned pairs, other aligners' links for them, and text without links."""

    pairs: list[SentencePair]
    gold: list[Links]
    others: dict[str, list[Links]]
    trial: tuple[list[SentencePair], list[Links]]
    debates: list[SentencePair]

    @cached_property
    def bitext(self) -> list[SentencePair]:
        """All texts: what is aligned is known beforehand, its links are not."""
        return [*self.debates, *self.trial[0], *self.pairs]

    @cached_property
    def features(self) -> FeatureSet:
        """Features of the first round."""
        return fit_features(self.bitext)

    @cached_property
    def first_inputs(self) -> list[tuple[SentencePair, Any]]:
        """The bitext as the first aligner sees it."""
        return [(pair, self.features.features(pair)) for pair in self.bitext if min(pair.shape)]

    @cached_property
    def outputs(self) -> list[PartialMatching]:
        return [PartialMatching(*own.tables(pair.shape))
                for own, pair in zip(self.gold, self.pairs, strict=True)]  # fmt: skip


def load(data: Path) -> Corpus:
    """Read everything."""
    hansards, results = data / "align" / "hansards_naacl03", data / "align" / "lilt_results"

    def both(stem: Path) -> list[SentencePair]:
        return list(read_bitext(f"{stem}.f", f"{stem}.e"))

    pairs, trial = both(hansards / "test" / "test"), both(hansards / "dev" / "trial")
    others = {
        f"{name}{kind}": read_links(
            results / name / f"test.enfr{kind}.talp", pairs, reverse=kind != ".reverse"
        )
        for name in ("giza", "fastalign")
        for kind in OTHERS
    }
    debates = [
        pair
        for path in sorted((hansards / "train").glob("*.f"))
        for pair in both(path.with_suffix(""))
    ]
    return Corpus(
        pairs, read_links(hansards / "test" / "test.align", pairs), others,
        (trial, read_links(hansards / "dev" / "trial.align", trial)), debates,
    )  # fmt: skip


@dataclass(frozen=True)
class Split:
    """A hundred pairs to train with and the others to test, with the features of both rounds."""

    corpus: Corpus
    train: list[int]
    test: list[int]

    @cached_property
    def linked(self) -> FeatureSet:
        """Features of the second round: with the links of an aligner trained on this split."""
        corpus = self.corpus
        inputs = [corpus.features.features(corpus.pairs[i]) for i in self.train]
        outputs = [corpus.outputs[i] for i in self.train]
        model = MatchingModel().shaped(inputs, outputs)
        examples = Examples(model, inputs, outputs, WeightedHamming(1.0, MISSED))
        weights = train(examples, FIRST, measure_every=FIRST.max_iterations).weights
        aligned = [(pair, model.predict(x, weights)) for pair, x in corpus.first_inputs]
        return corpus.features.with_links(aligned)

    def tables(self, with_others: bool) -> list[dict[str, Any]]:
        """Features of all hand-aligned pairs by name."""
        corpus = self.corpus
        features = replace(self.linked, others=len(corpus.others) if with_others else 0)
        return [
            features.tables(pair, [links[i] for links in corpus.others.values()])
            for i, pair in enumerate(corpus.pairs)
        ]

    def examples(self, model: Model, inputs: list[Any], missed: float = MISSED) -> Examples:
        """The training part."""
        outputs = [self.corpus.outputs[i] for i in self.train]
        return Examples(
            model, [inputs[i] for i in self.train], outputs, WeightedHamming(1.0, missed)
        )

    def error(self, model: Model, inputs: list[Any], weights: Any) -> float:
        """The alignment error rate on the test part, in percent."""
        found = model.predict_many([inputs[i] for i in self.test], weights)
        gold = [self.corpus.gold[i] for i in self.test]
        return 100.0 * alignment_scores(gold, map(Links.of_table, found)).aer


def by_position(corpus: Corpus) -> Split:
    """The paper's split: the first hundred are trained with."""
    return Split(corpus, list(range(TRAINED)), list(range(TRAINED, len(corpus.pairs))))


def at_random(corpus: Corpus, seed: int) -> Split:
    """A random split of the same sizes."""
    order = np.random.default_rng(seed).permutation(len(corpus.pairs)).tolist()
    return Split(corpus, order[:TRAINED], order[TRAINED:])


def stacked(tables: list[dict[str, Any]]) -> list[Any]:
    """Features as `MatchingModel` takes them."""
    return [np.stack(list(own.values()), axis=-1) for own in tables]


def with_words(tables: list[dict[str, Any]], adjacent: bool) -> list[AlignmentInput]:
    """Features as `AlignmentModel` takes them."""
    made = []
    for own, links in zip(tables, stacked(tables), strict=True):
        n, m, _ = links.shape
        pairs = adjacent_features(own) if adjacent else np.zeros((n - 1, m - 1, 0))
        words = (fertility_features(own, axis) for axis in (1, 0))
        made.append(AlignmentInput(links, *words, pairs))
    return made
