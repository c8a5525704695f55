"""How compressions compare with those of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError

Kept = NDArray[np.bool_]


class CompressionScores(NamedTuple):
    """Scores from 0 to 1, means over people.

    Attributes:
        rate: share of the words that are kept.
        kept: F1 of the kept words; best near keeping everything.
        deleted: F1 of the deleted words.
        accuracy: share of the words on which both agree.
    """

    rate: float
    kept: float
    deleted: float
    accuracy: float

    def __str__(self) -> str:
        return (
            f"rate {self.rate:.3f}  F1 of kept words {self.kept:.3f}  of deleted words "
            f"{self.deleted:.3f}  accuracy {self.accuracy:.3f}"
        )


def compression_scores(people: Sequence[Kept], system: Sequence[Kept]) -> CompressionScores:
    """Scores of compressions.

    Args:
        people: ``[people, n]`` for each sentence, which words each person kept; where there are
            fewer people, the last ones have no say.
        system: ``[n]`` for each, which words are kept.

    Example:
        >>> two = np.array([[1, 1, 0, 0], [1, 1, 1, 0]], bool)
        >>> print(compression_scores([two], [np.array([1, 1, 1, 0], bool)]))
        rate 0.750  F1 of kept words 0.900  of deleted words 0.833  accuracy 0.875
    """
    scores = []
    for person in range(max(map(len, people), default=0)):
        pairs = [(own[person], found) for own, found in zip(people, system, strict=True)
                 if person < len(own)]  # fmt: skip
        gold, found = (np.concatenate(side) for side in zip(*pairs, strict=True))
        scores.append((_f1(gold, found), _f1(~gold, ~found), (gold == found).mean()))
    if not scores:
        raise ModelError("there are no compressions to compare with")
    kept, deleted, accuracy = np.mean(scores, axis=0).tolist()
    return CompressionScores(float(np.concatenate(system).mean()), kept, deleted, accuracy)


def _f1(gold: Kept, own: Kept) -> float:
    """Of true words; 1 where neither side has any."""
    either = int(gold.sum() + own.sum())
    return 2.0 * int((gold & own).sum()) / either if either else 1.0
