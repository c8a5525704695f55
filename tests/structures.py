"""Small random structures of every kind, for tests that run over all of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numba import njit

import assent as at
from assent.model.variables import Literals


def project_one(structure: Any, point: np.ndarray) -> tuple[np.ndarray, float]:
    """The nearest point ``[links]`` of the first structure of a batch, and its inner value."""
    (found,), (inner,) = structure.project(point[None], structure.scores[:1])
    return found, inner


def literals(rng: np.random.Generator, graph: at.FactorGraph, size: int) -> Literals:
    """``size`` new binary variables, some negated."""
    x = graph.binary(size, scores=rng.normal(size=size))
    return x.negate(where=rng.random(size) < 0.3)


def cardinality(rng: np.random.Generator, graph: at.FactorGraph) -> at.Cardinality:
    size = int(rng.integers(1, 6))
    scores = rng.normal(size=size + 1) * 2.0
    scores[rng.random(size + 1) < 0.2] = -np.inf
    scores[rng.integers(size + 1)] = 0.0
    return at.Cardinality(literals(rng, graph, size), scores=scores)


def nodes(rng: np.random.Generator, graph: at.FactorGraph, most: int) -> list[Any]:
    """Up to ``most`` categorical variables of one to three states, and literals."""
    found: list[Any] = []
    for _ in range(int(rng.integers(1, most + 1))):
        states = int(rng.integers(1, 4))
        if rng.random() < 0.3:
            found.append(literals(rng, graph, 1)[0])
        else:
            found.append(graph.categorical((), states, scores=rng.normal(size=states)))
    return found


def states_of(node: Any) -> int:
    return 2 if isinstance(node, Literals) else len(node.states)


def table(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Scores, a few of them forbidden, the first of every row not."""
    scores = rng.normal(size=shape)
    scores[rng.random(shape) < 0.15] = -np.inf
    scores[..., 0] = 0.5
    return scores


def chain(rng: np.random.Generator, graph: at.FactorGraph, **options: Any) -> at.Chain:
    own = nodes(rng, graph, 4)
    counts = [states_of(node) for node in own]
    tables = [table(rng, a, b) for a, b in itertools.pairwise(counts)]
    return at.Chain(own, transitions=tables, start=table(rng, counts[0]),
                    stop=rng.normal(size=counts[-1]), **options)  # fmt: skip


def limited_chain(rng: np.random.Generator, graph: at.FactorGraph) -> at.Chain:
    states, length = int(rng.integers(2, 4)), int(rng.integers(1, 5))
    tag = graph.categorical(length, states, scores=rng.normal(size=(length, states)))
    limit = int(rng.integers(0, length + 1))
    return at.Chain(tag, transitions=rng.normal(size=(states, states)), at_most=(1, limit))


def automaton(rng: np.random.Generator, symbols: Any) -> at.Automaton:
    """A random one that accepts something: a state may be left by each symbol, or not."""
    states = int(rng.integers(1, 4))
    arcs = [
        (q, symbol, int(rng.integers(states)), float(rng.normal()))
        for q in range(states)
        for symbol in symbols
        if rng.random() < 0.8
    ]
    arcs += [
        (q, symbols[0], q) for q in range(states) if (q, symbols[0]) not in {a[:2] for a in arcs}
    ]
    return at.Automaton(symbols, arcs, start=0, accept={0, *(arc[2] for arc in arcs)})


def regular(rng: np.random.Generator, graph: at.FactorGraph) -> at.Regular:
    own = nodes(rng, graph, 4)
    return at.Regular(own, automaton(rng, (0, 1, 2)))


def tree(rng: np.random.Generator, graph: at.FactorGraph, counted: bool = False) -> at.Tree:
    own = nodes(rng, graph, 4)
    parents = [-1, *(int(rng.integers(-1, v)) for v in range(1, len(own)))]
    tables = [
        table(rng, states_of(own[p]), states_of(node))
        for node, p in zip(own, parents, strict=True)
        if p >= 0
    ]
    counts = (0, np.append(rng.normal(size=len(own)), 0.0)) if counted else None
    return at.Tree(own, parents, scores=tables, counts=counts)


def arcs_between(
    rng: np.random.Generator, graph: at.FactorGraph, kind: Any, most: int = 4, **options: Any
) -> Any:
    """A tree over up to ``most`` words: arcs or heads, all or some of them."""
    words = int(rng.integers(1, most + 1))
    if rng.random() < 0.3:
        heads = graph.categorical(words, words + 1, scores=rng.normal(size=(words, words + 1)))
        return kind(heads, **options)
    if rng.random() < 0.5:
        x = literals(rng, graph, words * (words + 1))
        return kind(x.reshape(words + 1, words), **options)
    head, modifier = np.nonzero(rng.random((words + 1, words)) < 0.7)
    own = head != modifier + 1
    listed = {(0, 1)} | {(m - 1, m) for m in range(2, words + 1)}  # so that there is a tree
    listed |= set(zip(head[own].tolist(), (modifier[own] + 1).tolist(), strict=True))
    head, modifier = rng.permutation(sorted(listed)).T
    return kind(literals(rng, graph, len(head)), heads=head, modifiers=modifier, **options)


