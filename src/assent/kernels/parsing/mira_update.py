"""A step of MIRA: the least change of the weights after which a loss is paid for.

The difference between the features of the right tree and those of the predicted one is summed in a
table as long as that of the weights, zero between two steps; only places that were touched are
visited.  Averages come from a second table, to which each change adds with the number of its step:
the average of the weights over T steps is ``weights - late / T``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import (
    jit,
    jit_inline_llvm,
    jit_internal,
    jit_internal_no_allocation,
)
from assent.kernels.parsing.arc_features import arc_places, nonprojective_places
from assent.kernels.parsing.feature_places import MOST_PLACES, make_features
from assent.kernels.parsing.grand_sibling_features import grand_sibling_places
from assent.kernels.parsing.grandparent_features import grandparent_places
from assent.kernels.parsing.head_bigram_features import head_bigram_places
from assent.kernels.parsing.part_scores import grandparent_of, word_at
from assent.kernels.parsing.path_features import path_places
from assent.kernels.parsing.sibling_features import any_sibling_places, sibling_places
from assent.kernels.parsing.tri_sibling_features import tri_sibling_places


class WeightTable(NamedTuple):
    """Weights while they are learned; all arrays have a power of two as length."""

    weights: np.ndarray  # float32
    late: np.ndarray  # float32: changes, each times the number of its step
    difference: np.ndarray  # float32: zero between two steps


class Touched(NamedTuple):
    """Places of a difference that is being summed."""

    places: np.ndarray  # uint32
    numbers: np.ndarray  # [1] how many
    square: np.ndarray  # [1] squared length of the difference


@jit_inline_llvm
def add_at(table, features, size, amount, touched):
    """Add an amount at the first places of a part."""
    count, square = touched.numbers[0], 0.0
    for i in range(size):
        place = features.places[i]
        before = table.difference[place]
        touched.places[count] = place
        count += before == 0.0
        square += amount * (2.0 * before + amount)
        table.difference[place] = before + amount
    touched.numbers[0] = count
    touched.square[0] += square


@jit_internal_no_allocation
def _add_arcs(tokens, arcs, amounts, table, features, touched):
    for a in range(len(amounts)):
        if amounts[a] != 0.0:
            size = arc_places(tokens, arcs.head[a], arcs.modifier[a], features)
            add_at(table, features, size, amounts[a], touched)


@jit_internal_no_allocation
def _add_grandparents(tokens, arcs, automata, u, amounts, table, features, touched):
    k = automata.begin[u + 1] - automata.begin[u]
    for g in range(automata.above[u]):
        above = grandparent_of(arcs, automata, u, g)
        for b in range(k):
            m = word_at(arcs, automata, u, b + 1)
            if amounts[g * k + b] != 0.0 and m != above:
                size = grandparent_places(tokens, above, automata.head[u], m, features)
                add_at(table, features, size, amounts[g * k + b], touched)


@jit_internal_no_allocation
def _add_siblings(tokens, arcs, automata, u, kinds, amounts, table, features, touched):
    h, toward = automata.head[u], automata.toward[u]
    k = automata.begin[u + 1] - automata.begin[u]
    pairs = (k + 1) * (k + 2) // 2
    place = 0
    for b in range(1, k + 2):
        m = word_at(arcs, automata, u, b)
        for a in range(b):
            s = word_at(arcs, automata, u, a)
            total = 0.0
            for g in range(max(automata.tables[u], 1)):
                own = amounts[place + g * pairs]
                total += own
                if own != 0.0 and kinds.grand_siblings:
                    above = grandparent_of(arcs, automata, u, g)
                    size = grand_sibling_places(tokens, above, h, s, m, toward, features)
                    add_at(table, features, size, own, touched)
            if total != 0.0 and kinds.siblings:
                size = sibling_places(tokens, h, s, m, toward, features)
                add_at(table, features, size, total, touched)
            place += 1


@jit_internal_no_allocation
def _add_automata(tokens, arcs, automata, kinds, amounts, table, features, touched):
    for u in range(len(automata.head)):
        own = amounts[automata.entry[u] : automata.entry[u + 1]]
        begin = automata.above[u] * (automata.begin[u + 1] - automata.begin[u])
        if kinds.grandparents:
            _add_grandparents(tokens, arcs, automata, u, own[:begin], table, features, touched)
        _add_siblings(tokens, arcs, automata, u, kinds, own[begin:], table, features, touched)


@jit_internal_no_allocation
def _add_triples(tokens, parts, amounts, table, features, touched):
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
                    if amounts[place] != 0.0:
                        first = word_at(arcs, automata, u, a)
                        size = tri_sibling_places(tokens, h, first, second, m, toward, features)
                        add_at(table, features, size, amounts[place], touched)
                    place += 1


@jit_internal_no_allocation
def _add_bigrams(tokens, arcs, bigram, amounts, table, features, touched):
    for m in range(1, len(bigram)):
        place = bigram[m - 1]
        for a in range(arcs.first[m], arcs.first[m + 1]):
            for b in range(arcs.first[m + 1], arcs.first[m + 2]):
                if amounts[place] != 0.0:
                    size = head_bigram_places(tokens, arcs.head[a], arcs.head[b], m, features)
                    add_at(table, features, size, amounts[place], touched)
                place += 1


@jit_internal_no_allocation
def _add_pairs(tokens, arcs, pairs, amounts, table, features, touched):
    for i in range(len(pairs)):
        if amounts[i] != 0.0:
            h, s, m = arcs.head[pairs[i, 0]], arcs.modifier[pairs[i, 0]], arcs.modifier[pairs[i, 1]]
            size = any_sibling_places(tokens, h, s, m, int(h < m), features)
            add_at(table, features, size, amounts[i], touched)


@jit_internal_no_allocation
def _add_nonprojective(tokens, arcs, amounts, table, features, touched):
    for a in range(len(amounts)):
        if amounts[a] != 0.0:
            size = nonprojective_places(tokens, arcs.head[a], arcs.modifier[a], features)
            add_at(table, features, size, amounts[a], touched)


@jit_internal_no_allocation
def _add_paths(tokens, amounts, table, features, touched):
    words = len(tokens) - 3
    for i in range(len(amounts)):
        if amounts[i] != 0.0:
            size = path_places(tokens, i // words + 1, i % words + 1, features)
            add_at(table, features, size, amounts[i], touched)


@jit_internal
def make_touched(amounts):
    """Room for the places that parts with these amounts touch; an inner part has two kinds."""
    used = 0
    for own in amounts:
        for i in range(len(own)):
            used += 2 * (own[i] != 0.0)
    places = np.empty(used * MOST_PLACES + 1, np.uint32)
    return Touched(places, np.zeros(1, np.int64), np.zeros(1))


@jit
def mira_update(tokens, parts, kinds, amounts, loss, most, step, table):
    """Change the weights by the least amount that makes up for ``loss``; returns the step size.

    ``amounts`` say how much more the right tree has of each part than the predicted one, ``most``
    is the longest step, ``step`` the number of this one, from 1.
    """
    arcs, features, touched = parts.arcs, make_features(table.weights), make_touched(amounts)
    # 1. The difference.
    _add_arcs(tokens, arcs, amounts.arcs, table, features, touched)
    _add_automata(tokens, arcs, parts.automata, kinds, amounts.inner, table, features, touched)
    _add_triples(tokens, parts, amounts.inner, table, features, touched)
    _add_bigrams(tokens, arcs, parts.bigram, amounts.inner, table, features, touched)
    _add_pairs(tokens, arcs, parts.pairs, amounts.pairs, table, features, touched)
    _add_nonprojective(tokens, arcs, amounts.nonprojective, table, features, touched)
    _add_paths(tokens, amounts.paths, table, features, touched)
    # 2. The step: as long as the loss asks for.
    square = touched.square[0]
    size = min(most, loss / square) if square > 0.0 else 0.0
    for i in range(touched.numbers[0]):
        place = touched.places[i]
        change = size * table.difference[place]
        table.weights[place] += change
        table.late[place] += step * change
        table.difference[place] = 0.0
    return size
