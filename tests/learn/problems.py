"""Small random learning problems, and their optimum by enumeration and a conic solver."""

from __future__ import annotations

from itertools import product

import clarabel
import numpy as np
from scipy import sparse

import assent as at
from assent.learn import Examples, Hamming, LabelCosts, WeightedHamming
from assent.models import (
    ChainModel,
    CutInput,
    CutModel,
    CutSpace,
    GraphInput,
    GraphModel,
    MatchingModel,
    MatchingSpace,
    Part,
    TreeInput,
    TreeModel,
    TreeSpace,
)


def random_chains(rng: np.random.Generator, n: int = 3, loss=None) -> Examples:
    """Chains of two to four letters over two or three labels, with noisy labels."""
    features, states = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    model = ChainModel(tuple(range(states)), features)
    lengths = rng.integers(1, 4, n)
    inputs = [rng.normal(size=(t, features)) for t in lengths]
    outputs = [rng.integers(0, states, t) for t in lengths]
    return Examples(model, inputs, outputs, loss or random_loss(rng, states))


def random_trees(rng: np.random.Generator, n: int = 3, loss=None) -> Examples:
    """Small forests with features on nodes and edges."""
    features, states, edge = int(rng.integers(1, 3)), 2, int(rng.integers(1, 3))
    model = TreeModel(tuple(range(states)), features, edge)
    inputs, outputs = [], []
    for t in rng.integers(2, 5, n):
        parents = [-1, *(int(rng.integers(-1, v)) for v in range(1, t))]
        edges = rng.normal(size=(t, edge))
        inputs.append(TreeInput(rng.normal(size=(t, features)), parents, edges))
        outputs.append(rng.integers(0, states, t))
    return Examples(model, inputs, outputs, loss or random_loss(rng, states))


def random_matchings(rng: np.random.Generator, n: int = 3, loss=None) -> Examples:
    """Matchings of two or three rows and columns, of features on pairs."""
    features = int(rng.integers(1, 4))
    model = MatchingModel(features)
    inputs, outputs = [], []
    for _ in range(n):
        shape = tuple(rng.integers(1, 4, 2))
        inputs.append(rng.normal(size=(*shape, features)))
        every = all_matchings(*shape)
        outputs.append(every[rng.integers(len(every))].reshape(shape))
    return Examples(model, inputs, outputs, loss or random_loss(rng, 2))


def build_path(x: np.ndarray) -> GraphInput:
    """Two labels for each row of features, and tables between neighbours."""
    g = at.FactorGraph()
    label = g.categorical(len(x), states=2, name="label")
    parts = [Part(label, x, "node")]
    if len(x) > 1:
        table = g.add(at.Dense(label[:-1], label[1:], scores=np.zeros((2, 2))))
        parts.append(Part(table, None, "edge"))
    return GraphInput(g, parts)


def random_graphs(rng: np.random.Generator, n: int = 3, loss=None) -> Examples:
    """Paths written as graphs."""
    features = int(rng.integers(1, 3))
    inputs = [rng.normal(size=(t, features)) for t in (2, *rng.integers(1, 4, n - 1))]
    outputs = [rng.integers(0, 2, len(x)) for x in inputs]
    model = GraphModel(build_path).shaped(inputs, outputs)
    return Examples(model, inputs, outputs, loss or random_loss(rng, 2))


def build_ring(x: np.ndarray) -> GraphInput:
    """Two labels for each row of features, and tables around a ring."""
    g = at.FactorGraph()
    label = g.categorical(len(x), states=2, name="label")
    after = np.roll(np.arange(len(x)), -1)
    table = g.add(at.Dense(label, label[after], scores=np.zeros((2, 2))))
    return GraphInput(g, [Part(label, x, "node"), Part(table, None, "edge")])


def random_rings(rng: np.random.Generator, n: int = 3) -> Examples:
    """Rings of three, in which neighbours that should differ cannot all do so."""
    inputs = [rng.normal(size=(3, 1)) for _ in range(n)]
    outputs = [rng.permutation([0, 0, 1]) for _ in range(n)]
    return Examples(GraphModel(build_ring).shaped(inputs, outputs), inputs, outputs)


def random_cuts(rng: np.random.Generator, n: int = 3, loss=None) -> Examples:
    """Small networks with features on nodes and edges."""
    features, edge = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    model = CutModel(features, edge)
    inputs, outputs = [], []
    for t in rng.integers(2, 5, n):
        pairs = [(j, k) for j in range(t) for k in range(j) if rng.random() < 0.7 or j == 1]
        x = CutInput(rng.normal(size=(t, features)), pairs, rng.random((len(pairs), edge)))
        inputs.append(x)
        outputs.append(rng.integers(0, 2, t))
    return Examples(model, inputs, outputs, loss or random_loss(rng, 2))


