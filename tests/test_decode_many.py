"""Many problems at once: the answers of one-by-one decoding, whatever the others are."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from numba import typeof

import assent as at
from assent.kernels.ad3 import ad3_schedule
from assent.kernels.ad3.structure_steps import searcher_of
from assent.kernels.core import schedule
from assent.solvers.ad3 import batch
from assent.solvers.ad3.batch import prepare
from assent.solvers.direct import independent_factors_batch
from benchmarks.small_instances import FAMILIES, WEIGHTED, small_instances
from benchmarks.synthetic import assignment
from tests.factors.test_structures import random_graph as structured_graph
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph
from tests.structures import STRUCTURES

LIMIT = at.AD3(max_iterations=3000)


def assert_same(batched, alone):
    """The same run: every figure and every array up to rounding."""
    assert batched.status is alone.status
    assert batched.message == alone.message
    assert batched.iterations == alone.iterations
    assert batched.value == pytest.approx(alone.value, rel=1e-9, abs=1e-12)
    assert batched.bound == pytest.approx(alone.bound, rel=1e-9, abs=1e-12)
    assert np.array_equal(batched.certificate.assignment, alone.certificate.assignment)
    assert batched.consensus == pytest.approx(alone.consensus, abs=1e-7)
    assert batched.violated == alone.violated
    assert batched.certificate.conflict == alone.certificate.conflict
    assert batched.certificate.relaxation == pytest.approx(alone.certificate.relaxation) or (
        batched.certificate.relaxation.value
        == pytest.approx(alone.certificate.relaxation.value, rel=1e-6, abs=1e-6)
    )
    if alone.inner is not None:
        assert batched.inner == pytest.approx(alone.inner, abs=1e-6, nan_ok=True)


def hard(count, seed=0, side=7):
    """Frustrated grids that never close their gap."""
    graphs = []
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        g = at.FactorGraph()
        x = g.binary((side, side), scores=rng.normal(size=(side, side)), name="x")
        for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
            g.add(at.Pair(a, b, scores=3.0 * rng.normal(size=a.shape)))
        g.add(at.AtMostOne(x[0]))
        graphs.append(g)
    return graphs


def easy():
    """One answer, found at once."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 2.0, 3.0])
    g.add(at.AtMost(2, x))
    return g


@sweep_seeds(share=3.0)
def test_random_graphs_as_one_by_one_and_bounded_by_enumeration(seeds):
    """Tables, parities, knapsacks, evidence, ``-inf``, infeasible ones: all in one batch."""
    graphs = [random_graph(np.random.default_rng(seed)) for seed in seeds]
    results = at.decode_many(graphs, solver=LIMIT)
    assert len(results) == len(graphs)
    for graph, result, value, bound in zip(
        graphs, results, results.values, results.bounds, strict=True
    ):
        best = optimum(graph)
        slack = 1e-7 * (1.0 + abs(best)) if np.isfinite(best) else 0.0
        assert value == result.value <= best + slack
        assert bound == result.bound >= best - slack
        assert result.certificate.verify()
        if result.status is at.Status.INFEASIBLE:
            assert best == -np.inf
        if result.status is at.Status.OPTIMAL:
            assert result.value == pytest.approx(best, rel=1e-5, abs=1e-5)
        assert_same(result, at.decode(graph, LIMIT))


@sweep_seeds(share=0.5)
def test_by_default_every_answer_is_as_good_as_that_of_decode(seeds):
    graphs = [random_graph(np.random.default_rng(seed)) for seed in seeds]
    graphs += small_instances(3, seed=int(seeds[0]))
    for graph, result in zip(graphs, at.decode_many(graphs), strict=True):
        alone = at.decode(graph)
        assert result.status is alone.status
        assert result.value == pytest.approx(alone.value, rel=1e-5, abs=1e-5)
        assert result.certificate.verify()


