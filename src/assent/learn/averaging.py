"""The running average of weights, without touching all of them in every step."""

from __future__ import annotations

from typing import Any

from assent.problem import Float


def add_averaged(w: Float, late: Float, step: int, columns: Any, change: Float) -> None:
    """Add ``change`` to ``w[columns]`` at time ``step``, and note how late it came."""
    w[columns] += change
    late[columns] += step * change


def average(w: Float, late: Float, steps: int) -> Float:
    """The mean of the weights after each of ``steps`` steps, numbered from 0.

    Example:
        >>> import numpy as np
        >>> w, late = np.zeros(1), np.zeros(1)
        >>> for step, change in enumerate([1.0, 1.0, 4.0]):
        ...     add_averaged(w, late, step, slice(None), np.array([change]))
        >>> average(w, late, 3)
        array([3.])
    """
    return w - late / steps if steps else w.copy()
