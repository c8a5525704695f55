"""GrandparentAutomaton: a head automaton that also knows which word the head hangs on."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.arguments import shape_of
from assent.errors import ModelError
from assent.factors.base import rows
from assent.factors.head_automaton import (
    automaton_data,
    fit_pairs,
    is_flat,
    pair_count,
    unpacked,
)
from assent.factors.structure import Structure
from assent.kernels.problem import Float, Int32
from assent.model.scores import broadcast_scores
from assent.model.variables import Categorical


class GrandparentAutomaton(Structure):
    """A head automaton whose head hangs on one of several words, which scores its modifiers.

    Args:
        modifiers: literals whose last axis runs over ``k`` possible modifiers of a head on one
            side, from the head outwards, as in `HeadAutomaton`.
        grandparents: literals whose last axis runs over the ``G`` possible heads of the head,
            of which exactly one is true; or a categorical variable with ``G`` states.
        scores: ``scores[g, i]`` is earned where the head hangs on grandparent g and has modifier
            i (from 0); shape ``(*shape, G, k)``.
        siblings: tables ``(*shape, k + 2, k + 2)`` as the scores of a `HeadAutomaton`, or
            ``(*shape, G, k + 2, k + 2)`` with one for every grandparent; nothing by default.

    New scores in ``decode`` are scores, or a pair ``(scores, siblings)``.  ``-inf`` forbids.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> modifier = g.binary(2, scores=[1.0, 1.0], name="modifier")
        >>> above = g.binary(2, scores=[0.0, 0.5], name="above")
        >>> below = [[0.0, 0.0], [-2.0, 0.0]]  # the second grandparent dislikes the first one
        >>> automaton = g.add(at.GrandparentAutomaton(modifier, above, scores=below))
        >>> result = at.decode(g)
        >>> result[modifier].tolist(), result[above].tolist()
        ([1, 1], [1, 0])
    """

    paper_name = "grandparent head automaton"
    formula = "Σ scores[g, i] over modifiers i below g + Σ siblings[g, i, j]"
    kernel_names = "sentences.head_automata", "automaton"

    def __init__(
        self, modifiers: Any, grandparents: Any, *, scores: Any, siblings: Any = None
    ) -> None:
        graph, codes, shape = rows("GrandparentAutomaton", modifiers, axis=-1)
        above = _above(grandparents, graph, shape)
        self._modifiers, self._grandparents = codes.shape[1], above.shape[1]
        given = shape_of(siblings)
        per_grandparent = len(given) > len(shape) + 2 or (
            len(given) == 3 and given[0] == self._grandparents
        )
        self._tables = (self._grandparents,) if per_grandparent else ()
        self.states = (*(2,) * codes.shape[1], above.shape[1])
        self.first = (*(1,) * codes.shape[1], 0)
        self.data = automaton_data(*codes.shape[1:], *above.shape[1:], *(self._tables or (1,)))
        self._attach(graph, np.hstack([codes, above]), shape)
        self._siblings = self._fit_siblings(siblings)
        self.scores = self.fit(scores)

    def entry_shape(self) -> tuple[int, ...]:
        tables = self._tables[0] if self._tables else 1
        k = self._modifiers
        return (self._grandparents * k + tables * pair_count(k),)

    def fit(self, scores: Any) -> Float:
        """Scores or ``(scores, siblings)``, checked, or all parts as they lie."""
        k = self._modifiers
        if is_flat(scores, self.shape, self.entry_shape(), k):
            return super().fit(scores)
        siblings = self._siblings
        if isinstance(scores, tuple) and len(scores) == 2:
            siblings = self._fit_siblings(scores[1])
            scores = scores[0]
        shape = (*self.shape, self._grandparents, k)
        own = broadcast_scores(scores, shape, self.kind, ": grandparents, then modifiers")
        return np.hstack([own.reshape(len(self), -1), siblings])

    def _fit_siblings(self, siblings: Any) -> Float:
        """Tables of pairs as ``[m, entries]``; zeros for ``None``."""
        full = fit_pairs(self.kind, siblings, self.shape, self._tables, self._modifiers)
        return full.reshape(len(self), -1)

    def readable(self, parts: Float) -> Any:
        """Inner parts as a pair: ``(*shape, G, k)``, and tables like the siblings."""
        k, count = self._modifiers, self._grandparents
        own, pairs = np.split(parts, [count * k], axis=1)
        tables = pairs.reshape(*self.shape, *self._tables, -1)
        return own.reshape(*self.shape, count, k), unpacked(tables, k)


def _above(grandparents: Any, graph: Any, shape: tuple[int, ...]) -> Int32:
    """Codes ``[m, G]`` of the possible heads of the heads."""
    if isinstance(grandparents, Categorical):
        owner, own_shape = grandparents.graph, grandparents.shape
        codes = grandparents.codes.reshape(-1, len(grandparents.states))
    else:
        owner, codes, own_shape = rows("GrandparentAutomaton", grandparents, axis=-1)
    if owner is not graph:
        raise ModelError("GrandparentAutomaton: the variables belong to different graphs")
    if own_shape != shape:
        raise ModelError(
            f"GrandparentAutomaton: there are automata of shape {shape}, but grandparents of "
            f"shape {own_shape}; give each automaton its own"
        )
    return codes
