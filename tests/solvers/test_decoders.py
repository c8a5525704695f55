"""Every decoder on the same graphs: bounds that bound, limits that hold, errors that say why."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.errors import ModelError
from tests.factors.test_structures import best_of
from tests.factors.test_structures import random_graph as structured_graph
from tests.oracles.relaxation import naive_lp
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph
from tests.structures import STRUCTURES

# Few iterations: bounds must hold whenever a run ends.
QUICK = {
    "Subgradient": at.Subgradient(max_iterations=300),
    "Subgradient-root": at.Subgradient(step="root", max_iterations=100),
    "Subgradient-harmonic": at.Subgradient(
        step="harmonic", count="iterations", lazy=False, max_iterations=100
    ),
    "Subgradient-geometric": at.Subgradient(step="geometric", max_iterations=100),
    "MPLP": at.MPLP(),
    "StarDiffusion": at.StarDiffusion(max_iterations=200),
    "StarDiffusion-submodels": at.StarDiffusion(keep=False, max_iterations=200),
    "TRWS": at.TRWS(),
    "MaxProduct": at.MaxProduct(max_iterations=50),
    "Accelerated": at.Accelerated(max_iterations=200),
    "Accelerated-cold": at.Accelerated(temperature=1e-5, max_iterations=50),
}
DESCENDING = ("MPLP", "StarDiffusion", "StarDiffusion-submodels", "TRWS")
NEED_MAX_MARGINALS = (*DESCENDING, "MaxProduct")


def slack(bound: float) -> float:
    return 1e-9 * (1.0 + abs(bound)) if np.isfinite(bound) else 0.0


def check(result: at.Result, best: float) -> None:
    """``value <= best <= bound``, and the certificate says the same."""
    assert not np.isnan(result.bound)
    assert result.value <= best + slack(best)
    assert best <= result.bound + slack(result.bound)
    assert result.certificate.verify()
    if result.status is at.Status.OPTIMAL:
        # All that is promised: scores may be as small as that.
        assert best - result.value <= 1e-6 * (1.0 + abs(result.bound)) + slack(best)


def answers(graph: at.FactorGraph, question: str) -> bool:
    return all(question in handle.factor.abilities for handle in graph.handles)


def run(name: str, graph: at.FactorGraph) -> at.Result | None:
    """The result, or None where a factor lacks what the solver needs; that must be said."""
    try:
        return at.decode(graph, QUICK[name])
    except ModelError as error:
        if "marginals" in str(error):
            missing = "marginals" if name.startswith("Accelerated") else "max_marginals"
            assert f"needs {missing}," in str(error) and not answers(graph, missing)
        else:
            assert name == "TRWS" and "two variables at most" in str(error)
        return None


@pytest.mark.parametrize("name", QUICK)
@sweep_seeds(0.3)
def test_bounds_on_mixed_graphs(name, seeds):
    for seed in seeds:
        graph = random_graph(np.random.default_rng(seed), factors=6)
        result = run(name, graph)
        if result is not None:
            check(result, optimum(graph))


@pytest.mark.parametrize("kind", STRUCTURES)
@sweep_seeds(0.05)
def test_bounds_on_structures(kind, seeds):
    for seed in seeds:
        graph = structured_graph(np.random.default_rng(seed), kind)
        best = best_of(graph)
        for name in QUICK:
            result = run(name, graph)
            if result is not None:
                check(result, best)


def relaxation(graph: at.FactorGraph) -> float:
    compiled = graph.compile()
    if compiled.conflict is not None:
        return -np.inf
    return naive_lp(compiled.problem, compiled.flat_scores(graph_scores(graph)))


EXACT = {
    "AD3": (at.AD3(), 1e-5),
    "Subgradient": (at.Subgradient(), 1e-3),
    "Accelerated": (at.Accelerated(), 1e-3),
}


@pytest.mark.parametrize("name", EXACT)
@sweep_seeds(0.3)
def test_the_relaxation_is_reached(name, seeds):
    solver, tolerance = EXACT[name]
    for seed in seeds:
        graph = random_graph(np.random.default_rng(seed), scale=1.0, factors=6)
        if name == "Accelerated" and not answers(graph, "marginals"):
            continue
        lp = relaxation(graph)
        result = at.decode(graph, solver)
        if np.isfinite(lp):
            assert result.bound == pytest.approx(lp, abs=tolerance * (1.0 + abs(lp)))


@pytest.mark.parametrize("name", DESCENDING)
@sweep_seeds(0.3)
def test_sweeps_never_raise_the_bound(name, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, factors=8)
        if not answers(graph, "max_marginals"):
            continue
        if run(name, graph) is None:
            continue
        lp = relaxation(graph)
        bounds = bounds_after_each_sweep(graph, QUICK[name], 12)
        for before, after in pairwise(bounds):
            assert after <= before + 1e-10 * (1.0 + abs(before) + size(graph))
        if np.isfinite(lp) and bounds:
            assert bounds[-1] >= lp - 1e-7 * (1.0 + abs(lp) + size(graph))


def size(graph: at.FactorGraph) -> float:
    """The largest score: rounding errors are relative to it."""
    scores = graph_scores(graph)
    parts = [scores.theta, *(own.ravel() for own in scores.factors)]
    everything = np.concatenate(parts)
    return float(np.abs(everything[np.isfinite(everything)]).max(initial=0.0))


def bounds_after_each_sweep(graph, solver, sweeps):
    compiled = graph.compile()
    if compiled.conflict is not None or not compiled.problem.n_links:
        return []
    scores = compiled.flat_scores(graph_scores(graph))
    workspace = solver.init(compiled.problem, scores, None)
    bounds = [solver.bound(compiled.problem, scores, workspace)]
    for _ in range(sweeps):
        solver.advance(compiled.problem, scores, workspace, 1)
        bounds.append(solver.bound(compiled.problem, scores, workspace))
    return bounds


def random_tree(rng) -> at.FactorGraph:
    """Categorical and binary variables tied to a tree by tables, Potts and pairs."""
    g = at.FactorGraph()
    nodes: list = []
    for number in range(int(rng.integers(2, 8))):
        states = int(rng.integers(2, 5))
        if rng.random() < 0.4:
            node = g.binary((), scores=rng.normal())
        else:
            node = g.categorical((), states, scores=rng.normal(size=states))
        if nodes:
            tie(rng, g, nodes[rng.integers(number)], node)
        nodes.append(node)
    return g


def tie(rng, g, a, b) -> None:
    binary = [isinstance(node, at.Literals) for node in (a, b)]
    shape = tuple(2 if isinstance(n, at.Literals) else len(n.states) for n in (a, b))
    if all(binary):
        g.add(at.Pair(a, b, scores=2.0 * rng.normal()))
    elif not any(binary) and shape[0] == shape[1] and rng.random() < 0.5:
        g.add(at.Potts(a, b, scores=2.0 * rng.normal(size=shape[0])))
    else:
        g.add(at.Dense(a, b, scores=2.0 * rng.normal(size=shape)))


ON_TREES = {
    "MPLP": at.MPLP(),
    "StarDiffusion": at.StarDiffusion(),
    "StarDiffusion-submodels": at.StarDiffusion(keep=False),
    "TRWS": at.TRWS(),
    "MaxProduct": at.MaxProduct(damping=0.0),
}


@pytest.mark.parametrize("name", ON_TREES)
@sweep_seeds(0.3)
def test_trees_are_solved(name, seeds):
    for seed in seeds:
        graph = random_tree(np.random.default_rng(seed))
        best = optimum(graph)
        result = at.decode(graph, ON_TREES[name])
        near = pytest.approx(best, abs=1e-5 * (1.0 + abs(best)))
        assert result.value == near
        assert result.bound == (np.inf if name == "MaxProduct" else near)


@pytest.mark.parametrize("name", QUICK)
def test_ties_constants_and_limits(name):
    solver = QUICK[name]
    g = at.FactorGraph()
    x = g.binary((4, 4))
    g.add(at.ExactlyOne(x, axis=0))
    g.add(at.Pair(x[:, 0], x[:, 1], scores=0.0))
    g.add_constant(3.0)
    result = at.decode(g, solver)
    assert result.value == pytest.approx(3.0)
    assert result.bound >= 3.0 - 1e-9
    quick = at.decode(g, solver, time_limit=1e-9)
    assert quick.bound >= 3.0 - 1e-9
    stopped = at.decode(g, solver, callback=lambda step: True)
    assert stopped.bound >= 3.0 - 1e-9


@pytest.mark.parametrize("name", QUICK)
def test_an_interrupt_keeps_the_best_so_far(name):
    rng = np.random.default_rng(7)
    g = at.FactorGraph()
    x = g.categorical((6, 6), 3, scores=rng.normal(size=(6, 6, 3)))
    g.add(at.Dense(x[:-1], x[1:], scores=3.0 * rng.normal(size=(5, 6, 3, 3))))
    g.add(at.Potts(x[:, :-1], x[:, 1:], scores=3.0 * rng.normal(size=(6, 5, 3))))
    reports = []

    def interrupt(step):
        reports.append(step)
        if len(reports) == 2:
            raise KeyboardInterrupt

    result = at.decode(g, QUICK[name], callback=interrupt)
    assert result.status is at.Status.STOPPED and result.message.startswith("Interrupted")
    assert result.feasible and result.bound <= reports[0].best_bound
    assert result.certificate.verify()


@pytest.mark.parametrize("name", QUICK)
def test_infeasible_models_get_no_answer(name):
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 2.0, 3.0])
    for a, b in ((0, 1), (1, 2), (0, 2)):
        g.add(at.ExactlyOne([x[a], x[b]]))
    result = at.decode(g, QUICK[name], time_limit=5.0)
    assert result.value == -np.inf and not result.feasible
    assert result.certificate.verify()


@pytest.mark.parametrize("name", NEED_MAX_MARGINALS)
def test_a_missing_ability_is_named(name):
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.Knapsack(x, weights=[1.0, 2.0, 3.0], capacity=4.0))
    kind = name.split("-")[0]
    with pytest.raises(ModelError, match=f"{kind} needs max_marginals, which Knapsack does not"):
        at.decode(g, QUICK[name])
    h = at.FactorGraph()
    y = h.binary(2)
    h.add(at.Custom(y, maximize=lambda scores: np.ones(len(scores))))
    with pytest.raises(ModelError, match=f"{kind} needs max_marginals, which Custom does not"):
        at.decode(h, QUICK[name])


@pytest.mark.parametrize("name", NEED_MAX_MARGINALS)
def test_impossible_states_give_no_nan(name):
    rng = np.random.default_rng(3)
    g = at.FactorGraph()
    tag = g.categorical(4, 3, scores=rng.normal(size=(4, 3)))
    table = rng.normal(size=(3, 3))
    table[0], table[:, 2] = -np.inf, -np.inf
    for i in range(3):
        g.add(at.Dense(tag[i], tag[i + 1], scores=table))
    result = at.decode(g, QUICK[name])
    check(result, optimum(g))
    if name == "TRWS":  # a limited chain ties more than two variables
        return

    h = at.FactorGraph()
    tag = h.categorical(4, 3, scores=rng.normal(size=(4, 3)))
    h.add(at.Chain(tag, transitions=rng.normal(size=(3, 3)), at_most=(1, 0)))
    h.add(at.Dense(tag[0], tag[3], scores=rng.normal(size=(3, 3))))
    result = at.decode(h, QUICK[name])
    assert result.value == pytest.approx(at.decode(h).value, abs=1e-4)
    if name != "MaxProduct":
        assert result.bound == pytest.approx(at.decode(h).bound, abs=1e-4)


def test_agreement_is_a_certificate_only_where_the_values_meet():
    """Votes without a doubt that are not optimal: a frustrated triangle starts like that."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[0.1, 0.1, 0.1])
    g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-1.0))
    g.add(at.Pair(~x[[0, 1, 2]], ~x[[1, 2, 0]], scores=-1.0))
    best = optimum(g)
    for solver in QUICK.values():
        result = at.decode(g, solver)
        check(result, best)
        closed = np.isfinite(result.bound)
        closed &= result.bound - result.value <= 1e-6 * (1.0 + abs(result.bound))
        assert (result.status is at.Status.OPTIMAL) == closed


