"""Settings that several solvers have: what cannot be meant is refused when they are made."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def check_settings(gap_tolerance: float, residual_tolerance: float, max_iterations: int) -> None:
    """Raise if one of the settings that all solvers have is out of range."""
    for name, value in (
        ("gap_tolerance", gap_tolerance),
        ("residual_tolerance", residual_tolerance),
    ):
        if not 0.0 <= value < np.inf:
            raise ValueError(f"{name} is at least 0 and finite, got {value}")
    if isinstance(max_iterations, bool) or not isinstance(max_iterations, (int, np.integer)):
        raise TypeError(f"max_iterations is a whole number, got {max_iterations!r}")
    if max_iterations < 1:
        raise ValueError(f"max_iterations is at least 1, got {max_iterations}")


def check_time_limit(time_limit: Any) -> None:
    """Raise unless a time limit is a positive number of seconds, or there is none."""
    if time_limit is None:
        return
    if not isinstance(time_limit, Real):
        raise TypeError(f"time_limit is a positive number of seconds, got {time_limit!r}")
    if not float(time_limit) > 0:
        raise ValueError(f"time_limit is a positive number of seconds, got {time_limit}")


def check_exact(exact: Any) -> None:
    """Raise on what is neither True nor False: "no" would count as true."""
    if not isinstance(exact, (bool, np.bool_)):
        raise TypeError(f"exact is True or False, got {exact!r}")
