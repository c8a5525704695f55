"""Conditional link probabilities (Moore 2005): how often words that occur together are linked.

A first aligner, without these features, links the words of the bitext; counts of its links say
more than any co-occurrence, since they rest on all of its features.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from assent.apps.alignment.features.neighbours import competing
from assent.kernels.alignment.agreement import PairTable
from assent.kernels.problem import Float, Int64

# Subtracted from every count of links: a link seen once says nothing but what was decided there.
DISCOUNT = 0.9


class LinkCounts(NamedTuple):
    """Probabilities ``[pairs]`` of links, over the word pairs of a table."""

    together: Float  # of a sentence in which both words occur
    forward: Float  # of the links of the source word
    backward: Float  # of those of the target word

    def features(self, index: Int64) -> dict[str, Float]:
        """Tables ``[n, m]`` by name, from the indices of word pairs (-1: unknown)."""
        together, forward, backward = (
            np.where(index >= 0, own[np.maximum(index, 0)], 0.0) for own in self
        )
        agreed = np.sqrt(forward * backward)
        return {
            "linked": together,
            "linked forward": forward,
            "linked backward": backward,
            "linked both ways": agreed,
            "linked competing": competing(agreed),
        }


def count_links(table: PairTable, aligned: Iterable[tuple[Int64, Any]]) -> LinkCounts:
    """Probabilities from aligned sentences: indices ``[n, m]`` of word pairs, and their links.

    Example:
        >>> table = PairTable(np.array([0, 2]), np.array([0, 1], np.int32))
        >>> sentences = [(np.array([[0, 1]]), np.array([[1, 0]]))] * 10
        >>> count_links(table, sentences).together.round(2).tolist()
        [0.91, 0.0]
    """
    pairs = len(table.target)
    links, together = np.zeros(pairs), np.zeros(pairs)
    for index, linked in aligned:
        chosen = (np.asarray(linked) > 0) & (index >= 0)
        links += np.bincount(index[chosen], minlength=pairs)
        together[np.unique(index[index >= 0])] += 1.0
    links = np.maximum(links - DISCOUNT, 0.0)
    sources = np.repeat(np.arange(len(table.start) - 1), np.diff(table.start))
    return LinkCounts(
        np.minimum(links / np.maximum(together, 1.0), 1.0),
        links / np.maximum(np.bincount(sources, links)[sources], 1.0),
        links / np.maximum(np.bincount(table.target, links)[table.target], 1.0),
    )
