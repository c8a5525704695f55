"""Proofs by branching: they replay, and one that misses a branch or was tampered with does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import DualPoint
from assent.proof.elimination_proof import EliminationOrder
from assent.proof.proof_tree import (
    Conditioned,
    FarkasRay,
    Fixed,
    IndependentParts,
    LinkScores,
    Listed,
    Refuted,
    Split,
    Trusted,
    nodes,
)
from assent.proof.replay import Others, Replay
from tests.strategies import optimum

NONE = np.zeros(0)


def frustrated():
    """Three variables that pairwise want to differ: the relaxation leaves a gap."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.1, 0.9], name="x")
    g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
    return g


def dual_with(literal: int) -> DualPoint:
    """The dual point of the relaxation with a literal true, for the graph without it."""
    g = frustrated()
    x = g.variables[0].symbol
    g.fix(x[~literal if literal < 0 else literal], int(literal >= 0))
    return DualPoint(np.concatenate(at.decode(g, at.LinearProgram()).certificate.dual_point), NONE)


def claim_and_leaves():
    g = frustrated()
    claim = at.decode(g, at.AD3()).certificate
    return g, claim, LinkScores(dual_with(0)), LinkScores(dual_with(~0))


def test_cases_prove_what_no_dual_point_can():
    g, claim, true, false = claim_and_leaves()
    assert claim.gap > 0.1
    best = optimum(g)
    proof = Split(((0,), (~0,)), (true, false))
    assert Replay(claim.compiled, claim.scores).bound(proof) == pytest.approx(best)
    proven = replace(claim, bound=best, value=best, proof=proof)
    assert proven.value == pytest.approx(claim.value) and proven.verify()
    assert not proven.trusted


def test_what_a_leaf_takes_for_given_must_be_known_there():
    g, claim, _, _ = claim_and_leaves()
    best = optimum(g)
    low = Trusted("a friend", best)
    with_first = claim.compiled.fixed.copy()
    with_first[0] = 1
    given = Conditioned(with_first, low)
    assert replace(claim, bound=best, value=best, proof=Split(((0,), (~0,)), (given, low))).verify()
    for proof in (given, Split(((0,), (~0,)), (low, given))):
        assert not replace(claim, bound=best, value=best, proof=proof).verify()


def test_a_proof_that_shows_less_than_it_claims_fails():
    g, claim, true, false = claim_and_leaves()
    best = optimum(g)
    shifted = LinkScores(DualPoint(true.dual.pair + 0.2, true.dual.logic))
    for proof in (
        Split(((0,), (~0,)), (shifted, false)),
        Split(((0,), (~0,)), (false, true)),  # the other way round
        Split(((0,),), (true,)),  # a branch is missing
        Split(((0,), (~1,)), (true, true)),  # these do not cover everything
        Split(((0,), (~0,)), (true,)),
        Split(((0,), (~0,)), (true, Refuted())),  # not so
        Split(((0,), (~0,)), (true, FarkasRay(false.dual))),
    ):
        assert not replace(claim, bound=best, value=best, proof=proof).verify()


def test_states_of_a_variable_are_cases():
    g = at.FactorGraph()
    t = g.categorical(2, states="abc", scores=[[3.0, 1.0, 2.0], [0.0, 0.0, 0.0]], name="t")
    g.add(at.Potts(t[0], t[1], scores=-1.0))
    claim = at.decode(g, at.AD3()).certificate
    leaf = LinkScores(claim.flat_dual)
    replay = Replay(claim.compiled, claim.scores)

    def bound(*branches):
        return replay.bound(Split(branches, (leaf,) * len(branches)))

    assert bound((0,), (1,), (2,)) == pytest.approx(claim.bound)
    assert bound((~0,), (0,)) == pytest.approx(claim.bound)
    assert bound((~1, ~2), (~0,)) == pytest.approx(claim.bound)
    assert bound((0,), (1,)) == np.inf
    assert bound((~0, ~1), (~0, ~2)) == np.inf
    assert bound((0,), (1,), (2, 3)) == np.inf
    assert bound() == np.inf


def test_literals_are_fixed_one_by_one():
    g, claim, true, false = claim_and_leaves()
    replay = Replay(claim.compiled, claim.scores)
    worse = replay.bound(Split(((0,), (~0,)), (true, Trusted("nobody", -np.inf))))
    fixed = Fixed(true, (~0,), false)
    assert replay.bound(fixed) == pytest.approx(max(worse, optimum(g)))
    assert replay.bound(Fixed(LinkScores(claim.flat_dual), (~0, 1), false)) >= optimum(g) - 1e-9


def test_parts_add_up_unless_something_ties_them():
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, -2.0, 0.5, 3.0])
    g.add(at.Pair(x[[0, 2]], x[[1, 3]], scores=[0.5, -4.0]))
    claim = at.decode(g, at.AD3()).certificate
    leaf = LinkScores(claim.flat_dual)
    replay = Replay(claim.compiled, claim.scores)

    def bound(assignment, *parts):
        numbers = [(np.array(part), leaf) for part in parts]
        return replay.bound(IndependentParts(np.array(assignment, np.int8), tuple(numbers)))

    best = optimum(g)
    assert bound([0, 0, 0, 0], [0, 1], [2, 3]) == pytest.approx(best)
    assert bound(claim.assignment, [0, 1], [2, 3]) == pytest.approx(best)
    assert bound(claim.assignment, [0, 2], [1, 3]) == np.inf
    assert bound(claim.assignment, [0, 1], [2]) == np.inf
    assert bound(claim.assignment, [0, 1], [1, 2, 3]) == np.inf


