"""IBM Model 1 and the hidden Markov model, trained in both directions to agree.

Liang, Taskar and Klein (2006): expected links are the products of both models' posteriors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.apps.alignment.features.cooccurrence import Cooccurrence
from assent.apps.alignment.features.vocabulary import NumberedBitext
from assent.kernels.alignment.agreement import (
    Direction,
    PairTable,
    expected_counts,
    sentence_posteriors,
)
from assent.kernels.problem import Float, Int32

# Distances of jumps that have a weight of their own; farther ones are rare, and share one.
REACH = 7
# The probability that a word has no link; the value of Och and Ney, which training keeps.
NULL = 0.2
# How fast links get less probable away from the diagonal, as in fast_align (Dyer et al. 2013).
DIAGONAL = 4.0
# Passes of expectation maximisation for each of the two models, as in Liang et al.
PASSES = 5


@dataclass(frozen=True)
class TranslationModel:
    """Two alignment models, one for each direction."""

    table: PairTable  # the word pairs that have probabilities
    forward: Direction  # explains target words by source words
    backward: Direction  # explains source words

    def posteriors(self, source: Int32, target: Int32) -> tuple[Any, Float, Float]:
        """Indices and both models' probabilities ``[n, m]`` of the links of a sentence pair."""
        jumps = np.zeros_like(self.forward.jumps), np.zeros_like(self.backward.jumps)
        return sentence_posteriors(
            self.table, self.forward, self.backward, NULL, DIAGONAL, source, target, jumps
        )

    def restricted(self, keep: Any) -> TranslationModel:
        """The same over the word pairs chosen by the mask ``keep[pairs]``."""
        kept = np.concatenate([[0], np.cumsum(keep)])
        return TranslationModel(
            PairTable(kept[self.table.start], self.table.target[keep]),
            self.forward._replace(pairs=self.forward.pairs[keep]),
            self.backward._replace(pairs=self.backward.pairs[keep]),
        )


def train_translation(
    text: NumberedBitext,
    counts: Cooccurrence,
    prior: Float | None = None,
    report: Callable[[], Any] = lambda: None,
) -> tuple[TranslationModel, TranslationModel]:
    """IBM Model 1 and the hidden Markov model of a bitext.

    Both prefer links near the diagonal: with few sentences that decides between rare words.
    ``prior[pairs]`` is how often each word pair counts as linked beforehand; ``report`` is called
    after each of ``2 * PASSES`` passes.
    """
    prior = np.zeros(len(counts.together)) if prior is None else prior
    none = Direction(counts.dice() + prior, np.ones(len(counts.target)), np.zeros(0))
    model = _normalised(counts.table, none, none._replace(null=np.ones(len(counts.source))))
    for _ in range(PASSES):
        model = _pass(text, model, prior)
        report()
    first = model
    jumps = np.ones(2 * REACH + 1)
    model = TranslationModel(
        model.table, model.forward._replace(jumps=jumps), model.backward._replace(jumps=jumps)
    )
    for _ in range(PASSES):
        model = _pass(text, model, prior)
        report()
    return first, model


def _pass(text: NumberedBitext, model: TranslationModel, prior: Float) -> TranslationModel:
    """One pass of expectation maximisation."""
    counts = [
        Direction(prior.copy(), np.zeros_like(own.null), np.zeros_like(own.jumps))
        for own in (model.forward, model.backward)
    ]
    expected_counts(
        model.table, model.forward, model.backward, NULL, DIAGONAL, tuple(text), tuple(counts)
    )
    return _normalised(model.table, *counts)


def _normalised(table: PairTable, forward: Direction, backward: Direction) -> TranslationModel:
    """Probabilities of expected counts."""
    sources = np.repeat(np.arange(len(table.start) - 1), np.diff(table.start))
    targets = table.target
    return TranslationModel(
        table,
        Direction(_shares(forward.pairs, sources), _distribution(forward.null),
                  _distribution(forward.jumps)),
        Direction(_shares(backward.pairs, targets), _distribution(backward.null),
                  _distribution(backward.jumps)),
    )  # fmt: skip


def _shares(counts: Float, given: Any) -> Float:
    """Each count over the sum of those with the same given word."""
    totals = np.bincount(given, counts)
    return counts / np.maximum(totals[given], np.finfo(float).tiny)


def _distribution(counts: Float) -> Float:
    """Counts over their sum."""
    return counts / max(counts.sum(), np.finfo(float).tiny)
