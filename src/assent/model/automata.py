"""The head automata of a sentence in one call: two for every head, left and right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.factors.grandparent_automaton import GrandparentAutomaton
from assent.factors.head_automaton import HeadAutomaton
from assent.factors.sentence_tree import as_arcs, read_arcs
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph, Handle
from assent.model.scores import broadcast_scores
from assent.model.variables import Literals

Automata = dict[tuple[int, str], Handle]


def add_head_automata(
    graph: FactorGraph, arcs: Literals, siblings: Any, *, heads: Any = None, modifiers: Any = None
) -> Automata:
    """Score the modifiers of every head on each side beside one another: consecutive siblings.

    A head h takes its modifiers to the right one after the other, and those to the left; where
    modifier b follows modifier a, ``siblings[h, a, b]`` is earned.  The first one on a side
    follows the head itself (``a = h``).  After the last one comes the end: ``b = 0`` on the
    left, ``b = n + 1``, one more than there are words, on the right.

    Args:
        graph: gets a `HeadAutomaton` for each head and side with arcs, and a constant for those
            without, whose head has no modifiers whatever happens.
        arcs: arcs as `Arborescence` takes them: ``(n + 1, n)`` literals, or a list of them with
            ``heads`` and ``modifiers``.
        siblings: shape ``(n + 1, n + 1, n + 2)``.

    Returns:
        Handles by head and side, ``(3, "left")``.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> arc = g.binary((4, 3), scores=np.eye(4, 3), name="arc")
        >>> tree = g.add(at.Arborescence(arc))
        >>> siblings = np.zeros((4, 4, 5))
        >>> siblings[1, 1, 2] = siblings[1, 2, 3] = 2.0  # word 1 likes 2, and then 3
        >>> automata = at.add_head_automata(g, arc, siblings)
        >>> sorted(automata)
        [(0, 'right'), (1, 'right'), (2, 'left'), (2, 'right'), (3, 'left')]
        >>> at.decode(g)[arc].argmax(axis=0)  # heads of the words
        array([0, 1, 1])
    """
    sentence = _SentenceArcs(graph, "add_head_automata", arcs, heads, modifiers)
    return sentence.automata(siblings, None)


def add_grandparent_automata(
    graph: FactorGraph,
    arcs: Literals,
    grandparents: Any,
    siblings: Any = None,
    *,
    heads: Any = None,
    modifiers: Any = None,
) -> Automata:
    """As `add_head_automata`, with scores for a word, its head and the head of its head.

    Args:
        graph: gets a `GrandparentAutomaton` for each word and side with arcs, a `HeadAutomaton`
            for the root, which has no head, and constants.
        arcs: as for `add_head_automata`.
        grandparents: shape ``(n + 1, n + 1, n + 1)``; ``grandparents[g, h, m]`` is earned where g
            is the head of h, and h the head of m.
        siblings: as for `add_head_automata`; nothing by default.

    Returns:
        Handles by head and side, ``(3, "left")``.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> arc = g.binary((4, 3), scores=np.eye(4, 3), name="arc")
        >>> tree = g.add(at.Arborescence(arc))
        >>> grandparents = np.zeros((4, 4, 4))
        >>> grandparents[0, 2, 3] = grandparents[0, 2, 1] = 5.0  # 1 and 3 like to hang on 2
        >>> automata = at.add_grandparent_automata(g, arc, grandparents)
        >>> at.decode(g)[arc].argmax(axis=0)
        array([2, 0, 2])
    """
    sentence = _SentenceArcs(graph, "add_grandparent_automata", arcs, heads, modifiers)
    above = sentence.fit(grandparents, "grandparents", 0)
    return sentence.automata(siblings, above)


class _Side(NamedTuple):
    """The arcs from one head to the words on one side, from the head outwards."""

    head: int
    name: str  # left or right
    arcs: Literals
    modifiers: list[int]
    end: int  # what stands for the end in arrays of siblings

    def table(self, siblings: Float) -> Float:
        """What the automaton reads of scores ``[head, before, after]``: ``[k + 2, k + 2]``."""
        before = [self.head, *self.modifiers]
        table = np.zeros((len(before) + 1, len(before) + 1))
        table[:-1, 1:] = siblings[self.head][np.ix_(before, [*self.modifiers, self.end])]
        return table


class _SentenceArcs:
    """Arcs by their ends."""

    def __init__(
        self, graph: FactorGraph, caller: str, arcs: Any, heads: Any, modifiers: Any
    ) -> None:
        arcs = as_arcs(arcs)
        codes, head, modifier = read_arcs(caller, arcs, heads, modifiers)
        if codes.ndim != 1:
            raise ModelError(f"{caller} takes the arcs of one sentence, got shape {arcs.shape}")
        if arcs.graph is not graph:
            raise ModelError(f"{caller}: the arcs belong to another graph")
        self.graph, self.caller = graph, caller
        self.words = int(modifier.max())
        self._codes = np.full((self.words + 1, self.words + 1), -1, np.int64)  # place in arcs
        own = head != modifier
        self._codes[head[own], modifier[own]] = np.flatnonzero(own)
        self._arcs = Literals(graph, codes)

    def fit(self, scores: Any, name: str, longer: int) -> Float:
        """Scores that broadcast to ``(n + 1, n + 1, n + 1 + longer)``, checked."""
        n, axes = self.words + 1, f" for {self.words} words"
        return broadcast_scores(scores, (n, n, n + longer), self.caller, axes, f"{name} have")

    def automata(self, siblings: Any, grandparents: Float | None) -> Automata:
        """An automaton for every side; with grandparents where there are any, and a head's head."""
        scores = self.fit(siblings, "siblings", 1)
        made: Automata = {}
        for side in self._sides(scores):
            table = side.table(scores)
            factor: HeadAutomaton | GrandparentAutomaton
            if grandparents is None or side.head == 0:
                factor = HeadAutomaton(side.arcs, scores=table)
            else:
                whose = np.flatnonzero(self._codes[:, side.head] >= 0)
                into = self._arcs[self._codes[whose, side.head]]
                above = grandparents[whose, side.head][:, side.modifiers]
                factor = GrandparentAutomaton(side.arcs, into, scores=above, siblings=table)
            name = f"{side.name} modifiers of {side.head}"
            made[side.head, side.name] = self.graph.add(factor, name=name)
        return made

    def _sides(self, siblings: Float) -> Iterator[_Side]:
        """All sides with arcs; what those without earn is added to the graph."""
        for head in range(self.words + 1):
            for name, words, end in (
                ("left", range(head - 1, 0, -1), 0),
                ("right", range(head + 1, self.words + 1), self.words + 1),
            ):
                modifiers = [m for m in words if self._codes[head, m] >= 0]
                if modifiers:
                    arcs = self._arcs[self._codes[head, modifiers]]
                    yield _Side(head, name, arcs, modifiers, end)
                elif head or name == "right":  # nothing is left of the root
                    self._add_constant(head, name, float(siblings[head, head, end]))

    def _add_constant(self, head: int, name: str, value: float) -> None:
        if value == -np.inf:
            raise ModelError(
                f"{self.caller}: head {head} has no arcs to the {name}, but having no modifiers "
                "there is forbidden"
            )
        self.graph.add_constant(value)
