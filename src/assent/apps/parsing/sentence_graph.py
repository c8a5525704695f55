"""A sentence as a graph: a variable per candidate arc, a tree, and larger parts over them.

The same problem as :mod:`assent.apps.parsing.turbo` lays out at once, for whatever else may be
asked about a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.apps.parsing.path_parts import add_nonprojective, add_paths
from assent.apps.parsing.turbo import Solution, weigh_tree
from assent.decode import decode
from assent.factors.arborescence import Arborescence
from assent.factors.grandparent_automaton import GrandparentAutomaton
from assent.factors.head_automaton import HeadAutomaton, unpacked
from assent.factors.head_sequence import HeadSequence
from assent.factors.pair import Pair
from assent.factors.projective_tree import ProjectiveTree
from assent.factors.tri_sibling_automaton import TriSiblingAutomaton
from assent.kernels.parsing.sentence_parts import SentenceParts, SentenceScores, TreeShape
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph
from assent.proof.gap_rule import allowed_gap
from assent.solvers.ad3.ad3 import AD3


def graph(parts: SentenceParts, scores: SentenceScores, shape: TreeShape) -> FactorGraph:
    """The graph of a sentence, with variables ``arc[A]``."""
    out, arcs, automata = FactorGraph(), parts.arcs, parts.automata
    arc = out.binary(scores=scores.arcs, name="arc")
    ends = {"heads": arcs.head, "modifiers": arcs.modifier}
    tree = ProjectiveTree if shape.projective else Arborescence
    out.add(tree(arc, **ends, single_root=shape.single_root), name="tree")
    for u, head in enumerate(automata.head.tolist()):
        own = arc[automata.arc[automata.begin[u] : automata.begin[u + 1]]]
        first = int(arcs.first[head])
        above = arc[first : first + int(automata.above[u])]
        inner = scores.inner[automata.entry[u] : automata.entry[u + 1]]
        side = "right" if automata.toward[u] else "left"
        factor = _factor(own, above, int(automata.tables[u]), inner)
        out.add(factor, name=f"{side} modifiers of {head}")
    for u in range(len(parts.triple) - 1):
        inner = scores.inner[parts.triple[u] : parts.triple[u + 1]]
        if len(inner):
            own = arc[automata.arc[automata.begin[u] : automata.begin[u + 1]]]
            out.add(TriSiblingAutomaton(own, scores=inner))
    if len(parts.bigram) > 1:
        tables = scores.inner[parts.bigram[0] : parts.bigram[-1]]
        out.add(HeadSequence(arc, scores=tables, **ends), name="head bigrams")
    if len(parts.pairs):
        first, second = parts.pairs.T
        out.add(Pair(arc[first], arc[second], scores=scores.pairs), name="any siblings")
    words = len(arcs.first) - 2
    if words > 1 and (parts.nonprojective or parts.paths):
        of_paths = scores.paths if parts.paths else np.zeros(words * words)
        path = add_paths(out, arc, arcs.head, arcs.modifier, of_paths.reshape(words, words))
        if parts.nonprojective:
            add_nonprojective(out, arc, path, arcs.head, arcs.modifier, scores.nonprojective)
    return out


def solve(parts: SentenceParts, scores: SentenceScores, shape: TreeShape, solver: AD3) -> Solution:
    """The best tree by AD3 on the graph, for parts that look at all ancestors of a word.

    Flows take far longer than all else.  What is learned from is the tree, not the relaxed answer.
    """
    own = graph(parts, scores, shape)
    result = decode(own, solver)
    point = result[own["arc"]] if result.feasible else result.marginals[own["arc"]]
    found = weigh_tree(parts, scores, point.astype(float), shape)
    proven = result.bound - found.value <= allowed_gap(solver.gap_tolerance, result.bound, 1.0)
    return found._replace(bound=result.bound, proven=proven, iterations=result.iterations)


def _factor(modifiers: Any, above: Any, tables: int, inner: Float) -> Any:
    """The automaton of a head on one side, with its inner scores as they lie."""
    k, grandparents = len(modifiers), len(above)
    bonus, pairs = np.split(inner, [grandparents * k])
    siblings = unpacked(pairs.reshape(max(tables, 1), -1), k)
    if not grandparents:
        return HeadAutomaton(modifiers, scores=siblings[0])
    bonus = bonus.reshape(grandparents, k)
    own = siblings if tables > 1 else siblings[0]
    return GrandparentAutomaton(modifiers, above, scores=bonus, siblings=own)
