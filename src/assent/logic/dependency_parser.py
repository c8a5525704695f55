"""A dependency parser written in rules (Martins et al., 2011, Table 1, corrected).

Words are 1 … n and 0 is the root.  A tree is a flow: every word is sent one unit from the root, and
only chosen arcs carry flow.  ``path(a, d)`` says that d gets its unit through a, so that there is
a path from a to d.  It is ``path(m, m)`` that always holds, and no flow leaves a word for itself;
the table prints ``flow(h, m, m) := TRUE``, which would ask for every arc at once.  Consecutive
siblings are walked outwards from the head on each side: ``last`` is where the last one was met so
far, ``next`` where the next one follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.logic.domains import Domain
from assent.logic.expressions import variables
from assent.logic.predicates import Predicate, predicate, table, tuple_positions
from assent.logic.quantifiers import exists, exists_one, one_of
from assent.logic.rules import Rules
from assent.model.graph import FactorGraph

a, b, c, d, h, m, s, k, t, i, j = variables("a b c d h m s k t i j")


@dataclass(frozen=True, eq=False)
class PartScores:
    """Scores of the parts of a parse; parts left out are not modelled.

    Heads run over 0 … n, words over 1 … n (index 0 is word 1), distances over 0 … n+1.

    Attributes:
        arc: ``[n+1, n]`` head, modifier.
        sibling: ``[n+1, n, n]`` head and two modifiers, the first left of the second.
        grandparent: ``[n+1, n, n]`` grandparent, head, modifier.
        head_bigram: ``[n+1, n+1, n]`` head of the word before, head, word.
        next_sibling: ``[2, n+1, n+2, n+2]`` side (0 left, 1 right), head, distance of a
            sibling (0 for none yet) and of the next one (one past the last word for none any
            more).
        nonprojective: ``[n+1, n]`` an arc over a word that does not descend from its head.
        path: ``[n+1, n]`` ancestor, descendant.
    """

    arc: Float
    sibling: Float | None = None
    grandparent: Float | None = None
    head_bigram: Float | None = None
    next_sibling: Float | None = None
    nonprojective: Float | None = None
    path: Float | None = None

    def __post_init__(self) -> None:
        n = np.shape(self.arc)[-1]
        shapes: dict[str, tuple[int, ...]] = {
            "arc": (n + 1, n),
            "sibling": (n + 1, n, n),
            "grandparent": (n + 1, n, n),
            "head_bigram": (n + 1, n + 1, n),
            "next_sibling": (2, n + 1, n + 2, n + 2),
            "nonprojective": (n + 1, n),
            "path": (n + 1, n),
        }
        for name, shape in shapes.items():
            given = getattr(self, name)
            if given is not None and np.shape(given) != shape:
                raise ModelError(
                    f"{name} scores have shape {np.shape(given)}; {n} words need {shape}"
                )


@dataclass(frozen=True, eq=False)
class RuledParser:
    """A sentence's graph, its rules, and the predicate of arcs ``arc(head, word)``.

    ``places[A, 2]`` are head and word of the variables ``graph["arc"]``.
    """

    graph: FactorGraph
    rules: Rules
    arc: Predicate
    places: NDArray[np.int64]

    def heads(self, arcs: NDArray[Any]) -> list[int]:
        """The head of every word, given the values of ``graph["arc"]`` in an answer."""
        chosen = self.places[arcs == 1]
        return chosen[np.argsort(chosen[:, 1]), 0].tolist()


def parser(scores: PartScores) -> RuledParser:
    """The graph and rules of one sentence.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> arc = np.array([[9.0, 0.0, 0.0], [0.0, 6.0, 1.0], [8.0, 0.0, 5.0], [8.0, 2.0, 0.0]])
        >>> model = parser(PartScores(arc))
        >>> result = at.decode(model.graph)
        >>> model.heads(result[model.graph["arc"]])
        [0, 1, 2]
    """
    sentence = _Sentence(FactorGraph(), scores)
    sentence.tree()
    sentence.pairs_of_arcs()
    if scores.next_sibling is not None:
        sentence.consecutive_siblings(scores.next_sibling)
    if scores.nonprojective is not None:
        sentence.nonprojective_arcs(scores.nonprojective)
    arc = sentence.arc
    places = arc.possible() + np.array([0, 1])  # words count from 1
    return RuledParser(sentence.graph, sentence.rules, arc, places)


class _Sentence:
    """The rules of Table 1 for one sentence."""

    def __init__(self, graph: FactorGraph, scores: PartScores) -> None:
        self.graph, self.rules, self.scores = graph, Rules(graph), scores
        self.n = n = scores.arc.shape[1]
        self.head, self.word = Domain("head", range(n + 1)), Domain("word", range(1, n + 1))
        self.arcs = [(x, y) for x in range(n + 1) for y in range(1, n + 1) if x != y]
        self.arc = self.unknown("arc", self.arcs, self.head, self.word, scores=scores.arc)

    def unknown(
        self, name: str, at: list, *domains: Domain, scores: Float | None = None
    ) -> Predicate:
        """A predicate with a variable for each tuple in ``at``."""
        rows = np.array(at, np.int64).reshape(-1, len(domains))
        places = tuple_positions(name, rows, domains)
        own = None if scores is None else scores[tuple(places.T)]
        return predicate(self.graph.binary(len(rows), scores=own, name=name), *domains, at=rows)

    # [rules]
    def tree(self) -> None:
        """One head each, one unit of flow to each word, paths are where flow passes."""
        add, arc, head, word, n = self.rules.add, self.arc, self.head, self.word, self.n
        flows = [(x, y, z) for x, y in self.arcs for z in range(1, n + 1) if x != z]
        paths = [(x, z) for x in range(n + 1) for z in range(1, n + 1)]
        flow = self.unknown("flow", flows, head, word, word)
        self.path = path = self.unknown("path", paths, head, word, scores=self.scores.path)
        path.observe([(x, z) for x, z in paths if x in (0, z)])
        add(exists_one(h, arc(h, m)), name="one head")
        add(flow(h, m, d) >> arc(h, m), name="flow needs an arc")
        add(path(m, d).defines(exists_one(h, flow(h, m, d))), where=m > 0, name="path in")
        add(path(h, d).defines(exists_one(m, flow(h, m, d))), where=h != d, name="path out")

    def pairs_of_arcs(self) -> None:
        """Siblings, grandparents and heads of neighbouring words."""
        add, arc, head, word, of = self.rules.add, self.arc, self.head, self.word, self.scores
        if of.sibling is not None:
            both = table("sibling", of.sibling, head, word, word)
            add(arc(h, m) & arc(h, s), where=m < s, weight=both(h, m, s), name="sibling")
        if of.grandparent is not None:
            chain = table("grandparent", of.grandparent, head, word, word)
            add(arc(a, h) & arc(h, m), where=a != m, weight=chain(a, h, m), name="grandparent")
        if of.head_bigram is not None:
            row = table("head bigram", of.head_bigram, head, head, word)
            add(arc(b, m - 1) & arc(h, m), where=m > 1, weight=row(b, h, m), name="head bigram")

    def consecutive_siblings(self, scores: Float) -> None:
        """Walk from h to side t; i is the last sibling met, j the next."""
        add, arc, head, n = self.rules.add, self.arc, self.head, self.n
        side, far = Domain("side", (-1, 1)), Domain("distance", n + 2)
        sizes = np.stack([np.maximum(head.values - 1, 0), n - head.values])  # words left, right
        size = table("size", sizes, side, head)
        ends = [(t, x, int(sizes[(t + 1) // 2, x])) for t in (-1, 1) for x in range(n + 1)]
        met = [(t, x, y, z) for t, x, e in ends for z in range(e + 1) for y in range(z + 1)]
        steps = [(t, x, y, z) for t, x, e in ends for z in range(1, e + 2) for y in range(z)]
        last = self.unknown("last", met, side, head, far, far)
        then = self.unknown("next", steps, side, head, far, far, scores=scores)
        last.observe([(*end[:2], 0, 0) for end in ends])
        there = (j > 0) & (j <= size(t, h))
        add(last(t, h, j, j) == arc(h, h + t * j), where=there, name="a sibling is met")
        add(exists_one(i, last(t, h, i, j)), where=there, name="one was the last")
        add(last(t, h, i, k).defines(one_of(last(t, h, i, k + 1), then(t, h, i, k + 1))),
            where=(i <= k) & (k <= size(t, h)), name="stay or go on")  # fmt: skip
        add(arc(h, h + t * j).defines(exists_one(i, then(t, h, i, j))), where=there, name="next")

    def nonprojective_arcs(self, scores: Float) -> None:
        """Arcs over a word that does not descend from their head."""
        arc, path = self.arc, self.path
        crossing = self.unknown("nonprojective", self.arcs, self.head, self.word, scores=scores)
        inside = ((h < c) & (c < m)) | ((m < c) & (c < h))
        body = arc(h, m) & exists(c, ~path(h, c), where=inside)
        self.rules.add(crossing(h, m).defines(body), where=h != m, name="non-projective")

    # [end]
