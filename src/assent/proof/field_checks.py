"""Checks of the fields of a proof, before anything is computed from them.

A proof may come from anywhere.  One whose fields are not what they are declared to be shows
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint, Int64, Problem

Known = NDArray[np.int8]  # [N] -1 for a free coordinate


@cache
def _declared(kind: type) -> tuple[tuple[str, Any], ...]:
    """Fields of a dataclass with their types."""
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


def is_declared(node: Any) -> bool:
    """Whether all fields of a node are of the types they are declared with."""
    kind: Any = type(node)
    if not hasattr(kind, "__dataclass_fields__"):
        return True
    return all(_is_of(getattr(node, name), hint) for name, hint in _declared(kind))


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; types that no proof is made of are not checked."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is np.ndarray:
        wanted = get_args(parts[1])[0]
        return isinstance(value, np.ndarray) and value.dtype == np.dtype(wanted)
    if origin is tuple:
        return isinstance(value, tuple) and _are_of(value, parts)
    if hint is float:
        return isinstance(value, (float, int)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if type(None) in parts:
        return any(_is_of(value, part) for part in parts)
    if getattr(hint, "_is_protocol", False):
        return callable(getattr(value, "apply", None)) and is_declared(value)
    if hint is Any or not isinstance(hint, type):
        return True
    return isinstance(value, hint) and is_declared(value)


def _are_of(values: tuple[Any, ...], parts: tuple[Any, ...]) -> bool:
    """Whether the members of a tuple are of the types of its declaration."""
    if parts[-1] is Ellipsis:
        return all(_is_of(value, parts[0]) for value in values)
    return len(values) == len(parts) and all(map(_is_of, values, parts))


def are_places(values: Int64, count: int) -> bool:
    """Whether an array is one of numbers from 0 to ``count - 1``."""
    return values.ndim == 1 and values.min(initial=0) >= 0 and values.max(initial=-1) < count


def are_literals(codes: Sequence[int], count: int) -> bool:
    """Whether codes are literals over ``count`` coordinates."""
    return all(-count <= code < count for code in codes)


def fits(dual: DualPoint, problem: Problem) -> bool:
    """Whether there is one score per link, each a number."""
    sizes = problem.pair_var.shape, problem.lits.shape, problem.tables.lits.shape
    shapes = dual.pair.shape, dual.logic.shape, dual.table.shape
    return shapes == sizes and bool(np.isfinite(dual.joined()).all())


def are_known(given: Known | None, known: Known) -> bool:
    """Whether all values that are ``given`` are known."""
    if given is None:
        return True
    return given.shape == known.shape and not ((given != -1) & (given != known)).any()
