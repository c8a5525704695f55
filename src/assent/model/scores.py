"""Scores as people give them: checked, brought to shape, and copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.arguments import as_floats, shown
from assent.errors import ModelError
from assent.kernels.problem import Float

# Solvers square scores and add up millions of them: beyond this, sums could overflow.
LARGEST_SCORE = 1e100

# From here on OpenBLAS multiplies vectors by threads, which then spin where solvers want to work.
THREADED_SIZE = 10_000


def clean_scores(scores: Any, name: Any) -> Float:
    """``scores`` as an array of floats, finite or ``-inf``; anything else raises, naming ``name``.

    The name may be a variable: it is put into words only where something is wrong.

    Example:
        >>> clean_scores([1, -np.inf], "x")
        array([  1., -inf])
    """
    if hasattr(scores, "codes"):
        raise TypeError(f"{name}: scores are numbers, not variables")
    array = as_floats(0.0 if scores is None else scores)
    if array is None:
        raise ModelError(f"{name}: scores must be an array of numbers, got {shown(scores)}")
    if _are_ordinary(array):
        return array
    bad = ~(np.abs(array) <= LARGEST_SCORE) & ~np.isneginf(array)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        where = f" at {list(place)}" if place else ""
        raise ModelError(
            f"{name}: score {array[place]}{where}; scores are finite (at most {LARGEST_SCORE:g} "
            "in size), or -inf to forbid"
        )
    return array


def _are_ordinary(array: Float) -> bool:
    """Whether all scores are finite and none is too large, by the quickest test of all of them."""
    if array.size < THREADED_SIZE:
        return bool(np.vdot(array, array) <= LARGEST_SCORE**2)
    return bool(array.min() >= -LARGEST_SCORE and array.max() <= LARGEST_SCORE)


def fit_scores(array: Float, shape: tuple[int, ...], name: Any) -> Float:
    """``array`` broadcast to ``shape`` and flattened; a copy that nobody else can change."""
    if array.shape == shape:
        return array.flatten()
    return broadcast_scores(array, shape, name, " (or something that broadcasts to it)").ravel()


def broadcast_scores(
    scores: Any, shape: tuple[int, ...], name: Any, axes: str, what: str = "scores have"
) -> Float:
    """A checked copy of ``scores`` broadcast to ``shape``, which ``axes`` describes in messages."""
    array = clean_scores(scores, name)
    try:
        return _spread(array, shape)
    except ValueError:
        raise ModelError(f"{name}: {what} shape {array.shape}, expected {shape}{axes}") from None


def broadcast_numbers(name: str, value: Any, shape: tuple[int, ...]) -> Float:
    """``value`` as new numbers, broadcast to ``shape``; anything else raises, naming ``name``."""
    array = as_floats(value)
    try:
        if array is not None:
            return _spread(array, shape)
    except ValueError:
        pass
    one = "one number" if shape == () else f"numbers of shape {shape}"
    raise ModelError(f"{name} must be {one}, got {shown(value)}")


def _spread(array: Float, shape: tuple[int, ...]) -> Float:
    """A copy broadcast to ``shape``; a ValueError where that does not go."""
    out = np.empty(shape)
    if array.ndim > out.ndim:  # an assignment would drop leading axes of length 1
        raise ValueError
    out[...] = array
    return out