@sweep_seeds(share=0.5)
@pytest.mark.parametrize("solver", [None, at.AD3(), at.Auto(), at.Subgradient()])
def test_exact_answers_are_those_of_enumeration(seeds, solver):
    graphs = [random_graph(np.random.default_rng(seed)) for seed in seeds]
    results = at.decode_many(graphs, solver, exact=True)
    for graph, result in zip(graphs, results, strict=True):
        best = optimum(graph)
        proven = at.Status.OPTIMAL if np.isfinite(best) else at.Status.INFEASIBLE
        assert result.status is proven
        assert result.value == pytest.approx(best, rel=1e-5, abs=1e-5)
        assert result.certificate.verify()


def test_what_the_compiled_loop_leaves_open_goes_on_from_there():
    """A relaxation that is not tight: AD3 ends RELAXED, the plan proves the optimum."""
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0, name="x")
    g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
    relaxed, planned = at.decode_many([g], at.AD3()), at.decode_many([g, g])
    assert relaxed[0].status is at.Status.RELAXED
    assert [s.name for s in planned.statuses] == ["OPTIMAL"] * 2
    assert planned.values.tolist() == [1.0, 1.0]
    assert np.array_equal(planned.values, at.decode_many([g, g], at.AD3(), exact=True).values)


def test_instances_of_the_benchmark_as_one_by_one():
    graphs = small_instances(24, seed=5, families=(*FAMILIES, WEIGHTED))
    results = at.decode_many(graphs, solver=LIMIT)
    for graph, result in zip(graphs, results, strict=True):
        assert_same(result, at.decode(graph, LIMIT))
    assert {status.name for status in results.statuses} >= {"OPTIMAL", "RELAXED"}


def test_problems_large_enough_for_gauss_seidel_order_as_one_by_one():
    graphs = [assignment(24, 24, seed) for seed in range(2)]
    assert graphs[0].compile().problem.n_links > ad3_schedule.ACCELERATED_LINKS
    for graph, result in zip(graphs, at.decode_many(graphs, solver=LIMIT), strict=True):
        assert result.iterations > ad3_schedule.MARKS[-1]
        assert_same(result, at.decode(graph, LIMIT))


def test_threads_change_nothing():
    graphs = small_instances(40, seed=1)
    alone, helped = (at.decode_many(graphs, solver=LIMIT, threads=t) for t in (1, 3))
    assert np.array_equal(alone.values, helped.values)
    assert np.array_equal(alone.bounds, helped.bounds)
    assert np.array_equal(alone.iterations, helped.iterations)
    for one, other in zip(alone, helped, strict=True):
        assert np.array_equal(one.certificate.flat_dual.logic, other.certificate.flat_dual.logic)
        assert np.array_equal(one.consensus, other.consensus)


def test_a_problem_does_not_depend_on_its_neighbours(monkeypatch):
    graphs = small_instances(12, seed=2)
    together = at.decode_many(graphs, solver=LIMIT)
    monkeypatch.setattr(batch, "BUFFER_LINKS", 1)
    monkeypatch.setattr(batch, "CALL_LINKS", 1)
    apart = at.decode_many(graphs[::-1], solver=LIMIT, threads=2)
    assert np.array_equal(together.values, apart.values[::-1])
    assert np.array_equal(together.bounds, apart.bounds[::-1])


# ---------------------------------------------------------------- one graph, many scores


def tagging():
    """Labels in a row with a table between neighbours, a rule and a pair."""
    g = at.FactorGraph()
    tag = g.categorical(4, states="abc", name="tag")
    x = g.binary((2, 3), scores=0.5, name="x")
    table = g.add(at.Dense(tag[:-1], tag[1:], scores=np.eye(3)))
    pair = g.add(at.Pair(x[0], ~x[1], scores=[1.0, -2.0, 0.5]))
    g.add(at.AtMost(2, x, axis=1))
    g.add(at.Implies(x[0, 0], tag[0] == "b"))
    g.fix(x[1, 2], 1)
    return g, tag, x, table, pair


def assert_rows(graph, scores, results):
    count = len(next(iter(scores.values())))
    assert len(results) == count
    for b in range(count):
        alone = at.decode(graph, LIMIT, scores={key: value[b] for key, value in scores.items()})
        assert_same(results[b], alone)


