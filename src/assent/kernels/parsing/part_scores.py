"""Scores of the parts of a sentence: sums of the weights of their features."""

from __future__ import annotations

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_inline_llvm, jit_internal_no_allocation
from assent.kernels.parsing.arc_features import arc_places, nonprojective_places
from assent.kernels.parsing.feature_places import make_features, sum_at
from assent.kernels.parsing.grand_sibling_features import grand_sibling_places
from assent.kernels.parsing.grandparent_features import grandparent_places
from assent.kernels.parsing.head_bigram_features import head_bigram_places
from assent.kernels.parsing.path_features import path_places
from assent.kernels.parsing.sentence_parts import SentenceScores, count_inner
from assent.kernels.parsing.sibling_features import any_sibling_places, sibling_places
from assent.kernels.parsing.tri_sibling_features import tri_sibling_places


@jit_internal_no_allocation
def _score_arcs(tokens, arcs, weights, features, out):
    for a in range(len(out)):
        size = arc_places(tokens, arcs.head[a], arcs.modifier[a], features)
        out[a] = sum_at(weights, features, size)


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
def _score_siblings(tokens, arcs, automata, u, kinds, weights, features, out):
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
            if kinds.siblings:
                size = sibling_places(tokens, h, s, m, toward, features)
                own = sum_at(weights, features, size)
            for g in range(max(automata.tables[u], 1)):
                out[place + g * pairs] = own
                if kinds.grand_siblings:
                    above = grandparent_of(arcs, automata, u, g)
                    size = grand_sibling_places(tokens, above, h, s, m, toward, features)
                    out[place + g * pairs] += sum_at(weights, features, size)
            place += 1


@jit_internal_no_allocation
def _score_automata(tokens, arcs, automata, kinds, weights, features, out):
    for u in range(len(automata.head)):
        own = out[automata.entry[u] : automata.entry[u + 1]]
        begin = automata.above[u] * (automata.begin[u + 1] - automata.begin[u])
        if kinds.grandparents:
            _score_grandparents(tokens, arcs, automata, u, weights, features, own[:begin])
        _score_siblings(tokens, arcs, automata, u, kinds, weights, features, own[begin:])


@jit_internal_no_allocation
def _score_triples(tokens, parts, weights, features, out):
    arcs, automata, triple = parts.arcs, parts.automata, parts.triple
    for u in range(len(triple) - 1):
        h, toward = automata.head[u], automata.toward[u]
        k = automata.begin[u + 1] - automata.begin[u]
        place = triple[u] + (k + 1) * (k + 2) // 2
        for c in range(2, k + 2 if triple[u + 1] > triple[u] else 0):
            m = word_at(arcs, automata, u, c)
            for b in range(1, c):
                second = word_at(arcs, automata, u, b)
                for a in range(b):
                    first = word_at(arcs, automata, u, a)
                    size = tri_sibling_places(tokens, h, first, second, m, toward, features)
                    out[place] = sum_at(weights, features, size)
                    place += 1


@jit_internal_no_allocation
def _score_bigrams(tokens, arcs, bigram, weights, features, out):
    for m in range(1, len(bigram)):
        place = bigram[m - 1]
        for a in range(arcs.first[m], arcs.first[m + 1]):
            for b in range(arcs.first[m + 1], arcs.first[m + 2]):
                size = head_bigram_places(tokens, arcs.head[a], arcs.head[b], m, features)
                out[place] = sum_at(weights, features, size)
                place += 1


@jit_internal_no_allocation
def _score_pairs(tokens, arcs, pairs, weights, features, out):
    for i in range(len(pairs)):
        h, s, m = arcs.head[pairs[i, 0]], arcs.modifier[pairs[i, 0]], arcs.modifier[pairs[i, 1]]
        size = any_sibling_places(tokens, h, s, m, int(h < m), features)
        out[i] = sum_at(weights, features, size)


@jit_internal_no_allocation
def _score_nonprojective(tokens, arcs, weights, features, out):
    for a in range(len(out)):
        size = nonprojective_places(tokens, arcs.head[a], arcs.modifier[a], features)
        out[a] = sum_at(weights, features, size)


@jit_internal_no_allocation
def _score_paths(tokens, weights, features, out):
    words = len(tokens) - 3
    for i in range(len(out)):
        size = path_places(tokens, i // words + 1, i % words + 1, features)
        out[i] = sum_at(weights, features, size)


@looks_up("weights")
@jit
def score_parts(tokens, parts, kinds, weights):
    """The scores of all parts of a sentence."""
    features, arcs = make_features(weights), parts.arcs
    of_arcs, inner = np.empty(len(arcs.head)), np.zeros(count_inner(parts))
    pairs, words = np.empty(len(parts.pairs)), len(tokens) - 3
    nonprojective = np.empty(len(of_arcs) if parts.nonprojective else 0)
    paths = np.empty(words * words if parts.paths else 0)
    _score_arcs(tokens, arcs, weights, features, of_arcs)
    _score_automata(tokens, arcs, parts.automata, kinds, weights, features, inner)
    _score_triples(tokens, parts, weights, features, inner)
    _score_bigrams(tokens, arcs, parts.bigram, weights, features, inner)
    _score_pairs(tokens, arcs, parts.pairs, weights, features, pairs)
    _score_nonprojective(tokens, arcs, weights, features, nonprojective)
    _score_paths(tokens, weights, features, paths)
    return SentenceScores(of_arcs, inner, pairs, nonprojective, paths)
