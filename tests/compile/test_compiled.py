"""From the written graph to the flat problem and back: nothing gained, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import compile_graph, graph_scores
from assent.kernels.problem import CAP, PARITY, SUM, DualPoint
from assent.proof import certify
from tests.oracles.enumeration import enumerate_assignments, factors, lp_bound, naive_value
from tests.oracles.sweep import sweep_seeds
from tests.strategies import enumerate_graph, optimum, random_graph


def flat_values(compiled, scores):
    """Full assignments the flat problem allows, each with its score."""
    flat = compiled.flat_scores(scores)
    nothing_free = np.zeros((1, 0), np.int8)
    points = enumerate_assignments(compiled.problem) if compiled.problem.n else nothing_free
    values = [naive_value(compiled.problem, flat, x) for x in points]
    return {
        tuple(compiled.full(x).tolist()): value
        for x, value in zip(points, values, strict=True)
        if value > -np.inf
    }


def magnitude(graph):
    """Sum of the sizes of all finite scores: what rounding errors are relative to."""
    scores = graph_scores(graph)
    factors = [own.ravel() for own in scores.factors]
    sizes = np.abs(np.concatenate([[scores.constant], scores.theta, *factors]))
    return float(sizes[np.isfinite(sizes)].sum())


@sweep_seeds()
def test_the_flat_problem_allows_and_scores_what_the_graph_does(seeds):
    for seed in seeds:
        graph = random_graph(np.random.default_rng(seed), complements=0.4)
        points, values = enumerate_graph(graph)
        expected = {
            tuple(x.tolist()): v for x, v in zip(points, values, strict=True) if v > -np.inf
        }
        compiled = graph.compile()
        if compiled.conflict is not None:
            assert not expected
            continue
        found = flat_values(compiled, graph_scores(graph))
        assert found.keys() == expected.keys()
        slack = 1e-12 * magnitude(graph)
        assert all(abs(found[x] - expected[x]) <= slack for x in expected)


@sweep_seeds()
def test_flat_problems_keep_their_promises(seeds):
    for seed in seeds:
        compiled = random_graph(np.random.default_rng(seed), complements=0.4).compile()
        problem = compiled.problem
        for kind, k, literals, _ in factors(problem):
            # Odd is even with the last literal negated, which then may stand there already.
            distinct = literals[:-1] if kind == PARITY else literals
            assert len(set(distinct.tolist())) == len(distinct)
            if kind in (CAP, SUM):
                assert 0 < k < len(literals)
        assert np.all(problem.pair_var[:, 0] != problem.pair_var[:, 1])
        order = list(zip(problem.group_kind.tolist(), problem.group_size.tolist(), strict=True))
        assert order == sorted(set(order))


@sweep_seeds()
def test_any_dual_point_means_the_same_to_graph_and_problem(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, scale=1.0, complements=0.4)
        compiled, scores = graph.compile(), graph_scores(graph)
        if compiled.conflict is not None:
            continue
        problem = compiled.problem
        parts = (problem.pair_var, problem.lits, problem.tables.lits)
        dual = DualPoint(*(rng.normal(size=part.shape) for part in parts))
        flat = lp_bound(problem, compiled.flat_scores(scores), dual)
        written = certify.upper_bound(compiled, scores, compiled.graph_dual(dual, scores))
        assert written == pytest.approx(flat, abs=1e-9)
        assert written >= optimum(graph) - 1e-9


@sweep_seeds()
def test_assignments_are_checked_as_enumeration_does(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, scale=1.0, complements=0.4)
        points, values = enumerate_graph(graph)
        for row in rng.choice(len(points), min(8, len(points)), replace=False):
            check = certify.check_assignment(
                compile_graph(graph), graph_scores(graph), points[row].astype(np.int8)
            )
            assert check.feasible == bool(values[row] > -np.inf)
            assert (len(check.violated) == 0) == check.feasible
            if check.feasible:
                assert check.value == pytest.approx(values[row], abs=1e-9)


def single(n=4, **keywords):
    g = at.FactorGraph()
    return g, g.binary(n, name="x", **keywords)


def solved(g, tight=True):
    """Decode, recheck, and compare with enumeration; ``tight`` asks for a closed gap as well."""
    result = at.decode(g)
    assert result.certificate.verify()
    best = optimum(g)
    if best == -np.inf:
        assert result.status is at.Status.INFEASIBLE
    else:
        assert result.value == pytest.approx(best, abs=1e-9)
        assert result.bound >= best - 1e-9
        assert result.status is at.Status.OPTIMAL or not tight
    return result


@pytest.mark.parametrize(
    "write",
    [
        lambda x: at.Implies(x[0], ~x[0]),
        lambda x: at.Implies(x[0] & x[1], ~x[0]),
        lambda x: at.Implies(x[0] & ~x[1] & x[2], x[1]),
        lambda x: at.Implies(~x[1], x[1]),
        lambda x: at.Agree(x[0], ~x[0]),
        lambda x: at.AtMostOne(x[:2], output=~x[0]),
        lambda x: at.AtMostOne(x[:3], output=~x[1]),
        lambda x: at.AtLeastOne(x[:2], output=~x[0]),
        lambda x: at.All(x[:2], output=~x[0]),
        lambda x: at.ExactlyOne([x[0], ~x[0]]),
        lambda x: at.ExactlyOne([x[0], ~x[0], x[1]]),
        lambda x: at.AtMostOne([x[0], ~x[0], x[1]]),
        lambda x: at.All([x[0], ~x[0]]),
        lambda x: at.Exactly(2, [x[0], ~x[0], x[1], ~x[1]]),
        lambda x: at.Exactly(1, [x[0], ~x[0], x[1], ~x[1]]),
        lambda x: at.AtLeast(3, [x[0], ~x[0], x[1], ~x[1]]),
        lambda x: at.Parity([x[0], ~x[0]], odd=True),
        lambda x: at.Parity([x[0], x[1], ~x[0]], odd=True),
        lambda x: at.Parity([x[0], ~x[0], x[1], ~x[1], x[2]]),
        lambda x: at.Knapsack([x[0], ~x[0], x[1]], weights=[1.0, 2.0, 2.0], capacity=3.0),
        lambda x: at.Knapsack([x[0], ~x[0]], weights=[1.0, 2.0], capacity=0.5),
        lambda x: at.Dense(x[0], ~x[0], scores=[[-np.inf, 2.0], [1.0, -np.inf]]),
        lambda x: at.Dense(x[0], x[1], ~x[0], scores=np.arange(8.0).reshape(2, 2, 2)),
    ],
)
@pytest.mark.parametrize("score", [1.0, -1.0])
def test_a_literal_and_its_negation_in_one_factor(write, score):
    g, x = single(scores=[score, 0.5 * score, score, 0.0])
    g.add(at.Pair(x[0], x[3], scores=0.25))
    g.add(write(x))
    solved(g, tight=False)  # relaxing x and its negation apart may leave a gap


@pytest.mark.parametrize(
    "write",
    [
        lambda x: at.Parity([x, ~x]),
        lambda x: at.Dense(x, ~x, scores=[[1.0, -np.inf], [-np.inf, 1.0]]),
    ],
    ids=["Parity", "Dense"],
)
def test_what_only_a_half_could_satisfy_is_neither_answered_nor_called_infeasible(write):
    g, x = single(1)
    g.add(write(x[0]))
    result = at.decode(g)
    assert result.certificate.verify()
    assert not result.feasible
    with pytest.raises(at.NoFeasibleAssignment):
        result[x]


def test_k_of_none_and_of_all():
    g, x = single(scores=[1.0, -1.0, 1.0, -1.0])
    g.add(at.AtMost(4, x))
    g.add(at.AtLeast(0, x))
    g.add(at.AtMostOne(x[0]))
    assert g.compile().problem.n_logic == 0
    assert solved(g)[x].tolist() == [1, 0, 1, 0]
    g.add(at.AtMost(0, x[:1]))
    g.add(at.AtLeast(2, x[1:3]))
    g.add(at.Exactly([0], x[3:, None], axis=1))
    assert solved(g)[x].tolist() == [0, 1, 1, 0]
    assert g.compile().problem.n == 0


def test_one_literal_factors():
    g, x = single(6, scores=[-1.0, -1.0, -1.0, 1.0, -2.0, 1.0])
    g.add(at.ExactlyOne(x[0]))
    g.add(at.AtLeastOne([x[1]]))
    g.add(at.All(x[2]))
    g.add(at.AtLeastOne([x[3]], output=x[4]))
    assert solved(g)[x].tolist() == [1, 1, 1, 0, 0, 1]


def test_batches_with_a_k_per_factor():
    g, _ = single(1)
    x = g.binary((3, 4), scores=1.0)
    g.add(at.AtMost([0, 2, 4], x, axis=1))
    assert at.decode(g)[x].sum(axis=1).tolist() == [0, 2, 4]


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_one_factor_per_remaining_element(axis):
    g, _ = single(1)
    x = g.binary((3, 2), scores=np.arange(6.0).reshape(3, 2) + 1.0)
    handle = g.add(at.ExactlyOne(x, axis=axis))
    result = at.decode(g)
    assert handle.shape == result[x].sum(axis=axis).shape
    assert np.all(result[x].sum(axis=axis) == 1)


def test_everything_fixed():
    g, x = single(3, scores=[1.0, 2.0, 4.0])
    pair = g.add(at.Pair(x[:2], x[1:], scores=[8.0, 16.0]))
    g.add(at.ExactlyOne([~x[0], x[1]]))
    g.fix(x, [1, 1, 0])
    result = solved(g)
    assert result.value == 11.0
    assert result[pair].tolist() == [1, 0]
    g.fix(x[2], 1)
    (reason,) = solved(g).certificate.conflict
    assert reason == (
        "x[2]=0 and its opposite are both asked for, by evidence or by a score of -inf"
    )


def test_evidence_that_propagates():
    g, x = single(4, scores=-1.0)
    g.add(at.Implies(x[:-1], x[1:]))
    g.fix(x[0], 1)
    assert solved(g)[x].tolist() == [1, 1, 1, 1]
    g.fix(x[3], 0)
    result = solved(g)
    assert any("Implies" in reason for reason in result.certificate.conflict)


def test_pairs_with_fixed_ends_and_negations():
    for first in (0, 1):
        for negate in np.ndindex(2, 2):
            g, x = single(3, scores=[0.5, -0.25, 0.125])
            a, b = x[:2].negate(where=negate[0]), x[1:].negate(where=negate[1])
            g.add(at.Pair(a, b, scores=[1.0, -2.0]))
            g.fix(x[0], first)
            solved(g)


def test_one_state_and_forbidden_states():
    g = at.FactorGraph()
    only = g.categorical(2, states=["a"], scores=[[1.0], [2.0]])
    some = g.categorical(2, states="abc", scores=[[-np.inf, 1.0, 0.0], [-np.inf, -np.inf, 3.0]])
    result = solved(g)
    assert result[only].tolist() == [0, 0]
    assert result[some].tolist() == [1, 2]
    g.categorical(1, states=2, scores=-np.inf)
    solved(g)


def test_forbidden_pairs():
    g = at.FactorGraph()
    t = g.categorical(3, states="ab", scores=[[1.0, 0.9], [1.0, 0.8], [1.0, 0.7]])
    for label in "ab":
        g.add(at.Pair(t[:-1] == label, t[1:] == label, scores=-np.inf))
    result = solved(g)
    assert result.labels[t].tolist() == ["a", "b", "a"]


def test_agreeing_categoricals_and_literals():
    g = at.FactorGraph()
    t = g.categorical((2, 3), states="ab", scores=np.array([0.0, 1.0]))
    g.add(at.Agree(t[0], t[1, 0]))
    g.fix(t[1, 0], "a")
    assert solved(g).labels[t].tolist() == [["a", "a", "a"], ["a", "b", "b"]]


def test_nothing_at_all():
    g = at.FactorGraph()
    g.add_constant(2.5)
    result = solved(g)
    assert (result.value, result.bound, result.iterations) == (2.5, 2.5, 0)


def test_arrays_of_no_variables_and_no_factors():
    g = at.FactorGraph()
    x, t = g.binary((0, 3)), g.categorical((0, 2), states=3)
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.All(x, axis=1, output=x[:, 0].reshape(0)))
    g.add(at.Agree(t[:, 0], t[:, 1]))
    pairs = g.add(at.Pair(x[:, 0], x[:, 1], scores=np.zeros(0)))
    y = g.binary(2, scores=[1.0, -1.0])
    g.fix(x[:, 0], 1)
    result = solved(g)
    assert (result[x].shape, result[t].shape, result.labels[t].shape) == ((0, 3), (0, 2), (0, 2))
    assert result[pairs].shape == result.marginals[pairs].shape == (0,)
    assert result[y].tolist() == [1, 0]


def test_variables_in_no_factor_next_to_ones_that_are():
    g, x = single(5, scores=[3.0, -2.0, 1.0, 1.0, -np.inf])
    g.add(at.AtMostOne(x[2:4]))
    result = solved(g)
    assert result[x][[0, 1, 4]].tolist() == [1, 0, 0]
    assert result.marginals[x].min() >= 0.0


@pytest.mark.parametrize("batches", [1, 3])
def test_scores_of_pairs_are_held_once(batches):
    graph = at.FactorGraph()
    x = graph.binary(4, name="x")
    for number in range(batches):
        graph.add(at.Pair(x[:-1], x[1:], scores=[1.0 + number, -2.0, 3.0]))
    at.decode(graph)  # before the graph is compiled
    compiled = graph.compile()
    for _ in range(2):
        written = graph_scores(graph)
        flat = compiled.flat_scores(written).pair
        assert flat.tolist() == [v for n in range(batches) for v in (1.0 + n, -2.0, 3.0)]
        for handle, own in zip(graph.handles, written.factors, strict=True):
            assert np.shares_memory(flat, own) and np.shares_memory(flat, handle.factor.scores)
