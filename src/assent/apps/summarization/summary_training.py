"""Learning from summaries and compressions together: two tasks that share weights of deletions.

Both tasks give scores to arcs that are cut: with shared weights, and with their own in addition
(Evgeniou and Pontil 2004, Daumé 2007).  A summary also has weights of concepts.  Weights have a
large margin: the best summary that can be made, by its recall of what people wrote, is worth more
than every other by as much recall as that one lacks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from assent.apps.summarization.concept_features import NAMES, concept_features
from assent.apps.summarization.concepts import Concepts, bigram_concepts
from assent.apps.summarization.decode import Summary, summarize
from assent.apps.summarization.deletions import Deletions, phrase_deletions
from assent.apps.summarization.summary_weights import (
    RELATIONS,
    SummaryWeights,
    arc_relations,
    prices,
)
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.kernels.problem import Float
from assent.learn import Examples, FrankWolfe, Trainer, train
from assent.models import LinearExample, TreeSpace
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.space import Space

ARCS, KINDS = len(RELATIONS), len(NAMES)
# Losses are in points of recall: a summary's error then counts as much as some arcs'.
POINTS = 100.0
# Chosen of 0.001 to 1 on 34 topics of Opinosis; after fewer passes weights still jump.
C, PASSES = 0.03, 20


class Collection(NamedTuple):
    """Sentences and the summaries that people wrote of them."""

    sentences: Sequence[Sentence]
    references: Sequence[str]
    starts: Sequence[int] = ()


class CutArcs(NamedTuple):
    """Arcs of a sentence that could be cut: features ``[arcs, ARCS]``, and which people cut."""

    features: Float
    cut: Any


@dataclass(frozen=True)
class TwoTasks(Model):
    """Weights: of arcs, shared, of compressions and of summaries; then of concepts."""

    budget: int
    deletions: Deletions

    @property
    def size(self) -> int:
        return 3 * ARCS + KINDS

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> TwoTasks:
        return self

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> LinearExample:
        """Of a `Collection`, or of `CutArcs` (``y`` is None: both know what is right)."""
        if isinstance(x, CutArcs):
            return self._compression(x)
        return self._summary(x)

    def _compression(self, x: CutArcs) -> LinearExample:
        """Every arc by itself: is it cut or not?"""
        count = len(x.cut)
        rows = np.zeros((2 * count, self.size))
        rows[1::2, : 2 * ARCS] = np.tile(x.features, 2)
        gold = np.stack([~x.cut, x.cut], axis=1).ravel().astype(float)
        return LinearExample(rows, TreeSpace([2] * count, [-1] * count), gold, 1.0 - gold)

    def _summary(self, x: Collection) -> LinearExample:
        space = SummarySpace(x, self.budget, self.deletions)
        recall = POINTS * recalls(x, space.concepts)
        gold = space.maximize(np.concatenate([recall, np.zeros(ARCS)]))
        types = len(recall)
        rows = np.zeros((space.size, self.size))
        rows[:types, 3 * ARCS :] = concept_features(x.sentences, space.concepts, x.starts)
        rows[types:, :ARCS] = rows[types:, 2 * ARCS : 3 * ARCS] = np.eye(ARCS)
        costs = np.concatenate([-recall, np.zeros(ARCS)])
        return LinearExample(rows, space, gold, costs, float(gold @ -costs), outside=True)

    def predict(self, x: Collection, weights: Float) -> Summary:
        """The best summary."""
        learnt = weights_of_summaries(weights)
        return summarize(
            x.sentences, self.budget, deletions=learnt.priced(self.deletions),
            concepts=learnt.weighted(x.sentences, self.budget, x.starts),
        )  # fmt: skip

    def named(self, weights: Float) -> dict[str, Float]:
        parts = np.split(weights, [ARCS, 2 * ARCS, 3 * ARCS])
        return dict(zip(("shared", "compressions", "summaries", "concepts"), parts, strict=True))


class SummarySpace(Space):
    """Summaries by the concepts they cover and, for each feature of arcs, its sum over cut ones."""

    abilities = ("maximize",)

    def __init__(self, x: Collection, budget: int, deletions: Deletions) -> None:
        self.sentences, self.budget = x.sentences, budget
        self.arcs = {id(s): (deletions(s) > -np.inf, arc_relations(s)) for s in x.sentences}
        self.concepts = bigram_concepts(x.sentences, budget=budget, starts=x.starts)
        self.size = len(self.concepts.weights) + ARCS

    def maximize(self, scores: Float) -> Float:
        types = self.size - ARCS
        own = self.concepts
        summary = summarize(
            self.sentences, self.budget,
            deletions=lambda sentence: prices(*self.arcs[id(sentence)], scores[types:]),
            concepts=Concepts(scores[:types], own.types, own.words),
        )  # fmt: skip
        flat = np.concatenate(summary.kept)
        found = np.zeros(self.size)
        found[own.types[flat[own.words].all(axis=1)]] = 1.0
        for number in summary.chosen:
            sentence, kept = self.sentences[number], summary.kept[number]
            above = np.append(kept, True)[sentence.tree - 1]
            found[types:] += self.arcs[id(sentence)][1][above & ~kept].sum(axis=0)
        return found


def recalls(x: Collection, concepts: Concepts) -> Float:
    """What each concept ``[types]`` adds to the recall of pairs of words, the mean over people."""
    words = [word.lower() for sentence in x.sentences for word in sentence.words]
    kinds, first = np.unique(concepts.types, return_index=True)
    pairs = [(words[i], words[j]) for i, j in concepts.words[first].tolist()]
    found = np.zeros(len(concepts.weights))
    for reference in x.references:
        own = list(pairwise(re.findall(r"\w+(?:'\w+)?", reference.lower())))
        for kind, pair in zip(kinds, pairs, strict=True):
            found[kind] += own.count(pair) > 0 and 1.0 / len(own)
    return found / max(1, len(x.references))


def cut_arcs(sentence: Sentence, kept: Any, deletions: Deletions) -> CutArcs:
    """What people did with the arcs that may be cut, below words they kept: ``kept[people, n]``."""
    features = arc_relations(sentence)
    may = (deletions(sentence) > -np.inf) & (sentence.tree > 0)
    person, word = np.nonzero(kept[:, np.maximum(sentence.tree - 1, 0)] & may)
    return CutArcs(features[word], ~kept[person, word])


def train_summarizer(
    collections: Sequence[Collection],
    compressions: Sequence[tuple[Sentence, Any]] = (),
    *,
    budget: int,
    deletions: Deletions = phrase_deletions,
    trainer: Trainer | None = None,
    progress: bool = False,
) -> SummaryWeights:
    """Learn what concepts are worth and what deletions cost.

    Args:
        collections: with summaries that people wrote.
        compressions: sentences, and ``[people, n]`` which words people kept of each: what they
            delete tells what deletions cost in summaries too.
        budget: words of a summary.
        deletions: what may be deleted at all.
        trainer: with a large margin, of `assent.learn`; by default `FrankWolfe`.
        progress: show a line per measurement.

    Example:
        >>> lines = ["Quiet rooms .", "Quiet rooms again .", "It rained .", "Again it rained ."]
        >>> trees = [Sentence.from_words(line.split()) for line in lines]
        >>> trees = [own.with_columns(heads=[0] + [1] * (len(own) - 1),
        ...                           deprels=["root"] + ["dep"] * (len(own) - 1)) for own in trees]
        >>> learnt = train_summarizer([Collection(trees, ["Quiet rooms"])], budget=2)
        >>> summarize(trees, 2, concepts=learnt.weighted(trees, 2)).text
        'Quiet rooms.'
    """
    if not collections:
        raise ModelError("there are no summaries to learn from")
    for number, own in enumerate(collections, start=1):
        if not own.sentences:
            raise ModelError(f"collection {number} has no sentences")
    arcs = [cut_arcs(sentence, kept, deletions) for sentence, kept in compressions]
    inputs = [*collections, *(cuts for cuts in arcs if len(cuts.cut))]
    examples = Examples(TwoTasks(budget, deletions), inputs, [None] * len(inputs))
    trainer = trainer or FrankWolfe(C=C, max_iterations=PASSES)
    found = train(examples, trainer, measure_every=trainer.max_iterations, progress=progress)
    return weights_of_summaries(found.weights)


def weights_of_summaries(weights: Float) -> SummaryWeights:
    """The weights that summaries use of those of both tasks."""
    return SummaryWeights(weights[3 * ARCS :], weights[:ARCS] + weights[2 * ARCS : 3 * ARCS])
