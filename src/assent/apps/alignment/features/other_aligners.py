"""Features of other aligners' links: votes, and what they say about the words around."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assent.apps.alignment.data.links import Links
from assent.apps.alignment.features.neighbours import neighbour_features
from assent.kernels.problem import Float


def other_features(others: Sequence[Links], shape: tuple[int, int]) -> dict[str, Float]:
    """Tables ``[n, m]`` by name, for one or more aligners' links of a sentence pair.

    Example:
        >>> tables = other_features([Links(frozenset({(0, 0)})), Links(frozenset())], (1, 2))
        >>> tables["votes"].tolist(), tables["all others"].tolist()
        ([[0.5, 0.0]], [[0.0, 0.0]])
    """
    linked = np.array([np.logical_or(*own.tables(shape)) for own in others]).astype(float)
    votes = linked.mean(axis=0)
    found = {f"other {k}": table for k, table in enumerate(linked, start=1)}
    found |= {
        "votes": votes,
        "all others": linked.min(axis=0),
        "no other": 1.0 - linked.max(axis=0),
        "votes elsewhere in the row": _elsewhere(votes, 1),
        "votes elsewhere in the column": _elsewhere(votes, 0),
        "source word has no votes": np.broadcast_to(_without(votes, 1), shape).astype(float),
        "target word has no votes": np.broadcast_to(_without(votes, 0), shape).astype(float),
    }
    return found | neighbour_features("votes", votes)


def _elsewhere(votes: Float, axis: int) -> Float:
    """The sum of a row's (or column's) other votes, at most 2."""
    return np.minimum(votes.sum(axis=axis, keepdims=True) - votes, 2.0)


def _without(votes: Float, axis: int) -> Float:
    return votes.max(axis=axis, keepdims=True) == 0.0
