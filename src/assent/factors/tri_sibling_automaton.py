"""TriSiblingAutomaton: the modifiers of a head on one side, every three in a row scored."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from assent.factors.base import rows
from assent.factors.head_automaton import fit_pairs, pair_count, unpacked
from assent.factors.structure import Structure
from assent.kernels.problem import Float
from assent.model.scores import broadcast_scores


class TriSiblingAutomaton(Structure):
    """A head automaton that scores every three modifiers in a row.

    Args:
        modifiers: literals whose last axis runs over ``k`` possible modifiers of a head on one
            side, from the head outwards, as in `HeadAutomaton`.
        scores: ``scores[i, j, l]`` is earned where modifier j follows i and l follows j, with none
            in between; shape ``(*shape, k + 2, k + 2, k + 2)``, or one table for all.  Modifiers
            count from 1; 0 stands for "none yet" and ``k + 1`` for "no more".  Only entries with
            ``i < j < l`` mean anything; ``-inf`` forbids.
        siblings: a table ``(*shape, k + 2, k + 2)`` as the scores of a `HeadAutomaton`; nothing by
            default.

    New scores in ``decode`` are scores, or a pair ``(scores, siblings)``.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> arc = g.binary(3, scores=[1.0, 1.0, 1.0], name="arc")
        >>> in_a_row = np.zeros((5, 5, 5))
        >>> in_a_row[1, 2, 3] = -5.0  # not all three
        >>> in_a_row[1, 3, 4] = 1.0  # the last two are the outer ones
        >>> triples = g.add(at.TriSiblingAutomaton(arc, scores=in_a_row))
        >>> at.decode(g)[arc].tolist()
        [1, 0, 1]
    """

    paper_name = "tri-siblings"
    formula = "Σ scores[i, j, l] over modifiers i, j and l in a row + Σ siblings[i, j]"
    kernel_names = "sentences.tri_sibling_automata", "triples"

    def __init__(self, modifiers: Any, *, scores: Any, siblings: Any = None) -> None:
        graph, codes, shape = rows("TriSiblingAutomaton", modifiers, axis=-1)
        self._attach_literals(graph, codes, shape, [codes.shape[1]])
        self._siblings = fit_pairs(self.kind, siblings, shape, (), self.size)
        self.scores = self.fit(scores)

    def entry_shape(self) -> tuple[int, ...]:
        return (pair_count(self.size) + comb(self.size + 2, 3),)

    def fit(self, scores: Any) -> Float:
        """Scores or ``(scores, siblings)``, checked, or all parts as they lie."""
        if isinstance(scores, np.ndarray) and scores.shape == (*self.shape, *self.entry_shape()):
            return super().fit(scores)
        siblings = self._siblings
        if isinstance(scores, tuple) and len(scores) == 2:
            siblings = fit_pairs(self.kind, scores[1], self.shape, (), self.size)
            scores = scores[0]
        side, axes = self.size + 2, ": the last axes are three modifiers in a row"
        full = broadcast_scores(scores, (*self.shape, side, side, side), self.kind, axes)
        own = full[(..., *triples_of(self.size))]
        m = len(self)
        return np.hstack([siblings.reshape(m, -1), own.reshape(m, -1)])

    def readable(self, parts: Float) -> Any:
        """Inner parts as a pair: ``(*shape, k + 2, k + 2, k + 2)``, and a table of siblings."""
        pairs, triples = np.split(parts, [pair_count(self.size)], axis=1)
        full = np.zeros((*self.shape, *(self.size + 2,) * 3))
        full[(..., *triples_of(self.size))] = triples.reshape(*self.shape, -1)
        return full, unpacked(pairs.reshape(*self.shape, -1), self.size)


def triples_of(modifiers: int) -> tuple[Any, Any, Any]:
    """Positions ``i < j < l`` of all triples, in the order of the kernel: by l, j, then i."""
    last, middle, first = np.indices((modifiers + 2,) * 3)
    chosen = (first < middle) & (middle < last)
    return first[chosen], middle[chosen], last[chosen]
