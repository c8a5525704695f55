"""Training a compressor from sentences that people compressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assent.apps.summarization.compression_features import (
    FeatureNames,
    arc_features,
    word_features,
)
from assent.apps.summarization.compressor import Compressor
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.learn import LogLikelihood, StructuredPredictor, Trainer
from assent.models import TreeModel

# Words in which a feature must occur: what is seen once says nothing about others.
LEAST_WORDS = 2
# By the likelihood of ten documents of broadcast news, of 0.006, 0.02 and 0.05.
C, PASSES = 0.006, 40

Kept = NDArray[np.bool_]


def train_compressor(
    sentences: Sequence[Sentence],
    kept: Sequence[Kept],
    *,
    dev: tuple[Sequence[Sentence], Sequence[Kept]] | None = None,
    trainer: Trainer | None = None,
    progress: bool = False,
) -> Compressor:
    """Learn which words people keep.

    Args:
        sentences: with tags, heads and labels.
        kept: ``[people, n]`` for each: which words each person kept; all are learnt from.
        dev: other sentences: the threshold is such that as much of them is kept as people kept.
            Left out, of the training sentences.
        trainer: of `assent.learn`; by default `LogLikelihood`, without which probabilities mean
            little.
        progress: show a line per pass.

    Example:
        >>> tree = Sentence.from_words(["Very", "quiet", "rooms"]).with_columns(
        ...     xpos=["RB", "JJ", "NNS"], heads=[2, 3, 0], deprels=["advmod", "amod", "root"])
        >>> both = np.array([[0, 1, 1], [0, 0, 1]], bool)
        >>> learnt = train_compressor([tree] * 3, [both] * 3, trainer=LogLikelihood(C=10.0))
        >>> learnt.probabilities(tree).round(1).tolist()
        [0.0, 0.5, 1.0]
    """
    _check(sentences, kept, "train on")
    if dev is not None:
        _check(*dev, "find the threshold by")
    words = FeatureNames.of((row for s in sentences for row in word_features(s)), LEAST_WORDS)
    arcs = FeatureNames.of((row for s in sentences for row in arc_features(s)), LEAST_WORDS)
    model = TreeModel((0, 1), len(words.names), len(arcs.names))
    blank = Compressor(words, arcs, np.zeros(model.size))
    inputs, outputs, counts = [], [], []
    for sentence, own in zip(sentences, kept, strict=True):
        features = blank.input(sentence)
        for output, people in zip(*np.unique(own, axis=0, return_counts=True), strict=True):
            inputs.append(features)
            outputs.append(output.astype(int))
            counts.append(float(people))
    trainer = trainer or LogLikelihood(C=C, max_iterations=PASSES)
    predictor = StructuredPredictor(model, trainer)
    predictor.fit(inputs, outputs, counts, progress=progress)
    learnt = replace(blank, weights=predictor.weights_)
    return replace(learnt, threshold=matched_threshold(learnt, *(dev or (sentences, kept))))


def _check(sentences: Sequence[Sentence], kept: Sequence[Kept], purpose: str) -> None:
    """Raise unless there are sentences, and people who compressed each."""
    if not len(sentences):
        raise ModelError(f"there are no sentences to {purpose}")
    for sentence, own in zip(sentences, kept, strict=True):
        if own.ndim != 2 or own.shape[1] != len(sentence) or not len(own):
            raise ModelError(
                f"what people kept of a sentence of {len(sentence)} words has the shape "
                f"(people, {len(sentence)}), got {own.shape}"
            )


def matched_threshold(
    compressor: Compressor, sentences: Sequence[Sentence], kept: Sequence[Kept]
) -> float:
    """The threshold at which as many words of some sentences are kept as people kept."""
    found = np.concatenate([compressor.probabilities(sentence) for sentence in sentences])
    rate = sum(own.mean(axis=0).sum() for own in kept) / len(found)
    return float(np.quantile(found, 1.0 - rate))