def test_one_graph_under_many_scores():
    rng = np.random.default_rng(0)
    g, tag, x, table, pair = tagging()
    scores = {tag: rng.normal(size=(7, 4, 3)), x: rng.normal(size=(7, 2, 3))}
    results = at.decode_many(g, LIMIT, scores=scores)
    assert_rows(g, scores, results)
    assert results[tag].shape == (7, 4)
    assert results[x].shape == (7, 2, 3)
    assert results[pair].shape == (7, 3)
    assert results.labels[tag].shape == (7, 4)
    assert results.marginals[tag].shape == (7, 4, 3)
    assert results.marginals[table].shape == (7, 3, 3, 3)
    assert np.array_equal(results[x][3], results[3][x])
    assert results.values == pytest.approx([r.value for r in results])
    scores = {
        x[0]: rng.normal(size=(5, 1)),  # a row broadcasts as it does for one decode
        table: rng.normal(size=(5, 3, 3, 3)),
        pair: rng.normal(size=(5, 3)),
    }
    assert_rows(g, scores, at.decode_many(g, LIMIT, scores=scores))


def test_scores_that_forbid_other_values():
    rng = np.random.default_rng(1)
    g, tag, *_ = tagging()
    scores = rng.normal(size=(6, 4, 3))
    scores[2, 0, 1] = scores[4, 0, 1] = -np.inf
    scores[5, 1] = -np.inf  # no state is left
    with pytest.warns(at.RecompileWarning) as caught:
        results = at.decode_many(g, LIMIT, scores={tag: scores})
    assert len(caught) == 1
    with pytest.warns(at.RecompileWarning):
        assert_rows(g, {tag: scores}, results)
    assert results.statuses[5] is at.Status.INFEASIBLE
    for answers in (results[tag], results.labels[tag]):
        assert answers.mask.all(axis=1).tolist() == answers.mask.any(axis=1).tolist()
        assert answers.mask.any(axis=1).tolist() == [False] * 5 + [True]
        assert isinstance(answers, np.ma.MaskedArray)
    assert "no answer to 1: 5" in repr(results)
    assert not isinstance(results.least_violating[tag], np.ma.MaskedArray)
    assert results.least_violating[tag].shape == (6, 4)
    assert results.feasible.tolist() == [True] * 5 + [False]
    assert results.gaps[5] == 0.0


def test_nothing_but_variables():
    g = at.FactorGraph()
    x = g.binary(2)
    results = at.decode_many(g, scores={x: [[1.0, -1.0], [-1.0, 2.0]]})
    assert results[x].tolist() == [[1, 0], [0, 1]]
    assert results.values.tolist() == [1.0, 2.0]


def test_an_empty_batch():
    g = at.FactorGraph()
    x = g.binary(2)
    g.add(at.AtMostOne(x))
    assert len(at.decode_many([])) == 0
    none = at.decode_many(g, scores={x: np.zeros((0, 2))})
    assert len(none) == 0 and none.values.shape == (0,)
    assert repr(none).startswith("Results of 0 problems")
    with pytest.raises(at.ModelError, match="the batch was empty"):
        none[x]


# ---------------------------------------------------------------- ways around the compiled loop


def test_what_the_compiled_loop_does_not_take(monkeypatch):
    """Structures written in Python, and problems with many links."""
    in_python = structured_graph(np.random.default_rng(4), "Custom")
    graphs = [in_python, *small_instances(3)]
    links = [graph.compile().problem.n_links for graph in graphs]
    few = sorted(links[1:])[1]
    monkeypatch.setattr(schedule, "SMALL_LINKS", few)
    results = at.decode_many(graphs, solver=LIMIT)
    for graph, result in zip(graphs, results, strict=True):
        assert_same(result, at.decode(graph, LIMIT))
    many = {i for i, count in enumerate(links) if count > few}
    assert len(many) == 1 and set(results.run.finished) == {0} | many


