"""Matchings, structures and graphs as spaces: every question against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.models import (
    CutInput,
    CutModel,
    CutSpace,
    GraphInput,
    GraphModel,
    Hamming,
    MatchingModel,
    MatchingSpace,
    Part,
    StructureSpace,
)
from tests.learn.problems import all_cuts, all_matchings, build_path, vertices


@pytest.mark.parametrize("seed", range(20))
def test_matchings(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 4, 2)
    space, every = MatchingSpace(n, m), all_matchings(n, m)
    scores = rng.normal(size=space.size)
    assert scores @ space.maximize(scores) == pytest.approx((every @ scores).max())
    point = rng.normal(size=space.size)
    q = space.project(point)
    rows = space.rows()
    assert (rows.below @ q <= rows.limit + 1e-7).all()
    assert ((every - q) @ (point - q)).max() <= 1e-7
    with pytest.raises(TypeError, match="MatchingSpace cannot answer marginals"):
        space.marginals(scores)


@pytest.mark.parametrize("seed", range(20))
def test_cuts(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    edges = [(j, k) for j in range(n) for k in range(j) if rng.random() < 0.8 or j == 1]
    space = CutSpace(n, edges)
    every = all_cuts(space)
    scores = rng.normal(size=space.size)
    assert scores @ space.maximize(scores) == pytest.approx((every @ scores).max())
    rows = space.rows()
    assert (rows.below @ every.T <= rows.limit[:, None] + 1e-12).all()
    point = rng.normal(size=space.size)
    q = space.project(point)
    assert (rows.below @ q <= rows.limit + 1e-7).all()
    assert q.min() >= -1e-9
    # All vertices of the relaxation are integral (the rows are totally unimodular).
    assert ((every - q) @ (point - q)).max() <= 1e-6


def test_cut_model():
    x = CutInput(np.array([[1.0], [-0.5], [-2.0]]), [[0, 1], [1, 2]], np.array([[1.0], [0.5]]))
    model = CutModel().shaped([x], [[1, 0, 0]])
    assert (model.features, model.edge_features, model.prices) == (1, 1, [1])
    example = model.example(x, [1, 0, 0], Hamming())
    assert example.gold.tolist() == [1, 0, 0, 1, 0]
    assert example.scores(np.array([2.0, 3.0])).tolist() == [2.0, -1.0, -4.0, -3.0, -1.5]
    assert model.predict(x, np.array([1.0, 0.0])).tolist() == [1, 0, 0]
    assert model.predict(x, np.array([1.0, -5.0])).tolist() == [1, 0, 0]
    assert model.predict(x, np.array([1.0, 9.0])).tolist() == [0, 0, 0]
    assert model.named(np.array([1.0, 9.0]))["edges"].tolist() == [9.0]
    assert model.agreement([1, 0, 0], [1, 1, 0]) == (2, 3)
    with pytest.raises(ModelError, match="3 zeros and ones, got 2 labels"):
        model.example(x, [1, 0], Hamming())
    with pytest.raises(ModelError, match="not negative, as prices must be"):
        model.predict(x._replace(features=-np.ones((2, 1))), np.zeros(2))
    with pytest.raises(ModelError, match="for nodes and \\(2, 1\\) for edges"):
        model.predict(x._replace(features=np.ones((3, 1))), np.zeros(2))
    with pytest.raises(ModelError, match="CutModel has no shape yet"):
        _ = CutModel().size


@pytest.mark.parametrize("seed", range(10))
def test_a_structure_with_its_parts(seed):
    """A chain as a factor, its transitions as coordinates."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    tag = g.categorical(3, states=2, name="tag")
    chain = at.Chain(tag, transitions=np.zeros((2, 2)))
    space = StructureSpace(chain, parts=True)
    every = []
    for states in np.ndindex(2, 2, 2):
        truth = np.eye(2, dtype=bool)[list(states)].reshape(1, -1)
        every.append(np.concatenate([truth[0], chain.parts_at(truth)[0][0]]))
    every = np.array(every, float)
    scores = rng.normal(size=space.size)
    np.testing.assert_array_equal(space.maximize(scores), every[(every @ scores).argmax()])
    value, z = space.marginals(scores)
    chance = np.exp(every @ scores)
    assert value == pytest.approx(np.log(chance.sum()))
    np.testing.assert_allclose(z, chance @ every / chance.sum(), atol=1e-12)
    point = rng.normal(size=space.size)
    q = space.project(point)
    assert ((every - q) @ (point - q)).max() <= 1e-8
    plain = StructureSpace(chain)
    assert plain.size == 6
    np.testing.assert_allclose(plain.project(every[3, :6]), every[3, :6], atol=1e-9)
    assert plain.marginals(scores[:6])[1].shape == (6,)


