"""HeadSequence: the heads of neighbouring words, scored together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from assent.factors.forest import ForestFactor, fit_tables
from assent.factors.sentence_tree import arcs_by_word, as_arcs
from assent.kernels.problem import Float
from assent.model.scores import clean_scores


class HeadSequence(ForestFactor):
    """Every word has one head, and ``scores`` are earned by the heads of neighbouring words.

    That all hang on the root is not its business: `Arborescence` says so.

    Args:
        arcs: literals of shape ``(n + 1, n)`` for ``n`` words, an array of categorical variables
            that name heads, or a list of arcs: as for `Arborescence`.
        scores: ``scores[m][i, j]`` is earned where word ``m + 1`` has its head i and word
            ``m + 2`` its head j; shape ``(*shape, n - 1, n + 1, n + 1)``.  For a list of arcs,
            ``n - 1`` tables, in which i and j count the heads that the words may have in
            ascending order; or all these tables end to end, ``(*shape, entries)``.
        heads, modifiers: for a list of arcs, where each of them begins and ends.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> arc = g.binary(4, scores=[1.0, 0.0, 1.0, 0.0], name="arc")
        >>> ends = {"heads": [0, 2, 0, 1], "modifiers": [1, 1, 2, 2]}
        >>> not_both = np.array([[-1.5, 0.0], [0.0, 0.0]])  # the root is the head of one
        >>> bigrams = g.add(at.HeadSequence(arc, scores=[not_both], **ends))
        >>> tree = g.add(at.Arborescence(arc, **ends))
        >>> float(at.decode(g).value)
        1.0
    """

    paper_name = "sequential head bigrams"
    formula = "Σ_m scores[head of word m, head of word m + 1]"

    def __init__(self, arcs: Any, *, scores: Any, heads: Any = None, modifiers: Any = None) -> None:
        arcs = as_arcs(arcs)
        codes, _, self.states, shape = arcs_by_word("HeadSequence", arcs, heads, modifiers)
        words = len(self.states)
        self.first = (0,) * words
        # Rooted at its end, as a `Chain` is.
        self._root(arcs.graph, codes, shape, [*range(1, words), -1], [-1] * words, np.zeros(1))
        self.scores = self.fit(scores)

    def fit(self, scores: Any) -> Float:
        """Tables as in the constructor, or end to end, ``(*shape, entries)``."""
        entries = sum(i * j for i, j in pairwise(self.states))
        if not isinstance(scores, np.ndarray) or scores.shape != (*self.shape, entries):
            return super().fit(scores)
        own = clean_scores(scores, self.kind).reshape(len(self), entries)
        return np.hstack([own, np.zeros((len(self), self.entry_shape()[0] - entries))])

    def _tables(self, scores: Any) -> list[Float]:
        axes = "sentences, words, head of a word, head of the next"
        tables = fit_tables(self.kind, scores, self.shape, list(pairwise(self.states)), axes)
        return [*tables, np.zeros((self.states[-1], 1))]

    def readable(self, parts: Float) -> Any:
        """Inner parts as tables ``(*shape, n - 1, n + 1, n + 1)``, or a list if sizes differ."""
        return self._transitions(parts)
