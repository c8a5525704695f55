"""Local cuts: rows that every answer obeys, and bounds that fall by them."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.solvers.cutting_planes.cutting_plane_program import GrowingProgram
from assent.solvers.cutting_planes.exclusive_pairs import exclusions
from assent.solvers.programs.compact_lp import build_lp
from tests.answers import assert_tightened_bounds, differences_at_answers
from tests.oracles.sweep import sweep_seeds


def counted_pairs(rng, n: int = 8) -> at.FactorGraph:
    """Pairs of all signs within counts, with implications and labels across them."""
    g = at.FactorGraph()
    x = g.binary(n, scores=rng.normal(size=n), name="x")
    t = g.categorical(2, states=3, scores=rng.normal(size=(2, 3)), name="t")
    for _ in range(3):
        chosen = x[rng.choice(n, 4, replace=False)].negate(where=rng.random(4) < 0.3)
        g.add((at.AtMost, at.Exactly)[int(rng.integers(2))](2, chosen))
    i, j = np.triu_indices(n, 1)
    some = rng.random(len(i)) < 0.6
    g.add(at.Pair(x[i[some]], x[j[some]], scores=2.0 * rng.normal(size=int(some.sum()))))
    g.add(at.Dense(t[0], t[1], scores=2.0 * rng.normal(size=(3, 3))))
    g.add(at.Implies(x[:3], t.indicators[0, :3]))
    g.add(at.AtMostOne([x[0], ~x[4], t.indicators[1, 2]]))
    return g


@sweep_seeds(0.3)
def test_bounds_bound_and_are_rechecked(seeds):
    for seed in seeds:
        assert_tightened_bounds(counted_pairs(np.random.default_rng(seed)))


def tightened(graph: at.FactorGraph) -> GrowingProgram:
    """The program with all rows that are found; its optimum never rises."""
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    program = GrowingProgram(problem, scores, build_lp(problem, scores))
    before = np.inf
    while program.solve() == "optimal":
        assert program.value <= before + 1e-7
        before = program.value
        if not program.tighten():
            break
    return program


def test_every_answer_obeys_every_row():
    """Rows of joins and of cycles through constraints, at all feasible assignments."""
    resting = 0
    for seed in range(20):
        graph = counted_pairs(np.random.default_rng(seed))
        if graph.compile().conflict is not None:
            continue
        program = tightened(graph)
        given = program.given
        told = given.n_single + given.n_two  # the rest are differences of variables
        rows = program.signs.toarray()
        own = (rows[:, told:] == 0.0).all(axis=1)
        upper = program.upper + program.signs @ given.constant
        d = differences_at_answers(graph, given)
        assert (d @ rows[own, :told].T <= upper[own] + 1e-9).all()
        resting += len(np.unique(program.rules[:, 0]))
    assert resting


def test_what_is_excluded():
    g = at.FactorGraph()
    x = g.binary(5, name="x")
    g.add(at.AtMostOne([x[0], ~x[1], x[2]]))
    g.add(at.AtLeastOne(x[3:], output=x[0]))
    g.add(at.AtMost(2, x[:4]))
    found = exclusions(g.compile().problem)
    pairs = {frozenset(pair) for pair in zip(found.u.tolist(), found.v.tolist(), strict=True)}
    expected = [(0, ~1), (0, 2), (~1, 2), (3, ~0), (4, ~0)]
    assert pairs == {frozenset(pair) for pair in expected}


def test_a_literal_and_its_negation_are_no_pair():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    g.add(at.AtMostOne([x[0], x[1], ~x[0], x[2]]))
    found = exclusions(g.compile().problem)
    assert not ((found.u == found.v) | (found.u == ~found.v)).any()


def test_a_count_and_its_pairs_are_exact():
    """Two of three in a row: a middle one goes with one neighbour only."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[0.1, -1.0, 0.1], name="x")
    g.add(at.Pair(x[:2], x[1:], scores=1.0))
    g.add(at.AtMost(2, x))
    assert at.decode(g, at.LinearProgram()).bound == pytest.approx(0.8)
    result = at.decode(g, at.Tightened())
    assert result.status is at.Status.OPTIMAL and result.bound == pytest.approx(0.2)
    proof = result.certificate.proof
    assert len(proof.rules) and result.certificate.verify()


@pytest.mark.parametrize("solver", [at.Tightened(), at.BranchAndCut()])
def test_rows_may_show_that_nothing_is_possible(solver):
    """The relaxation has answers, of halves; what two constraints say of two literals has none."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 0.5, 0.2], name="x")
    g.add(at.Agree(x[0], x[1]))
    g.add(at.AtMostOne(x[:2]))
    g.add(at.All(x[1:], output=~x[0]))
    assert at.decode(g, at.LinearProgram()).status is at.Status.RELAXED
    result = at.decode(g, solver)
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()
    assert not result.certificate.trusted