def test_structures_are_checked():
    g = at.FactorGraph()
    with pytest.raises(ModelError, match="a space is one structure, got 2"):
        StructureSpace(at.Matching(g.binary((2, 2, 2))))


@pytest.mark.parametrize("seed", range(4))
def test_a_path_as_a_graph(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, 2))
    model = GraphModel(build_path).shaped([x], [[0, 1, 0]])
    example = model.example(x, [0, 1, 0], Hamming())
    space, every = example.space, vertices(example)
    scores = rng.normal(size=space.size)
    np.testing.assert_array_equal(space.maximize(scores), every[(every @ scores).argmax()])
    point = rng.normal(size=space.size)
    q = space.project(point)
    assert ((every - q) @ (point - q)).max() <= 1e-5
    w = rng.normal(size=model.size)
    named = model.named(w)
    by_hand = sum(x[t] @ named["node"][:, s] for t, s in enumerate([0, 1, 0]))
    by_hand += named["edge"][0, 0, 1] + named["edge"][0, 1, 0]
    assert example.scores(w) @ example.gold == pytest.approx(by_hand)
    best = every[(every @ example.scores(w)).argmax()][:6].reshape(3, 2).argmax(axis=1)
    assert model.predict(x, w).tolist() == best.tolist()


def frustrated(x):
    """Three binary variables, each pair of which wants to differ."""
    g = at.FactorGraph()
    y = g.categorical(3, states=2, name="y")
    table = g.add(at.Dense(y[[0, 1, 2]], y[[1, 2, 0]], scores=np.zeros((2, 2))))
    return GraphInput(g, [Part(y, None, "node"), Part(table, None, "edge")])


def test_a_loose_relaxation_gives_a_fractional_output():
    model = GraphModel(frustrated).shaped([None], [[0, 0, 1]])
    example = model.example(None, [0, 0, 1], Hamming())
    scores = example.scores(np.array([0.0, 0.0, -1.0, 0.0, 0.0, -1.0]))
    z = example.space.maximize(scores)
    np.testing.assert_allclose(z[:6], 0.5, atol=1e-3)
    assert scores @ z == pytest.approx(0.0, abs=1e-3)  # better than any labelling, at -1
    assert example.hinge(scores, z) >= example.hinge(scores, example.gold)


def constrained(x):
    """At most one of three, with a pair and a Potts factor."""
    g = at.FactorGraph()
    x0 = g.binary(3, name="on")
    mood = g.categorical(2, states="uv", name="mood")
    g.add(at.AtMostOne(x0))
    pair = g.add(at.Pair(x0[0], x0[1]))
    potts = g.add(at.Potts(mood[0], mood[1], scores=np.zeros(2)))
    return GraphInput(g, [Part(x0, x, "on"), Part(mood, None, "mood"), Part(pair, None, "both"),
                          Part(potts, None, "same")])  # fmt: skip


def test_several_variables_and_constraints():
    x = np.array([[1.0], [2.0], [-1.0]])
    gold = {"on": [0, 1, 0], "mood": ["v", "v"]}
    model = GraphModel(constrained).shaped([x], [gold])
    assert dict(model.blocks) == {"on": (1,), "mood": (1, 2), "both": (1,), "same": (1, 2)}
    example = model.example(x, gold, Hamming())
    assert example.gold.tolist() == [0, 1, 0, 0, 1, 0, 1, 0, 0, 1]
    w = np.array([1.0, 0.2, 0.0, 5.0, 0.0, 1.0])
    np.testing.assert_allclose(example.matrix @ w, example.scores(w))
    z = np.arange(10.0)
    np.testing.assert_allclose(example.matrix.T @ z, example.features(z))
    predicted = model.predict(x, w)
    assert predicted["on"].tolist() == [0, 1, 0]
    assert predicted["mood"].tolist() == ["v", "v"]
    assert model.agreement(gold, predicted) == (5, 5)
    with pytest.raises(ModelError, match="not among the outputs of the model"):
        model.example(x, {"on": [1, 1, 0], "mood": ["v", "v"]}, Hamming())
    out = model.example(x, {"on": [1, 1, 0], "mood": ["v", "v"]}, Hamming(), outside=True)
    assert not out.inside
    with pytest.raises(TypeError, match="projects onto variables and Dense tables only"):
        example.space.project(example.gold)