def test_an_assignment_that_breaks_a_rule_takes_nothing_apart():
    g = at.FactorGraph()
    g.add(at.AtMostOne(g.binary((2, 2)), axis=1))
    claim = at.decode(g, at.AD3()).certificate
    leaf = LinkScores(claim.flat_dual)
    parts = ((np.array([0, 1]), leaf), (np.array([2, 3]), leaf))
    replay = Replay(claim.compiled, claim.scores)
    assert replay.bound(IndependentParts(np.array([1, 1, 0, 0], np.int8), parts)) == np.inf
    assert replay.bound(IndependentParts(np.zeros(4, np.int8), parts)) == pytest.approx(0.0)


def test_infeasible_models_are_refuted_case_by_case():
    g = at.FactorGraph()
    x = g.binary(3)
    g.add(at.Parity(x))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        g.add(at.AtLeastOne([x[a], x[b]]))
        g.add(at.AtLeastOne([~x[a], ~x[b], ~x[3 - a - b]]))
    g.add(at.AtLeastOne([~x[0], ~x[1]]))
    g.add(at.AtLeastOne([~x[1], ~x[2]]))
    g.add(at.AtLeastOne([~x[2], ~x[0]]))
    compiled = g.compile()
    claim = at.decode(g, at.LinearProgram()).certificate
    replay = Replay(compiled, claim.scores)
    proof = Split(((0,), (~0,)), (Refuted(), Refuted()))
    assert replay.bound(proof) == -np.inf
    assert replay.bound(Refuted()) == np.inf
    assert replace(claim, proof=proof, feasible=False, bound=-np.inf, value=-np.inf).verify()


def test_a_word_that_is_trusted_is_told():
    _, claim, true, _ = claim_and_leaves()
    proof = Split(((0,), (~0,)), (true, Trusted("HiGHS", 1.0)))
    trusting = replace(claim, proof=proof, bound=10.0)
    assert trusting.trusted == ("HiGHS",)
    assert trusting.verify() and "HiGHS" in repr(trusting)
    assert len(list(nodes(proof))) == 3
    given = Conditioned(claim.compiled.fixed, Trusted("a friend", 1.0))
    assert replace(claim, proof=given, bound=10.0).trusted == ("a friend",)
    nothing = replace(claim, proof=given, bound=-np.inf, value=-np.inf, feasible=False)
    assert "a friend" in repr(nothing)


def test_what_is_no_number_shows_nothing():
    """Neither link scores, nor a word, nor an elimination of what it cannot tabulate."""
    _, claim, true, _ = claim_and_leaves()
    replay = Replay(claim.compiled, claim.scores)
    unreal = LinkScores(DualPoint(np.nan * true.dual.pair, NONE))
    for leaf in (unreal, Trusted("nobody", np.nan)):
        assert replay.bound(leaf) == np.inf
        assert replay.bound(Split(((0,), (~0,)), (leaf, true))) == np.inf
        assert not replace(claim, proof=leaf, bound=claim.value).verify()
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.AtMostOne(x[:2]))
    g.add(at.Soft(at.AtMostOne(x), penalty=0.1))
    claim = at.decode(g, at.AD3()).certificate
    order = EliminationOrder(tuple(np.array([v]) for v in range(3)))
    assert Replay(claim.compiled, claim.scores).bound(order) == np.inf


def test_no_part_alone_is_an_answer_given_before():
    """Second best is to change one of two variables, not both."""
    g = at.FactorGraph()
    g.binary(2, scores=[1.0, 2.0])
    compiled, scores = g.compile(), graph_scores(g)
    leaf = LinkScores(DualPoint(np.zeros((0, 2)), NONE))
    first, both = np.ones(2, np.int8), np.arange(2)
    replay = Replay(compiled, scores, Others(both, first[None]))

    def other_than(v):
        return np.array([v]), Split(((v,), (~v,)), (Listed(both, first), leaf))

    assert replay.bound(IndependentParts(first, (other_than(0), other_than(1)))) == np.inf
    nested = Split(((1,), (~1,)), (Listed(both, first), leaf))
    assert replay.bound(Split(((0,), (~0,)), (nested, leaf))) == 2.0


def test_deep_proofs_do_not_overflow():
    g = at.FactorGraph()
    g.binary(1, scores=1.0)
    claim = at.decode(g, at.AD3()).certificate
    proof = LinkScores(claim.flat_dual)
    for _ in range(5000):
        proof = Split(((0,), (~0,)), (proof, LinkScores(claim.flat_dual)))
    assert Replay(claim.compiled, claim.scores).bound(proof) == pytest.approx(1.0)
