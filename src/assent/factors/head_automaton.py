"""HeadAutomaton: the modifiers of a head on one side, each scored beside the one before."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.factors.base import rows
from assent.factors.structure import Structure
from assent.kernels.problem import Float
from assent.model.scores import broadcast_scores


class HeadAutomaton(Structure):
    """``scores[i, j]`` is earned where modifier j follows modifier i, with none in between.

    Args:
        modifiers: literals whose last axis runs over ``k`` possible modifiers of a head on one
            side, from the head outwards: the arcs from the head to them.
        scores: shape ``(*shape, k + 2, k + 2)``, or one table for all.  Modifiers count from 1; 0
            stands for "none yet" and ``k + 1`` for "no more", so ``scores[0, k + 1]`` is earned
            where there are none at all.  Only entries with ``i < j`` mean anything; ``-inf``
            forbids.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> arc = g.binary(3, scores=[1.0, 1.0, 1.0], name="arc")
        >>> follows = np.zeros((5, 5))
        >>> follows[1, 2] = follows[2, 3] = -5.0  # no two neighbours
        >>> siblings = g.add(at.HeadAutomaton(arc, scores=follows))
        >>> at.decode(g)[arc].tolist()
        [1, 0, 1]
    """

    paper_name = "head automaton (consecutive siblings)"
    formula = "Σ scores[i, j] over modifiers i and j with none in between"
    kernel_names = "sentences.head_automata", "automaton"

    def __init__(self, modifiers: Any, *, scores: Any) -> None:
        graph, codes, shape = rows("HeadAutomaton", modifiers, axis=-1)
        self._attach_literals(graph, codes, shape, automaton_data(codes.shape[1], 0, 1))
        self.scores = self.fit(scores)

    def entry_shape(self) -> tuple[int, ...]:
        return (pair_count(self.size),)

    def fit(self, scores: Any) -> Float:
        """Tables ``(*shape, k + 2, k + 2)``, or all parts as they lie, ``(*shape, entries)``."""
        if is_flat(scores, self.shape, self.entry_shape(), self.size):
            return super().fit(scores)
        table = fit_pairs(self.kind, scores, self.shape, (), self.size)
        return table.reshape(len(self), -1)

    def readable(self, parts: Float) -> Any:
        """Inner parts as a table ``(*shape, k + 2, k + 2)`` like the scores."""
        return unpacked(parts.reshape(*self.shape, -1), self.size)


def automaton_data(modifiers: int, grandparents: int, tables: int) -> Any:
    """The constants of an automaton; see ``kernels.kinds.sentences.head_automata``."""
    return np.array([modifiers, grandparents, tables], np.int32)


def pair_count(modifiers: int) -> int:
    """Number of pairs ``i < j`` of positions 0 to ``modifiers + 1``, start and end included."""
    return (modifiers + 1) * (modifiers + 2) // 2


def is_flat(scores: Any, shape: tuple[int, ...], entries: tuple[int, ...], modifiers: int) -> bool:
    """Whether scores are all parts as they lie; what may be read as a table is one."""
    return (
        isinstance(scores, np.ndarray)
        and scores.shape == (*shape, *entries)
        and scores.shape[-2:] != (modifiers + 2, modifiers + 2)
    )


def pairs_of(modifiers: int) -> tuple[Any, Any]:
    """Positions ``i < j`` of all pairs, in the order of the kernel: by j, then by i."""
    later, earlier = np.tril_indices(modifiers + 2, -1)
    return earlier, later


def fit_pairs(
    kind: str, scores: Any, shape: tuple[int, ...], tables: tuple[int, ...], modifiers: int
) -> Float:
    """Tables ``(*shape, *tables, k + 2, k + 2)``, or what broadcasts, as ``(…, pairs)``."""
    side = modifiers + 2
    axes = (
        f": the last axes are modifiers before and after, 0 for none yet and {side - 1} for no more"
    )
    full = broadcast_scores(scores, (*shape, *tables, side, side), kind, axes)
    return full[(..., *pairs_of(modifiers))]


def unpacked(parts: Float, modifiers: int) -> Float:
    """Pairs ``(…, pairs)`` as tables ``(…, k + 2, k + 2)``."""
    side = modifiers + 2
    full = np.zeros((*parts.shape[:-1], side, side))
    full[(..., *pairs_of(modifiers))] = parts
    return full