@pytest.mark.parametrize("kind", [kind for kind in STRUCTURES if kind != "Custom"])
def test_structures_beside_other_factors_as_one_by_one(kind):
    """Pairs, rules, evidence; again from where that ended; inner parts and proofs as well."""
    graphs = [structured_graph(np.random.default_rng(seed), kind) for seed in range(4)]
    results = at.decode_many(graphs, solver=LIMIT)
    again = at.decode_many(graphs, solver=LIMIT, warm_start=results)
    for graph, result, later in zip(graphs, results, again, strict=True):
        alone = at.decode(graph, LIMIT)
        assert result.certificate.verify()
        if alone.status is at.Status.INFEASIBLE:  # how small a conflict is found takes time
            assert result.status is later.status is alone.status
            continue
        assert_same(result, alone)
        assert later.value >= result.value - 1e-6
        if result.status is at.Status.OPTIMAL:
            assert later.iterations <= result.iterations
        if later.iterations == 0:  # inner parts are those of the answer
            own = at.decode(graph, LIMIT, warm_start=later)
            assert later.inner == pytest.approx(own.inner, nan_ok=True)
    in_loop = {i for i, g in enumerate(graphs) if g.compile().problem.n_links}
    assert in_loop - set(results.run.places) == set()


@pytest.mark.parametrize("kind", ["Tree", "Matching"])
def test_structures_of_one_graph_and_of_many_are_of_one_type(kind):
    """Or else AD3 would be compiled for each: an array that is read-only is of another type."""
    graphs = (structured_graph(np.random.default_rng(seed), kind) for seed in range(9))
    problem = next(own for g in graphs if (own := g.compile().problem).models)
    alone, many = searcher_of(problem), batch._join_structures([prepare(problem).structures])
    for field in ("tables", "models", "layout"):
        assert typeof(getattr(alone, field)) == typeof(getattr(many, field))


@pytest.mark.parametrize("kind", [kind for kind in STRUCTURES if kind != "Custom"])
def test_structures_by_themselves_as_one_by_one(kind):
    """In compiled rows: the same optima, answers that have them, and proofs on demand."""
    rng = np.random.default_rng(8)
    for _ in range(3):
        g = at.FactorGraph()
        g.add(STRUCTURES[kind](rng, g))
        extra = g.binary(2, scores=[1.0, -1.0])
        keys = [array.symbol for array in g.variables]
        scores = {key: rng.normal(size=(5, *key.codes.shape)) for key in keys}
        results = at.decode_many(g, scores=scores)
        for b, result in enumerate(results):
            alone = at.decode(g, scores={key: scores[key][b] for key in keys})
            assert results.values[b] == pytest.approx(alone.value, abs=1e-9)
            assert results.bounds[b] == pytest.approx(alone.bound, abs=1e-9)
            assert result.value == pytest.approx(alone.value, abs=1e-9)
            assert result.certificate.verify()
            for key in keys:
                assert np.array_equal(results[key][b], result[key])
        assert np.array_equal(results[extra], scores[extra] > 0)


def test_structures_by_themselves_share_threads_time_and_interrupts(monkeypatch):
    rng = np.random.default_rng(9)
    g = at.FactorGraph()
    tag = g.categorical(7, 3)
    chain = g.add(at.Chain(tag, transitions=rng.normal(size=(3, 3))))
    scores = {tag: rng.normal(size=(20, 7, 3))}
    plain = at.decode_many(g, scores=scores)
    assert not plain._made and set(plain.iterations) == {1}
    monkeypatch.setattr(independent_factors_batch, "CALL_LINKS", 50)
    assert np.array_equal(at.decode_many(g, scores=scores, threads=2)[tag], plain[tag])
    both = {**scores, chain: rng.normal(size=(20, 3, 3))}
    for b, result in enumerate(at.decode_many(g, scores=both)):
        alone = at.decode(g, scores={key: value[b] for key, value in both.items()})
        assert result.value == pytest.approx(alone.value)
    again = at.decode_many(g, scores=scores, warm_start=plain)
    assert np.array_equal(again[tag], plain[tag])
    late = at.decode_many(g, scores=scores, time_limit=1e-9)
    assert late.bounds == pytest.approx(plain.values) and (late.values <= plain.values + 1e-9).all()
    calls = []

    def stop(*arguments):
        calls.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(independent_factors_batch, "maximize_rows", stop)
    stopped = at.decode_many(g, scores=scores)
    assert calls and (stopped.bounds >= plain.values - 1e-9).all()


