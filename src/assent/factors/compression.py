"""Compression: which words of a parsed sentence are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.arguments import is_whole, shown
from assent.errors import ModelError
from assent.factors.forest import ForestFactor, clean_parents
from assent.kernels.problem import Float
from assent.model.scores import broadcast_scores


class Compression(ForestFactor):
    """A sentence with words left out, scored along the arcs of its dependency tree.

    With a word everything goes that hangs on it, unless ``orphans`` says otherwise: what a whole
    phrase costs is earned once, where the arc to it is cut.

    Args:
        words: literals whose last axis runs over the ``n`` words: true where a word is kept.
        heads: ``n`` whole numbers, the head of each word: words count from 1, and 0 is the root.
        deletions: earned where a word is left out and its head is kept; a word that hangs on the
            root, where it is left out.  Shape ``(*shape, n)``; ``-inf``: a word goes with its head
            only.
        orphans: earned where a word is kept and its head is left out, so that it hangs on what
            is above; shape ``(*shape, n)``.  ``-inf``, the default, forbids it.
        at_most: how many words are kept at most.

    New scores in ``decode`` are deletions, or a pair ``(deletions, orphans)``.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> text = "we learned a lesson in 1987".split()
        >>> kept = g.binary(6, scores=[0.0, 1.0, -0.1, 1.0, -0.5, -0.5], name="kept")
        >>> heads = [2, 0, 4, 2, 6, 2]
        >>> deletions = [-9.0, 0.0, -1.0, -2.0, -9.0, -0.5]
        >>> sentence = g.add(at.Compression(kept, heads, deletions=deletions))
        >>> " ".join(word for word, k in zip(text, at.decode(g)[kept]) if k)
        'we learned a lesson'
    """

    paper_name = "compression model"
    formula = "Σ_m deletions[m] · [m is left out, its head is not] + Σ_m orphans[m] · [the reverse]"

    def __init__(
        self,
        words: Any,
        heads: Any,
        *,
        deletions: Any,
        orphans: Any = -np.inf,
        at_most: int | None = None,
    ) -> None:
        if at_most is not None and (not is_whole(at_most) or at_most < 0):
            raise ModelError(f"Compression: at_most is a whole number >= 0, got {shown(at_most)}")
        shape = getattr(words, "shape", ())
        parents = clean_parents(
            "Compression", heads, shape[-1] if shape else 0, root=0, parent="head", node="word"
        )
        limited = at_most is not None and at_most < len(parents)
        counts = np.zeros(at_most + 1 if limited and at_most is not None else 1)
        self._init_forest(words, parents, 1 if limited else None, counts)
        self._orphans = self._fit_words(orphans, "orphans have")
        self.scores = self.fit(deletions)

    def _fit_words(self, scores: Any, what: str) -> Float:
        """Scores ``(*shape, n)``, checked."""
        wanted = (*self.shape, len(self.states))
        return broadcast_scores(scores, wanted, self.kind, ": one per word", what)

    def fit(self, scores: Any) -> Float:
        """Deletions or ``(deletions, orphans)``, checked, or all parts as they lie."""
        flat = (*self.shape, *self.entry_shape())
        if isinstance(scores, np.ndarray) and scores.shape == flat and flat[-1] != len(self.states):
            return super().fit(scores)
        return self._lay_out(self._tables(scores))

    def _tables(self, scores: Any) -> list[Float]:
        orphans = self._orphans
        if isinstance(scores, tuple) and len(scores) == 2:
            orphans = self._fit_words(scores[1], "orphans have")
            scores = scores[0]
        deletions = self._fit_words(scores, "deletions have")
        tables = []
        for word, parent in enumerate(self.parents):
            table = np.zeros((*self.shape, 2, 1 if parent < 0 else 2))  # own state, the head's
            table[..., 0, -1] = deletions[..., word]
            if parent >= 0:
                table[..., 1, 0] = orphans[..., word]
            tables.append(table)
        return tables

    def readable(self, parts: Float) -> Any:
        """Inner parts as a pair, ``(*shape, n)`` each: arcs that are cut, and orphans."""
        ends = np.cumsum([k * top for k, top in self._table_shapes()])
        top = np.array([1 if parent < 0 else 2 for parent in self.parents])
        begin = ends - 2 * top
        orphans = np.where(top == 2, parts[:, begin + top], 0.0)
        shape = (*self.shape, len(top))
        return parts[:, begin + top - 1].reshape(shape), orphans.reshape(shape)
