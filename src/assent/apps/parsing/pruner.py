"""The pruner: a first look at all arcs of a sentence that leaves a handful of heads per word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.apps.parsing.data import Example, Tokens
from assent.kernels.parsing import head_posteriors as kernels
from assent.kernels.parsing.sentence_parts import Arcs

# A table of 2**21 weights (2 MB in 8 bits) finds as good candidates as larger ones do.
TABLE_BITS = 21

# Passes and rate of AdaGrad; more passes fit the training sentences and find no better candidates.
PASSES, RATE = 3, 0.06

# The squared gradient that every weight begins with keeps the first steps short.
FIRST_SQUARE = 0.01

_NO_HEADS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Pruner:
    """A log-linear model of the head of each word."""

    weights: NDArray[np.float32]  # a table of weights, a power of two long
    of_trees: bool = False  # whether heads have their probability in a tree, not each for itself
    most: int = 20  # the number of heads that a word keeps at most
    least: float = 5e-3  # how probable they are at least, relative to the best one

    def arcs(self, tokens: Tokens, gold: NDArray[np.int64] = _NO_HEADS) -> Arcs:
        """Candidate arcs; those of ``gold[n]``, if given, are kept."""
        return kernels.keep_probable(self.posteriors(tokens), self.most, self.least, gold)

    def posteriors(self, tokens: Tokens) -> NDArray[np.float64]:
        """``[n, n + 1]`` the probability of each head of every word."""
        alone = kernels.head_posteriors(tokens, self.weights)
        return kernels.tree_posteriors(alone) if self.of_trees else alone


def train_pruner(examples: Sequence[Example], seed: int, of_trees: bool = False) -> Pruner:
    """Learn a pruner by log-likelihood; the same examples and seed give the same pruner."""
    weights = np.zeros(1 << TABLE_BITS, np.float32)
    squares = np.full(1 << TABLE_BITS, FIRST_SQUARE, np.float32)
    pruner, rng = Pruner(weights, of_trees), np.random.default_rng(seed)
    for _ in range(PASSES):
        for number in rng.permutation(len(examples)):
            own = examples[number]
            posteriors = pruner.posteriors(own.tokens)
            kernels.posterior_step(own.tokens, posteriors, own.heads, RATE, weights, squares)
    return pruner


def jackknife(
    examples: Sequence[Example], folds: int, seed: int, of_trees: bool = False
) -> list[Arcs]:
    """Candidate arcs of every example by a pruner that has not seen it, the right heads kept.

    A pruner is surer of sentences it has seen; a parser that learned from those would not know
    the arcs it meets later.
    """
    arcs: list[Arcs | None] = [None] * len(examples)
    for fold in range(folds):
        others = [e for i, e in enumerate(examples) if i % folds != fold]
        pruner = train_pruner(others, seed, of_trees)
        for number in range(fold, len(examples), folds):
            own = examples[number]
            arcs[number] = pruner.arcs(own.tokens, own.heads)
    return arcs  # type: ignore[return-value]
