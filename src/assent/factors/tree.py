"""Tree: variables that form a tree (or several), with scores for each edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.forest import ForestFactor, all_slots, clean_parents, fit_tables
from assent.kernels.problem import Float
from assent.model.scores import clean_scores


class Tree(ForestFactor):
    """A tree-shaped Markov network: each variable's state is scored beside its parent's.

    Args:
        variables: a list of categorical variables or literals (states false and true), or an
            array of them, whose last axis holds the nodes: one tree for each index of the others.
        parents: for each node the position of its parent; -1 for a root, of which there may be
            several.
        scores: for each node that has a parent, in the order of the nodes, a table
            ``[K of the parent, K of the node]``; as an array where all have the same shape.
        counts: ``(state, scores)``: the score of 0, 1, 2, … nodes being in this state; more than
            there are scores for is forbidden.

    ``-inf`` forbids.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> kept = g.binary(scores=[-2.0, 1.0, 1.5], name="kept")
        >>> with_parent = [[0.0, float("-inf")], [0.0, 0.0]]  # no child without its parent
        >>> tree = g.add(at.Tree(kept, parents=[-1, 0, 0], scores=with_parent))
        >>> at.decode(g)[kept].tolist()
        [1, 1, 1]
    """

    paper_name = "tree factor"
    formula = "Σ_v scores_v[s_parent(v), s_v] + counts[number of nodes in the state]"

    def __init__(
        self,
        variables: Any,
        parents: Sequence[int],
        *,
        scores: Any,
        counts: tuple[Any, Any] | None = None,
    ) -> None:
        _, _, _, states, _ = all_slots("Tree", variables)
        state, count_scores = _clean_counts(counts, len(states))
        self._init_forest(
            variables, clean_parents("Tree", parents, len(states)), state, count_scores
        )
        self.scores = self.fit(scores)

    def _tables(self, scores: Any) -> list[Float]:
        ends = list(zip(self.states, self.parents, strict=True))
        edges = [(self.states[parent], k) for k, parent in ends if parent >= 0]
        given = iter(fit_tables("Tree", scores, self.shape, edges, "trees, edges, parent, child"))
        return [
            np.zeros((k, 1)) if parent < 0 else next(given).swapaxes(-1, -2) for k, parent in ends
        ]

    def readable(self, parts: Float) -> Any:
        """Inner parts as ``(*shape, edges, K, K)``, or a list of tables if their shapes differ."""
        tables = [table.swapaxes(-1, -2) for table in self._edge_tables(parts)]
        if len({table.shape for table in tables}) == 1:
            return np.stack(tables, axis=len(self.shape))
        return tables


def _clean_counts(counts: Any, n: int) -> tuple[Any, Float]:
    """State and scores per count; without counting one score of zero."""
    if counts is None:
        return None, np.zeros(1)
    if not (isinstance(counts, tuple) and len(counts) == 2):
        raise ModelError(f"Tree: counts are a pair (state, scores per count), got {counts!r}")
    state, scores = counts
    array = clean_scores(scores, "Tree, counts")
    if array.ndim != 1 or not len(array):
        raise ModelError(f"Tree: scores per count are a list, got shape {array.shape}")
    # More than n nodes there are not, and a limit need not be counted beyond.
    array = array[: n + 1]
    allowed = np.flatnonzero(array > -np.inf)
    return state, array[: allowed[-1] + 1] if len(allowed) else array[:1]
