"""Factors that score joint states of their variables: what Dense and Potts have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Factor, check_temperature
from assent.problem import Float, Int32, Int64
from assent.scores import clean_scores
from assent.variables import Categorical, Literals, as_literals


class Table(Factor):
    """``m`` factors over the same slots, each with ``entries`` scores.

    A slot is a categorical variable, whose states are all coordinates, or a literal, whose
    state 1 ("true") is one.  ``codes[m, links]`` holds the coordinates slot after slot.

    Attributes:
        states: number of states of each slot.
        first: 0 for a categorical slot, 1 for a literal.
        scores: ``[m, entries]``; ``-inf`` forbids a joint state.
    """

    kind_code: ClassVar[int]
    states: tuple[int, ...]
    first: tuple[int, ...]
    scores: Float

    @abstractmethod
    def dense(self, scores: Float) -> Float:
        """Scores ``[m, entries]`` written out per joint state, ``[m, *states]``."""

    @abstractmethod
    def entry_of(self, joint: Int64) -> Int64:
        """Entry of ``scores`` that holds each flat joint state; -1 for a score of zero."""

    def fit(self, scores: Any) -> Float:
        """New scores for all factors, checked and brought to ``[m, entries]``."""
        size = (int(np.prod(self.entry_shape(), dtype=np.int64)),)
        return fit_table(scores, self.shape, size, self.entry_shape(), self.kind)

    @abstractmethod
    def entry_shape(self) -> tuple[int, ...]:
        """Shape of one factor's scores."""

    def words(self, row: int) -> str:
        """Factor ``row`` as its kind and variables."""
        names = []
        for place, first in zip(self.slot_links(), self.first, strict=True):
            code = int(self.codes[row, place][0])
            graph = self.graph
            names.append(graph.describe_code(code) if first else graph.describe_owner(code))
        return f"{self.kind}({', '.join(names)})"

    def slot_links(self) -> list[slice]:
        """The columns of ``codes`` that belong to each slot."""
        ends = np.cumsum([k - f for k, f in zip(self.states, self.first, strict=True)])
        return [slice(int(a), int(b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]

    def state_scores(self, links: Float) -> list[Float]:
        """Link scores ``[m, links]`` per slot as ``[m, states]``, 0 for a literal's false."""
        parts = []
        for place, first in zip(self.slot_links(), self.first, strict=True):
            part = links[:, place]
            parts.append(np.pad(part, ((0, 0), (1, 0))) if first else part)
        return parts

    def maximize(self, links: Float, scores: Float) -> tuple[Float, Int64]:
        """Best value ``[m]`` and states ``[m, slots]`` for literal scores and table scores."""
        total = self.dense(scores) + self._spread(self.state_scores(links))
        flat = total.reshape(len(total), -1)
        best = flat.argmax(axis=1)
        return flat.max(axis=1), np.stack(np.unravel_index(best, self.states), axis=1)

    def project(self, points: Float, scores: Float) -> tuple[Float, Float]:
        """Nearest points ``[m, links]`` with the table scored linearly, by the active set method.

        Returns them and the value of the inner part at each.
        """
        from assent.kernels import active_set

        slots = active_set.make_slots(self.states, self.first)
        support = active_set.make_support(slots, len(points))
        work = active_set.make_work(slots, support.weight.shape[1])
        linked = np.concatenate(
            [np.arange(k) >= f for k, f in zip(self.states, self.first, strict=True)]
        )
        out, inner = np.empty(points.shape), np.empty(len(points))
        for row, point in enumerate(points):
            work.a[:] = 0.0
            work.a[linked] = point
            table = np.ascontiguousarray(scores[row])
            active_set.project(
                self.kind_code, slots, table, 1.0, support, row, work, active_set.EXACT
            )
            size = support.size[row]
            out[row] = work.q[linked]
            inner[row] = support.weight[row, :size] @ support.inner[row, :size]
        return out, inner

    def max_marginals(self, links: Float, scores: Float) -> list[Float]:
        """Best value with each state of each slot fixed, ``[m, states]`` per slot."""
        from assent.kernels.tables import max_marginals_dense

        start, flat, tables = self._kernel_view(links, scores)
        out = np.empty(flat.shape)
        for row, best in enumerate(out):
            max_marginals_dense(start, flat[row], tables[row], 1.0, best)
        return np.split(out, start[1:-1], axis=1)

    def marginals(
        self, links: Float, scores: Float, temperature: float = 1.0
    ) -> tuple[Float, list[Float]]:
        """Log-partition ``[m]`` (times temperature), probabilities ``[m, states]`` per slot."""
        from assent.kernels.tables import marginals_dense

        start, flat, tables = self._kernel_view(links, scores)
        value, out = np.empty(len(flat)), np.empty(flat.shape)
        heat = check_temperature(temperature)
        for row in range(len(flat)):
            value[row] = marginals_dense(start, flat[row], tables[row], 1.0, heat, out[row])
        return value, np.split(out, start[1:-1], axis=1)

    def _kernel_view(self, links: Float, scores: Float) -> tuple[Int32, Float, Float]:
        """Slot offsets, state scores ``[m, all states]`` and written-out tables ``[m, joint]``."""
        start = np.concatenate([[0], np.cumsum(self.states)]).astype(np.int32)
        flat = np.ascontiguousarray(np.concatenate(self.state_scores(links), axis=1))
        return start, flat, np.ascontiguousarray(self.dense(scores).reshape(len(flat), -1))

    def allowed(self, fixed: NDArray[np.int8]) -> list[NDArray[np.bool_]]:
        """Per slot, which states ``[m, states]`` agree with fixed coordinates (-1: free)."""
        negated = self.codes < 0
        known = fixed[np.where(negated, ~self.codes, self.codes)]
        can_be_true = (known == -1) | ((known == 1) ^ negated)
        can_be_false = (known == -1) | ((known == 0) ^ negated)
        parts = []
        for place, first in zip(self.slot_links(), self.first, strict=True):
            if first:
                parts.append(np.concatenate([can_be_false[:, place], can_be_true[:, place]], 1))
            else:
                parts.append(can_be_true[:, place])
        return parts

    def supported(
        self, forbidden: NDArray[np.bool_], fixed: NDArray[np.int8]
    ) -> list[NDArray[np.bool_]]:
        """Per slot, which states ``[m, states]`` stand in some possible joint state.

        ``forbidden[m, entries]`` marks scores of ``-inf``.
        """
        parts = self.allowed(fixed)
        possible = ~np.isneginf(self.dense(np.where(forbidden, -np.inf, 0.0)))
        for slot, part in enumerate(parts):
            possible = possible & self._along(part, slot)
        axes = range(1, len(self.states) + 1)
        others = [tuple(a for a in axes if a != slot + 1) for slot in range(len(parts))]
        return [np.asarray(possible.any(axis=axis)) for axis in others]

    def value_at(self, truth: NDArray[np.bool_], scores: Float) -> Float:
        """Score ``[m]`` of the joint state that literal truth values ``[m, links]`` spell out."""
        joint = np.zeros(len(truth), np.int64)
        for place, first, count in zip(self.slot_links(), self.first, self.states, strict=True):
            part = truth[:, place]
            state = part[:, 0].astype(np.int64) if first else part.argmax(axis=1)
            joint = joint * count + state
        entry = self.entry_of(joint)
        picked = scores[np.arange(len(truth)), np.maximum(entry, 0)]
        return np.where(entry < 0, 0.0, picked)

    def _spread(self, parts: list[Float]) -> Float:
        """Sum of one array ``[m, states]`` per slot, over joint states ``[m, *states]``."""
        total = np.zeros((len(parts[0]), *self.states))
        for slot, part in enumerate(parts):
            total += self._along(part, slot)
        return total

    def _along(self, part: NDArray[Any], slot: int) -> NDArray[Any]:
        shape = [len(part)] + [1] * len(self.states)
        shape[slot + 1] = self.states[slot]
        return part.reshape(shape)


def slots_of(
    kind: str, variables: tuple[Any, ...]
) -> tuple[Any, Int32, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Graph, ``codes[m, links]``, shape, states and first of variables that broadcast."""
    parts = [v if isinstance(v, Categorical) else as_literals(v) for v in variables]
    if not parts:
        raise ModelError(f"{kind} needs at least one variable")
    graph = parts[0].graph
    if any(part.graph is not graph for part in parts):
        raise ModelError(f"{kind}: the variables belong to different graphs")
    try:
        shape = np.broadcast_shapes(*(part.shape for part in parts))
    except ValueError:
        shapes = " and ".join(str(part.shape) for part in parts)
        raise ModelError(f"{kind}: shapes {shapes} do not broadcast together") from None
    columns = []
    for part in parts:
        codes = part.codes[..., None] if isinstance(part, Literals) else part.codes
        width = codes.shape[-1]
        columns.append(np.broadcast_to(codes, (*shape, width)).reshape(-1, width))
    states = tuple(2 if isinstance(p, Literals) else len(p.states) for p in parts)
    first = tuple(int(isinstance(p, Literals)) for p in parts)
    return graph, np.concatenate(columns, axis=1), shape, states, first


def fit_table(
    scores: Any, shape: tuple[int, ...], size: tuple[int, ...], entry: tuple[int, ...], kind: str
) -> Float:
    """Scores that broadcast to ``(*shape, *entry)`` as one checked array ``[m, size]``."""
    array = clean_scores(scores, kind)
    try:
        full = np.broadcast_to(array, (*shape, *entry))
    except ValueError:
        raise ModelError(
            f"{kind}: scores have shape {array.shape}, expected {(*shape, *entry)}: the factors, "
            "then the states of each variable"
        ) from None
    return full.reshape(-1, *size).copy()


def refuse_empty(kind: str, scores: Float) -> Float:
    """``scores[m, entries]``, unless a table forbids every joint state."""
    empty = np.isneginf(scores).all(axis=1) if scores.size else np.zeros(0, bool)
    if empty.any():
        raise ModelError(
            f"{kind} factor {int(np.flatnonzero(empty)[0])}: every entry is -inf, so nothing "
            "is possible; give at least one finite score"
        )
    return scores
