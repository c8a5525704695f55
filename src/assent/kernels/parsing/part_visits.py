"""All parts of a sentence in turn: their features are scored, or some of each is added up.

To score them, ``table`` are weights, ``touched`` is None, and ``values`` are zero and become the
scores.  To add them up, ``values`` say how much there is of each part, ``table`` is the sum, and
places of it that are no longer zero are ``touched``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.interpreted import looks_up
from assent.kernels.jit import jit, jit_inline_llvm, jit_internal_no_allocation
from assent.kernels.parsing.arc_features import arc_places, nonprojective_places
from assent.kernels.parsing.feature_places import make_features, sum_at
from assent.kernels.parsing.part_features import (
    any_sibling_places,
    grand_sibling_places,
    grandparent_places,
    head_bigram_places,
    path_places,
    sibling_places,
    tri_sibling_places,
)
from assent.kernels.parsing.sentence_parts import SentenceScores, count_inner


class Touched(NamedTuple):
    """Places of a sum of features."""

    places: np.ndarray  # uint32
    numbers: np.ndarray  # [1] how many
    square: np.ndarray  # [1] squared length of the sum


@jit_inline_llvm
def add_at(table, features, size, amount, touched):
    """Add an amount at the first places of a part."""
    count, square = touched.numbers[0], 0.0
    for i in range(size):
        place = features.places[i]
        before = table[place]
        touched.places[count] = place
        count += before == 0.0
        square += amount * (2.0 * before + amount)
        table[place] = before + amount
    touched.numbers[0] = count
    touched.square[0] += square


@jit_inline_llvm
def is_visited(touched, amount):
    """Whether a part is looked at: every one for its score, else those of which there are some."""
    return touched is None or amount != 0.0


@jit_inline_llvm
def visit(table, features, size, touched, values, place):
    """Score a part by the places of its features, or add as much of them as there is of it."""
    if touched is None:
        values[place] += sum_at(table, features, size)
    else:
        add_at(table, features, size, values[place], touched)


@jit_internal_no_allocation
def _visit_arcs(tokens, arcs, table, features, touched, values):
    for a in range(len(values)):
        if is_visited(touched, values[a]):
            size = arc_places(tokens, arcs.head[a], arcs.modifier[a], features)
            visit(table, features, size, touched, values, a)


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
def _visit_grandparents(tokens, arcs, automata, u, table, features, touched, values):
    """Those of ``values[above, k]``; a word cannot be both above and below another."""
    k = automata.begin[u + 1] - automata.begin[u]
    for g in range(automata.above[u]):
        above = grandparent_of(arcs, automata, u, g)
        for b in range(k):
            m = word_at(arcs, automata, u, b + 1)
            if is_visited(touched, values[g * k + b]) and m != above:
                size = grandparent_places(tokens, above, automata.head[u], m, features)
                visit(table, features, size, touched, values, g * k + b)


@jit_internal_no_allocation
def _visit_siblings(tokens, arcs, automata, u, kinds, table, features, touched, values):
    """Consecutive siblings, in tables ``values[tables, pairs]``."""
    h, toward = automata.head[u], automata.toward[u]
    k = automata.begin[u + 1] - automata.begin[u]
    pairs = (k + 1) * (k + 2) // 2
    tables = max(automata.tables[u], 1)
    place = 0
    for b in range(1, k + 2):
        m = word_at(arcs, automata, u, b)
        for a in range(b):
            s = word_at(arcs, automata, u, a)
            total = 0.0
            for g in range(tables):
                own = values[place + g * pairs]
                total += own
                if kinds.grand_siblings and is_visited(touched, own):
                    above = grandparent_of(arcs, automata, u, g)
                    size = grand_sibling_places(tokens, above, h, s, m, toward, features)
                    visit(table, features, size, touched, values, place + g * pairs)
            if kinds.siblings and is_visited(touched, total):
                size = sibling_places(tokens, h, s, m, toward, features)
                if touched is None:
                    own = sum_at(table, features, size)
                    for g in range(tables):
                        values[place + g * pairs] += own
                else:
                    add_at(table, features, size, total, touched)
            place += 1


@jit_internal_no_allocation
def _visit_automata(tokens, arcs, automata, kinds, table, features, touched, values):
    for u in range(len(automata.head)):
        own = values[automata.entry[u] : automata.entry[u + 1]]
        begin = automata.above[u] * (automata.begin[u + 1] - automata.begin[u])
        if kinds.grandparents:
            _visit_grandparents(tokens, arcs, automata, u, table, features, touched, own[:begin])
        _visit_siblings(tokens, arcs, automata, u, kinds, table, features, touched, own[begin:])


@jit_internal_no_allocation
def _visit_triples(tokens, parts, table, features, touched, values):
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
                    if is_visited(touched, values[place]):
                        first = word_at(arcs, automata, u, a)
                        size = tri_sibling_places(tokens, h, first, second, m, toward, features)
                        visit(table, features, size, touched, values, place)
                    place += 1


@jit_internal_no_allocation
def _visit_bigrams(tokens, arcs, bigram, table, features, touched, values):
    for m in range(1, len(bigram)):
        place = bigram[m - 1]
        for a in range(arcs.first[m], arcs.first[m + 1]):
            for b in range(arcs.first[m + 1], arcs.first[m + 2]):
                if is_visited(touched, values[place]):
                    size = head_bigram_places(tokens, arcs.head[a], arcs.head[b], m, features)
                    visit(table, features, size, touched, values, place)
                place += 1


@jit_internal_no_allocation
def _visit_pairs(tokens, arcs, pairs, table, features, touched, values):
    for i in range(len(pairs)):
        if is_visited(touched, values[i]):
            h, s, m = arcs.head[pairs[i, 0]], arcs.modifier[pairs[i, 0]], arcs.modifier[pairs[i, 1]]
            size = any_sibling_places(tokens, h, s, m, int(h < m), features)
            visit(table, features, size, touched, values, i)


@jit_internal_no_allocation
def _visit_nonprojective(tokens, arcs, table, features, touched, values):
    for a in range(len(values)):
        if is_visited(touched, values[a]):
            size = nonprojective_places(tokens, arcs.head[a], arcs.modifier[a], features)
            visit(table, features, size, touched, values, a)


@jit_internal_no_allocation
def _visit_paths(tokens, table, features, touched, values):
    words = len(tokens) - 3
    for i in range(len(values)):
        if is_visited(touched, values[i]):
            size = path_places(tokens, i // words + 1, i % words + 1, features)
            visit(table, features, size, touched, values, i)


@jit_internal_no_allocation
def visit_parts(tokens, parts, kinds, table, features, touched, values):
    """Score all parts into ``values``, a `SentenceScores`, or add them up into ``table``."""
    arcs, automata, inner = parts.arcs, parts.automata, values.inner
    _visit_arcs(tokens, arcs, table, features, touched, values.arcs)
    _visit_automata(tokens, arcs, automata, kinds, table, features, touched, inner)
    _visit_triples(tokens, parts, table, features, touched, inner)
    _visit_bigrams(tokens, arcs, parts.bigram, table, features, touched, inner)
    _visit_pairs(tokens, arcs, parts.pairs, table, features, touched, values.pairs)
    _visit_nonprojective(tokens, arcs, table, features, touched, values.nonprojective)
    _visit_paths(tokens, table, features, touched, values.paths)


@looks_up("weights")
@jit
def score_parts(tokens, parts, kinds, weights):
    """The scores of all parts of a sentence."""
    arcs, words = len(parts.arcs.head), len(tokens) - 3
    scores = SentenceScores(
        np.zeros(arcs), np.zeros(count_inner(parts)), np.zeros(len(parts.pairs)),
        np.zeros(arcs if parts.nonprojective else 0),
        np.zeros(words * words if parts.paths else 0),
    )  # fmt: skip
    visit_parts(tokens, parts, kinds, weights, make_features(weights), None, scores)
    return scores
