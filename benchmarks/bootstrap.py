"""Bootstrap intervals of means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % bootstrap interval of a mean."""
    picks = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
