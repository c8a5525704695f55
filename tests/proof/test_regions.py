"""Cut multipliers of regions: proofs for any graph, rechecked from what is written."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import CAP, KNAPSACK, SUM, split_links
from assent.proof.bucket_elimination import Piece, maximum
from assent.proof.projected_constraints import ProjectedConstraint
from assent.proof.region_bounds import CutMultipliers, region_maxima
from assent.proof.regions import Regions, graph_multipliers
from assent.proof.replay import Replay
from assent.solvers.base.dual_bound import bound_at
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


def random_multipliers(rng, compiled, scores) -> Regions:
    """Multipliers for random places, in a few regions, with random link scores."""
    problem, flat = compiled.problem, compiled.flat_scores(scores)
    places = problem.n + problem.n_pairs + len(flat.table)
    count = int(rng.integers(0, 12)) if places else 0
    scale = 1.0 + float(np.abs(flat.theta).max(initial=0.0))
    start = np.sort(rng.integers(0, count + 1, 4))
    rules = np.zeros((0, 3), np.int64)
    if problem.n_logic and problem.n:
        most = (5, problem.n_logic, problem.n)
        rules = np.stack([rng.integers(0, top, 6) for top in most], axis=1)
    return Regions(
        np.concatenate([[0], start, [count]]),
        rng.integers(0, max(places, 1), count),
        rng.normal(size=count) * scale,
        split_links(problem, rng.normal(size=problem.n_links) * scale),
        rules=rules,
    )


@sweep_seeds(0.5)
def test_any_multipliers_bound(seeds):
    """Whatever the multipliers and whatever constraints are named, the bound holds."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, factors=5, scale=1.0)
        compiled, scores = graph.compile(), graph_scores(graph)
        if compiled.conflict is not None:
            continue
        proof = random_multipliers(rng, compiled, scores)
        bound = Replay(compiled, scores).bound(proof)
        assert not np.isnan(bound)
        assert optimum(graph) <= bound + 1e-9 * (1.0 + abs(bound))


def test_the_reparametrised_flat_problem():
    """It proves what the graph's proof proves, but for the regions' maxima."""
    rng = np.random.default_rng(3)
    unequal = 0
    for _ in range(5):
        g = at.FactorGraph()
        x = g.categorical(7, states=5, scores=rng.normal(size=(7, 5)))
        i, j = np.triu_indices(7, 1)
        g.add(at.Potts(x[i], x[j], scores=9.0 * rng.normal(size=(21, 5))))
        claim = at.decode(g, at.Tightened()).certificate
        compiled, proof = claim.compiled, claim.proof
        problem, scores, dual = proof.reparametrised(
            compiled.problem, compiled.flat_scores(claim.scores)
        )
        unequal += len(scores.table) > 21 * 5
        multipliers = graph_multipliers(compiled, proof)
        maxima = sum(region_maxima(compiled, multipliers, len(proof.start) - 1, compiled.fixed, {}))
        shown = Replay(compiled, claim.scores).bound(proof)
        assert bound_at(problem, scores, dual) + maxima == pytest.approx(shown)
    assert unequal


def test_memorised_maxima_depend_on_rules():
    """Multipliers and literals are the same, what the constraints say is not."""
    g = at.FactorGraph()
    g.binary(3)
    lits, three = np.arange(3, dtype=np.int32), frozenset(range(3))
    none, heavy = np.ones(3), np.array([1.0, 1.0, 5.0])
    rules = {
        0: (ProjectedConstraint(SUM, 1, lits, None, 0.0, three),),
        1: (ProjectedConstraint(CAP, 1, lits, None, 0.0, three),),
        2: (ProjectedConstraint(KNAPSACK, 1, lits, none, 2.0, three),),
        3: (ProjectedConstraint(KNAPSACK, 1, lits, heavy, 2.0, three),),
        4: (ProjectedConstraint(KNAPSACK, 1, lits, heavy, 6.0, three),),
    }
    coordinate = np.tile(np.arange(3), 5)
    region, block = np.repeat(np.arange(5), 3), np.full(15, -1)
    amount = np.tile([1.0, 1.0, -2.0], 5)
    amount[:6] = 1.0
    multipliers = CutMultipliers(region, block, coordinate, np.zeros(15, np.int64), amount)
    compiled = g.compile()
    maxima = region_maxima(compiled, multipliers, 5, compiled.fixed, {}, rules)
    assert maxima == [-1.0, 0.0, 2.0, 0.0, 2.0]


