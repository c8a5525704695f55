"""Custom: a structure of your own, given by the function that finds its best vertex."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from assent.arguments import shape_of
from assent.errors import ModelError
from assent.factors.scored import slots_of
from assent.factors.structure import Kernels, Structure
from assent.kernels.problem import CALLBACK, STRUCTURE, Float, Int32
from assent.model.variables import Categorical, Literals, as_literals

# What evidence rules out is made this many times worse than all scores together; a function
# that chooses it nevertheless is asked once more with the square of it.
OUTWEIGHS = 1e3


class Custom(Structure):
    """Any set of joint states of which the best one can be found.

    Give ``maximize``, a plain Python function, or ``kernel``, a function compiled by
    ``numba.njit`` that runs inside the solver's loop.  Everything else (projections, bounds,
    evidence, rounding) follows from it.

    Args:
        variables: literals, categorical variables, or a list of both: the coordinates.
        maximize: ``maximize(scores[n])`` returns the best ``x[n]`` of 0 and 1 for scores of the
            coordinates, in the order of ``variables``, one per state of a categorical variable.
            With inner scores, ``maximize(scores[n], inner[k])`` returns ``x`` and the sum of the
            inner scores it earns.
        kernel: ``kernel(start, data, scores, inner, scale, states)``; see
            ``docs/add_a_factor.md``.
        scores: inner scores ``[k]``, which later decodes may change.
        data: whole numbers ``[...]`` that the kernel needs.
        max_marginals, marginals, parts: further kernels, where there are any.

    Example:
        >>> import assent as at
        >>> import numpy as np
        >>> def best_half(scores):            # exactly half of them are chosen
        ...     x = np.zeros(len(scores))
        ...     x[np.argsort(-scores)[: len(scores) // 2]] = 1
        ...     return x
        >>> g = at.FactorGraph()
        >>> x = g.binary(4, scores=[1.0, 3.0, -1.0, 2.0], name="x")
        >>> half = g.add(at.Custom(x, maximize=best_half))
        >>> at.decode(g)[x].tolist()
        [0, 1, 0, 1]
    """

    paper_name = "any factor with a MAP oracle"
    formula = "the joint states your function chooses from"
    if_given = ("max_marginals", "marginals")

    def __init__(
        self,
        variables: Any,
        *,
        maximize: Callable | None = None,
        kernel: Callable | None = None,
        scores: Any = None,
        data: Any = (),
        max_marginals: Callable | None = None,
        marginals: Callable | None = None,
        parts: Callable | None = None,
    ) -> None:
        if (maximize is None) == (kernel is None):
            raise ModelError("Custom takes either maximize= (Python) or kernel= (compiled)")
        own: Any = maximize if kernel is None else kernel
        if not callable(own):
            raise TypeError(f"Custom: {own!r} is no function")
        if maximize is not None and np.size(data):
            raise ModelError("Custom: data= goes to kernel=; a Python function has its own")
        if kernel is not None and not hasattr(kernel, "py_func") and not compiler_is_off():
            raise TypeError(
                f"Custom: kernel= takes a function compiled by numba.njit, and "
                f"{getattr(kernel, '__name__', kernel)} is not; give a Python function as maximize="
            )
        graph, codes, _, self.states, self.first = slots_of("Custom", _single(variables))
        self.kind_code = STRUCTURE if maximize is None else CALLBACK  # type: ignore[misc]
        self._function = own
        self._others = max_marginals, marginals, parts
        self.abilities = (  # type: ignore[misc]
            "maximize",
            "project",
            *(["max_marginals"] if max_marginals else []),
            *(["marginals"] if marginals else []),
        )
        self.data = _whole_numbers(data)
        self._entry: Any = None
        self._attach(graph, codes, ())
        self._count = 0 if scores is None else math.prod(shape_of(scores))
        self.scores = self.fit(np.zeros(0) if scores is None else scores)

    def entry_shape(self) -> tuple[int, ...]:
        return (self._count,)

    def kernels(self) -> Kernels:
        max_marginals, marginals, parts = self._others
        maximize = self._function if self.kind_code == STRUCTURE else self._like_a_kernel
        return Kernels(maximize, parts, max_marginals, marginals)

    def words(self, row: int) -> str:
        name = getattr(self._function, "__name__", "function")
        return super(Structure, self).words(row).replace("Custom(", f"Custom({name}: ", 1)

    # ------------------------------------------------------------ a Python function

    def callback(self) -> Any:
        """Entry from compiled loops; it lives as long as the structure does."""
        from assent.kernels.core.structure_addresses import Callback

        if self._entry is None:
            places, slots = int(self.start[-1]), len(self.states)
            self._entry = Callback(self._ask_python, places, slots, self._count)
        return self._entry

    def _like_a_kernel(
        self, start: Int32, data: Int32, scores: Float, inner: Float, scale: float, states: Int32
    ) -> tuple[float, float]:
        states[:], inner_value = self._ask_python(scores, inner, scale)
        return float(scores[start[:-1] + states].sum() + scale * inner_value), inner_value

    def _ask_python(self, places: Float, inner: Float, scale: float) -> tuple[Int32, float]:
        """States and inner value of the best vertex; -inf where nothing is allowed."""
        states = np.zeros(len(self.states), np.int32)
        scaled = scale * inner
        known = np.concatenate([places, scaled])
        size = 1.0 + np.abs(known[np.isfinite(known)]).sum()
        for weight in (OUTWEIGHS, OUTWEIGHS**2):
            answer = self._function(
                *(self._coordinates(places, weight * size), scaled)[: 2 if self._count else 1]
            )
            x, earned = answer if self._count else (answer, 0.0)
            states = self._read(x)
            if (places[self.start[:-1] + states] > -np.inf).all():
                return states, float(earned) / scale
        return states, -np.inf

    def _coordinates(self, places: Float, outweigh: float) -> Float:
        """Scores of the coordinates: of a literal the difference it makes."""
        finite = np.where(np.isneginf(places), -outweigh, places)
        for slot, first in enumerate(self.first):
            if first:
                finite[self.start[slot] + 1] -= finite[self.start[slot]]
        return finite[self.linked]

    def _read(self, x: Any) -> Int32:
        truth = np.asarray(x)
        name = getattr(self._function, "__name__", "maximize")
        if truth.shape != (self.size,) or not np.isin(truth, (0, 1)).all():
            raise ModelError(
                f"{name} should return {self.size} numbers, 0 or 1, one per coordinate; "
                f"it returned {x!r}"
            )
        states, spelled = self.states_of(truth[None] == 1)
        if not spelled[0]:
            raise ModelError(f"{name} should choose one state of every variable; got {x!r}")
        return states[0]


def compiler_is_off() -> bool:
    """Whether Numba leaves functions as they are."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def _single(variables: Any) -> tuple[Any, ...]:
    """One slot per variable of an array, or of the arrays in a list."""
    parts = variables if isinstance(variables, (list, tuple)) else [variables]
    slots: list[Any] = []
    for part in parts:
        symbol = part if isinstance(part, Categorical) else as_literals(part)
        if isinstance(symbol, Literals):
            slots += list(symbol.ravel()) if symbol.ndim else [symbol]
        else:
            slots += [symbol[i] for i in np.ndindex(symbol.shape)] if symbol.ndim else [symbol]
    return tuple(slots)


def _whole_numbers(data: Any) -> Int32:
    array = np.asarray(data)
    if array.size and array.dtype.kind not in "iu":
        raise ModelError(f"Custom: data are whole numbers, got {data!r}")
    return np.array(array.ravel(), np.int32)