def head_automaton(rng: np.random.Generator, graph: at.FactorGraph) -> at.HeadAutomaton:
    size = int(rng.integers(1, 5))
    return at.HeadAutomaton(literals(rng, graph, size), scores=pairs(rng, size))


def grandparent_automaton(
    rng: np.random.Generator, graph: at.FactorGraph
) -> at.GrandparentAutomaton:
    size, above = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    tables = [pairs(rng, size) for _ in range(above)]
    scores = rng.normal(size=(above, size))
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    grandparents: Any
    if rng.random() < 0.5:
        grandparents = literals(rng, graph, above)
    else:
        grandparents = graph.categorical((), above, scores=rng.normal(size=above))
    return at.GrandparentAutomaton(
        literals(rng, graph, size),
        grandparents,
        scores=scores,
        siblings=[None, tables[0], tables][int(rng.integers(3))],
    )


def pairs(rng: np.random.Generator, modifiers: int) -> np.ndarray:
    """Scores of what follows what, a few forbidden; no modifier at all is always possible."""
    scores = rng.normal(size=(modifiers + 2, modifiers + 2))
    scores[rng.random(scores.shape) < 0.15] = -np.inf
    scores[0, -1] = 0.5
    return scores


def tri_siblings(rng: np.random.Generator, graph: at.FactorGraph) -> at.TriSiblingAutomaton:
    size = int(rng.integers(1, 5))
    scores = rng.normal(size=(size + 2,) * 3)
    scores[rng.random(scores.shape) < 0.15] = -np.inf
    siblings = pairs(rng, size) if rng.random() < 0.7 else None
    return at.TriSiblingAutomaton(literals(rng, graph, size), scores=scores, siblings=siblings)


def head_sequence(rng: np.random.Generator, graph: at.FactorGraph) -> at.HeadSequence:
    """All heads of up to three words, or some, in some order."""
    words = int(rng.integers(1, 4))
    if rng.random() < 0.3:
        heads = graph.categorical(words, words + 1, scores=rng.normal(size=(words, words + 1)))
        return at.HeadSequence(heads, scores=table(rng, words - 1, words + 1, words + 1))
    head, modifier = np.nonzero(rng.random((words + 1, words)) < 0.5)
    own = head != modifier + 1
    listed = {(m, m + 1) for m in range(words)}
    listed |= set(zip(head[own].tolist(), (modifier[own] + 1).tolist(), strict=True))
    head, modifier = rng.permutation(sorted(listed)).T
    counts = np.bincount(modifier)[1:]
    tables = [table(rng, i, j) for i, j in itertools.pairwise(counts)]
    flat = np.concatenate([np.zeros(0), *(own.ravel() for own in tables)])
    scores = tables if rng.random() < 0.5 else flat
    x = literals(rng, graph, len(head))
    return at.HeadSequence(x, scores=scores, heads=head, modifiers=modifier)


def compression(
    rng: np.random.Generator, graph: at.FactorGraph, limited: bool = False
) -> at.Compression:
    """Up to five words; some may not be left out alone, some may be kept without their heads."""
    n = int(rng.integers(1, 6))
    order = rng.permutation(n) + 1
    heads = np.zeros(n, np.int64)
    for place in range(1, n):
        heads[order[place] - 1] = [0, *order[:place]][int(rng.integers(place + 1))]
    deletions = np.where(rng.random(n) < 0.2, -np.inf, rng.normal(size=n))
    deletions[heads == 0] = 0.3
    orphans = np.where(rng.random(n) < 0.6, -np.inf, rng.normal(size=n))
    limit = int(rng.integers(0, n + 1)) if limited else None
    return at.Compression(
        literals(rng, graph, n), heads, deletions=deletions, orphans=orphans, at_most=limit
    )


def soft(rng: np.random.Generator, graph: at.FactorGraph, kind: Any = at.Soft) -> Any:
    """A softened constraint on a number of literals."""
    x = literals(rng, graph, int(rng.integers(2, 6)))
    k = int(rng.integers(len(x) + 1))
    rules = [at.AtMost(k, x), at.AtLeast(k, x), at.Exactly(k, x), at.AtMostOne(x), at.All(x)]
    if kind is at.Soft:
        rules.append(at.Parity(x, odd=bool(rng.integers(2))))
    return kind(rules[rng.integers(len(rules))], penalty=float(rng.random() * 2.0))


def soft_output(rng: np.random.Generator, graph: at.FactorGraph) -> at.Soft:
    x = literals(rng, graph, int(rng.integers(2, 6)))
    kind = at.AtLeastOne if rng.random() < 0.5 else at.All
    return at.Soft(kind(x[:-1], output=x[-1]), penalty=float(rng.random() * 2.0))