def test_lazy_subgradient_takes_the_same_way_with_fewer_calls():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((12, 12), scores=3.0 * rng.normal(size=(12, 12)))
    g.add(at.Pair(x[:-1], x[1:], scores=rng.normal(size=(11, 12))))
    g.add(at.Pair(x[:, :-1], x[:, 1:], scores=rng.normal(size=(12, 11))))
    g.add(at.AtMost(9, x, axis=0))
    runs = [
        at.decode(g, at.Subgradient(lazy=lazy, gap_tolerance=0.0, max_iterations=200))
        for lazy in (True, False)
    ]
    assert runs[0].bound == pytest.approx(runs[1].bound, rel=1e-12)
    assert runs[0].trace.calls[-1] < 0.7 * runs[1].trace.calls[-1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step": "fast"}, "step is one of harmonic, root, geometric, polyak, got 'fast'"),
        ({"count": "days"}, "count is one of iterations, increases, got 'days'"),
        ({"first_step": 0.0}, "first_step is a positive number or None"),
        ({"max_iterations": 0}, "max_iterations is at least 1"),
        ({"gap_tolerance": -1.0}, "gap_tolerance is at least 0"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        at.Subgradient(**settings)


def test_warm_start_goes_on_where_the_other_solver_stopped():
    rng = np.random.default_rng(5)
    g = at.FactorGraph()
    x = g.binary((6, 6), scores=rng.normal(size=(6, 6)))
    g.add(at.Pair(x[:-1], x[1:], scores=3.0 * rng.normal(size=(5, 6))))
    g.add(at.Pair(x[:, :-1], x[:, 1:], scores=3.0 * rng.normal(size=(6, 5))))
    stalled = at.decode(g, at.MPLP())
    again = at.decode(g, at.MPLP(), warm_start=stalled)
    assert again.bound <= stalled.bound + 1e-9
    on = at.decode(g, at.AD3(), warm_start=stalled)
    assert on.bound <= stalled.bound + 1e-6
    steps = at.decode(g, at.Subgradient(max_iterations=50), warm_start=on)
    assert steps.bound <= stalled.bound + 1e-6


def test_trws_says_what_it_does_not_take():
    g = at.FactorGraph()
    x = g.binary(3)
    g.add(at.AtMost(2, x))
    with pytest.raises(ModelError, match="TRWS takes factors over two variables at most, and a"):
        at.decode(g, at.TRWS())


def test_damping_is_checked():
    with pytest.raises(ValueError, match="damping is at least 0 and below 1"):
        at.MaxProduct(damping=1.0)
