"""How often words occur, and occur together, in a bitext."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.apps.alignment.features.vocabulary import NumberedBitext
from assent.kernels.alignment.agreement import PairTable
from assent.kernels.problem import Float, Int64

# Pairs of positions looked at together: their numbers take 32 MB, however long the bitext.
BLOCK = 1 << 22


class Cooccurrence(NamedTuple):
    """Numbers of sentence pairs, each word counted once in a sentence."""

    table: PairTable  # the word pairs that occur together
    together: Int64  # [pairs] in how many sentence pairs
    source: Int64  # [source words] in how many sentences
    target: Int64  # [target words]

    def dice(self) -> Float:
        """Dice coefficients ``[pairs]``: twice together over the sum of both alone."""
        sources = np.repeat(np.arange(len(self.source)), np.diff(self.table.start))
        return 2.0 * self.together / (self.source[sources] + self.target[self.table.target])


def count_words(text: NumberedBitext, sources: int, targets: int) -> Cooccurrence:
    """Counts of a bitext over vocabularies of these sizes."""
    single = np.zeros(sources, np.int64), np.zeros(targets, np.int64)
    merged = np.zeros((2, 0), np.int64)  # keys and their counts
    waiting: list[Int64] = []
    size = 0
    for s in range(text.sentences):
        own = np.unique(text.source[text.source_start[s] : text.source_start[s + 1]])
        other = np.unique(text.target[text.target_start[s] : text.target_start[s + 1]])
        single[0][own] += 1
        single[1][other] += 1
        waiting.append((own.astype(np.int64)[:, None] * targets + other).ravel())
        size += waiting[-1].size
        if size >= BLOCK:
            merged, waiting, size = _merge(merged, waiting), [], 0
    keys, together = _merge(merged, waiting)
    start = np.searchsorted(keys, np.arange(sources + 1, dtype=np.int64) * targets)
    table = PairTable(start.astype(np.int64), (keys % max(targets, 1)).astype(np.int32))
    return Cooccurrence(table, together, *single)


def _merge(merged: Int64, waiting: list[Int64]) -> Int64:
    """Keys and counts, with those of further keys added."""
    keys, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *waiting]), return_counts=True)
    if not merged.shape[1]:
        return np.stack([keys, counts])
    both, where = np.unique(np.concatenate([merged[0], keys]), return_inverse=True)
    total = np.bincount(where, np.concatenate([merged[1], counts]), len(both))
    return np.stack([both, total.astype(np.int64)])
