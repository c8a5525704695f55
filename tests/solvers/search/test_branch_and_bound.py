"""Branch and bound: the optimum of every small graph, with a proof that replays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import split_links
from assent.model.variables import Literals
from assent.proof.certify import check_assignment
from assent.proof.proof_tree import LinkScores
from assent.proof.replay import Replay
from assent.solvers.base import search_tree
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.search import best_first
from assent.solvers.search.search_node import handed_over
from benchmarks.constrained import joint_labelling
from tests.answers import assert_proven
from tests.oracles.sweep import sweep_seeds, sweep_size
from tests.strategies import add_random_factor, optimum, pick_literals, random_graph
from tests.structures import STRUCTURES

# By dual points of AD3 alone, and with tightened relaxations; neither proof trusts anybody.
PLAIN = at.BranchAndBound(second=None, core=0)
TIGHTENED = at.BranchAndBound(core=0)


def tangled(rng) -> at.FactorGraph:
    """A mixed graph of up to 16 coordinates with many factors, often infeasible or fractional."""
    g = random_graph(rng, binaries=10, categoricals=2, factors=8, scale=1.0, complements=0.2)
    for _ in range(rng.integers(0, 6)):
        add_random_factor(rng, g, 1.0, 0.05, 0.2)
    return g


def is_exact(g: at.FactorGraph, result: at.Result) -> None:
    """Value, status and proof agree with enumeration."""
    best = optimum(g)
    if best == -np.inf:
        assert result.status is at.Status.INFEASIBLE
        assert result.bound == -np.inf
    else:
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(best, rel=1e-6, abs=1e-6)
        assert result.bound >= best - 1e-9
    assert result.certificate.verify()


@sweep_seeds(2.0)
def test_small_graphs_are_solved_and_proven(seeds):
    for seed in seeds:
        g = tangled(np.random.default_rng(seed))
        result = at.decode(g, (PLAIN, TIGHTENED)[seed % 2])
        is_exact(g, result)
        assert not result.certificate.trusted


def frustrated(rng) -> at.FactorGraph:
    """Everybody quarrels with everybody, under a few rules: relaxations are loose."""
    g = at.FactorGraph()
    n = int(rng.integers(6, 11))
    x = g.binary(scores=rng.normal(size=n), name="x")
    t = g.categorical(scores=rng.normal(size=(2, 3)), states=3, name="t")
    first, second = np.triu_indices(n, 1)
    g.add(at.Pair(x[first], x[second], scores=rng.normal(size=len(first))))
    g.add(at.Dense(t[0], t[1], x[0], scores=2.0 * rng.normal(size=(3, 3, 2))))
    g.add(at.Potts(t[0], t[1], scores=rng.normal(size=3)))
    g.add(at.Knapsack(x, weights=rng.integers(1, 6, n), capacity=float(2 * n)))
    for _ in range(3):
        add_random_factor(rng, g, 1.0, 0.0, 0.1)
    return g


@sweep_seeds(0.3)
def test_loose_relaxations_are_searched(seeds):
    nodes = 0
    for seed in seeds:
        g = frustrated(np.random.default_rng(seed))
        is_exact(g, at.decode(g, TIGHTENED))
        result = at.decode(g, PLAIN)
        is_exact(g, result)
        nodes += result.iterations
    assert nodes > len(seeds)


@pytest.mark.parametrize(
    "solver", [at.MPLP(), at.Subgradient(), at.StarDiffusion(), at.LinearProgram()], ids=repr
)
def test_any_decoder_with_bounds_serves(solver):
    for seed in range(5):
        g = frustrated(np.random.default_rng(seed))
        if not isinstance(solver, (at.Subgradient, at.LinearProgram)):
            g = without_knapsacks(g)
        is_exact(g, at.decode(g, solver, exact=True))


def without_knapsacks(g: at.FactorGraph) -> at.FactorGraph:
    """The pairs and tables of a graph alone: a knapsack has no max-marginals."""
    other = at.FactorGraph()
    x = other.binary(scores=g.variables[0].scores, name="x")
    pair = g.handles[0].factor
    other.add(at.Pair(x[pair.codes[:, 0]], x[pair.codes[:, 1]], scores=pair.scores))
    return other


def test_what_is_left_can_be_given_away():
    g = frustrated(np.random.default_rng(3))
    plain = at.decode(g, exact=True)
    is_exact(g, plain)
    assert plain.status is at.Status.OPTIMAL


def test_settings_are_checked():
    with pytest.raises(ValueError, match="gap_tolerance is at least 0"):
        at.BranchAndBound(gap_tolerance=-1.0)
    with pytest.raises(TypeError, match="max_nodes is a whole number"):
        at.BranchAndBound(max_nodes=1.5)
    with pytest.raises(TypeError, match="decoder with bounds such as AD3"):
        at.BranchAndBound(solver="AD3")


def spin_glass(n: int = 30) -> at.FactorGraph:
    """Far too hard for branching alone."""
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary(scores=rng.normal(size=n), name="x")
    first, second = np.triu_indices(n, 1)
    g.add(at.Pair(x[first], x[second], scores=rng.normal(size=len(first))))
    return g


def test_limits_end_with_the_best_so_far():
    g = spin_glass()
    few = at.decode(g, replace(PLAIN, max_nodes=5))
    short = at.decode(g, PLAIN, time_limit=0.01)
    asked = at.decode(g, PLAIN, callback=lambda step: step.iteration >= 7)
    for result, word in ((few, "Node limit"), (short, "Time limit"), (asked, "callback")):
        assert result.status is at.Status.STOPPED and word in result.message
        assert result.feasible and result.value < result.bound
        assert result.certificate.verify()
    assert few.bound >= asked.bound >= asked.value
    assert [step.best_bound >= step.value for step in asked.trace.reports] == [True] * len(
        asked.trace
    )


def test_bounds_never_rise():
    """What bounds a subproblem stays where it is bounded again with more values known."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        n = int(rng.integers(12, 40))
        x = g.binary(n, scores=rng.normal(size=n))
        ends = rng.integers(n, size=(3 * n, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        g.add(at.Pair(x[ends[:, 0]], x[ends[:, 1]], scores=1.5 * rng.normal(size=len(ends))))
        for most in (2, 5, 20):
            result = at.decode(g, replace(PLAIN, max_nodes=most))
            bounds = np.append(result.trace.best_bound, result.bound)
            assert (np.diff(bounds) <= 1e-12 * np.abs(bounds[1:])).all(), (seed, most)
            assert result.certificate.verify()


def test_an_interrupt_keeps_what_is_proven():
    g = spin_glass()

    def interrupt(step):
        if step.iteration == 20:
            raise KeyboardInterrupt

    result = at.decode(g, PLAIN, callback=interrupt)
    assert result.status is at.Status.STOPPED and "Interrupted" in result.message
    assert result.certificate.verify() and result.feasible
    further = at.decode(g, replace(PLAIN, max_nodes=30), warm_start=result)
    assert further.value >= result.value and further.certificate.verify()


def test_an_interrupt_at_the_root_keeps_its_bound(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(at.Tightened, "advance", interrupt)
    result = at.decode(frustrated(np.random.default_rng(1)), TIGHTENED)
    assert result.status is at.Status.STOPPED and result.feasible
    assert np.isfinite(result.bound) and result.certificate.verify()


@pytest.mark.parametrize("method", ["branch", "close", "add"])
def test_an_interrupt_at_any_moment_loses_no_case(monkeypatch, method):
    g, tree = frustrated(np.random.default_rng(1)), search_tree.SearchTree
    original, best = getattr(tree, method), optimum(g)
    for moment in (1, 2):
        calls = []

        def interrupted(self, node, *rest, calls=calls, moment=moment):
            calls.extend([node] * (node.depth > 0 or method != "add"))
            if len(calls) == moment and method == "add":
                calls.append(None)  # once
                raise KeyboardInterrupt
            found = original(self, node, *rest)
            if len(calls) == moment:
                raise KeyboardInterrupt
            return found

        monkeypatch.setattr(tree, method, interrupted)
        result = at.decode(g, PLAIN)
        assert len(calls) >= moment and "Interrupted" in result.message
        assert result.bound >= best - 1e-9 and result.certificate.verify()


def test_running_out_of_memory_keeps_what_is_proven():
    def demand(step):
        if step.iteration == 20:
            raise MemoryError

    result = at.decode(spin_glass(), PLAIN, callback=demand)
    assert result.status is at.Status.STOPPED and "Out of memory" in result.message
    assert result.feasible and result.certificate.verify()


def test_a_log_that_grows_too_large_says_so(monkeypatch):
    monkeypatch.setattr(search_tree, "MOST_BYTES", 1_000)
    result = at.decode(spin_glass(14), PLAIN)
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.certificate.trusted == (search_tree.NOT_KEPT,)


def test_a_relaxed_gap_stops_early():
    g = spin_glass(14)
    exact = at.decode(g, PLAIN)
    loose = at.decode(g, replace(PLAIN, gap_tolerance=0.2))
    assert exact.status is loose.status is at.Status.OPTIMAL
    assert loose.iterations <= exact.iterations
    assert loose.certificate.relative_gap <= 0.2 and loose.certificate.verify()


def test_tightening_proves_what_branching_does_not():
    g = spin_glass()
    result = at.decode(g, TIGHTENED)
    assert result.status is at.Status.OPTIMAL and result.iterations < 20
    assert result.certificate.verify() and not result.certificate.trusted


@pytest.mark.parametrize("limit", [0.01, 0.1])
def test_short_limits_hold_with_tightening(limit):
    result = at.decode(spin_glass(60), at.BranchAndBound(), time_limit=limit)
    assert result.feasible and result.certificate.verify()
    assert result.seconds < 5.0  # generous: the machine may be busy


def over_structure(rng, make) -> at.FactorGraph:
    """A structure beside pairs and rules over the same variables, small enough to enumerate."""
    while True:
        g = at.FactorGraph()
        g.add(make(rng, g))
        if 2 <= g.size <= 12:
            break
    first, second = np.triu_indices(g.size, 1)
    chosen = rng.random(len(first)) < 0.4
    ends = [Literals(g, part[chosen].astype(np.int32)) for part in (first, second)]
    if chosen.any():
        g.add(at.Pair(*ends, scores=rng.normal(size=int(chosen.sum()))))
    size = min(4, g.size)
    g.add(at.AtMost(size - 1, pick_literals(rng, g, size)))
    return g


def best_by_checking(g: at.FactorGraph) -> float:
    """The best value of all assignments, each checked as a certificate would."""
    compiled, scores = g.compile(), graph_scores(g)
    points = ((np.arange(2**g.size)[:, None] >> np.arange(g.size)) & 1).astype(np.int8)
    checks = (check_assignment(compiled, scores, point) for point in points)
    return max((check.value for check in checks if check.feasible), default=-np.inf)


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_are_searched(name):
    for seed in range(sweep_size() // 30):
        g = over_structure(np.random.default_rng(seed), STRUCTURES[name])
        result = at.decode(g, (PLAIN, TIGHTENED)[seed % 2])
        best = best_by_checking(g)
        if best == -np.inf:
            assert result.status is at.Status.INFEASIBLE
        else:
            assert result.status is at.Status.OPTIMAL
            assert result.value == pytest.approx(best, rel=1e-6, abs=1e-6)
        assert result.certificate.verify()


@pytest.mark.parametrize("name", STRUCTURES)
def test_known_variables_settle_all_parts_of_a_structure(name):
    """So cases by variables are enough: the last of them leave nothing open, whatever the links."""
    settled = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        g = over_structure(rng, STRUCTURES[name])
        compiled, scores = g.compile(), graph_scores(g)
        if compiled.conflict is not None:
            continue
        links = split_links(compiled.problem, rng.normal(size=compiled.problem.n_links))
        replay = Replay(compiled, scores)
        for number in rng.permutation(2**g.size)[:100]:
            point = ((number >> np.arange(g.size)) & 1).astype(np.int8)
            check = check_assignment(compiled, scores, point)
            if check.feasible:
                shown = replay.bound(LinkScores(links), point)
                assert shown == pytest.approx(check.value, abs=1e-9)
                settled += 1
    assert settled > 0


@pytest.mark.parametrize("seed", range(4))
def test_second_order_parsers_under_rules_are_searched(seed):
    """Trees and consecutive siblings over the same arcs; no head has more than two modifiers."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    heads, words = np.nonzero(np.arange(4)[:, None] != np.arange(1, 4))
    arc = g.binary(9, scores=rng.normal(size=9), name="arc")
    g.add(at.Arborescence(arc, heads=heads, modifiers=words + 1))
    for head in range(4):
        own = np.flatnonzero(heads == head)
        right = words[own] + 1 > head
        for side in (own[right], own[~right][::-1]):
            scores = 3.0 * rng.normal(size=(len(side) + 2, len(side) + 2))
            if len(side) > 1:
                g.add(at.HeadAutomaton(arc[side], scores=scores))
        g.add(at.AtMost(2, arc[own]))
    result = at.decode(g, (PLAIN, TIGHTENED)[seed % 2])
    assert_proven(result, best_by_checking(g))


@sweep_seeds(0.3)
def test_what_is_left_of_states_is_handed_to_their_factor(seeds):
    """The bound never rises by it."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, factors=5, scale=1.0)
        compiled = graph.compile()
        if compiled.conflict is not None:
            continue
        problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
        before = split_links(problem, rng.normal(size=problem.n_links))
        after = handed_over(problem, scores, before)
        falls = bound_at(problem, scores, before) - bound_at(problem, scores, after)
        assert falls >= -1e-9


def test_cases_begin_where_the_one_above_ended(monkeypatch):
    """Link scores of a case, carried over to the next, bound it no worse."""
    risen = []

    def watched(case, solver, start, *rest, own=best_first.bound_subproblem):
        if start is not None and case.problem.n_links:
            bound = bound_at(case.problem, case.scores, case.warm(start).dual)
            risen.append(bound - ended[-1])
        own(case, solver, start, *rest)
        ended.append(case.bound)

    ended: list[float] = []
    monkeypatch.setattr(best_first, "bound_subproblem", watched)
    at.decode(joint_labelling(200, 1), replace(PLAIN, max_nodes=2))
    assert risen and max(risen) < 0.05  # 2.6 where states pay one by one
