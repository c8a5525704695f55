"""Settings that several solvers have: what cannot be meant is refused when they are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from assent.arguments import is_real, is_whole, shown

MOST = 2**63  # kernels count in 64 bits


def check_settings(gap_tolerance: float, residual_tolerance: float, max_iterations: int) -> None:
    """Raise if one of the settings that most solvers have is out of range."""
    check_tolerance("gap_tolerance", gap_tolerance)
    check_tolerance("residual_tolerance", residual_tolerance)
    check_count("max_iterations", max_iterations)


def check_tolerance(name: str, value: float) -> None:
    """Raise unless a tolerance is one."""
    if not is_real(value):
        raise TypeError(f"{name} is a number, at least 0 and finite, got {shown(value)}")
    if not 0.0 <= value < np.inf:
        raise ValueError(f"{name} is at least 0 and finite, got {shown(value)}")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise unless a setting is a whole number, and not below the ``least`` that makes sense."""
    if not is_whole(value):
        raise TypeError(f"{name} is a whole number, got {shown(value)}")
    if value < least:
        raise ValueError(f"{name} is at least {least}, got {shown(value)}")
    if value >= MOST:
        raise ValueError(f"{name} is below 2^63, got {shown(value)}")


def check_positive(name: str, value: Any) -> None:
    """Raise unless a setting that is not None is a finite number above 0."""
    told = f"{name} is a positive number or None, got {shown(value)}"
    if not is_real(value):
        raise TypeError(told)
    if not 0.0 < value < np.inf:
        raise ValueError(told)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless a setting is one of some words."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} is one of {', '.join(known)}, got {shown(value)}")


def check_seed(seed: Any) -> None:
    """Raise unless a seed is a whole number."""
    if not is_whole(seed):
        raise TypeError(f"seed is a whole number, got {shown(seed)}")


def check_time_limit(time_limit: Any) -> None:
    """Raise unless a time limit is a positive number of seconds, or there is none."""
    if time_limit is None:
        return
    if not is_real(time_limit):
        raise TypeError(f"time_limit is a positive number of seconds, got {shown(time_limit)}")
    if not float(time_limit) > 0:
        raise ValueError(f"time_limit is a positive number of seconds, got {shown(time_limit)}")


def check_exact(exact: Any) -> None:
    """Raise on what is neither True nor False."""
    check_flag("exact", exact)


def check_flag(name: str, value: Any) -> None:
    """Raise on what is neither True nor False: "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is True or False, got {shown(value)}")
