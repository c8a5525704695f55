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
from assent.model.graph import FactorGraph, Handle


class AlignmentGraph(NamedTuple):
    """A graph of all alignments of ``n`` with ``m`` words, and where scores belong.

    Attributes:
        graph: the factor graph.
        links: its variables ``[n, m]``.
        source: the counts of each source word's links.
        target: of each target word's.
        adjacent: pairs of adjacent links ``[n - 1, m - 1]``; None where there are none.
        fertility: the largest number of a word's links.
        forbidden: ``[n, m]`` minus infinity for links that may not be, otherwise 0.
    """

    graph: FactorGraph
    links: Any
    source: Handle
    target: Handle
    adjacent: Handle | None
    fertility: int
    forbidden: Float

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


class PartScores(NamedTuple):
    """What the parts of an alignment score.

    Attributes:
        links: ``[n, m]`` each link.
        source: ``[n]`` each link of a source word beyond its first.
        target: ``[m]`` of a target word.
        adjacent: ``[n - 1, m - 1]`` links (i, j) and (i + 1, j + 1) together; or of no size.
    """

    links: Float
    source: Float
    target: Float
    adjacent: Float


def count_scores(beyond: Float, most: int, fertility: int) -> Float:
    """Scores ``[words, most + 1]`` by number of links, from those of each link beyond the first.

    Example:
        >>> count_scores(np.array([-0.5]), 4, 2).tolist()
        [[0.0, 0.0, -0.5, -inf, -inf]]
    """
    number = np.arange(most + 1)
    scores = np.where(number > 1, (number - 1) * np.asarray(beyond)[:, None], 0.0)
    return np.where(number <= fertility, scores, -np.inf)


def make_graph(allowed: Any, fertility: int, adjacent: bool) -> AlignmentGraph:
    """The graph of the alignments that only have links where the table ``allowed[n, m]`` is true.

    Example:
        >>> made = make_graph(np.ones((1, 2), bool), 2, adjacent=False)
        >>> scores = PartScores(np.array([[1.0, 0.4]]), np.array([-0.5]), np.zeros(2), None)
        >>> at.decode(made.graph, scores=made.scores(scores))[made.links].tolist()
        [[1, 0]]
    """
    n, m = allowed.shape
    forbidden = np.where(allowed, 0.0, -np.inf)
    graph = at.FactorGraph()
    links = graph.binary(scores=forbidden, name="link")
    source, target = (
        graph.add(at.Cardinality(links, scores=count_scores(np.zeros(words), most, fertility),
                                 axis=axis))
        for words, most, axis in ((n, m, 1), (m, n, 0))
    )  # fmt: skip
    pairs = None
    if adjacent and min(n, m) > 1:
        pairs = graph.add(at.Pair(links[:-1, :-1], links[1:, 1:], scores=0.0))
    return AlignmentGraph(graph, links, source, target, pairs, fertility, forbidden)


@lru_cache(maxsize=512)
def alignment_graph(n: int, m: int, fertility: int, adjacent: bool) -> AlignmentGraph:
    """The graph of all alignments of ``n`` with ``m`` words, cached."""
    return make_graph(np.ones((n, m), bool), fertility, adjacent)