def within_a_budget(x):
    """Three items; taking more than fits has its price."""
    g = at.FactorGraph()
    taken = g.binary(3, name="taken")
    g.add(at.Soft(at.Knapsack(taken, weights=[2.0, 2.0, 1.0], capacity=3.0), penalty=1.0))
    return GraphInput(g, [Part(taken, x, "taken")])


def test_auxiliary_variables_are_no_part_of_an_output():
    x = np.array([[1.0], [2.0], [-1.0]])
    model = GraphModel(within_a_budget).shaped([x], [[1, 1, 0]])
    for gold in ([1, 0, 1], [1, 1, 0], [1, 1, 1]):  # within the budget and beyond it
        example = model.example(x, gold, Hamming())
        assert example.inside
        assert example.gold.tolist() == gold
    assert model.predict(x, np.array([1.0])).tolist() == [1, 1, 0]


def test_graph_errors_are_clear():
    x = np.ones((2, 1))
    model = GraphModel(build_path).shaped([x], [[0, 1]])
    for y, message in (
        ([0], "1 values for shape"),
        ([0, 7], "7 is no state of"),
        ({"other": [0, 1]}, r"an output names \['other'\], the graph has \['label'\]"),
    ):
        with pytest.raises(ModelError, match=message):
            model.example(x, y, Hamming())
    with pytest.raises(ModelError, match="GraphModel has no shape yet"):
        _ = GraphModel(build_path).size
    with pytest.raises(ModelError, match="an output is a dict with values of"):
        GraphModel(constrained).shaped([np.ones((3, 1))], [None]).example(
            np.ones((3, 1)), [0, 1, 0], Hamming()
        )
    with pytest.raises(ModelError, match=r"features have shape \(3, 1\), expected \(2,\)"):
        GraphModel(lambda x: GraphInput(*_with_wrong_features())).shaped([0], [0])
    with pytest.raises(ModelError, match=r"in one input and .* in another"):
        GraphModel(build_path).shaped([np.ones((2, 1)), np.ones((2, 2))], [0, 0])
    with pytest.raises(ModelError, match="there is a NaN"):
        model.example(np.full((2, 1), np.nan), [0, 1], Hamming())


def _with_wrong_features():
    g = at.FactorGraph()
    return g, [Part(g.binary(2), np.ones((3, 1)), "x")]


def test_matching_model_errors():
    model = MatchingModel(1)
    x = np.ones((2, 2, 1))
    with pytest.raises(ModelError, match="not among the outputs"):
        model.example(x, np.ones((2, 2)), Hamming())
    assert not model.example(x, np.ones((2, 2)), Hamming(), outside=True).inside
    with pytest.raises(ModelError, match="table \\(2, 2\\) of zeros and ones"):
        model.example(x, np.full((2, 2), 0.5), Hamming())
    with pytest.raises(ModelError, match="expected \\(rows, columns, 1\\)"):
        model.predict(np.ones((2, 2)), np.ones(1))
    with pytest.raises(ModelError, match="MatchingModel has no shape yet"):
        _ = MatchingModel().size
    assert MatchingModel().shaped([x], [None]).size == 1
    twice = MatchingModel(1, rows=2, columns=2)
    assert twice.example(x, np.ones((2, 2)), Hamming()).inside


@pytest.mark.parametrize("space", [MatchingSpace(4, 5), CutSpace(4, [[0, 1], [1, 2], [2, 3]])],
                         ids=["matching", "cut"])  # fmt: skip
def test_projections_go_on_from_earlier_ones(space):
    rng = np.random.default_rng(2)
    memory, point = np.zeros(space.memory), rng.normal(size=space.size)
    for _ in range(10):
        point = point + 0.2 * rng.normal(size=space.size)
        np.testing.assert_allclose(
            space.project_again(point, memory), space.project(point), atol=1e-9
        )
    assert memory.any()
