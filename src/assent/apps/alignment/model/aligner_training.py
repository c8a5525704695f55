"""`train_aligner`: from sentence pairs with links, and any bitext, to an aligner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Any

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.apps.alignment.data.links import Links
from assent.apps.alignment.features.feature_set import FeatureSet, fit_features
from assent.apps.alignment.model.aligner import Aligner, with_others
from assent.apps.alignment.model.alignment_model import AlignmentModel
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.learn import MIRA, Examples, Trainer, train
from assent.models.losses import WeightedHamming
from assent.models.matching_model import MatchingModel, PartialMatching
from assent.progress import live_display

# Sentence pairs of the bitext that the first aligner links: a minute's work, and more would hardly
# change what is known about the words of those to come.
MOST_LINKED = 20_000


DEFAULT_TRAINER = MIRA(C=0.05, max_iterations=10)


@dataclass(frozen=True)
class AlignerSettings:
    """What an aligner may do, and how it is trained.

    Args:
        fertility: how many links a word has at most.
        adjacent: reward links of neighbouring words in the same order; they are decoded with AD3.
        missed: what a missed sure link costs, where a wrong one costs 1.
        trainer: of ``assent.learn``.
        linked: count the links that a first aligner finds in the bitext, as features.
    """

    fertility: int = 2
    adjacent: bool = False
    missed: float = 1.5
    trainer: Trainer = DEFAULT_TRAINER
    linked: bool = True


@dataclass(frozen=True)
class LinkedSentences:
    """Sentence pairs to learn from: their links, and those of other aligners."""

    pairs: Sequence[SentencePair]
    gold: Sequence[Links]
    others: Sequence[Sequence[Links]] | None = None  # for each pair, one of each aligner

    def __post_init__(self) -> None:
        given = (self.gold, self.others or self.pairs)
        if any(len(part) != len(self.pairs) for part in given):
            raise ModelError(f"{len(self.pairs)} sentence pairs, and links of {len(self.gold)}")
        if not any(own.sure for own in self.gold):
            raise ModelError("there is nothing to learn from: no sentence pair has a sure link")


def train_aligner(
    sentences: LinkedSentences,
    bitext: Iterable[SentencePair] = (),
    settings: AlignerSettings = AlignerSettings(),  # noqa: B008 - frozen
    *,
    progress: bool = False,
) -> Aligner:
    """Learn to align.

    Args:
        sentences: a few dozen or more sentence pairs with their links.
        bitext: more sentence pairs, without links: what counts and translation models are estimated
            from, together with the sentences above.  Iterated over several times: a list or a
            `Bitext`.
        settings: what the aligner may do.
        progress: show what is being done, on a terminal.

    Example:
        >>> pairs = [SentencePair(("la", "maison"), ("the", "house")),
        ...          SentencePair(("une", "fleur"), ("a", "flower")),
        ...          SentencePair(("la", "fleur"), ("the", "flower"))]
        >>> gold = [Links(frozenset({(0, 0), (1, 1)}))] * 3
        >>> aligner = train_aligner(LinkedSentences(pairs, gold))
        >>> found = next(aligner.align([SentencePair(("une", "maison"), ("a", "house"))]))
        >>> sorted(found.sure)
        [(0, 0), (1, 1)]
    """
    text = _Several((sentences.pairs, bitext))
    display = live_display(str) if progress else None
    say = display.show if display is not None else lambda what: None
    with display or nullcontext():
        passes = count(1)
        features = fit_features(
            text, report=lambda: say(f"reading the bitext, pass {next(passes)}")
        )
        if settings.linked:
            say("training a first aligner")
            first = _fit(features, sentences, replace(settings, fertility=1, adjacent=False))
            linked = islice((pair for pair in text if min(pair.shape)), MOST_LINKED)
            aligned = []
            for number, pair in enumerate(linked, start=1):
                aligned.append((pair, first.model.predict(first.input(pair), first.weights)))
                say(f"linking the bitext, sentence {number}")
            features = features.with_links(aligned)
        others = 0 if sentences.others is None else len(sentences.others[0])
        say("training the aligner")
        return _fit(replace(features, others=others), sentences, settings)


class _Several(Iterable[SentencePair]):
    """Bitexts one after the other, as often as they are iterated over."""

    def __init__(self, parts: Sequence[Iterable[SentencePair]]) -> None:
        self._parts = parts

    def __iter__(self) -> Any:
        return chain.from_iterable(self._parts)


def _fit(features: FeatureSet, sentences: LinkedSentences, settings: AlignerSettings) -> Aligner:
    """Learn the weights of given features."""
    simple = settings.fertility == 1 and not settings.adjacent
    model: Any = MatchingModel() if simple else AlignmentModel(settings.fertility)
    blank = Aligner(features, model, settings.adjacent, np.zeros(0))
    given = with_others(
        sentences.pairs, sentences.others if features.others else None, features.others
    )
    inputs, outputs = [], []
    for (pair, own), links in zip(given, sentences.gold, strict=True):
        if min(pair.shape):
            inputs.append(blank.input(pair, own))
            outputs.append(PartialMatching(*links.tables(pair.shape)))
    model = model.shaped(inputs, outputs)
    examples = Examples(model, inputs, outputs, WeightedHamming(1.0, settings.missed))
    # Measuring decodes all examples once more: once is enough.
    last = settings.trainer.max_iterations
    weights: Float = train(examples, settings.trainer, measure_every=last).weights
    return replace(blank, model=model, weights=np.asarray(weights))
