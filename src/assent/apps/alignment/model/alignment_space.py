"""The best alignment as a factor graph: words with limited fertility, rewards for adjacent links.

A word may have several links, each beyond the first at a price; links of neighbouring words in
the same order (i, j) and (i + 1, j + 1) may earn something together (Lacoste-Julien et al. 2006).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import assent as at
from assent.kernels.problem import Float
from assent.models.space import Space
from assent.result import Result, Status


class PartScores(NamedTuple):
    """What the parts of an alignment score."""

    links: Float  # [n, m] each link
    source: Float  # [n] each link of a source word beyond its first
    target: Float  # [m] of a target word
    adjacent: Float  # [n - 1, m - 1] links (i, j) and (i + 1, j + 1) together; or of no size


def count_scores(beyond: Float, most: int, fertility: int) -> Float:
    """Scores ``[words, most + 1]`` by number of links, from those of each link beyond the first.

    Example:
        >>> count_scores(np.array([-0.5]), 4, 2).tolist()
        [[0.0, 0.0, -0.5, -inf, -inf]]
    """
    number = np.arange(most + 1)
    scores = np.where(number > 1, (number - 1) * np.asarray(beyond)[:, None], 0.0)
    return np.where(number <= fertility, scores, -np.inf)


class AlignmentSpace(Space):
    """Alignments of ``n`` with ``m`` words that have links only where ``allowed[n, m]`` is true.

    Coordinates are those of `PartScores` in its order; that of a word is the number of its links
    beyond the first.

    Attributes:
        graph: the factor graph.
        links: its variables ``[n, m]``.

    Example:
        >>> space = AlignmentSpace(np.ones((1, 2), bool), 2, adjacent=False)
        >>> space.maximize(np.array([1.0, 0.4, -0.5, 0.0, 0.0])).tolist()
        [1.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, allowed: Any, fertility: int, adjacent: bool) -> None:
        n, m = allowed.shape
        self.fertility = fertility
        self.forbidden = np.where(allowed, 0.0, -np.inf)
        self.graph = at.FactorGraph()
        self.links = self.graph.binary(scores=self.forbidden, name="link")
        self.source, self.target = (
            self.graph.add(
                at.Cardinality(
                    self.links, scores=count_scores(np.zeros(words), most, fertility), axis=axis
                )
            )
            for words, most, axis in ((n, m, 1), (m, n, 0))
        )
        self.adjacent = None
        if adjacent and min(n, m) > 1:
            pairs = at.Pair(self.links[:-1, :-1], self.links[1:, 1:], scores=0.0)
            self.adjacent = self.graph.add(pairs)
        self.ends = np.cumsum([n * m, n, m, 0 if self.adjacent is None else (n - 1) * (m - 1)])
        self.size = int(self.ends[-1])

    def scores(self, parts: PartScores) -> dict[Any, Any]:
        """The scores of an alignment as `at.decode` takes them."""
        n, m = self.links.shape
        given = {
            self.links: parts.links + self.forbidden,
            self.source: count_scores(parts.source, m, self.fertility),
            self.target: count_scores(parts.target, n, self.fertility),
        }
        if self.adjacent is not None:
            given[self.adjacent] = parts.adjacent
        return given

    def maximize(self, scores: Float) -> Float:
        """The best alignment, or the best point of the relaxation where that is not integral."""
        result = at.decode(self.graph, at.AD3(), scores=self.scores(self.parts(scores)))
        return self.point(result)

    def parts(self, scores: Float) -> PartScores:
        """Scores ``[size]`` by their places."""
        n, m = self.links.shape
        links, source, target, adjacent = np.split(scores, self.ends[:-1])
        shape = (n - 1, m - 1) if len(adjacent) else (0, 0)
        return PartScores(links.reshape(n, m), source, target, adjacent.reshape(shape))

    def point(self, result: Result) -> Float:
        """The coordinates of a decoded alignment."""
        if result.status is Status.OPTIMAL:
            return self.indicators(result[self.links])
        marginals = result.marginals
        beyond = [
            marginals[handle] @ np.maximum(np.arange(marginals[handle].shape[-1]) - 1, 0)
            for handle in (self.source, self.target)
        ]
        pairs = [] if self.adjacent is None else [np.ravel(marginals[self.adjacent])]
        return np.concatenate([np.ravel(marginals[self.links]), *beyond, *pairs])

    def indicators(self, links: Any) -> Float:
        """The coordinates of a table of links."""
        links = np.asarray(links, np.float64)
        beyond = [np.maximum(links.sum(axis=axis) - 1.0, 0.0) for axis in (1, 0)]
        pairs = links[:-1, :-1] * links[1:, 1:] if self.adjacent is not None else np.zeros(0)
        return np.concatenate([links.ravel(), *beyond, pairs.ravel()])


@lru_cache(maxsize=512)
def alignment_space(n: int, m: int, fertility: int, adjacent: bool) -> AlignmentSpace:
    """All alignments of ``n`` with ``m`` words, cached."""
    return AlignmentSpace(np.ones((n, m), bool), fertility, adjacent)
