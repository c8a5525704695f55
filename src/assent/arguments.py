"""Arguments as people give them: what is a number, and what NumPy only takes for one."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Characters of what was given that a message quotes.
MOST_SHOWN = 80


def shown(value: Any) -> str:
    """What was given, for a message: short, and whatever it is.

    Example:
        >>> shown([1, 2]), shown(10**5000)
        ('[1, 2]', 'a value of type int')
    """
    try:
        words = repr(value)
    except Exception:  # an object may fail as it likes, and numbers of 4,300 digits do
        return f"a value of type {type(value).__name__}"
    return words if len(words) <= MOST_SHOWN else f"{words[: MOST_SHOWN - 1]}…"


def is_whole(value: Any) -> bool:
    """Whether something is a whole number: no truth value, and no span of time.

    Example:
        >>> is_whole(3), is_whole(np.int8(3)), is_whole(True), is_whole(np.timedelta64(3))
        (True, True, False, False)
    """
    whole = isinstance(value, (int, np.integer))
    return whole and not isinstance(value, (bool, np.timedelta64))


def is_real(value: Any) -> bool:
    """Whether something is a real number that a float can hold.

    Example:
        >>> is_real(1e300), is_real(10**400), is_real("1"), is_real(np.timedelta64(3))
        (True, False, False, False)
    """
    if isinstance(value, (bool, np.bool_, np.timedelta64)) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def as_array(value: Any) -> NDArray[Any] | None:
    """``value`` as an array, None where it is none: ragged lists, objects that refuse.

    SciPy's sparse arrays count as what they stand for (entries that are not stored are 0); what
    has neither numbers of its own nor ``__array__`` may offer DLPack.

    Example:
        >>> from scipy.sparse import csr_array
        >>> as_array(csr_array([[0.0, 2.0]])).tolist()
        [[0.0, 2.0]]
    """
    try:
        if hasattr(value, "toarray"):
            return np.asarray(value.toarray())
        array = np.asarray(value)
        if array.dtype == object and hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        return array
    except Exception:  # whatever an object's own conversion raises
        return None


def is_listed(value: Any) -> bool:
    """Whether something has a length and items by number, as lists and arrays have.

    Example:
        >>> is_listed([1]), is_listed(np.zeros(3)), is_listed(3), is_listed({1}), is_listed({})
        (True, True, False, False, False)
    """
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    has_items = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    return has_items and not isinstance(value, (type, Mapping))


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array or nested lists; empty for what is no array at all.

    Example:
        >>> shape_of([[1, 2, 3]]), shape_of([[1], [2, 3]])
        ((1, 3), ())
    """
    array = as_array(value)
    return () if array is None else array.shape


def as_floats(value: Any) -> NDArray[np.float64] | None:
    """Numbers as floats; None for anything else, what NumPy would turn into numbers included.

    Text, bytes, dates, spans of time, complex and masked numbers are none here; large whole
    numbers, decimal numbers and fractions are, where a float can hold them.

    Example:
        >>> as_floats([1, 2.5]).tolist(), as_floats(["1"]), as_floats(b"12"), as_floats(10**400)
        ([1.0, 2.5], None, None, None)
    """
    if type(value) is np.ndarray and value.dtype == np.float64:  # mostly, and nothing to look for
        return value
    array = as_array(value)
    masked = isinstance(value, np.ma.MaskedArray)  # what its mask means, nobody knows here
    if array is None or masked or array.dtype.kind not in "biufO":
        return None
    if array.dtype == np.float64:
        return array
    if array.dtype.kind == "O" and not all(isinstance(x, (Real, Decimal)) for x in array.flat):
        return None
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is told so
            return array.astype(np.float64)
    except (OverflowError, ValueError, TypeError):
        return None
