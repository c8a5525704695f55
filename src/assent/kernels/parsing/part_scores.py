"""Scores of arcs and of the inner parts of automata: sums of the weights of their features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_inline_llvm, jit_internal_no_allocation
from assent.kernels.parsing.arc_features import arc_places
from assent.kernels.parsing.feature_places import make_features, sum_at
from assent.kernels.parsing.grand_sibling_features import grand_sibling_places
from assent.kernels.parsing.grandparent_features import grandparent_places
from assent.kernels.parsing.sibling_features import sibling_places


class AutomatonParts(NamedTuple):
    """Which kinds of parts automata score."""

    siblings: bool
    grandparents: bool
    grand_siblings: bool


@jit
def score_arcs(tokens, arcs, weights):
    """``[A]`` the scores of arcs."""
    features = make_features(weights)
    out = np.empty(len(arcs.head))
    for a in range(len(out)):
        size = arc_places(tokens, arcs.head[a], arcs.modifier[a], features)
        out[a] = sum_at(weights, features, size)
    return out


@jit_inline_llvm
def word_at(arcs, automata, u, position):
    """The word at a position of an automaton; its head stands for none, before and behind."""
    begin = automata.begin[u]
    if position == 0 or begin + position > automata.begin[u + 1]:
        return automata.head[u]
    return arcs.modifier[automata.arc[begin + position - 1]]


@jit_inline_llvm
def grandparent_of(arcs, automata, u, g):
    """The grandparent with number ``g`` of an automaton; the root's modifiers have the root."""
    if automata.above[u] == 0:
        return automata.head[u]
    return arcs.head[arcs.first[automata.head[u]] + g]


@jit_internal_no_allocation
def _score_grandparents(tokens, arcs, automata, u, weights, features, out):
    """Fill ``out[above, k]``; a word cannot be both above and below another."""
    k = automata.begin[u + 1] - automata.begin[u]
    for g in range(automata.above[u]):
        above = grandparent_of(arcs, automata, u, g)
        for b in range(k):
            m = word_at(arcs, automata, u, b + 1)
            if m != above:
                size = grandparent_places(tokens, above, automata.head[u], m, features)
                out[g * k + b] = sum_at(weights, features, size)


@jit_internal_no_allocation
def _score_siblings(tokens, arcs, automata, u, parts, weights, features, out):
    """Fill the tables of consecutive siblings, ``out[tables, pairs]``."""
    h, toward = automata.head[u], automata.toward[u]
    k = automata.begin[u + 1] - automata.begin[u]
    pairs = (k + 1) * (k + 2) // 2
    place = 0
    for b in range(1, k + 2):
        m = word_at(arcs, automata, u, b)
        for a in range(b):
            s = word_at(arcs, automata, u, a)
            own = 0.0
            if parts.siblings:
                size = sibling_places(tokens, h, s, m, toward, features)
                own = sum_at(weights, features, size)
            for g in range(max(automata.tables[u], 1)):
                out[place + g * pairs] = own
                if parts.grand_siblings:
                    above = grandparent_of(arcs, automata, u, g)
                    size = grand_sibling_places(tokens, above, h, s, m, toward, features)
                    out[place + g * pairs] += sum_at(weights, features, size)
            place += 1


@jit
def score_automata(tokens, arcs, automata, parts, weights):
    """The scores of all inner parts of automata."""
    features = make_features(weights)
    out = np.zeros(automata.entry[len(automata.head)])
    for u in range(len(automata.head)):
        own = out[automata.entry[u] : automata.entry[u + 1]]
        begin = automata.above[u] * (automata.begin[u + 1] - automata.begin[u])
        if parts.grandparents:
            _score_grandparents(tokens, arcs, automata, u, weights, features, own[:begin])
        _score_siblings(tokens, arcs, automata, u, parts, weights, features, own[begin:])
    return out
