"""Models, graphs and files say the same: compared on every assignment."""

import itertools

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.factors import (
    AtLeastOne,
    AtMost,
    Dense,
    Exactly,
    ExactlyOne,
    Implies,
    Knapsack,
    Pair,
    Parity,
    Potts,
)
from assent.io import (
    FgModel,
    FormatError,
    UaiModel,
    fg_from_graph,
    fg_to_graph,
    load_graph,
    load_models,
    read_uai,
    save_graph,
    uai_from_graph,
    uai_order,
    uai_to_graph,
    write_fg,
    write_uai,
)
from assent.model.graph import FactorGraph
from tests.io.scoring import assignments, fg_score, graph_score, state_values
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


def random_tables(rng, cardinalities):
    """Scopes of up to three variables with tables: random, or constant off the diagonal."""
    n = len(cardinalities)
    scopes = [rng.permutation(n)[: rng.integers(0, 4)].tolist() for _ in range(7)]
    tables = []
    for scope in scopes:
        table = rng.normal(size=[cardinalities[v] for v in scope])
        if len(scope) == 2 and table.shape[0] == table.shape[1] and rng.random() < 0.5:
            table = np.where(np.eye(len(table)) == 1, table, rng.normal())
        tables.append(np.where(rng.random(table.shape) < 0.1, -np.inf, table))
    return scopes, tables


def states_of(cardinalities):
    return list(itertools.product(*(range(k) for k in cardinalities)))


@pytest.mark.parametrize("seed", range(60))
def test_random_models_of_any_arity_and_cardinality(seed):
    rng = np.random.default_rng(seed)
    cardinalities = rng.integers(1, 4, size=5).tolist() if seed % 3 else [3] * 4
    scopes, tables = random_tables(rng, cardinalities)
    v = int(rng.integers(len(cardinalities)))
    evidence = {v: int(rng.integers(cardinalities[v]))} if seed % 2 else {}
    model = UaiModel.from_factors(cardinalities, scopes, tables, evidence=evidence)
    graph, order = uai_to_graph(model), uai_order(model)
    impossible = any(variable.name == "impossible" for variable in graph.variables)
    for states in states_of(cardinalities):
        fits = all(states[v] == x for v, x in evidence.items())
        expected = model.score(states) if fits else -np.inf
        if impossible:
            assert expected == -np.inf
            continue
        placed = np.empty(len(states), int)
        placed[order] = states
        found = graph_score(graph, state_values(graph, placed))
        assert found == pytest.approx(expected, abs=1e-12)


def test_tables_constant_off_the_diagonal_are_potts():
    table = np.where(np.eye(3) == 1, [0.5, 1.0, -2.0], 0.25)
    model = UaiModel.from_factors([3, 3], [[0, 1]], [table])
    [handle] = uai_to_graph(model).handles
    assert isinstance(handle.factor, Potts)
    np.testing.assert_allclose(handle.factor.scores, [[0.25, 0.75, -2.25]])


@pytest.mark.parametrize("scope", [[], [0], [0, 1]])
def test_a_table_of_zeros_is_infeasible(scope):
    table = np.full([3] * len(scope), -np.inf)
    graph = uai_to_graph(UaiModel.from_factors([3, 3], [scope], [table]))
    assert at.decode(graph).status is at.Status.INFEASIBLE


@pytest.mark.parametrize("seed", range(40))
def test_fg_types_mean_what_they_say(seed):
    model = random_model(np.random.default_rng(seed), n=5, factors=1 + seed % 4)
    expected = [fg_score(model, values) for values in assignments(5)]
    np.testing.assert_allclose(scores_of(fg_to_graph(model), 5), expected, atol=1e-12)


