"""Random graphs against enumeration, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.factors import Table
from assent.factors.scored import Scored
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph, random_scores

# Enough for nearly every small graph to settle; the few that do not are STOPPED, which is fine.
AD3 = at.AD3(max_iterations=2000)


def magnitude(graph):
    """The largest score in size: what rounding errors are relative to."""
    scores = graph_scores(graph)
    factors = [own.ravel() for own in scores.factors]
    sizes = np.abs(np.concatenate([[scores.constant], scores.theta, *factors]))
    return float(sizes[np.isfinite(sizes)].max())


def pairs_and_tables(graph, scores):
    """Scores of the batches of pairs, and of those of tables."""
    own = list(zip(graph.handles, scores.factors, strict=True))
    return (
        [scores for handle, scores in own if isinstance(handle.factor, at.Pair)],
        [scores for handle, scores in own if isinstance(handle.factor, Scored)],
    )


def check(graph, result, best):
    """Every claim of a result against the true optimum."""
    slack = 1e-8 * max(magnitude(graph), abs(best) if np.isfinite(best) else 0.0)
    assert result.certificate.verify()
    assert result.value <= best + slack
    assert result.bound >= best - slack
    assert result.feasible == (result.value > -np.inf)
    if result.status is at.Status.INFEASIBLE:
        assert best == -np.inf
    else:
        size = result.certificate.scores.scale + abs(result.bound)
        within = result.gap <= AD3.gap_tolerance * size
        assert (result.status is at.Status.OPTIMAL) == within
    if best == -np.inf:
        assert not result.feasible
        assert result.violated


def scored(graph):
    """Handles of the factors that have scores."""
    return [h for h in graph.handles if isinstance(h.factor, (at.Pair, Table))]


def score_shape(handle):
    """Shape in which new scores of a batch are given."""
    entry = handle.factor.entry_shape() if isinstance(handle.factor, Table) else ()
    return (*handle.shape, *entry)


@sweep_seeds()
def test_value_optimum_bound(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, complements=0.3)
        check(graph, at.decode(graph, AD3), optimum(graph))


@sweep_seeds(share=0.5)
def test_larger_graphs_of_mostly_pairs_and_ties(seeds):
    for seed in seeds:
        rng = np.random.default_rng(10_000 + seed)
        graph = random_graph(rng, binaries=9, categoricals=1, factors=8, evidence=0.1)
        check(graph, at.decode(graph, AD3), optimum(graph))


@sweep_seeds(share=0.3)
def test_the_linear_program_gives_the_same_bound(seeds):
    for seed in seeds:
        graph = random_graph(np.random.default_rng(20_000 + seed), scale=1.0)
        exact = at.decode(graph, at.LinearProgram())
        check(graph, exact, optimum(graph))
        found = at.decode(graph, at.AD3(max_iterations=20_000))
        if found.status is at.Status.STOPPED:
            continue
        if exact.status is at.Status.INFEASIBLE:
            assert found.status is at.Status.INFEASIBLE
            continue
        # A closed gap stops AD3 before the relaxation is solved: its bound may stay above.
        assert found.bound >= exact.bound - 1e-6 * (1 + abs(exact.bound))
        if found.status is at.Status.RELAXED:
            assert found.bound <= exact.bound + 1e-4 * (1 + abs(exact.bound))


@sweep_seeds(share=0.5)
def test_most_feasible_graphs_get_a_feasible_answer(seeds):
    feasible = found = 0
    for seed in seeds:
        graph = random_graph(np.random.default_rng(30_000 + seed), scale=1.0)
        feasible += optimum(graph) > -np.inf
        found += at.decode(graph, AD3).feasible
    assert found >= 0.95 * feasible - 1


def renamed(graph, order, flip):
    """The same model over permuted and negated binary variables."""
    other = at.FactorGraph()
    theta = graph.variables[0].scores
    y = other.binary(scores=np.where(flip, -theta, theta)[order], name="y")
    other.add_constant(graph.constant + float(theta[flip].sum()))
    literal = y[np.argsort(order)].negate(where=flip)  # stands for x
    for handle in graph.handles:
        codes = handle.factor.codes
        lits = literal[np.where(codes < 0, ~codes, codes)].negate(where=codes < 0)
        if isinstance(handle.factor, at.Pair):
            other.add(at.Pair(lits[:, 0], lits[:, 1], scores=handle.factor.scores))
        else:
            other.add(at.AtMost(handle.factor.k, lits, axis=1))
    return other


@sweep_seeds(share=0.5)
def test_permuting_and_negating_variables_changes_nothing(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = 7
        graph = at.FactorGraph()
        x = graph.binary(scores=random_scores(rng, n), name="x")
        ends = np.array([rng.choice(n, 2, replace=False) for _ in range(8)])
        graph.add(at.Pair(x[ends[:, 0]], ~x[ends[:, 1]], scores=random_scores(rng, 8)))
        rows = np.array([rng.choice(n, 3, replace=False) for _ in range(2)])
        graph.add(at.AtMost([1, 2], x[rows], axis=1))
        other = renamed(graph, rng.permutation(n), rng.random(n) < 0.5)
        assert optimum(other) == pytest.approx(optimum(graph), abs=1e-9)
        first, second = at.decode(graph, AD3), at.decode(other, AD3)
        check(graph, first, optimum(graph))
        check(other, second, optimum(graph))
        if at.Status.STOPPED not in (first.status, second.status):
            assert second.bound == pytest.approx(first.bound, abs=1e-4 * (1 + abs(first.bound)))


@sweep_seeds(share=0.5)
def test_new_scores_are_a_rebuilt_graph_and_warm_starts_agree(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, scale=1.0, forbid=0.0)
        first = at.decode(graph, AD3)
        changes = {v.symbol: random_scores(rng, v.symbol.codes.shape) for v in graph.variables}
        changes |= {h: random_scores(rng, score_shape(h)) for h in scored(graph)}
        scores = graph_scores(graph, changes)
        pairs, tables = pairs_and_tables(graph, scores)
        best = optimum(graph, theta=scores.theta, pair_scores=pairs, tables=tables)
        for start in (None, first):
            result = at.decode(graph, AD3, scores=changes, warm_start=start)
            check(graph, result, best)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_scaling_all_scores_scales_the_answer(scale):
    for seed in range(5):
        graph = random_graph(np.random.default_rng(seed), scale=1.0, forbid=0.0, evidence=0.0)
        scores = graph_scores(graph)
        changes = {}
        for v in graph.variables:
            changes[v.symbol] = scale * v.scores.reshape(v.symbol.codes.shape)
        for h in scored(graph):
            changes[h] = scale * h.factor.scores.reshape(score_shape(h))
        graph.constant *= scale
        pairs, tables = pairs_and_tables(graph, scores)
        best = optimum(
            graph,
            theta=scale * scores.theta,
            pair_scores=[scale * p for p in pairs],
            tables=[scale * t for t in tables],
        )
        result = at.decode(graph, AD3, scores=changes)
        assert result.certificate.verify()
        assert result.value <= best + 1e-8 * scale * 100
        assert result.bound >= best - 1e-8 * scale * 100
