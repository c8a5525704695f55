"""Which of the given examples are learnt from: weights of zero, and a part to validate with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assent.arguments import is_real, shown
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.learn.examples import clean_counts


def counted(
    X: Sequence[Any], y: Sequence[Any], sample_weight: Any
) -> tuple[Sequence[Any], Sequence[Any], Float | None]:
    """Inputs, outputs and weights without those of weight zero.

    Example:
        >>> counted("abc", "xyz", [1.0, 0.0, 2.0])
        (['a', 'c'], ['x', 'z'], array([1., 2.]))
    """
    if sample_weight is None:
        return X, y, None
    weights = clean_counts(sample_weight, len(X))
    chosen = np.flatnonzero(weights)
    if not len(chosen):
        raise ModelError("there is nothing to learn from: every sample_weight is zero")
    return _taken(X, chosen), _taken(y, chosen), weights[chosen]


def hold_out(
    X: Sequence[Any], y: Sequence[Any], counts: Float | None, fraction: float
) -> tuple[Sequence[Any], Sequence[Any], Float | None, tuple[Sequence[Any], Sequence[Any]]]:
    """Examples to learn from, with their counts, and a random part to validate with."""
    if not is_real(fraction) or not 0.0 < fraction < 1.0:
        raise ValueError(f"validation_fraction is between 0 and 1, got {shown(fraction)}")
    n = len(X)
    size = max(1, round(fraction * n))
    if size >= n:
        raise ModelError(
            f"validation_fraction={fraction} of {n} examples leaves none to learn from"
        )
    order = np.random.default_rng(0).permutation(n)
    rest, held_out = np.sort(order[size:]), order[:size]
    return (
        _taken(X, rest),
        _taken(y, rest),
        None if counts is None else counts[rest],
        (_taken(X, held_out), _taken(y, held_out)),
    )


def _taken(items: Sequence[Any], chosen: Any) -> list[Any]:
    return [items[i] for i in chosen.tolist()]
