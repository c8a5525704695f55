"""Settings that several solvers have: what cannot be meant is refused when they are made."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def check_settings(gap_tolerance: float, residual_tolerance: float, max_iterations: int) -> None:
    """Raise if one of the settings that most solvers have is out of range."""
    check_tolerance("gap_tolerance", gap_tolerance)
    check_tolerance("residual_tolerance", residual_tolerance)
    check_count("max_iterations", max_iterations)


def check_tolerance(name: str, value: float) -> None:
    """Raise unless a tolerance is one."""
    if not 0.0 <= value < np.inf:
        raise ValueError(f"{name} is at least 0 and finite, got {value}")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise unless a setting is a whole number, and not below the ``least`` that makes sense."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} is at least {least}, got {value}")


def check_time_limit(time_limit: Any) -> None:
    """Raise unless a time limit is a positive number of seconds, or there is none."""
    if time_limit is None:
        return
    if not isinstance(time_limit, Real):
        raise TypeError(f"time_limit is a positive number of seconds, got {time_limit!r}")
    if not float(time_limit) > 0:
        raise ValueError(f"time_limit is a positive number of seconds, got {time_limit}")


def check_exact(exact: Any) -> None:
    """Raise on what is neither True nor False."""
    check_flag("exact", exact)


def check_flag(name: str, value: Any) -> None:
    """Raise on what is neither True nor False: "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is True or False, got {value!r}")
