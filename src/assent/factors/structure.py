"""Structures: factors whose joint states are too many for a table, and are searched instead."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import check_temperature
from assent.factors.scored import Scored
from assent.kernels.problem import STRUCTURE, Float, Int32

if TYPE_CHECKING:
    from assent.model.graph import FactorGraph

ALL_QUESTIONS = ("maximize", "parts", "max_marginals", "marginals")


class Kernels(NamedTuple):
    """The compiled functions of a kind; see ``docs/add_a_factor.md`` for their arguments.

    ``max_marginals`` and ``marginals`` are None where a kind cannot answer them, ``parts`` where
    it has no inner parts that could be listed.  Without a ``project`` of its own a kind is
    projected by the active set method; with one, ``blend`` tells the inner parts of what it
    found, unless there are none.
    """

    maximize: Callable
    parts: Callable | None
    max_marginals: Callable | None = None
    marginals: Callable | None = None
    project: Callable | None = None
    blend: Callable | None = None


class Structure(Scored):
    """``m`` structures of one shape, each with scores of its inner parts.

    Attributes:
        kernel_names: the module of its kernels, and what their names end in: ``maximize_<name>``,
            ``parts_<name>`` and both kinds of marginals.
        data: the constants its kernels need, the same for all ``m``.
        may_be_empty: whether it may allow nothing at all, as it is written.
    """

    kind_code = STRUCTURE
    kernel_names: ClassVar[tuple[str, str]]
    data: Int32
    may_be_empty = False

    def _attach(self, graph: FactorGraph, codes: Int32, shape: tuple[int, ...]) -> None:
        self.data.flags.writeable = False  # for all kinds, as kernels are compiled for it
        super()._attach(graph, codes, shape)

    def _attach_literals(
        self, graph: FactorGraph, codes: Int32, shape: tuple[int, ...], data: Any = ()
    ) -> None:
        """Attach structures whose slots are all literals, with the constants ``data``."""
        self.states, self.first = (2,) * codes.shape[1], (1,) * codes.shape[1]
        self.data = np.array(data, np.int32)
        self._attach(graph, codes, shape)

    def kernels(self) -> Kernels:
        """Its compiled functions, imported when first needed."""
        module, name = self.kernel_names
        kind = import_module(f"assent.kernels.kinds.{module}")
        return Kernels(*(getattr(kind, f"{question}_{name}") for question in ALL_QUESTIONS))

    def memory(self) -> int:
        """How many numbers its own projection keeps for the next one."""
        return 0

    # ------------------------------------------------------------ the four questions

    def maximize(self, links: Float, scores: Float) -> tuple[Float, Int32]:
        """Best value ``[m]`` and states ``[m, slots]`` for literal scores and inner scores."""
        return self._maximize(self.place_scores(links), scores)

    def project(self, points: Float, scores: Float) -> tuple[Float, Float]:
        """Nearest points ``[m, links]`` with inner parts scored linearly.

        By the kind's own projection if it has one, else by the active set.  Returns them and the
        value of the inner parts at each.
        """
        from assent.kernels.core.structure_oracles import project_structure

        return project_structure(self, points, scores)

    def max_marginals(self, links: Float, scores: Float) -> list[Float]:
        """Best value with each state of each slot, ``[m, states]`` per slot."""
        return self.by_slot(self._max_marginals(self.place_scores(links), scores))

    def marginals(
        self, links: Float, scores: Float, temperature: float = 1.0
    ) -> tuple[Float, list[Float], Float]:
        """The entropic answer, with probability proportional to ``exp(score / temperature)``.

        Returns the log-partition ``[m]`` times the temperature, probabilities ``[m, states]``
        per slot, and probabilities ``[m, entries]`` of the inner parts.
        """
        value, found, inner = self._marginals(self.place_scores(links), scores, temperature)
        return value, self.by_slot(found), inner

    def _ask(self, question: str) -> Callable:
        kernel = getattr(self.kernels(), question)
        if kernel is None:
            able = ", ".join(self.abilities)
            raise TypeError(f"{self.kind} cannot answer {question}; it answers {able}")
        return kernel

    def _maximize(self, places: Float, scores: Float) -> tuple[Float, Int32]:
        """Best value ``[m]`` and states ``[m, slots]`` for scores of all places."""
        kernel = self.kernels().maximize
        value = np.empty(len(places))
        states = np.zeros((len(places), len(self.states)), np.int32)
        for row, own in enumerate(places):
            value[row], _ = kernel(
                self.start, self.data, own, self._inner(scores, row), 1.0, states[row]
            )
        return value, states

    def _max_marginals(self, places: Float, scores: Float) -> Float:
        """Best value ``[m, places]`` with each place chosen."""
        kernel, out = self._ask("max_marginals"), np.empty(places.shape)
        for row, own in enumerate(places):
            kernel(self.start, self.data, own, self._inner(scores, row), out[row])
        return out

    def _marginals(
        self, places: Float, scores: Float, temperature: float
    ) -> tuple[Float, Float, Float]:
        """Log-partition ``[m]``, probabilities ``[m, places]`` and ``[m, entries]``."""
        kernel, temperature = self._ask("marginals"), check_temperature(temperature)
        value, out = np.empty(len(places)), np.empty(places.shape)
        parts = np.empty((len(places), self.scores.shape[1]))
        for row, own in enumerate(places):
            inner = self._inner(scores, row)
            value[row] = kernel(
                self.start, self.data, own, inner, temperature, out[row], parts[row]
            )
        return value, out, parts

    @staticmethod
    def _inner(scores: Float, row: int) -> Float:
        """Inner scores of one structure, as kernels take them."""
        own = np.ascontiguousarray(scores[row])
        own.flags.writeable = False
        return own

    def inner_at(self, states: Int32, row: int = 0) -> tuple[float, Float]:
        """Inner value of a joint state and its parts ``[entries]``; ``-inf`` for no vertex."""
        used = np.zeros(self.scores.shape[1])
        parts = self.kernels().parts
        if parts is None:
            return self._inner_value(states, self.scores[row]), np.full(len(used), np.nan)
        if not parts(self.start, self.data, states, 1.0, used):
            return -np.inf, used
        return float(self.scores[row][used > 0.0] @ used[used > 0.0]), used

    # ------------------------------------------------------------ places

    def allowed_places(self, fixed: NDArray[np.int8]) -> NDArray[np.bool_]:
        """``[m, places]`` which places agree with fixed coordinates (-1: free)."""
        return np.concatenate(self.allowed(fixed), axis=1)

    # ------------------------------------------------------------ what compiling and checking ask

    def best_values(self, links: Float, scores: Float, allowed: list[NDArray[np.bool_]]) -> Float:
        places = np.where(np.concatenate(allowed, axis=1), self.place_scores(links), -np.inf)
        return self._maximize(places, scores)[0]

    def supported(
        self, forbidden: NDArray[np.bool_], fixed: NDArray[np.int8]
    ) -> list[NDArray[np.bool_]]:
        allowed = self.allowed_places(fixed)
        places = np.where(allowed, 0.0, -np.inf)
        inner = np.where(forbidden, -np.inf, 0.0)
        if self.kernels().max_marginals is not None:
            possible = allowed & (self._max_marginals(places, inner) > -np.inf)
        else:
            value, _ = self._maximize(places, inner)
            possible = allowed & (value > -np.inf)[:, None]
        return self.by_slot(possible)

    def value_at(self, truth: NDArray[np.bool_], scores: Float) -> Float:
        if self.kernels().parts is None:
            states, spelled = self.states_of(truth)
            return np.array([
                self._inner_value(own, inner) if good else -np.inf
                for own, inner, good in zip(states, scores, spelled, strict=True)
            ])  # fmt: skip
        used, spelled = self.parts_at(truth)
        # What is not in use may be forbidden, and 0 * -inf is no number.
        earned = np.where(used > 0.0, scores, 0.0) * used
        return np.where(spelled, earned.sum(axis=1), -np.inf)

    def parts_at(self, truth: NDArray[np.bool_]) -> tuple[Float, NDArray[np.bool_]]:
        """Inner parts ``[m, entries]`` that truth values use, and whether they spell a vertex.

        The parts are not numbers where a structure cannot list them.
        """
        states, spelled = self.states_of(truth)
        parts = self.kernels().parts
        used = np.zeros((len(truth), self.scores.shape[1]))
        if parts is None:
            return used + np.nan, spelled
        for row in np.flatnonzero(spelled):
            spelled[row] = parts(self.start, self.data, states[row], 1.0, used[row])
        return used, spelled

    def _inner_value(self, states: Int32, scores: Float) -> float:
        """Inner value of a joint state: what is found when all others are forbidden."""
        places = np.full(int(self.start[-1]), -np.inf)
        places[self.start[:-1] + states] = 0.0
        value, _ = self._maximize(places[None], scores[None])
        return float(value[0])

    def states_of(self, truth: NDArray[np.bool_]) -> tuple[Int32, NDArray[np.bool_]]:
        """States ``[m, slots]`` that truth values spell out, and whether they spell any, ``[m]``.

        The states of a slot that is no literal must be exactly one.
        """
        first = np.array(self.first)
        ends = np.cumsum(np.array(self.states) - first)
        # A literal's only coordinate is the last one of its slot.
        states = np.ascontiguousarray(truth[:, ends - 1], np.int32)
        spelled = np.ones(len(truth), bool)
        for slot in np.flatnonzero(first == 0):
            own = truth[:, ends[slot] - self.states[slot] : ends[slot]]
            states[:, slot] = own.argmax(axis=1)
            spelled &= own.sum(axis=1) == 1
        return states, spelled
