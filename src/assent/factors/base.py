"""A factor: a batch of polytopes of one kind attached to literals, and the questions it answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.arguments import as_array, shown
from assent.errors import ModelError
from assent.factors.normal_form import NormalForm
from assent.kernels.problem import Float, Int32
from assent.model.variables import Categorical, Literals, as_literals, broadcast_shape

if TYPE_CHECKING:
    from assent.model.graph import FactorGraph


Axis = int | tuple[int, ...] | None  # what reducing kinds consume, as in NumPy

SHOWN_LITERALS = 12  # a factor in words stays on a line or two


class Factor:
    """``m`` factors of one kind over ``codes[m, size]`` literals.

    Attributes:
        graph: the graph the literals belong to.
        codes: ``[m, size]`` literal codes, one row per factor, an output last.
        shape: shape of the array of factors (``m`` is its size).
    """

    paper_name: ClassVar[str]  # what the papers call it
    formula: ClassVar[str]  # the set it stands for
    # The questions it answers; solvers say which ones they ask.
    abilities: ClassVar[tuple[str, ...]] = ("maximize", "project", "max_marginals", "marginals")
    if_given: ClassVar[tuple[str, ...]] = ()  # those that a person has to supply

    graph: FactorGraph
    codes: Int32
    shape: tuple[int, ...]
    has_output: bool = False  # whether the last column is an output literal

    def _attach(self, graph: FactorGraph, codes: Int32, shape: tuple[int, ...]) -> None:
        self.graph, self.codes, self.shape = graph, np.ascontiguousarray(codes), shape
        self._refuse_duplicates()

    def _refuse_duplicates(self) -> None:
        ordered = self.codes
        if len(ordered) == 1 and len(set(ordered[0].tolist())) == ordered.size:
            return  # quicker than arrays where there is one factor
        if self.codes.shape[1] > 2:
            rising = self.codes[:, 1:] > self.codes[:, :-1]
            if np.count_nonzero(rising) == rising.size:  # as slices are: no need to sort
                return
            ordered = self.codes.copy()
            ordered.sort(axis=1)
        repeated = ordered[:, 1:] == ordered[:, :-1]
        if np.count_nonzero(repeated):
            row = int(np.flatnonzero(repeated.any(axis=1))[0])
            raise ModelError(
                f"{self.kind} factor {row} has a literal twice: {self.words(row)}; "
                "write each literal once"
            )

    @property
    def kind(self) -> str:
        """Name of the kind."""
        return type(self).__name__

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def size(self) -> int:
        """Literals per factor."""
        return self.codes.shape[1]

    def words(self, row: int) -> str:
        """Factor ``row`` in words, for reprs and error messages."""
        names = [self.graph.describe_code(code) for code in self.codes[row]]
        output = f" → {names.pop()}" if self.has_output else ""
        more = ", …" if len(names) > SHOWN_LITERALS else ""
        return f"{self.kind}({', '.join(names[:SHOWN_LITERALS])}{more}{output})"

    def __repr__(self) -> str:
        if not len(self):
            return f"{self.kind}: no factors"
        first = self.words(0)
        return first if len(self) == 1 else f"{len(self)} × {self.kind}, first {first}"


class Logic(Factor):
    """A hard constraint on literals: no scores of its own, a normal form that answers for it."""

    @abstractmethod
    def holds(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which factors ``[m]`` are satisfied by literal truth values ``[m, size]``."""

    @abstractmethod
    def normal_form(self) -> NormalForm:
        """The constraint in one of the logic forms."""

    def maximize(self, scores: Float) -> tuple[Float, NDArray[Any]]:
        """Best value ``[m]`` and point ``[m, size]`` for literal scores; true and false, as a rule.

        The points of a relaxed set (`Knapsack`) may lie in between.
        """
        return self.normal_form().maximize(scores)

    def project(self, points: Float) -> Float:
        """The nearest points of the hull to ``points[m, size]``, in literal space."""
        return self.normal_form().project(points)

    def max_marginals(self, scores: Float) -> Float:
        """Best value with each literal false and true, ``[m, size, 2]``, for literal scores."""
        _ask(self, "max_marginals")
        return self.normal_form().max_marginals(scores)

    def marginals(self, scores: Float, temperature: float = 1.0) -> tuple[Float, Float]:
        """The entropic answer: log-partition ``[m]`` and probabilities ``[m, size]``.

        Both belong to ``exp(score / temperature)``; the log-partition is multiplied by the
        temperature, so that it tends to the best value as the temperature falls.
        """
        _ask(self, "marginals")
        return self.normal_form().marginals(scores, check_temperature(temperature))

    def same_k(self, k: int) -> Int32:
        """``k`` for each of the ``m`` factors."""
        out = np.empty(len(self.codes), np.int32)  # quicker than `np.full`
        out.fill(k)
        return out


