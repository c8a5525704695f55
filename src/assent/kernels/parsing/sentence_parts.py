"""The parts of a sentence: its candidate arcs, and larger parts made of them.

Arcs are sorted by modifier, then by head.  An automaton holds the candidate modifiers of a head on
one side, from the head outwards; its inner parts, end to end with those of all others, are laid out
as :mod:`assent.kernels.kinds.sentences.head_automata` reads them: what grandparents add to
modifiers, then tables of consecutive siblings.  Behind the automata stand triples of siblings, as
:mod:`assent.kernels.kinds.sentences.tri_sibling_automata` reads them, and head bigrams, a table for
every word and the next one, as :mod:`assent.kernels.kinds.sequences.tree_recursion` reads them.
Any two siblings on one side are a pair of arcs.  Two kinds look at all ancestors of a word: arcs
over a word that is not below their head, and paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.sentences.projective_chart import CHARTS, inside, trace_back
from assent.kernels.kinds.sentences.spanning_trees import (
    best_arborescence,
    count_roots,
    discourage_roots,
)


class Arcs(NamedTuple):
    """Candidate arcs of a sentence with ``n`` words."""

    head: np.ndarray  # [A] int32, 0 for the root
    modifier: np.ndarray  # [A] int32, from 1
    first: np.ndarray  # [n + 2] int32: arcs into word m are first[m] … first[m + 1] - 1


class Automata(NamedTuple):
    """Automata of a sentence, each of a head and a side."""

    head: np.ndarray  # [U] int32
    toward: np.ndarray  # [U] int32, 0 on the left side, 1 on the right
    begin: np.ndarray  # [U + 1] int32: where its arcs begin in ``arc``
    arc: np.ndarray  # [sum of sizes] int32, numbers of arcs, from the head outwards
    above: np.ndarray  # [U] int32, how many words its head may hang on; 0: not looked at
    tables: np.ndarray  # [U] int32, tables of siblings: none, one, or one for every grandparent
    entry: np.ndarray  # [U + 1] int64: where its inner parts begin


class Kinds(NamedTuple):
    """Which kinds of parts there are beside arcs."""

    siblings: bool
    grandparents: bool
    grand_siblings: bool
    tri_siblings: bool
    any_siblings: bool
    head_bigrams: bool
    nonprojective_arcs: bool
    paths: bool


class TreeShape(NamedTuple):
    """Which trees there are."""

    single_root: bool  # exactly one word hangs on the root
    projective: bool  # arcs do not cross


class SentenceParts(NamedTuple):
    """All parts of a sentence."""

    arcs: Arcs
    automata: Automata
    triple: np.ndarray  # [U + 1] int64: where the triples of an automaton's modifiers begin; or [0]
    bigram: np.ndarray  # [n] int64: where the table of words 1 and 2, 2 and 3, … begins; or empty
    pairs: np.ndarray  # [P, 2] int32, arcs to any two siblings, the inner one first
    nonprojective: bool  # whether arcs are scored that pass over a word not below their head
    paths: bool  # whether words are scored that stand anywhere above others


class SentenceScores(NamedTuple):
    """A number for every part: a score, or how much of it there is."""

    arcs: np.ndarray  # [A]
    inner: np.ndarray  # [E] of automata and head bigrams
    pairs: np.ndarray  # [P]
    nonprojective: np.ndarray  # [A] if arcs over words that are not below their head are parts
    paths: np.ndarray  # [n * n] for the word above and the one below, if these are parts


@jit
def make_arcs(allowed):
    """The arcs that ``allowed[n + 1, n + 1]`` (head, modifier) marks.

    Example:
        >>> import numpy as np
        >>> arcs = make_arcs(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], np.bool_))
        >>> arcs.head.tolist(), arcs.modifier.tolist(), arcs.first.tolist()
        ([0, 0, 1], [1, 2, 2], [0, 0, 1, 3])
    """
    words = len(allowed) - 1
    count = 0
    for m in range(1, words + 1):
        for h in range(words + 1):
            count += allowed[h, m] and h != m
    head, modifier = np.empty(count, np.int32), np.empty(count, np.int32)
    first = np.zeros(words + 2, np.int32)
    count = 0
    for m in range(1, words + 1):
        first[m] = count
        for h in range(words + 1):
            if allowed[h, m] and h != m:
                head[count], modifier[count] = h, m
                count += 1
    first[words + 1] = count
    return Arcs(head, modifier, first)


@jit_internal
def make_automata(arcs, kinds):
    """The automata of all heads that have candidate modifiers, for these kinds of parts."""
    siblings, grandparents, grand_siblings, tri_siblings = kinds[0], kinds[1], kinds[2], kinds[3]
    words = len(arcs.first) - 2
    any_kind = siblings or grandparents or grand_siblings or tri_siblings
    count = len(arcs.head) if any_kind else 0
    sizes = np.zeros((words + 1, 2), np.int32)
    for a in range(count):
        sizes[arcs.head[a], int(arcs.modifier[a] > arcs.head[a])] += 1
    used = 0
    for h in range(words + 1):
        used += int(sizes[h, 0] > 0) + int(sizes[h, 1] > 0)
    head, toward = np.empty(used, np.int32), np.empty(used, np.int32)
    begin, entry = np.zeros(used + 1, np.int32), np.zeros(used + 1, np.int64)
    above, tables = np.zeros(used, np.int32), np.zeros(used, np.int32)
    arc = np.empty(count, np.int32)
    # 1. Sizes, and where everything begins.
    next_place = np.zeros((words + 1, 2), np.int32)
    u = 0
    for h in range(words + 1):
        for side in range(2):
            k = sizes[h, side]
            if k == 0:
                continue
            head[u], toward[u] = h, side
            if h > 0 and (grandparents or grand_siblings):
                above[u] = arcs.first[h + 1] - arcs.first[h]
            tables[u] = max(above[u], 1) if grand_siblings else int(siblings)
            begin[u + 1] = begin[u] + k
            pairs = (k + 1) * (k + 2) // 2
            # An automaton has a table, if only of zeros.
            entry[u + 1] = entry[u] + above[u] * k + max(tables[u], 1) * pairs
            next_place[h, side] = begin[u] if side else begin[u + 1] - 1
            u += 1
    # 2. Modifiers from the head outwards: arcs come by ascending modifier.
    for a in range(count):
        h, side = arcs.head[a], int(arcs.modifier[a] > arcs.head[a])
        arc[next_place[h, side]] = a
        next_place[h, side] += 1 if side else -1
    return Automata(head, toward, begin, arc, above, tables, entry)


@jit_internal
def make_triples(automata):
    """Where the triples of every automaton begin, behind the automata's own parts.

    Pairs of siblings stand before them, as `TriSiblingAutomaton` reads both; an automaton of fewer
    than two modifiers has none.
    """
    used = len(automata.head)
    out = np.empty(used + 1, np.int64)
    out[0] = automata.entry[used]
    for u in range(used):
        k = automata.begin[u + 1] - automata.begin[u]
        pairs = (k + 1) * (k + 2) // 2
        out[u + 1] = out[u] + (pairs + pairs * k // 3 if k >= 2 else 0)
    return out


@jit_internal
def make_bigrams(arcs, begin):
    """Where the tables of neighbouring words begin, the first one at ``begin``.

    The last entry is where a column of zeros begins, which the end of the sequence reads, with one
    more for its counts.
    """
    words = len(arcs.first) - 2
    out = np.empty(words, np.int64)
    for m in range(1, words + 1):
        out[m - 1] = begin
        if m < words:
            rows = arcs.first[m + 1] - arcs.first[m]
            begin += rows * (arcs.first[m + 2] - arcs.first[m + 1])
    return out


@jit_internal
def make_pairs(arcs):
    """All pairs of arcs to two modifiers of a head on one side."""
    sides = make_automata(arcs, (True, False, False, False))
    count = 0
    for u in range(len(sides.head)):
        k = sides.begin[u + 1] - sides.begin[u]
        count += k * (k - 1) // 2
    out = np.empty((count, 2), np.int32)
    count = 0
    for u in range(len(sides.head)):
        for b in range(sides.begin[u], sides.begin[u + 1]):
            for a in range(sides.begin[u], b):
                out[count, 0], out[count, 1] = sides.arc[a], sides.arc[b]
                count += 1
    return out


@jit
def make_parts(arcs, kinds):
    """All parts over candidate arcs."""
    automata = make_automata(arcs, kinds)
    end = automata.entry[len(automata.head)]
    triple = np.zeros(1, np.int64)
    if kinds.tri_siblings:
        triple = make_triples(automata)
        end = triple[-1]
    bigram = np.zeros(0, np.int64)
    if kinds.head_bigrams:
        bigram = make_bigrams(arcs, end)
    pairs = np.zeros((0, 2), np.int32)
    if kinds.any_siblings:
        pairs = make_pairs(arcs)
    return SentenceParts(
        arcs, automata, triple, bigram, pairs, kinds.nonprojective_arcs, kinds.paths
    )


@jit_internal_no_allocation
def count_inner(parts):
    """How many inner parts automata and head bigrams have."""
    if len(parts.bigram):
        first = parts.arcs.first
        return parts.bigram[-1] + first[len(first) - 1] - first[len(first) - 2] + 1
    if len(parts.triple) > 1:
        return parts.triple[-1]
    return parts.automata.entry[len(parts.automata.head)]


@jit_internal_no_allocation
def _mark_triples(arcs, automata, triple, heads, out):
    """1 for the triples that a tree has, and for the pairs before them, which score nothing."""
    for u in range(len(triple) - 1):
        first = automata.begin[u]
        k = automata.begin[u + 1] - first
        entry = triple[u] + (k + 1) * (k + 2) // 2
        before, last = -1, 0
        for c in range(1, k + 2 if triple[u + 1] > triple[u] else 0):
            chosen = c == k + 1
            if c <= k:
                modifier = arcs.modifier[automata.arc[first + c - 1]]
                chosen = heads[modifier - 1] == automata.head[u]
            if chosen:
                out[triple[u] + c * (c - 1) // 2 + last] = 1.0
                if before >= 0:
                    place = c * (c - 1) * (c - 2) // 6 + last * (last - 1) // 2 + before
                    out[entry + place] = 1.0
                before, last = last, c


@jit_internal_no_allocation
def _mark_automata(arcs, automata, heads, out):
    """1 for the inner parts of automata that a tree has, into ``out``."""
    for u in range(len(automata.head)):
        h, above = automata.head[u], automata.above[u]
        first, last = automata.begin[u], automata.begin[u + 1]
        k = last - first
        g = chosen_head(arcs, heads, h) if above > 0 else 0
        entry = automata.entry[u]
        table = entry + above * k
        if automata.tables[u] > 1:
            table += g * ((k + 1) * (k + 2) // 2)
        before = 0
        for b in range(1, k + 2):
            chosen = b == k + 1
            if b <= k:
                chosen = heads[arcs.modifier[automata.arc[first + b - 1]] - 1] == h
                if chosen and above > 0:
                    out[entry + g * k + b - 1] = 1.0
            if chosen:
                out[table + b * (b - 1) // 2 + before] = 1.0
                before = b


@jit_internal_no_allocation
def chosen_head(arcs, heads, m):
    """The number of the head of word ``m`` among its candidates."""
    for a in range(arcs.first[m], arcs.first[m + 1]):
        if arcs.head[a] == heads[m - 1]:
            return a - arcs.first[m]
    return 0


@jit_internal
def words_above(heads):
    """``[n + 1, n + 1]`` whether a word (first axis) or the root is above another, or the same."""
    out = np.zeros((len(heads) + 1, len(heads) + 1), np.bool_)
    out[0, 0] = True
    for d in range(1, len(heads) + 1):
        a = d
        while a > 0:
            out[a, d] = True
            a = heads[a - 1]
        out[0, d] = True
    return out


@jit_internal
def _mark_flows(arcs, heads, nonprojective, paths):
    """1 for the arcs of a tree over words that are not below their head, and for its paths."""
    words, above = len(heads), words_above(heads)
    for a in range(len(nonprojective)):
        h, m = arcs.head[a], arcs.modifier[a]
        if heads[m - 1] == h:
            for k in range(min(h, m) + 1, max(h, m)):
                if not above[h, k]:
                    nonprojective[a] = 1.0
    for i in range(len(paths)):
        a, d = i // words + 1, i % words + 1
        paths[i] = above[a, d] and a != d


@jit
def tree_parts(parts, heads):
    """1 for every part that a tree ``heads[n]`` of candidate arcs has, 0 for the others."""
    arcs = parts.arcs
    of_arcs, inner = np.zeros(len(arcs.head)), np.zeros(count_inner(parts))
    pairs = np.zeros(len(parts.pairs))
    for a in range(len(of_arcs)):
        of_arcs[a] = heads[arcs.modifier[a] - 1] == arcs.head[a]
    _mark_automata(arcs, parts.automata, heads, inner)
    _mark_triples(arcs, parts.automata, parts.triple, heads, inner)
    for m in range(1, len(parts.bigram)):
        columns = arcs.first[m + 2] - arcs.first[m + 1]
        row, column = chosen_head(arcs, heads, m), chosen_head(arcs, heads, m + 1)
        inner[parts.bigram[m - 1] + row * columns + column] = 1.0
    for i in range(len(pairs)):
        pairs[i] = of_arcs[parts.pairs[i, 0]] * of_arcs[parts.pairs[i, 1]]
    nonprojective = np.zeros(len(of_arcs) if parts.nonprojective else 0)
    paths = np.zeros(len(heads) ** 2 if parts.paths else 0)
    if parts.nonprojective or parts.paths:
        _mark_flows(arcs, heads, nonprojective, paths)
    return SentenceScores(of_arcs, inner, pairs, nonprojective, paths)


@jit_internal_no_allocation
def _weighted_sum(scores, amounts):
    total = 0.0
    for i in range(len(scores)):
        if amounts[i] != 0.0:
            total += scores[i] * amounts[i]
    return total


@jit
def sum_parts(scores, amounts):
    """The score of parts that there are so much of."""
    total = _weighted_sum(scores.arcs, amounts.arcs) + _weighted_sum(scores.inner, amounts.inner)
    total += _weighted_sum(scores.pairs, amounts.pairs)
    total += _weighted_sum(scores.nonprojective, amounts.nonprojective)
    return total + _weighted_sum(scores.paths, amounts.paths)


@jit_internal_no_allocation
def _fill(arcs, arc_scores, matrix):
    """Scores ``[n, n + 1]`` of heads by word, -inf where there is no arc."""
    matrix[:] = -np.inf
    for a in range(len(arcs.head)):
        matrix[arcs.modifier[a] - 1, arcs.head[a]] = arc_scores[a]


@jit
def best_tree(arcs, arc_scores, shape):
    """``[n]`` the heads of the tree of a shape whose arcs score most.

    By Eisner's algorithm if arcs must not cross, else by that of Chu, Liu and Edmonds.
    """
    words = len(arcs.first) - 2
    matrix, heads = np.empty((words, words + 1)), np.empty(words, np.int64)
    _fill(arcs, arc_scores, matrix)
    if shape.projective:
        chart = np.empty((CHARTS, words + 1, words + 1))
        inside(matrix, shape.single_root, 0.0, chart)
        trace_back(chart, shape.single_root, np.empty((2 * words + 2, 3), np.int64), heads)
        return heads
    best_arborescence(matrix, heads)
    if shape.single_root and count_roots(heads) > 1:
        _fill(arcs, arc_scores, matrix)
        discourage_roots(matrix)
        best_arborescence(matrix, heads)
    return heads


@jit
def has_crossing(heads):
    """Whether two arcs of a tree ``heads[n]``, drawn above the sentence, cross.

    Example:
        >>> import numpy as np
        >>> has_crossing(np.array([3, 4, 0, 3])), has_crossing(np.array([2, 0, 2, 3]))
        (True, False)
    """
    for word in range(1, len(heads) + 1):
        low, high = min(word, heads[word - 1]), max(word, heads[word - 1])
        for other in range(low + 1, high):
            if not low <= heads[other - 1] <= high:
                return True
    return False
