"""NumPy's ways to put arrays together, for literals and categorical variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.model.variables import Categorical, Literals, as_literals


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays of literals, or of categorical variables with the same states, along an axis.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, y = g.binary(2, name="x"), g.binary(1, name="y")
        >>> at.concatenate([~x, y])
        [~x[0], ~x[1], y[0]]
    """
    parts = _parts("concatenate", arrays)
    if any(part.ndim == 0 for part in parts):
        raise ModelError("concatenate joins arrays; stack makes an array of single variables")
    return _made("concatenate", parts, lambda codes: np.concatenate(codes, _axis(parts, axis)))


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Stack arrays of one shape along a new axis, as `concatenate` joins them.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x, y = g.binary(3, name="x"), g.binary(3, name="y")
        >>> at.stack([x, y], axis=1).shape
        (3, 2)
    """
    parts = _parts("stack", arrays)
    new = axis + parts[0].ndim + 1 if axis < 0 else axis
    return _made("stack", parts, lambda codes: np.stack(codes, new))


def where(mask: Any, literals: Any, others: Any) -> Literals:
    """Literals where a mask is true, others elsewhere; all three broadcast.

    Example:
        >>> import assent as at
        >>> x = at.FactorGraph().binary(3, name="x")
        >>> at.where([True, False, True], x, ~x)
        [x[0], ~x[1], x[2]]
    """
    first, second = as_literals(literals), as_literals(others)
    chosen = np.asarray(mask)
    if chosen.dtype != bool:
        raise ModelError(f"where takes a mask of truth values, got {mask!r}")
    return _made("where", [first, second], lambda codes: np.where(chosen, *codes))


def _parts(name: str, arrays: Any) -> list[Any]:
    if isinstance(arrays, (Literals, Categorical)) or not isinstance(arrays, (list, tuple)):
        raise TypeError(f"{name} takes a list of arrays of variables, got {arrays!r}")
    if not arrays:
        raise ModelError(f"{name} needs at least one array")
    parts = [p if isinstance(p, Categorical) else as_literals(p) for p in arrays]
    states = {part.states if isinstance(part, Categorical) else None for part in parts}
    if len(states) > 1:
        raise ModelError(
            f"{name}: the variables have different states; use their indicators (tag == 'V')"
        )
    return parts


def _axis(parts: list[Any], axis: int) -> int:
    """An axis of variables, counted from the front: states stand behind."""
    return axis + parts[0].ndim if axis < 0 else axis


def _made(name: str, parts: list[Any], join: Any) -> Any:
    """The variables whose codes ``join`` makes of the codes of all parts."""
    graph = parts[0].graph
    if any(part.graph is not graph for part in parts):
        raise ModelError(f"{name}: the variables belong to different graphs")
    try:
        codes = join([part.codes for part in parts])
    except ValueError as error:  # shapes or axes that do not fit: NumPy says which
        shapes = ", ".join(str(part.shape) for part in parts[:4])
        raise ModelError(f"{name}: shapes {shapes} do not fit: {error}") from None
    codes = np.ascontiguousarray(codes, np.int32)
    if isinstance(parts[0], Categorical):
        return Categorical(graph, codes, parts[0].states, parts[0].lookup)
    return Literals(graph, codes)
