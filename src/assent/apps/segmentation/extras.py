"""Packages that only this application needs, imported when they are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from assent.errors import ModelError


def needed(name: str) -> Any:
    """A module of the extra ``vision``, or an error that says how to install it.

    Example:
        >>> needed("no_such_package")
        Traceback (most recent call last):
        ...
        assent.errors.ModelError: no_such_package is missing: pip install "assent[vision]"
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ModelError(f'{package} is missing: pip install "assent[vision]"') from None
