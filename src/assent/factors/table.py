"""Factors that tabulate a score for every joint state: what Dense and Potts have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import check_temperature
from assent.factors.scored import Scored
from assent.kernels.problem import Float, Int32, Int64


class Table(Scored):
    """Factors whose joint states are tabulated; an entry is the score of one (or several)."""

    @abstractmethod
    def dense(self, scores: Float) -> Float:
        """Scores ``[m, entries]`` tabulated per joint state, ``[m, *states]``."""

    @abstractmethod
    def entry_of(self, joint: Int64) -> Int64:
        """Entry of ``scores`` that holds each flat joint state; -1 for a score of zero."""

    def maximize(self, links: Float, scores: Float) -> tuple[Float, Int64]:
        """Best value ``[m]`` and states ``[m, slots]`` for literal scores and table scores."""
        total = self.dense(scores) + self.spread(self.by_slot(self.place_scores(links)))
        flat = total.reshape(len(total), -1)
        best = flat.argmax(axis=1)
        return flat.max(axis=1), np.stack(np.unravel_index(best, self.states), axis=1)

    def project(self, points: Float, scores: Float) -> tuple[Float, Float]:
        """Nearest points ``[m, links]`` with the table scored linearly, by the active set method.

        Returns them and the value of the inner part at each.
        """
        from assent.kernels.core.structure_oracles import project_by_active_set
        from assent.kernels.core.vertices import make_slots

        tables = [np.ascontiguousarray(own) for own in scores]
        return project_by_active_set(self, make_slots(self.states, self.first), points, tables)

    def best_values(self, links: Float, scores: Float, allowed: list[NDArray[np.bool_]]) -> Float:
        """Best value ``[m]`` for literal scores over the joint states that are allowed."""
        total = self.joint_values(links, scores, allowed)
        return total.reshape(len(total), -1).max(axis=1)

    def joint_values(self, links: Float, scores: Float, allowed: list[NDArray[np.bool_]]) -> Float:
        """Values ``[m, *states]`` of joint states, ``-inf`` where one is not allowed."""
        parts = [
            np.where(own, part, -np.inf)
            for own, part in zip(allowed, self.by_slot(self.place_scores(links)), strict=True)
        ]
        return self.dense(scores) + self.spread(parts)

    def max_marginals(self, links: Float, scores: Float) -> list[Float]:
        """Best value with each state of each slot fixed, ``[m, states]`` per slot."""
        from assent.kernels.kinds.table_scores import max_marginals_dense

        start, flat, tables = self._kernel_view(links, scores)
        out = np.empty(flat.shape)
        for row, best in enumerate(out):
            max_marginals_dense(start, flat[row], tables[row], 1.0, best)
        return self.by_slot(out)

    def marginals(
        self, links: Float, scores: Float, temperature: float = 1.0
    ) -> tuple[Float, list[Float]]:
        """Log-partition ``[m]`` (times temperature), probabilities ``[m, states]`` per slot."""
        from assent.kernels.kinds.table_scores import marginals_dense

        start, flat, tables = self._kernel_view(links, scores)
        value, out = np.empty(len(flat)), np.empty(flat.shape)
        checked = check_temperature(temperature)
        for row in range(len(flat)):
            value[row] = marginals_dense(start, flat[row], tables[row], 1.0, checked, out[row])
        return value, self.by_slot(out)

    def _kernel_view(self, links: Float, scores: Float) -> tuple[Int32, Float, Float]:
        """Slot offsets, state scores ``[m, all states]`` and full tables ``[m, joint]``."""
        tables = np.ascontiguousarray(self.dense(scores).reshape(len(links), -1))
        return self.start.copy(), self.place_scores(links), tables  # kernels take a writable one

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
        joint: Any = 0
        for place, first, count in zip(self.slot_links(), self.first, self.states, strict=True):
            state = truth[:, place.start] if first else truth[:, place].argmax(axis=1)
            joint = joint * count + state
        entry = self.entry_of(joint)
        picked = scores[np.arange(len(truth)), entry]
        return picked if entry is joint else np.where(entry < 0, 0.0, picked)

    def spread(self, parts: list[Float]) -> Float:
        """Sum of one array ``[m, states]`` per slot, over joint states ``[m, *states]``."""
        total = np.zeros((len(parts[0]), *self.states))
        for slot, part in enumerate(parts):
            total += self._along(part, slot)
        return total

    def _along(self, part: NDArray[Any], slot: int) -> NDArray[Any]:
        shape = [len(part)] + [1] * len(self.states)
        shape[slot + 1] = self.states[slot]
        return part.reshape(shape)


def refuse_empty(kind: str, scores: Float) -> Float:
    """``scores[m, entries]``, unless a table forbids every joint state."""
    forbidden = scores[:, :1] == -np.inf
    if np.count_nonzero(forbidden):  # a quick look at the first entries spares the others
        empty = np.flatnonzero((scores == -np.inf).all(axis=1))
        if len(empty):
            raise ModelError(
                f"{kind} factor {empty[0]}: every entry is -inf, so nothing is possible; give at "
                "least one finite score"
            )
    return scores
