"""Features of positions: translations mostly stand at about the same place."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import Float


def position_features(n: int, m: int) -> dict[str, Float]:
    """Tables ``[n, m]`` by name: functions of the difference of relative positions.

    Example:
        >>> position_features(1, 2)["distance"].tolist()
        [[0.25, 0.25]]
    """
    distance = np.abs((np.arange(n) + 0.5)[:, None] / n - (np.arange(m) + 0.5) / m)
    ends = np.zeros((n, m))
    ends[0, 0] = ends[-1, -1] = 1.0
    # In words of the longer sentence: how far a word may be shifted does not grow with its length.
    words = distance * max(n, m)
    return {
        "distance": distance,
        "square of distance": distance**2,
        "root of distance": np.sqrt(distance),
        "distance in words": np.minimum(words / 10.0, 1.0),
        "both at an end": ends,
    }
