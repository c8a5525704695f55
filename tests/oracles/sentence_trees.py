"""Trees over the words of a sentence by listing all of them, and what they are worth."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import networkx
import numpy as np


@cache
def list_trees(words: int, *, projective: bool = False, single_root: bool = False) -> np.ndarray:
    """Heads ``[trees, words]`` of all trees that hang on the root 0."""
    found = []
    for heads in product(range(words + 1), repeat=words):
        if single_root and heads.count(0) != 1:
            continue
        if hangs_on_root(heads) and not (projective and has_crossing(heads)):
            found.append(heads)
    return np.array(found)


def hangs_on_root(heads) -> bool:
    """Whether the way up from every word ends at the root."""
    for word in range(1, len(heads) + 1):
        at, steps = word, 0
        while at and steps <= len(heads):
            at, steps = heads[at - 1], steps + 1
        if at:
            return False
    return True


def is_above(heads, a, d) -> bool:
    """Whether the walk from a word to the root meets ``a``; a word is above itself."""
    while d and d != a:
        d = heads[d - 1]
    return d == a


def has_crossing(heads) -> bool:
    """Whether two arcs drawn above the sentence cross."""
    arcs = [tuple(sorted((word, head))) for word, head in enumerate(heads, 1)]
    return any(i < low < j < high for i, j in arcs for low, high in arcs)


def sibling_score(heads, siblings) -> float:
    """What consecutive siblings earn in a tree, both sides of every head."""
    n = len(heads)
    total = 0.0
    for head in range(n + 1):
        own = [word for word, h in enumerate(heads, 1) if h == head]
        right = [head, *(w for w in own if w > head), n + 1]
        total += sum(siblings[head, a, b] for a, b in pairwise(right))
        if head:
            left = [head, *(w for w in reversed(own) if w < head), 0]
            total += sum(siblings[head, a, b] for a, b in pairwise(left))
    return total


def grandparent_score(heads, grandparents) -> float:
    """What words earn with their heads and the heads of these."""
    return sum(
        grandparents[heads[head - 1], head, word] for word, head in enumerate(heads, 1) if head
    )


def best_by_networkx(scores: np.ndarray) -> tuple[float, list[int]]:
    """Value and heads of the best tree for ``scores[head, word - 1]``, all finite."""
    graph = networkx.DiGraph()
    for head, word in np.ndindex(scores.shape):
        if head != word + 1:
            graph.add_edge(head, word + 1, weight=scores[head, word])
    tree = networkx.maximum_spanning_arborescence(graph)
    heads = [next(iter(tree.predecessors(word))) for word in range(1, scores.shape[1] + 1)]
    return float(scores[heads, np.arange(scores.shape[1])].sum()), heads