def test_many_rows_of_one_structure_need_no_result_each():
    """Values, answers and warm starts, where some states are fixed, negated or in no structure."""
    rng = np.random.default_rng(11)
    g = at.FactorGraph()
    x = g.binary(5, name="x")
    alone = g.binary(2, name="alone")
    tag = g.categorical(4, "abc", name="tag")
    g.add(at.Cardinality([x[0], ~x[2], x[4]], scores=[0.0, 1.0, -1.0, 0.5]))
    g.add(at.Chain(tag, transitions=np.where(np.eye(3) > 0, -np.inf, 0.2)))
    g.fix(tag[1], "b")
    g.add_constant(2.5)
    scores = {key: rng.normal(size=(30, *key.codes.shape)) for key in (x, alone, tag)}
    results = at.decode_many(g, scores=scores)
    assert not results._made and set(results.statuses) == {at.Status.OPTIMAL}
    for b in range(30):
        single = at.decode(g, scores={key: array[b] for key, array in scores.items()})
        assert results.values[b] == pytest.approx(single.value, abs=1e-9)
        for key in (x, alone, tag):
            assert np.array_equal(results[key][b], single[key])
    again = at.decode_many(g, scores=scores, warm_start=results)
    assert again.values == pytest.approx(results.values)
    tiny = at.decode_many(g, scores={tag: np.full((3, 4, 3), 1e-30)})
    assert tiny.values == pytest.approx([2.5 + 1.0 + 0.6] * 3)


def test_another_solver():
    graphs = small_instances(3)
    results = at.decode_many(graphs, solver=at.LinearProgram())
    assert results.bounds == pytest.approx(at.decode_many(graphs).bounds, abs=1e-4)
    assert results.iterations.tolist() == [1, 1, 1]


def test_one_step_solvers_share_the_time_limit(monkeypatch):
    limits = []
    original = at.LinearProgram.advance

    def advance(self, *arguments):
        limits.append(self.time_limit)
        return original(self, *arguments)

    monkeypatch.setattr(at.LinearProgram, "advance", advance)
    at.decode_many(small_instances(3), solver=at.LinearProgram(), time_limit=50.0)
    assert 50.0 > limits[0] > limits[1] > limits[2] > 0.0


# ---------------------------------------------------------------- infeasible ones


def contradictory():
    g = at.FactorGraph()
    x = g.binary((3, 2), scores=1.0, name="x")  # three pigeons, two holes
    g.add(at.ExactlyOne(x, axis=1), name="pigeon")
    g.add(at.AtMostOne(x, axis=0), name="hole")
    return g


def test_infeasible_problems_in_the_batch():
    results = at.decode_many([easy(), contradictory(), easy()])
    assert [s.name for s in results.statuses] == ["OPTIMAL", "INFEASIBLE", "OPTIMAL"]
    assert results.bounds[1] == -np.inf == results.values[1]
    bad = results[1]
    assert_same(bad, at.decode(contradictory(), at.AD3()))
    assert bad.certificate.verify()
    assert any("hole" in words for words in bad.certificate.conflict)
    assert "1 INFEASIBLE" in repr(results)


# ---------------------------------------------------------------- reading and refusing


