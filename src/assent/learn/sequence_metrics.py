"""Scores of predicted sequences: tokens, whole sequences, and spans that tags mark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assent.errors import ModelError

Sequences = Sequence[Sequence[Any]]


def token_accuracy(gold: Sequences, predicted: Sequences) -> float:
    """The proportion of tokens whose label is right.

    Example:
        >>> token_accuracy([["N", "V"], ["N"]], [["N", "N"], ["N"]])
        0.6666666666666666
    """
    right = count = 0
    for own, other in _pairs(gold, predicted):
        right += sum(a == b for a, b in zip(own, other, strict=True))
        count += len(own)
    return right / count if count else 1.0


def sequence_accuracy(gold: Sequences, predicted: Sequences) -> float:
    """The proportion of sequences without a mistake.

    Example:
        >>> sequence_accuracy([["N", "V"], ["N"]], [["N", "N"], ["N"]])
        0.5
    """
    pairs = _pairs(gold, predicted)
    return sum(own == other for own, other in pairs) / len(pairs) if pairs else 1.0


def spans(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """Kind, begin and end (behind the last) of the spans that BIO or IOBES tags mark.

    Tags that are not well formed are read as the CoNLL evaluation does: an I- that continues
    nothing begins a span.

    Example:
        >>> spans(["B-NP", "I-NP", "O", "B-VP", "B-NP", "I-PP"])
        [('NP', 0, 2), ('VP', 3, 4), ('NP', 4, 5), ('PP', 5, 6)]
    """
    found: list[tuple[str, int, int]] = []
    begin, kind, is_open = 0, "", False
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, own = str(tag).partition("-")
        continues = is_open and prefix in ("I", "E", "L") and own == kind
        if is_open and not continues:
            found.append((kind, begin, i))
            is_open = False
        if prefix != "O" and not continues:
            begin, kind, is_open = i, own, True
        if is_open and prefix in ("E", "L", "S", "U"):
            found.append((kind, begin, i + 1))
            is_open = False
    return found


def span_f1(gold: Sequences, predicted: Sequences) -> float:
    """The harmonic mean of precision and recall of spans: chunks, entities.

    Example:
        >>> span_f1([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])
        0.6666666666666666
    """
    right = of_gold = of_predicted = 0
    for own, other in _pairs(gold, predicted):
        first, second = set(spans(own)), set(spans(other))
        right += len(first & second)
        of_gold, of_predicted = of_gold + len(first), of_predicted + len(second)
    return 2.0 * right / (of_gold + of_predicted) if of_gold + of_predicted else 1.0


def sequence_scorer(metric: Callable[[Sequences, Sequences], float]) -> Callable[..., float]:
    """A scorer for scikit-learn's model selection: ``cross_val_score(…, scoring=…)``.

    Example:
        >>> scorer = sequence_scorer(span_f1)
        >>> class Always:
        ...     def predict(self, X):
        ...         return [["B-NP"] for x in X]
        >>> scorer(Always(), [0, 1], [["B-NP"], ["O"]])
        0.6666666666666666
    """

    def score(estimator: Any, X: Sequence[Any], y: Sequences) -> float:
        return metric(y, estimator.predict(X))

    return score


def _pairs(gold: Sequences, predicted: Sequences) -> list[tuple[list[Any], list[Any]]]:
    """Sequences side by side as lists, checked."""
    if len(gold) != len(predicted):
        raise ModelError(f"{len(gold)} gold sequences, but {len(predicted)} predicted ones")
    pairs = [
        (np.ravel(a).tolist(), np.ravel(b).tolist()) for a, b in zip(gold, predicted, strict=True)
    ]
    for i, (own, other) in enumerate(pairs):
        if len(own) != len(other):
            raise ModelError(f"sequence {i} has {len(own)} gold labels and {len(other)} predicted")
    return pairs
