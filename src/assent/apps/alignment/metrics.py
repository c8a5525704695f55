"""Alignment error rate, precision and recall (Och and Ney, 2003)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from assent.apps.alignment.data.links import Links


class AlignmentScores(NamedTuple):
    """How good alignments are, as fractions.

    Attributes:
        aer: the alignment error rate, 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), for predicted links
            A, sure links S and possible links P, which include the sure ones.
        precision: |A ∩ P| / |A|; 1 where nothing was predicted.
        recall: |A ∩ S| / |S|; 1 where nothing is sure.
    """

    aer: float
    precision: float
    recall: float


def alignment_scores(gold: Iterable[Links], predicted: Iterable[Links]) -> AlignmentScores:
    """The scores of predicted links over all sentences together.

    Example:
        >>> gold = [Links(frozenset({(0, 0)}), frozenset({(1, 1)}))]
        >>> alignment_scores(gold, [Links(frozenset({(0, 0), (1, 1)}))])
        AlignmentScores(aer=0.0, precision=1.0, recall=1.0)
    """
    sure = found = in_sure = in_possible = 0
    for right, answer in zip(gold, predicted, strict=True):
        links = answer.sure | answer.possible
        sure += len(right.sure)
        found += len(links)
        in_sure += len(links & right.sure)
        in_possible += len(links & (right.sure | right.possible))
    return AlignmentScores(
        1.0 - (in_sure + in_possible) / (found + sure) if found + sure else 0.0,
        in_possible / found if found else 1.0,
        in_sure / sure if sure else 1.0,
    )