def test_results_are_a_sequence():
    graphs = [easy(), *hard(1), easy()]
    results = at.decode_many(graphs, solver=at.AD3(max_iterations=20))
    assert results[-1] is results[2]
    assert results[:2] == [results[0], results[1]]
    assert list(results) == [results[i] for i in range(3)]
    with pytest.raises(IndexError, match="result 3 of 3"):
        results[3]
    assert repr(results).startswith("Results of 3 problems in ")
    assert "2 OPTIMAL, 1 STOPPED" in repr(results)
    with pytest.raises(at.ModelError, match=r"results\[i\]\[x\]"):
        results[graphs[0].variables[0].symbol]
    with pytest.raises(at.ModelError, match=r"results\[i\]\[x\]"):
        results["x"]
    with pytest.raises(TypeError, match=r"by number, variable or handle, not 1\.5"):
        results[1.5]
    with pytest.raises(ValueError, match="read-only"):
        results.values[0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (lambda g, x: (g,), TypeError, "leading batch axis, got None; decode"),
        (lambda g, x: (g, {}), TypeError, "leading batch axis"),
        (lambda g, x: (g, [{x: [1.0]}]), TypeError, "leading batch axis"),
        (lambda g, x: (g, {x: 1.0}), at.ModelError, "a single number; the leading axis"),
        (lambda g, x: (g, {x: np.zeros((2, 4))}), at.ModelError, r"expected \(2, 3\)"),
        (lambda g, x: (g, {x: np.zeros((2, 3, 1, 1))}), at.ModelError, "the problems, then"),
        (
            lambda g, x: (g, {x: np.zeros((2, 3)), x[0]: np.zeros(4)}),
            at.ModelError,
            "are for 4 problems, those for .* for 2",
        ),
        (lambda g, x: (g, {x: [[np.nan] * 3]}), at.ModelError, r"score nan at \[0, 0\]"),
        (lambda g, x: (g, {~x: np.zeros((2, 3))}), at.ModelError, "not for negated literals"),
        (lambda g, x: (g, {7: np.zeros((2, 3))}), TypeError, "variables or handles, not 7"),
        (lambda g, x: (g, {"y": np.zeros((2, 3))}), KeyError, "nothing is called 'y'"),
        (lambda g, x: (g, {g.handles[0]: np.zeros((2, 3))}), at.ModelError, "has no scores"),
        (lambda g, x: ([g, g], [None]), at.ModelError, "2 graphs, but scores for 1"),
        (lambda g, x: ([g], {x: [[1.0]]}), TypeError, "a list of dicts, one per graph"),
        (lambda g, x: ([g], [3]), TypeError, "scores is a dict"),
        (lambda g, x: ([g, x],), TypeError, "takes FactorGraphs; number 1 is"),
        (lambda g, x: ("g",), TypeError, "a FactorGraph or a list of them, got 'g'"),
        (lambda g, x: (3,), TypeError, "a FactorGraph or a list of them, got 3"),
        (lambda g, x: ([g], None, "AD3"), TypeError, "a solver is a settings object"),
    ],
)
def test_what_is_refused(arguments, error, words):
    g = easy()
    graphs, scores, solver = (*arguments(g, g.variables[0].symbol), None, None)[:3]
    with pytest.raises(error, match=words):
        at.decode_many(graphs, solver, scores=scores)


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"threads": 0}, ValueError, "threads is at least 1, got 0"),
        ({"threads": 1.5}, TypeError, "threads is a whole number, got 1.5"),
        ({"time_limit": 0.0}, ValueError, "time_limit is a positive number of seconds"),
        ({"time_limit": "1"}, TypeError, "time_limit is a positive number of seconds"),
        ({"warm_start": 3}, TypeError, "earlier results, or a single one for all, got 3"),
        ({"warm_start": [3]}, TypeError, "warm_start is an earlier result, got 3"),
        ({"warm_start": []}, at.ModelError, "0 results for 1 problems"),
    ],
)
def test_settings_that_are_refused(keywords, error, words):
    with pytest.raises(error, match=words):
        at.decode_many([easy()], **keywords)


def test_scores_in_the_place_of_a_solver_are_told_so():
    g = easy()
    with pytest.raises(TypeError, match=r"such as AD3\(\), got \{"):
        at.decode_many(g, {g.variables[0].symbol: np.zeros((2, 3))})


def test_a_warm_start_from_another_graph_is_refused():
    with pytest.raises(at.ModelError, match="comes from another graph"):
        at.decode_many([easy()], warm_start=at.decode_many([easy()]))


def test_scores_of_another_graph_are_refused():
    with pytest.raises(at.ModelError, match="belong to another graph"):
        at.decode_many(easy(), scores={easy().variables[0].symbol: np.zeros((2, 3))})


def test_what_is_prepared_is_kept_as_long_as_the_problem():
    problem = easy().compile().problem
    first = prepare(problem)
    assert prepare(problem) is first
    kept = weakref.ref(first)
    del problem, first
    gc.collect()
    assert kept() is None