def test_memorised_maxima_depend_on_states_that_only_rules_mention():
    """With two of three states mentioned, the third is the way out, unless it is ruled out."""
    g = at.FactorGraph()
    x = g.binary(name="x")
    tag = g.categorical(1, states=3, name="tag")[0]
    lits = np.array([0, *tag.codes[:2]], np.int32)
    rule = ProjectedConstraint(CAP, 1, lits, None, 0.0, frozenset(lits.tolist()))
    one = np.zeros(1, np.int64)
    multipliers = CutMultipliers(
        one, one - 1, x.codes.ravel().astype(np.int64), one, np.array([-1.0])
    )
    compiled, memory = g.compile(), {}
    without = compiled.fixed.copy()
    without[tag.codes[2]] = 0
    for known, most in ((without, 0.0), (compiled.fixed, 1.0)):
        assert region_maxima(compiled, multipliers, 1, known, memory, {0: (rule,)}) == [most]


def test_regions_use_known_values():
    g = at.FactorGraph()
    x = g.binary(2, scores=[0.0, 0.0], name="x")
    g.add(at.Pair(x[0], x[1], scores=1.0))
    claim = at.decode(g).certificate
    links = split_links(claim.compiled.problem, np.zeros(2))
    proof = Regions(np.array([0, 1]), np.array([2]), np.array([-1.0]), links)
    replay = Replay(claim.compiled, claim.scores)
    assert replay.bound(proof) == pytest.approx(1.0)
    for known in ([0, -1], [-1, 0]):
        assert replay.bound(proof, np.array(known, np.int8)) == pytest.approx(0.0)


def test_a_farkas_ray_must_be_clear_of_rounding():
    """Link scores that show exactly zero for the all-zero objective prove nothing."""
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    g.add(at.Pair(x[0], x[1], scores=1.0))
    claim = at.decode(g).certificate
    no_multipliers = (np.array([0]), np.zeros(0, np.int64), np.zeros(0))
    links = split_links(claim.compiled.problem, np.array([1.0, 0.0]))
    ray = Regions(*no_multipliers, links, is_ray=True)
    assert Replay(claim.compiled, claim.scores).bound(ray, np.array([1, -1], np.int8)) == np.inf


def test_a_changed_multiplier_fails():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.1, 1.2], name="x")
    g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
    claim = at.decode(g, at.Tightened()).certificate
    assert claim.verify() and claim.relative_gap < 1e-6
    for change in (5.0, -5.0):  # a small one may prove as much
        for i in range(len(claim.proof.amount)):
            amount = claim.proof.amount.copy()
            amount[i] += change
            assert not replace(claim, proof=replace(claim.proof, amount=amount)).verify()
    links = replace(claim.proof.dual, pair=claim.proof.dual.pair + 5.0)
    assert not replace(claim, proof=replace(claim.proof, dual=links)).verify()


def test_elimination_refuses_what_is_too_large():
    tables = [Piece((i, j), np.zeros((30, 30))) for i in range(8) for j in range(i + 1, 8)]
    assert maximum(tables) == np.inf


def test_elimination_against_all_states():
    rng = np.random.default_rng(1)
    for _ in range(30):
        sizes = rng.integers(1, 4, 5)
        pieces = []
        for _ in range(rng.integers(1, 7)):
            scope = tuple(sorted(rng.choice(5, rng.integers(0, 4), replace=False).tolist()))
            table = rng.normal(size=sizes[list(scope)])
            pieces.append(Piece(scope, np.where(rng.random(table.shape) < 0.1, -np.inf, table)))
        best = max(
            sum(float(p.table[tuple(state[v] for v in p.scope)]) for p in pieces)
            for state in product(*map(range, sizes))
        )
        assert maximum(pieces) == pytest.approx(best)
