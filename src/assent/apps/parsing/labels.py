"""The labeler: the best labels for the arcs of a tree, by features of the tree around them.

Labels of all modifiers of a word are found together, so that a verb gets one subject; that of the
word itself is found before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.apps.parsing.data import Example, Tokens
from assent.kernels.parsing import label_scores

# Weights of a feature for all labels lie side by side, so 2**22 of them hold what is learned.
TABLE_BITS = 22

# Further passes find no better labels of other sentences.
PASSES = 6

# The longest step of MIRA.
LONGEST_STEP = 0.01


@dataclass(frozen=True)
class Labeler:
    """A linear model of labels."""

    names: tuple[str, ...]
    weights: NDArray[np.float32]

    def labels(self, tokens: Tokens, heads: NDArray[np.int64]) -> list[str]:
        """A label for the arc into each word of a tree ``heads[n]``."""
        found = label_scores.best_labels(tokens, heads, len(self.names), self.weights)
        return [self.names[label] for label in found]


def train_labeler(examples: Sequence[Example], names: Sequence[str], seed: int) -> Labeler:
    """Learn labels from right trees, by MIRA with averaged weights."""
    weights, late = np.zeros((2, 1 << TABLE_BITS), np.float32)
    rng = np.random.default_rng(seed)
    step = 0
    for _ in range(PASSES):
        for number in rng.permutation(len(examples)):
            own, step = examples[number], step + 1
            label_scores.label_step(
                own.tokens, own.heads, own.labels, len(names), LONGEST_STEP, float(step), weights,
                late,
            )  # fmt: skip
    return Labeler(tuple(names), weights - late / np.float32(step + 1))
