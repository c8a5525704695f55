"""Models, graphs and files say the same: compared on every assignment."""

import itertools

import numpy as np
import pytest

from assent.errors import ModelError
from assent.factors import AtLeastOne, AtMost, Exactly, ExactlyOne, Implies, Pair
from assent.graph import FactorGraph
from assent.io import (
    FgModel,
    FormatError,
    UaiModel,
    fg_from_graph,
    fg_to_graph,
    load_graph,
    read_uai,
    save_graph,
    uai_from_graph,
    uai_to_graph,
    write_fg,
    write_uai,
)
from tests.io.scoring import assignments, fg_score, graph_score
from tests.io.test_fg import random_model


def scores_of(graph, n):
    """Score of every assignment of the first ``n`` coordinates; infeasible if there are more."""
    if graph.size > n:
        assert set(graph.evidence().tolist()) >= {n, ~n}  # the variable that cannot be
        return np.full(2**n, -np.inf)
    return np.array([graph_score(graph, values) for values in assignments(n)])


def model_scores(model, n):
    evidence = list(model.evidence.items())
    values = assignments(n)
    fits = np.array([all(int(bits[v]) == x for v, x in evidence) for bits in values])
    return np.where(fits, [model.score(bits.astype(int)) for bits in values], -np.inf)


@pytest.mark.parametrize("pattern", list(itertools.product([True, False], repeat=4)))
def test_all_patterns_of_zeros_in_a_pairwise_table(pattern):
    table = np.where(pattern, [0.3, -1.2, 2.5, 0.9], -np.inf).reshape(2, 2)
    model = UaiModel.from_factors([2, 2], [[0, 1]], [table])
    np.testing.assert_allclose(scores_of(uai_to_graph(model), 2), table.ravel(), atol=1e-12)