FAMILIES = {
    "chain": random_chains,
    "tree": random_trees,
    "matching": random_matchings,
    "cut": random_cuts,
    "graph": random_graphs,
}


def all_matchings(n: int, m: int) -> np.ndarray:
    """Every matching of ``n`` rows and ``m`` columns, flat."""
    tables = np.array(list(product((0.0, 1.0), repeat=n * m))).reshape(-1, n, m)
    return tables[(tables.sum(1) <= 1).all(1) & (tables.sum(2) <= 1).all(1)].reshape(-1, n * m)


def all_cuts(space: CutSpace) -> np.ndarray:
    """Every labelling, with every superset of the edges it cuts."""
    found = []
    for labels in product((0.0, 1.0), repeat=space.nodes):
        must = [float(labels[j] != labels[k]) for j, k in space.ends]
        for cut in product((0.0, 1.0), repeat=len(must)):
            if all(c >= m for c, m in zip(cut, must, strict=True)):
                found.append([*labels, *cut])
    return np.array(found)


def random_loss(rng: np.random.Generator, states: int):
    which = rng.integers(3)
    if which == 0:
        return Hamming()
    if which == 1:
        return WeightedHamming(float(rng.uniform(0.2, 2)), float(rng.uniform(0.2, 2)))
    costs = rng.uniform(0.1, 2, (states, states))
    return LabelCosts(costs * (1 - np.eye(states)))


def vertices(example) -> np.ndarray:
    """All outputs of an example."""
    space = example.space
    if isinstance(space, MatchingSpace):
        return all_matchings(*space.shape)
    if isinstance(space, CutSpace):
        return all_cuts(space)
    if not isinstance(space, TreeSpace):
        return np.array([
            space.indicators(np.eye(2, dtype=np.int8)[list(states)].ravel())
            for states in product((0, 1), repeat=space.graph.size // 2)
        ])  # fmt: skip
    return np.array([
        space.indicators(np.array(states, np.int32))
        for states in product(*map(range, space.states))
    ])  # fmt: skip


def hinge(examples: Examples, w: np.ndarray) -> float:
    """The hinge loss by enumeration."""
    total = 0.0
    for example in examples:
        z = vertices(example)
        scores = example.matrix @ w
        total += (z @ (scores + example.costs)).max() + example.constant - scores @ example.gold
    return float(total)


def conic_optimum(
    examples: Examples, *, C: float | None = None, radius: float | None = None,
    l1: float | None = None, nonnegative=(), above=None,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Weights and value of ``|w|²/2 + C Σ hinge`` or of ``Σ hinge`` in a ball.

    One inequality for every output of every example.
    """
    d, n = examples.size, len(examples)
    extra = d if l1 is not None else 0
    rows, right = [], []
    for i, example in enumerate(examples):
        z = vertices(example)
        slack = np.zeros((len(z), n))
        slack[:, i] = -1.0
        features = (example.matrix.T @ (z - example.gold).T).T
        rows.append(np.hstack([features, slack, np.zeros((len(z), extra))]))
        right.append(-(z @ example.costs + example.constant))
    for j in nonnegative:
        rows.append(-np.eye(d + n + extra)[[j]])
        right.append([0.0])
    if above is not None:
        rows.append(np.hstack([-above, np.zeros((len(above), n + extra))]))
        right.append(np.zeros(len(above)))
    if l1 is not None:
        unit, zero = np.eye(d), np.zeros((d, n))
        rows += [np.hstack([unit, zero, -unit]), np.hstack([-unit, zero, -unit]),
                 np.hstack([np.zeros((1, d + n)), np.ones((1, d))])]  # fmt: skip
        right += [np.zeros(d), np.zeros(d), [l1]]
    b = np.concatenate(right)
    cones = [clarabel.NonnegativeConeT(len(b))]
    if radius is not None:
        rows.append(np.vstack([np.zeros((1, d + n)), np.hstack([-np.eye(d), np.zeros((d, n))])]))
        b = np.concatenate([b, [radius], np.zeros(d)])
        cones.append(clarabel.SecondOrderConeT(d + 1))
    P = sparse.diags(np.concatenate([np.full(d, float(C is not None)), np.zeros(n + extra)]))
    q = np.concatenate([np.zeros(d), np.full(n, 1.0 if C is None else C), np.zeros(extra)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(P), q, sparse.csc_matrix(np.vstack(rows)), b, cones, settings
    ).solve()
    return np.array(solution.x[:d]), float(solution.obj_val)