def _ask(factor: Factor, question: str) -> None:
    if question not in factor.abilities:
        able = ", ".join(factor.abilities)
        raise TypeError(f"{factor.kind} cannot answer {question}; it answers {able}")


def check_temperature(temperature: float) -> float:
    """``temperature`` as a positive finite number."""
    if not 0.0 < temperature < np.inf:
        raise ValueError(f"a temperature is a positive number, got {temperature}")
    return float(temperature)


def rows(
    kind: str, literals: Any, axis: Any, output: Any = None
) -> tuple[FactorGraph, Int32, tuple[int, ...]]:
    """Literal matrix of a reducing kind: axes are consumed, the others enumerate factors.

    ``axis`` is one axis, several, or None for all of them, as in NumPy.

    Returns the graph, ``codes[m, size]`` (the output, if any, as last column) and the shape of
    the array of factors.
    """
    lits = as_literals(literals)
    codes = lits.codes
    if codes.ndim != 1 or axis is not None:
        codes = _move_last(kind, codes if codes.ndim else codes.reshape(1), axis)
    shape, size = codes.shape[:-1], codes.shape[-1]
    if size == 0:
        raise ModelError(f"{kind} over no literals (shape {lits.shape}, axis {axis}) says nothing")
    codes = codes.reshape(-1, size)
    if output is not None:
        codes = np.column_stack([codes, _output_column(kind, lits, output, shape)])
    return lits.graph, codes, shape


def _move_last(kind: str, codes: Int32, axis: Any) -> Int32:
    """``codes`` with an axis, or several as one, moved to the end."""
    if axis is None:
        return codes.reshape(-1)
    moved = []
    for own in axis if isinstance(axis, tuple) else (axis,):
        if not isinstance(own, (int, np.integer)) or isinstance(own, bool):
            raise TypeError(f"{kind}: an axis is a whole number, or a tuple of them, got {axis!r}")
        if not -codes.ndim <= own < codes.ndim:
            raise ModelError(f"{kind} has no axis {own}: the literals have shape {codes.shape}")
        moved.append(int(own) % codes.ndim)
    if len(set(moved)) < len(moved):
        raise ModelError(f"{kind}: an axis stands twice in {axis!r}")
    if moved == [codes.ndim - 1]:
        return codes
    kept = [own for own in range(codes.ndim) if own not in moved]
    shape = [codes.shape[own] for own in kept]
    size = prod([codes.shape[own] for own in moved])
    return codes.transpose(kept + moved).reshape(*shape, size)


def _output_column(kind: str, lits: Literals, output: Any, shape: tuple[int, ...]) -> Int32:
    out = as_literals(output)
    if out.graph is not lits.graph:
        raise ModelError(f"{kind}: the output belongs to another graph")
    if out.shape != shape and out.size != prod(shape):
        raise ModelError(
            f"{kind}: one output per factor is needed, shape {shape}; got shape {out.shape}"
        )
    return out.codes.ravel()


def elementwise(kind: str, parts: list[Literals]) -> tuple[FactorGraph, Int32, tuple[int, ...]]:
    """Literal matrix of an elementwise kind: the parts broadcast, one factor per element."""
    graph, shape = common_shape(kind, parts)
    codes = np.empty((*shape, len(parts)), np.int32)
    for number, part in enumerate(parts):
        codes[..., number] = part.codes
    return graph, codes.reshape(-1, len(parts)), shape


def common_shape(
    kind: str, parts: Sequence[Literals | Categorical]
) -> tuple[FactorGraph, tuple[int, ...]]:
    """The graph that all parts belong to, and the shape they broadcast to."""
    graph = parts[0].graph
    for part in parts:
        if part.graph is not graph:
            raise ModelError(f"{kind}: the variables belong to different graphs")
    try:
        return graph, broadcast_shape(parts)
    except ValueError:
        shapes = " and ".join(str(part.shape) for part in parts)
        raise ModelError(f"{kind}: shapes {shapes} do not broadcast together") from None


def counts(kind: str, k: Any, shape: tuple[int, ...], size: int) -> Int32:
    """``k`` as one integer per factor, checked against ``0 <= k <= size``."""
    if type(k) is int and 0 <= k <= size and not shape:
        return np.array([k], np.int32)  # the common case
    array = as_array(k)
    if array is None or array.dtype.kind not in "iu":
        raise ModelError(f"{kind}: k must be a whole number, got {shown(k)}")
    least, most = (array.min(), array.max()) if array.ndim and array.size else (k, k)
    if array.size and (least < 0 or most > size):
        raise ModelError(f"{kind}: k = {k} is out of range 0..{size}, the number of literals")
    if array.shape not in ((), shape):
        raise ModelError(f"{kind}: k has shape {array.shape}, the factors have shape {shape}")
    out = np.empty(shape, np.int32)
    out[...] = array
    return out.ravel()
