"""Coarse decompositions: the same model, the same relaxation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import assent as at
from tests.oracles.sweep import sweep_seeds

# Enough to bring bounds within a thousandth of the linear program's value.
PATIENT = at.AD3(max_iterations=20_000, residual_tolerance=1e-6, gap_tolerance=1e-7)


def grid(shape, states, seed, scale=2.0):
    """A graph with a grid of variables, and tables across and down."""
    rng = np.random.default_rng(seed)
    rows, columns = shape
    g = at.FactorGraph()
    label = g.categorical(states=states, scores=rng.normal(size=(*shape, states)), name="label")
    across = scale * rng.normal(size=(rows, columns - 1, states, states))
    down = scale * rng.normal(size=(rows - 1, columns, states, states))
    return g, label, across, down


def plain(*arguments):
    """The grid edge by edge."""
    g, label, across, down = grid(*arguments)
    g.add(at.Dense(label[:, :-1], label[:, 1:], scores=across))
    g.add(at.Dense(label[:-1], label[1:], scores=down))
    return g


def chained(*arguments):
    """The grid as rows and columns."""
    g, label, across, down = grid(*arguments)
    for chains in at.grid_chains(label, across=across, down=down):
        g.add(chains)
    return g


def planted(*arguments):
    """The grid as trees."""
    g, label, across, down = grid(*arguments)
    place = np.arange(across.shape[0] * down.shape[1]).reshape(label.shape)
    edges = [(place[:, :-1], place[:, 1:]), (place[:-1], place[1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in edges])
    states = across.shape[-1]
    tables = np.concatenate([t.reshape(-1, states, states) for t in (across, down)])
    nodes = [label[i, j] for i, j in np.ndindex(label.shape)]
    for tree in at.tree_cover(nodes, pairs, scores=tables):
        g.add(tree)
    return g


def score(graph, states):
    """Score of states of all variables, factor by factor."""
    flat = np.asarray(states).ravel()
    k = len(graph.variables[0].states)
    truth = np.eye(k, dtype=bool)[flat].ravel()
    total = graph.variables[0].scores[truth].sum()
    for handle in graph.handles:
        total += handle.factor.value_at(truth[handle.factor.codes], handle.factor.scores).sum()
    return total


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (4, 1), (2, 2)])
def test_every_assignment_is_worth_the_same(shape):
    rng = np.random.default_rng(0)
    for seed in range(5):
        models = [make(shape, 3, seed) for make in (plain, chained, planted)]
        states = rng.integers(0, 3, shape)
        scores = [score(g, states) for g in models]
        assert np.allclose(scores, scores[0])


@pytest.mark.parametrize("make", [chained, planted])
@sweep_seeds(0.02)
def test_the_relaxation_stays_the_same(make, seeds):
    """A tree's hull is what its edges say together: all decompositions share one LP value."""
    for seed in seeds:
        lp = at.decode(plain((3, 4), 3, seed), at.LinearProgram()).bound
        binary = at.binarize(plain((3, 4), 3, seed)).graph
        assert at.decode(binary, at.LinearProgram()).bound == pytest.approx(lp, abs=1e-6)
        coarse = at.decode(make((3, 4), 3, seed), PATIENT)
        assert lp - 1e-6 <= coarse.bound <= lp + 1e-3 * (1.0 + abs(lp))


def test_a_loop_in_one_factor_is_tighter():
    """Order: a triangle as one table is below the LP of its edges, wherever that is fractional."""
    apart = 3.0 * (1.0 - np.eye(2))  # neighbours want to differ; three of them cannot
    g = at.FactorGraph()
    x = g.categorical(3, states=2)
    for tree in at.tree_cover(x, [(0, 1), (1, 2), (2, 0)], scores=apart):
        g.add(tree)
    edges = at.decode(g, PATIENT).bound
    h = at.FactorGraph()
    y = h.categorical(3, states=2)
    table = np.zeros((2, 2, 2))
    for a, b, c in itertools.product(range(2), repeat=3):
        table[a, b, c] = apart[a, b] + apart[b, c] + apart[c, a]
    h.add(at.Dense(y[0], y[1], y[2], scores=table))
    assert edges == pytest.approx(9.0, abs=1e-2)
    assert at.decode(h, PATIENT).bound == pytest.approx(6.0, abs=1e-4)


def test_grids_of_literals():
    g = at.FactorGraph()
    x = g.binary((2, 3), scores=1.0)
    apart = [[0.0, 0.0], [0.0, -np.inf]]
    for chains in at.grid_chains(x, across=apart, down=apart):
        g.add(chains)
    assert at.decode(g).value == 3.0


def test_several_grids_at_once():
    g = at.FactorGraph()
    label = g.categorical((5, 2, 3), states=4)
    rows, columns = at.grid_chains(label, across=np.eye(4), down=np.zeros((5, 1, 3, 4, 4)))
    assert (rows.shape, columns.shape) == ((5, 2), (5, 3))


def test_trees_hold_every_edge_once():
    rng = np.random.default_rng(0)
    for n in range(2, 9):
        g = at.FactorGraph()
        nodes = [g.categorical((), int(rng.integers(2, 4))) for _ in range(n)]
        edges = [(int(a), int(b)) for a, b in itertools.permutations(range(n), 2)]
        tables = [rng.normal(size=(len(nodes[a].states), len(nodes[b].states))) for a, b in edges]
        trees = at.tree_cover(nodes, edges, scores=tables)
        assert sum(len(t.parents) - t.parents.count(-1) for t in trees) == len(edges)
        written = np.sort(np.concatenate([t.scores[t.scores != 0.0] for t in trees]))
        assert np.array_equal(written, np.sort(np.concatenate([t.ravel() for t in tables])))


@pytest.mark.parametrize(
    "edges, says",
    [
        ([0, 1], "pairs of positions"),
        ([(0, 3)], r"edge \(0, 3\)"),
        ([(1, 1)], "two different"),
    ],
)
def test_errors(edges, says):
    x = at.FactorGraph().categorical(3, states=2)
    with pytest.raises(at.ModelError, match=says):
        at.tree_cover(x, edges, scores=0.0)


def test_a_grid_has_two_axes():
    x = at.FactorGraph().categorical(3, states=2)
    with pytest.raises(at.ModelError, match="two axes"):
        at.grid_chains(x, across=0.0, down=0.0)
    y = at.FactorGraph().categorical((2, 2), states=2)
    with pytest.raises(at.ModelError, match=r"expected \(1, 2, 2, 2\)"):
        at.grid_chains(y, across=0.0, down=np.zeros((3, 3)))