def test_several_fg_graphs_are_a_list(tmp_path):
    path = tmp_path / "several.fg"
    write_fg([FgModel.from_factors([1.0] * n, [("XOR", [0, 1], [])]) for n in (2, 3)], path)
    models = load_models(path)
    assert [model.graph["x"].shape for model in models] == [(2,), (3,)]
    with pytest.raises(FormatError, match="holds 2 graphs: use load_models"):
        load_graph(path)
    save_graph([model.graph for model in models], tmp_path / "again.fg")
    assert len(load_models(tmp_path / "again.fg")) == 2
    with pytest.raises(ModelError, match=r"a \.uai file holds one graph, not 2"):
        save_graph([model.graph for model in models], tmp_path / "again.uai")


def test_a_dense_says_once_that_its_variables_have_one_state():
    table = ("DENSE", [0, 1, 2, 3], [2, 2, 2, 0.0, 1.0, 2.0, 3.0])
    graph = fg_to_graph(FgModel.from_factors([0.0] * 4, [table, ("XOR", [1, 0], []), table]))
    assert [(handle.name, len(handle.factor)) for handle in graph.handles] == [
        ("XOR", 1),
        ("DENSE", 2),
        ("states", 1),
    ]


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


def graph_with_tables(rng):
    """Categorical variables of two sizes, literals and every kind that scores or weighs them."""
    graph = FactorGraph()
    tag = graph.categorical(2, states="NVD", scores=rng.normal(size=(2, 3)), name="tag")
    x = graph.binary(3, scores=rng.normal(size=3), name="x")
    table = rng.normal(size=(3, 2, 2))
    table[rng.integers(3), 0, 1] = -np.inf
    graph.add(Dense(tag[0], x[0], ~x[1], scores=table))
    graph.add(Potts(tag[0], tag[1], scores=rng.normal(size=3)))
    graph.add(Knapsack([x[0], ~x[2], tag[1] == "N"], weights=[1.0, 2.0, 0.5], capacity=2.5))
    graph.add(Implies(tag[0] == "V", x[1]))
    graph.fix(~(tag[1] == "D"), 1)
    graph.add_constant(-0.5)
    return graph


@pytest.mark.parametrize("seed", range(10))
def test_tables_written_as_uai_say_the_same(seed, tmp_path):
    graph = graph_with_tables(np.random.default_rng(seed))
    path = tmp_path / "graph.uai"
    save_graph(graph, path)
    model = read_uai(path)
    assert model.cardinalities.tolist() == [3, 3, 2, 2, 2]
    for states in states_of([3, 3, 2, 2, 2]):
        expected = graph_score(graph, state_values(graph, states))
        assert model.score(states) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_tables_written_as_fg_say_the_same_up_to_a_constant(seed, tmp_path):
    graph = graph_with_tables(np.random.default_rng(seed))
    path = tmp_path / "graph.fg"
    save_graph(graph, path)
    again = load_graph(path)
    assert again.size == graph.size + 2  # the opposites of two literals of a table
    shifts = []
    for states in states_of([3, 3, 2, 2, 2]):
        values = state_values(graph, states)
        opposites = [~values[6], ~values[7]]
        before = graph_score(graph, values)
        after = graph_score(again, np.append(values, opposites))
        assert np.isfinite(before) == np.isfinite(after)
        if np.isfinite(before):
            shifts.append(after - before)
    np.testing.assert_allclose(shifts, 0.5, atol=1e-12)


def test_what_a_format_cannot_hold():
    graph = FactorGraph()
    x = graph.binary(20, name="x")
    graph.add(ExactlyOne(x))
    with pytest.raises(ModelError, match="has 20 variables: no UAI table of 1048576 entries"):
        uai_from_graph(graph)
    graph = FactorGraph()
    x = graph.binary(3, name="x")
    graph.add(Parity(x))
    with pytest.raises(ModelError, match=r"Parity\(.*: AD3's format has no type for it"):
        fg_from_graph(graph)
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
        load_graph(tmp_path / "a.dat")
    with pytest.raises(FormatError, match=r"evidence files belong to \.uai models"):
        load_graph(fg, evidence=uai)
