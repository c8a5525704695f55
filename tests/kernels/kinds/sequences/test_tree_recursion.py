"""Trees and chains: every question against listing all vertices, and against plain NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assent.kernels.kinds.sequences.tree_recursion import (
    children_first,
    marginals_tree,
    max_marginals_tree,
    maximize_tree,
    parts_tree,
    tree_data,
)
from tests.oracles.sweep import sweep_seeds
from tests.oracles.trees import (
    Forest,
    list_vertices,
    random_forest,
    used_parts,
    used_places,
)

shapes = pytest.mark.parametrize("chain", [False, True], ids=["tree", "chain"])


def maximize(forest: Forest, scale: float = 1.0):
    states = np.empty(len(forest.states), np.int32)
    value, inner = maximize_tree(
        forest.start, forest.data, forest.scores, forest.inner, scale, states
    )
    return value, inner, states


def marginals(forest: Forest, temperature: float):
    out, parts = np.empty(len(forest.scores)), np.empty(len(forest.inner))
    value = marginals_tree(
        forest.start, forest.data, forest.scores, forest.inner, temperature, out, parts
    )
    return value, out, parts


@shapes
@sweep_seeds()
def test_maximize(chain, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        forest = random_forest(rng, chain=chain)
        scale = float(rng.choice([1.0, 0.1, 7.0]))
        value, inner, states = maximize(forest, scale)
        joint, outer, own = list_vertices(forest)
        total = outer + scale * own
        assert value == pytest.approx(total.max(initial=-np.inf), abs=1e-8)
        if value > -np.inf:
            chosen = np.flatnonzero((joint == states).all(axis=1))
            assert len(chosen) == 1
            assert total[chosen[0]] == pytest.approx(value, abs=1e-8)
            assert own[chosen[0]] == pytest.approx(inner, abs=1e-8)
        else:
            assert inner == -np.inf


@shapes
@sweep_seeds()
def test_max_marginals(chain, seeds):
    for seed in seeds:
        forest = random_forest(np.random.default_rng(seed), chain=chain)
        out = np.empty(len(forest.scores))
        max_marginals_tree(forest.start, forest.data, forest.scores, forest.inner, out)
        joint, outer, own = list_vertices(forest)
        through = np.where(used_places(forest, joint) == 1.0, (outer + own)[:, None], -np.inf)
        assert_allclose(out, through.max(axis=0, initial=-np.inf), atol=1e-8)


@shapes
@sweep_seeds()
def test_marginals(chain, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        forest = random_forest(rng, chain=chain)
        temperature = 10.0 ** rng.uniform(-3, 1)
        value, out, parts = marginals(forest, temperature)
        joint, outer, own = list_vertices(forest)
        total = outer + own
        if not (total > -np.inf).any():
            assert value == -np.inf
            assert not out.any()
            assert not parts.any()
            continue
        weight = np.exp((total - total.max()) / temperature)
        log_partition = total.max() + temperature * np.log(weight.sum())
        assert value == pytest.approx(log_partition, abs=1e-8)
        weight /= weight.sum()
        assert_allclose(out, weight @ used_places(forest, joint), atol=1e-8)
        assert_allclose(parts, weight @ used_parts(forest, joint), atol=1e-8)


@sweep_seeds()
def test_parts_of_a_vertex(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        forest = random_forest(rng)
        start, data = forest.start, forest.data
        vertices, _, _ = list_vertices(forest)
        states = rng.integers(0, forest.states).astype(np.int32)
        out = np.zeros(len(forest.inner))
        if not (vertices == states).all(axis=1).any():
            assert not parts_tree(start, data, states, 2.0, out)
            assert not out.any()
            continue
        assert parts_tree(start, data, states, 2.0, out)
        assert_allclose(out, 2.0 * used_parts(forest, states[None])[0])


@sweep_seeds(0.2)
def test_marginals_are_the_gradient_of_the_log_partition(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        forest = random_forest(rng, most=8, forbid=0.0)
        value, out, parts = marginals(forest, 0.7)
        if value == -np.inf:  # a limit of no visits at all to a slot's only state
            continue
        step = 1e-5
        for vector, gradient in ((forest.scores, out), (forest.inner, parts)):
            i = int(rng.integers(len(vector)))
            values = []
            for sign in (1.0, -1.0):
                moved = vector.copy()
                moved[i] += sign * step
                scores, inner = forest.scores, forest.inner
                scores, inner = (moved, inner) if vector is forest.scores else (scores, moved)
                values.append(
                    marginals_tree(forest.start, forest.data, scores, inner, 0.7,
                                   np.empty(len(scores)), np.empty(len(inner)))
                )  # fmt: skip
            assert (values[0] - values[1]) / (2 * step) == pytest.approx(gradient[i], abs=1e-6)


def viterbi(scores, tables):
    """Best value of a chain of equal slots, ``scores[T, K]``, by NumPy."""
    best = scores[0]
    for own, table in zip(scores[1:], tables, strict=True):
        best = (best[:, None] + table).max(axis=0) + own
    return best.max()


@pytest.mark.parametrize("K", [1, 2, 4, 5, 12, 31])
def test_long_chains_against_numpy(K):
    rng = np.random.default_rng(K)
    T = 200
    scores, tables = rng.normal(size=(T, K)), rng.normal(size=(T - 1, K, K))
    forest = Forest([K] * T, [*range(1, T), -1], [-1] * T,
                    [*tables, np.zeros((K, 1))], np.zeros(1), scores.ravel())  # fmt: skip
    value, inner, states = maximize(forest)
    assert value == pytest.approx(viterbi(scores, tables))
    own = tables[np.arange(T - 1), states[:-1], states[1:]].sum()
    assert inner == pytest.approx(own)
    assert value == pytest.approx(own + scores[np.arange(T), states].sum())
    log_partition, out, parts = marginals(forest, 1e-4)
    assert log_partition == pytest.approx(value, abs=1e-2)
    assert_allclose(out.reshape(T, K).sum(axis=1), 1.0, atol=1e-8)
    pairs = parts[:-1][: (T - 1) * K * K].reshape(T - 1, K, K)
    assert_allclose(pairs.sum(axis=2), out.reshape(T, K)[:-1], atol=1e-8)
    assert_allclose(pairs.sum(axis=1), out.reshape(T, K)[1:], atol=1e-8)


def max_product(forest: Forest, v: int) -> np.ndarray:
    """Best value ``[K]`` of the subtree at ``v``, straight from the definition."""
    start = forest.start
    value = forest.scores[start[v] : start[v + 1]].copy()
    for child, parent in enumerate(forest.parents):
        if parent == v:
            value += (max_product(forest, child)[:, None] + forest.tables[child]).max(axis=0)
    return value


@sweep_seeds(0.05)
def test_larger_trees_against_numpy(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        forest = random_forest(rng, most=60)
        forest = replace(forest, counted=[-1] * len(forest.states), counts=np.zeros(1))
        roots = [v for v, p in enumerate(forest.parents) if p < 0]
        best = sum((max_product(forest, v) + forest.tables[v][:, 0]).max() for v in roots)
        assert maximize(forest)[0] == pytest.approx(best)


@pytest.mark.parametrize("limit", [0, 1, 5, 30])
def test_limit_on_a_long_chain(limit):
    # Alone, state 1 wins everywhere: the best chain visits it where it gains most.
    gain = np.random.default_rng(0).permutation(30) + 1.0
    scores = np.stack([np.zeros(30), gain], axis=1).ravel()
    forest = Forest([2] * 30, [*range(1, 30), -1], [1] * 30,
                    [np.zeros((2, 2))] * 29 + [np.zeros((2, 1))],
                    np.zeros(limit + 1), scores)  # fmt: skip
    value, _, states = maximize(forest)
    assert value == np.sort(gain)[30 - limit :].sum()
    assert states.sum() == limit


def test_first_of_equal_states_wins():
    forest = Forest([3, 3], [1, -1], [-1, -1], [np.zeros((3, 3)), np.zeros((3, 1))], np.zeros(1),
                    np.zeros(6))  # fmt: skip
    assert maximize(forest)[2].tolist() == [0, 0]


def test_forced_literals():
    # Two literals (false, true); "false" of the first is forbidden, both true too.
    together = np.array([[0.0, 0.0], [0.0, -np.inf]])
    forest = Forest([2, 2], [1, -1], [-1, -1], [together, np.zeros((2, 1))], np.zeros(1),
                    np.array([-np.inf, -3.0, 0.0, 5.0]))  # fmt: skip
    value, inner, states = maximize(forest)
    assert (value, inner, states.tolist()) == (-3.0, 0.0, [1, 0])
    assert marginals(forest, 1.0)[1].tolist() == [0.0, 1.0, 1.0, 0.0]


def test_everything_forbidden():
    forest = Forest([2], [-1], [-1], [np.zeros((2, 1))], np.zeros(1), np.full(2, -np.inf))
    assert maximize(forest)[:2] == (-np.inf, -np.inf)


def test_low_temperatures_do_not_overflow():
    rng = np.random.default_rng(0)
    forest = random_forest(rng, most=8, forbid=0.0)
    value, out, parts = marginals(forest, 1e-9)
    assert value == pytest.approx(maximize(forest)[0], abs=1e-6)
    assert np.isfinite(out).all()
    assert np.isfinite(parts).all()


def test_children_come_before_parents():
    rng = np.random.default_rng(0)
    for _ in range(50):
        forest = random_forest(rng, most=12)
        n = len(forest.parents)
        order = children_first([n if p < 0 else p for p in forest.parents])
        assert sorted(order) == list(range(n))
        assert all(p < 0 or order.index(v) < order.index(p) for v, p in enumerate(forest.parents))


def test_a_star_of_many_leaves_takes_little_room():
    data = tree_data([2] * 1001, [1000] * 1000 + [-1], counted=[1] * 1001, counts=4)
    assert data[3] < 40_000
