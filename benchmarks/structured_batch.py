"""Suite ``structured-batch``: many small problems whose structures share variables, in one call.

Sentences as a parser has them: six candidate heads a word, a planted tree whose parts score
somewhat better than the others; and alignments whose words have at most two links.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from benchmarks import tables

SENTENCES, SHORTEST, LONGEST, CANDIDATES = 60, 5, 40, 6
ALIGNMENTS = 40
# Scores at which about nine words in ten get the planted head, as with a trained parser.
PLANTED_ARC, PLANTED_PART, NOISE_OF_PARTS = 1.8, 0.3, 0.3
REPEATS = 5  # the quickest counts


def planted_heads(rng: np.random.Generator, words: int) -> np.ndarray:
    """Heads ``[words]`` of a random projective tree: spans are split again and again."""
    heads = np.zeros(words + 1, np.int64)
    spans = [(1, words, 0)]
    while spans:
        first, last, head = spans.pop()
        own = int(rng.integers(first, last + 1))
        heads[own] = head
        spans += [(a, b, own) for a, b in ((first, own - 1), (own + 1, last)) if a <= b]
    return heads[1:]


def sentence(rng: np.random.Generator, words: int, parts: tuple[str, ...]) -> at.FactorGraph:
    """A sentence with candidate arcs near every word, and these kinds of parts."""
    heads = planted_heads(rng, words)
    chosen = []
    for word, head in enumerate(heads.tolist(), start=1):
        near = sorted(set(range(words + 1)) - {word}, key=lambda h: abs(h - word))[:CANDIDATES]
        chosen += [(h, word) for h in sorted({*near, head, word - 1})]
    head, modifier = np.array(chosen).T
    graph = at.FactorGraph()
    planted = heads[modifier - 1] == head
    arc = graph.binary(scores=rng.normal(size=len(head)) + PLANTED_ARC * planted, name="arc")
    ends: dict[str, Any] = {"heads": head, "modifiers": modifier}
    graph.add(at.Arborescence(arc, **ends))
    n = words + 1
    siblings = NOISE_OF_PARTS * rng.normal(size=(n, n, n + 1))
    siblings[tuple(np.array(planted_siblings(heads)).T)] += PLANTED_PART
    if "grandparents" in parts:
        above = NOISE_OF_PARTS * rng.normal(size=(n, n, n))
        below = heads > 0
        above[heads[heads[below] - 1], heads[below], np.flatnonzero(below) + 1] += PLANTED_PART
        at.add_grandparent_automata(graph, arc, above, siblings, **ends)
    else:
        at.add_head_automata(graph, arc, siblings, **ends)
    if "head bigrams" in parts:
        own = [planted[modifier == word] for word in range(1, n)]
        both = np.concatenate([np.outer(*pair).ravel() for pair in pairwise(own)])
        scores = NOISE_OF_PARTS * rng.normal(size=len(both)) + PLANTED_PART * both
        graph.add(at.HeadSequence(arc, scores=scores, **ends))
    return graph


def planted_siblings(heads: np.ndarray) -> list[tuple[int, int, int]]:
    """Head, modifier and the next one, as `add_head_automata` counts them."""
    n, found = len(heads) + 1, []
    for head in range(n):
        own = [word for word, h in enumerate(heads.tolist(), start=1) if h == head]
        right = [head, *(word for word in own if word > head), n]
        left = [head, *(word for word in reversed(own) if word < head), 0]
        found += [(head, *pair) for pair in pairwise(right)]
        found += [(head, *pair) for pair in pairwise(left) if head]
    return found


def alignment(rng: np.random.Generator, matching: bool) -> at.FactorGraph:
    """Words of two sentences, with rewards for links that go on; at most two links a word."""
    rows, columns = rng.integers(8, 24, 2)
    scores = rng.normal(size=(rows, columns)) - 2.0
    diagonal = np.arange(min(rows, columns))
    scores[diagonal, diagonal] += 3.5
    graph = at.FactorGraph()
    x = graph.binary(scores=scores, name="link")
    if matching:
        graph.add(at.Matching(x, rows=2, columns=2))
    else:
        graph.add(at.AtMost(2, x, axis=0))
        graph.add(at.AtMost(2, x, axis=1))
    graph.add(at.Pair(x[:-1, :-1], x[1:, 1:], scores=0.5 * rng.random((rows - 1, columns - 1))))
    return graph


def families() -> list[tuple[str, list[at.FactorGraph], int]]:
    """Name, graphs, and how many words or alignments they have."""
    found = []
    lengths = np.random.default_rng(0).integers(SHORTEST, LONGEST, SENTENCES)
    for parts in (("siblings",), ("siblings", "grandparents"),
                  ("siblings", "grandparents", "head bigrams")):  # fmt: skip
        rng = np.random.default_rng(1)
        graphs = [sentence(rng, int(words), parts) for words in lengths]
        found.append((f"sentences: {', '.join(parts)}", graphs, int(lengths.sum())))
    for name, matching in (("alignments: Matching", True), ("alignments: AtMost", False)):
        rng = np.random.default_rng(2)
        found.append((name, [alignment(rng, matching) for _ in range(ALIGNMENTS)], ALIGNMENTS))
    return found


def run(console: Console) -> list[tuple[str, ...]]:
    """CPU time of `decode_many`, graphs compiled; a rate counts words, or alignments."""
    rows = []
    for name, graphs, size in families():
        results = at.decode_many(graphs, at.AD3())  # compiles kernels and graphs
        quickest = np.inf
        for _ in range(REPEATS):
            begun = time.process_time()
            results = at.decode_many(graphs, at.AD3())
            quickest = min(quickest, time.process_time() - begun)
        optimal = sum(status is at.Status.OPTIMAL for status in results.statuses)
        rows.append((
            name, str(len(graphs)), tables.duration(quickest), f"{size / quickest:,.0f}",
            f"{results.iterations.mean():.0f}", str(int(results.iterations.max())),
            f"{100 * optimal / len(graphs):.0f} %",
        ))  # fmt: skip
    tables.show(
        console,
        "Many small problems whose structures share variables",
        ("problems", "count", "decode_many", "per second", "iterations", "most", "proven"),
        rows,
        caption=f"per second: words of sentences, alignments; {tables.circumstances()}",
    )
    return rows