@pytest.mark.parametrize("pattern", list(itertools.product([True, False], repeat=2)))
def test_all_patterns_of_zeros_in_a_unary_table(pattern):
    table = np.where(pattern, [0.3, -1.2], -np.inf)
    model = UaiModel.from_factors([2], [[0]], [table])
    np.testing.assert_allclose(scores_of(uai_to_graph(model), 1), table, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_random_models(seed):
    rng = np.random.default_rng(seed)
    n = 5
    scopes = [rng.permutation(n)[: rng.integers(0, 3)].tolist() for _ in range(8)]
    tables = [rng.normal(size=(2,) * len(scope)) for scope in scopes]
    tables = [np.where(rng.random(t.shape) < 0.1, -np.inf, t) for t in tables]
    evidence = {int(rng.integers(n)): int(rng.integers(2))} if seed % 2 else {}
    model = UaiModel.from_factors([2] * n, scopes, tables, evidence=evidence)
    graph = uai_to_graph(model)
    np.testing.assert_allclose(scores_of(graph, n), model_scores(model, n), atol=1e-12)


def test_variables_of_one_state():
    tables = [np.array([[0.5], [1.5]]), np.array([0.25])]
    model = UaiModel.from_factors([2, 1], [[0, 1], [1]], tables)
    found = scores_of(uai_to_graph(model), 2)
    np.testing.assert_allclose(found, [0.75, -np.inf, 1.75, -np.inf])  # x1 stays 0


def test_no_variables_and_no_factors():
    assert uai_to_graph(UaiModel.from_factors([], [], [])).size == 0
    assert uai_to_graph(UaiModel.from_factors([2, 2], [], [])).n_factors == 0
    assert fg_to_graph(FgModel.from_factors([], [])).size == 0


@pytest.mark.parametrize(
    ("cardinalities", "scope", "message"),
    [
        ([2, 2, 2], [0, 1, 2], r"factor 0 over variables \[0, 1, 2\] has a table of shape"),
        ([2, 3, 2], [1], r"factor 0 over variables \[1\] has a table of shape \(3,\)"),
        ([2, 3, 2], [0], "variable 1 has 3 states and no factor"),
    ],
)
def test_unsupported_models_are_named(cardinalities, scope, message):
    table = np.zeros([cardinalities[v] for v in scope])
    with pytest.raises(ModelError, match=message):
        uai_to_graph(UaiModel.from_factors(cardinalities, [scope], [table]))


@pytest.mark.parametrize("seed", range(40))
def test_fg_types_mean_what_they_say(seed):
    model = random_model(np.random.default_rng(seed), n=5, factors=1 + seed % 4)
    expected = [fg_score(model, values) for values in assignments(5)]
    np.testing.assert_allclose(scores_of(fg_to_graph(model), 5), expected, atol=1e-12)


def test_several_fg_graphs_stand_side_by_side():
    models = [FgModel.from_factors([1.0, 2.0], [("XOR", [0, 1], 0.0)]) for _ in range(2)]
    graph = fg_to_graph(models)
    assert graph["x1"].shape == graph["x2"].shape == (2,)
    assert graph.n_factors == 2


def written_graph(rng):
    """A graph with every form of constraint, negations and evidence."""
    graph = FactorGraph()
    scores = np.append(rng.normal(size=6), -np.inf)
    x = graph.binary(7, scores=scores, name="x")
    graph.add_constant(0.75)
    i, j = rng.permutation(7)[:6].reshape(2, 3)
    signs = rng.random((2, 3)) < 0.5
    weights = [*rng.normal(size=2), -np.inf]
    graph.add(Pair(x[i].negate(where=signs[0]), x[j].negate(where=signs[1]), scores=weights))
    graph.add(AtMost(2, x[:5].negate(where=rng.random(5) < 0.5)))
    graph.add(Exactly(2, x[1:5].negate(where=rng.random(4) < 0.5)))
    graph.add(AtLeastOne([x[0], ~x[3]], output=x[5]))
    graph.add(Implies(x[0] & ~x[1], x[2]))
    graph.add(ExactlyOne([x[0], ~x[4]]))
    graph.fix(x[3], int(rng.integers(2)))
    return graph


@pytest.mark.parametrize("seed", range(10))
def test_written_uai_says_the_same(seed, tmp_path):
    graph = written_graph(np.random.default_rng(seed))
    path = tmp_path / "graph.uai.gz"
    save_graph(graph, path)
    model = read_uai(path, evidence=f"{path}.evid")
    np.testing.assert_allclose(model_scores(model, 7), scores_of(graph, 7), atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_written_fg_says_the_same_up_to_a_constant(seed, tmp_path):
    graph = written_graph(np.random.default_rng(seed))
    path = tmp_path / "graph.fg"
    save_graph(graph, path)
    before, after = scores_of(graph, 7), scores_of(load_graph(path), 7)
    feasible = np.isfinite(before)
    np.testing.assert_array_equal(np.isfinite(after), feasible)
    shift = after[feasible] - before[feasible]
    np.testing.assert_allclose(shift, shift[:1].repeat(len(shift)), atol=1e-12)


def test_categorical_variables_in_files():
    graph = FactorGraph()
    graph.categorical(2, states="NVD", name="tag")
    model = fg_from_graph(graph)
    assert [graph_score(fg_to_graph(model), v) > -np.inf for v in assignments(6)].count(True) == 9
    with pytest.raises(ModelError, match="tag is categorical"):
        uai_from_graph(graph)


def test_what_no_table_can_hold():
    graph = FactorGraph()
    x = graph.binary(20, name="x")
    graph.add(ExactlyOne(x))
    with pytest.raises(ModelError, match="has 20 variables: no UAI table"):
        uai_from_graph(graph)
    graph = FactorGraph()
    x = graph.binary(1, name="x")
    graph.add(ExactlyOne([x[0], ~x[0]]))
    with pytest.raises(ModelError, match="a variable and its negation"):
        uai_from_graph(graph)
    graph = FactorGraph()
    x = graph.binary(1, name="x")
    graph.fix(x, 0)
    graph.fix(x, 1)
    with pytest.raises(ModelError, match=r"both values of x\[0\]"):
        uai_from_graph(graph)


def test_the_suffix_names_the_format(tmp_path):
    uai, fg = tmp_path / "a.uai.xz", tmp_path / "A.FG.gz"
    write_uai(UaiModel.from_factors([2], [[0]], [[0.0, 1.0]]), uai)
    write_fg(FgModel.from_factors([1.0], []), fg)
    assert load_graph(uai)["x"].shape == load_graph(fg)["x"].shape == (1,)
    with pytest.raises(FormatError, match=r"must end in \.uai or \.fg"):
        load_graph(tmp_path / "a.txt")
    with pytest.raises(FormatError, match=r"evidence files belong to \.uai models"):
        load_graph(fg, evidence=uai)
