"""Factors that score joint states of their variables, in a table or by a recursion."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import SHOWN_LITERALS, Factor, common_shape
from assent.kernels.problem import Float, Int32
from assent.model.scores import broadcast_scores
from assent.model.variables import Categorical, Literals, as_literals


class Scored(Factor):
    """``m`` factors over the same slots, each with ``entries`` scores of its inner parts.

    A slot takes one of its states.  Its states are all coordinates (a categorical variable, or
    literals of which exactly one is true), or it is a literal, whose state 1 ("true") is one.
    ``codes[m, links]`` holds the coordinates slot after slot.  Its *places* are the states of all
    slots, one after the other; a literal's slot has two, false and true.

    Attributes:
        states: number of states of each slot.
        first: 0 for a slot whose states are all coordinates, 1 for a literal.
        scores: ``[m, entries]``; ``-inf`` forbids what uses the part.
    """

    kind_code: ClassVar[int]
    states: tuple[int, ...]
    first: tuple[int, ...]
    scores: Float

    def fit(self, scores: Any) -> Float:
        """New scores for all factors, checked and brought to ``[m, entries]``."""
        entry = self.entry_shape()
        return fit_table(scores, self.shape, (prod(entry),), entry, self.kind)

    @abstractmethod
    def entry_shape(self) -> tuple[int, ...]:
        """Shape of one factor's scores."""

    def readable(self, parts: Float) -> Any:
        """Inner parts ``[m, entries]`` as a person reads them, here in the shape of scores."""
        return parts.reshape(*self.shape, *self.entry_shape())

    def words(self, row: int) -> str:
        """Factor ``row`` as its kind and variables."""
        names = []
        for place, first in list(zip(self.slot_links(), self.first, strict=True))[:SHOWN_LITERALS]:
            code = int(self.codes[row, place][0])
            graph = self.graph
            names.append(graph.describe_code(code) if first else graph.describe_owner(code))
        more = ", …" if len(self.states) > SHOWN_LITERALS else ""
        return f"{self.kind}({', '.join(names)}{more})"

    def slot_links(self) -> tuple[slice, ...]:
        """The columns of ``codes`` that belong to each slot."""
        return slot_links(self.states, self.first)

    @cached_property
    def start(self) -> Int32:
        """``[slots + 1]`` first place of each slot."""
        start = np.concatenate([[0], np.cumsum(self.states)]).astype(np.int32)
        start.flags.writeable = False
        return start

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """``[places]`` which places are coordinates: all but the false of literals."""
        state = np.arange(self.start[-1]) - np.repeat(self.start[:-1], self.states)
        return state >= np.repeat(self.first, self.states)

    def place_scores(self, links: Float) -> Float:
        """Literal scores ``[m, links]`` as scores of places ``[m, places]``, 0 for false."""
        places = np.zeros((len(links), int(self.start[-1])))
        places[:, self.linked] = links
        return places

    def by_slot(self, places: NDArray[Any]) -> list[NDArray[Any]]:
        """What places have, ``[m, places]``, as one array ``[m, states]`` per slot."""
        return np.split(places, self.start[1:-1], axis=1)

    def allowed(self, fixed: NDArray[np.int8]) -> list[NDArray[np.bool_]]:
        """Per slot, which states ``[m, states]`` agree with fixed coordinates (-1: free).

        A state that is true rules alone; where two are, none is left.
        """
        negated = self.codes < 0
        known = fixed[np.where(negated, ~self.codes, self.codes)]
        return self.allowed_states(known == -1, (known == 1) ^ negated)

    def allowed_states(
        self, is_free: NDArray[np.bool_], truth: NDArray[np.bool_]
    ) -> list[NDArray[np.bool_]]:
        """The same for literals ``[m, links]`` that are free, or else true or not."""
        can_be_true, can_be_false = is_free | truth, is_free | ~truth
        parts = []
        for place, first in zip(self.slot_links(), self.first, strict=True):
            if first:
                parts.append(np.concatenate([can_be_false[:, place], can_be_true[:, place]], 1))
            else:
                must = ~can_be_false[:, place]
                others = must.sum(axis=1, keepdims=True) - must
                parts.append(can_be_true[:, place] & (others == 0))
        return parts

    @abstractmethod
    def best_values(self, links: Float, scores: Float, allowed: list[NDArray[np.bool_]]) -> Float:
        """Best value ``[m]`` for literal scores over the joint states that are allowed."""

    @abstractmethod
    def supported(
        self, forbidden: NDArray[np.bool_], fixed: NDArray[np.int8]
    ) -> list[NDArray[np.bool_]]:
        """Per slot, states ``[m, states]`` that may stand in some possible joint state.

        ``forbidden[m, entries]`` marks scores of ``-inf``.  Where none is left for a slot,
        nothing is possible; a state may be wrongly called possible, but not the other way.
        """

    @abstractmethod
    def value_at(self, truth: NDArray[np.bool_], scores: Float) -> Float:
        """Score ``[m]`` of the joint state that literal truth values ``[m, links]`` spell out.

        ``-inf`` where they spell none, or one that is forbidden.
        """


@lru_cache(maxsize=1024)
def slot_links(states: tuple[int, ...], first: tuple[int, ...]) -> tuple[slice, ...]:
    """Columns of slots that have one for every state from the ``first`` on."""
    ends = list(accumulate((k - f for k, f in zip(states, first, strict=True)), initial=0))
    return tuple(slice(a, b) for a, b in pairwise(ends))


def slots_of(
    kind: str, variables: tuple[Any, ...]
) -> tuple[Any, Int32, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Graph, ``codes[m, links]``, shape, states and first of variables that broadcast."""
    parts = [v if isinstance(v, Categorical) else as_literals(v) for v in variables]
    if not parts:
        raise ModelError(f"{kind} needs at least one variable")
    graph, shape = common_shape(kind, parts)
    states = tuple(2 if isinstance(p, Literals) else len(p.states) for p in parts)
    first = tuple(int(isinstance(p, Literals)) for p in parts)
    codes = np.empty((*shape, sum(states) - sum(first)), np.int32)
    for part, columns in zip(parts, slot_links(states, first), strict=True):
        codes[..., columns] = part.codes[..., None] if isinstance(part, Literals) else part.codes
    return graph, codes.reshape(-1, codes.shape[-1]), shape, states, first


def fit_table(
    scores: Any, shape: tuple[int, ...], size: tuple[int, ...], entry: tuple[int, ...], kind: str
) -> Float:
    """Scores that broadcast to ``(*shape, *entry)`` as one checked array ``[m, size]``."""
    axes = ": the factors, then the states of each variable"
    full = broadcast_scores(scores, (*shape, *entry), kind, axes)
    return full.reshape(prod(shape), *size)