def soft_agreement(
    rng: np.random.Generator, graph: at.FactorGraph, matrix: bool = False
) -> at.Soft:
    if rng.random() < 0.3:
        x = literals(rng, graph, 2)
        shape = (2, 2) if matrix else 2
        return at.Soft(at.Agree(x[0], x[1]), penalty=rng.random(shape) * 2.0)
    states = int(rng.integers(1, 5))
    tag = graph.categorical(2, states, scores=rng.normal(size=(2, states)))
    shape = (states, states) if matrix else states
    return at.Soft(at.Agree(tag[0], tag[1]), penalty=rng.random(shape) * 2.0)


def best_few(scores, inner):
    """At most two of the coordinates; the inner score of their number is earned."""
    order = np.argsort(-scores, kind="stable")[:2]
    totals = np.concatenate([[0.0], np.cumsum(scores[order])]) + inner[: len(order) + 1]
    number = int(totals.argmax())
    x = np.zeros(len(scores))
    x[order[:number]] = 1.0
    return x, inner[number]


def custom(rng: np.random.Generator, graph: at.FactorGraph) -> at.Custom:
    size = int(rng.integers(2, 6))
    return at.Custom(literals(rng, graph, size), maximize=best_few, scores=rng.normal(size=3) * 2.0)


@njit
def same_state(start, data, scores, inner, scale, states):
    """All variables are in the same state; its inner score is earned."""
    best, chosen = -np.inf, 0
    for k in range(len(inner)):
        total = scale * inner[k]
        for slot in range(len(states)):
            total += scores[start[slot] + k]
        if total > best:
            best, chosen = total, k
    states[:] = chosen
    return best, inner[chosen]


def custom_kernel(rng: np.random.Generator, graph: at.FactorGraph) -> at.Custom:
    count, states = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    tags = graph.categorical(count, states=states, scores=rng.normal(size=(count, states)))
    return at.Custom(tags, kernel=same_state, scores=rng.normal(size=states))


def matching(rng: np.random.Generator, graph: at.FactorGraph) -> at.Matching:
    """Up to nine pairs; capacities are those of some table wherever they have to be met."""
    n, m = [(1, 1), (1, 4), (2, 3), (3, 2), (3, 3)][int(rng.integers(5))]
    fill_rows, fill_columns = (bool(flag) for flag in rng.integers(2, size=2))
    example = rng.random((n, m)) < 0.4
    rows, columns = example.sum(axis=1), example.sum(axis=0)
    if not fill_rows:
        rows = rows + rng.integers(2, size=n)
    if not fill_columns:
        columns = columns + rng.integers(2, size=m)
    if not (fill_rows or fill_columns):
        rows, columns = rng.integers(0, 3, n), 1
    pairs = literals(rng, graph, n * m).reshape(n, m)
    return at.Matching(
        pairs, rows=rows, columns=columns, fill_rows=fill_rows, fill_columns=fill_columns
    )


def cut(rng: np.random.Generator, graph: at.FactorGraph, shared: bool = False) -> at.Cut:
    """Up to five nodes, edges both ways and twice; with shared edges up to nine slots."""
    n = int(rng.integers(2, 5 if shared else 6))
    ends = np.array([(j, k) for j in range(n) for k in range(n) if j != k])
    edges = ends[rng.integers(len(ends), size=int(rng.integers(1, 6 if shared else 9)))]
    nodes = literals(rng, graph, n)
    if shared:
        return at.Cut(nodes, edges, cut=literals(rng, graph, len(edges)))
    if rng.random() < 0.5:
        return at.Cut(nodes, edges, scores=rng.random(len(edges)) * 2.0)
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return at.Cut(nodes, edges, scores=rng.random((len(edges), 2, 2)) * signs)


# By kind: a function that declares variables in a graph and returns a structure over them.
STRUCTURES: dict[str, Any] = {
    "Cardinality": cardinality,
    "Chain": chain,
    "Chain-at_most": limited_chain,
    "Regular": regular,
    "Tree": tree,
    "Tree-counts": lambda rng, graph: tree(rng, graph, counted=True),
    "Arborescence": lambda rng, graph: arcs_between(rng, graph, at.Arborescence),
    "Arborescence-single": lambda rng, graph: arcs_between(
        rng, graph, at.Arborescence, single_root=True
    ),
    "ProjectiveTree": lambda rng, graph: arcs_between(rng, graph, at.ProjectiveTree),
    "ProjectiveTree-single": lambda rng, graph: arcs_between(
        rng, graph, at.ProjectiveTree, single_root=True
    ),
    "HeadAutomaton": head_automaton,
    "GrandparentAutomaton": grandparent_automaton,
    "TriSiblingAutomaton": tri_siblings,
    "HeadSequence": head_sequence,
    "Compression": compression,
    "Compression-at_most": lambda rng, graph: compression(rng, graph, limited=True),
    "Soft": soft,
    "Soft-output": soft_output,
    "Soft-agree": soft_agreement,
    "Soft-matrix": lambda rng, graph: soft_agreement(rng, graph, matrix=True),
    "SoftCount": lambda rng, graph: soft(rng, graph, at.SoftCount),
    "Matching": matching,
    "Cut": cut,
    "Cut-shared": lambda rng, graph: cut(rng, graph, shared=True),
    "Custom": custom,
    "Custom-kernel": custom_kernel,
}
