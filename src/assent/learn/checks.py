"""Settings checked when they are written."""

from __future__ import annotations

from numbers import Real
from typing import Any


def positive(settings: Any, *names: str) -> None:
    """Raise where a setting is no positive number."""
    for name in names:
        value = getattr(settings, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
            raise ValueError(
                f"{type(settings).__name__}: {name} is a positive number, got {value!r}"
            )
