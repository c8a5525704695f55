"""The parts of a sentence: its candidate arcs, and the automata of every head over them.

Arcs are sorted by modifier, then by head.  An automaton holds the candidate modifiers of a head on
one side, from the head outwards; its inner parts, end to end with those of all others, are laid out
as :mod:`assent.kernels.kinds.head_automata` reads them: what grandparents add to modifiers, then
tables of consecutive siblings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit
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


@jit
def make_automata(arcs, siblings, grandparents, grand_siblings):
    """The automata of all heads that have candidate modifiers, for these kinds of parts."""
    words = len(arcs.first) - 2
    count = len(arcs.head) if siblings or grandparents or grand_siblings else 0
    sizes = np.zeros((words + 1, 2), np.int32)
    for a in range(count):
        sizes[arcs.head[a], int(arcs.modifier[a] > arcs.head[a])] += 1
    used = 0
    for h in range(words + 1):
        used += (sizes[h, 0] > 0) + (sizes[h, 1] > 0)
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


@jit
def tree_arcs(arcs, heads):
    """``[A]`` 1 where an arc is in the tree ``heads[n]``, else 0."""
    out = np.zeros(len(arcs.head))
    for a in range(len(out)):
        out[a] = heads[arcs.modifier[a] - 1] == arcs.head[a]
    return out


@jit
def tree_inner_parts(arcs, automata, heads):
    """The inner parts of all automata that a tree ``heads[n]`` has: 1 or 0 each."""
    out = np.zeros(automata.entry[len(automata.head)])
    for u in range(len(automata.head)):
        h, above = automata.head[u], automata.above[u]
        first, last = automata.begin[u], automata.begin[u + 1]
        k = last - first
        g = 0
        for a in range(arcs.first[h], arcs.first[h + 1] if h > 0 else 0):
            if above > 0 and arcs.head[a] == heads[h - 1]:
                g = a - arcs.first[h]
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
    return out


@jit
def tree_value(arcs, automata, heads, arc_scores, inner_scores):
    """The score of a tree ``heads[n]``: of its arcs, and of the inner parts that it has."""
    total = 0.0
    for a in range(len(arcs.head)):
        if heads[arcs.modifier[a] - 1] == arcs.head[a]:
            total += arc_scores[a]
    parts = tree_inner_parts(arcs, automata, heads)
    for i in range(len(parts)):
        if parts[i] != 0.0:
            total += inner_scores[i]
    return total


@jit
def best_tree(arcs, arc_scores, single_root):
    """``[n]`` the heads of the tree whose arcs score most: Chu, Liu and Edmonds."""
    words = len(arcs.first) - 2
    matrix, heads = np.empty((words, words + 1)), np.empty(words, np.int64)
    for attempt in range(2):
        matrix[:] = -np.inf
        for a in range(len(arcs.head)):
            matrix[arcs.modifier[a] - 1, arcs.head[a]] = arc_scores[a]
        if attempt:
            discourage_roots(matrix)
        best_arborescence(matrix, heads)
        if not single_root or count_roots(heads) == 1:
            break
    return heads
