"""A proof that was tampered with shows nothing wrong, and is refused without a crash."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import DualPoint
from assent.kernels.search.events import CLOSED
from assent.proof.depth_first_proof import DepthFirstProof
from assent.proof.elimination_proof import EliminationOrder
from assent.proof.proof_tree import (
    Conditioned,
    Fixed,
    IndependentParts,
    LinkScores,
    Listed,
    Reduced,
    Split,
    Trusted,
)
from assent.proof.regions import Regions
from assent.proof.replay import Replay
from assent.reductions.leaves import Leaves
from tests.malformed import proven, spoiled
from tests.oracles.sweep import sweep_size

NONE = np.zeros(0)


def test_spoiled_proofs_show_nothing_wrong():
    for seed in range(sweep_size() // 100):
        rng = np.random.default_rng(seed)
        for claim in proven(rng):
            for _ in range(8):
                bad = replace(claim, proof=spoiled(rng, claim.proof))
                replay = Replay(claim.compiled, claim.scores, claim.others)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # of numbers at 1e300
                    shown = replay.bound(bad.proof)
                    assert bad.verify() in (True, False)
                assert shown >= claim.value - 1e-6 * (1.0 + abs(claim.value)), (seed, bad.proof)


@pytest.fixture(scope="module")
def claim() -> at.Certificate:
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.1, 0.9], name="x")
    g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
    return at.decode(g, at.AD3()).certificate


def with_itself() -> Split:
    proof = Split(((0,), (~0,)), ())
    object.__setattr__(proof, "children", (Conditioned(np.full(3, -1, np.int8), proof), proof))
    return proof


def nested(depth: int) -> Conditioned:
    proof = Trusted("a friend", 0.0)
    for _ in range(depth):
        proof = Conditioned(np.full(3, -1, np.int8), proof)
    return proof


ZERO = DualPoint(np.zeros((3, 2)), NONE)
LEAF = LinkScores(ZERO)
ANSWER = np.zeros(3, np.int8)
ALL = np.arange(3)


def multipliers(**changes) -> Regions:
    """A region that lends to a coordinate, with some field changed."""
    return replace(Regions(np.array([0, 1]), np.array([0]), np.array([1.0]), ZERO), **changes)


@pytest.mark.parametrize(
    "proof",
    [
        None,
        "x",
        Split,
        with_itself(),
        nested(500),
        Split(((99,), (~99,)), (LEAF, LEAF)),
        Split(((0,), (~0,)), [LEAF, LEAF]),
        Fixed(LEAF, (99,), LEAF),
        Fixed(LEAF, (0.5,), LEAF),
        LinkScores(None),
        LinkScores(DualPoint(np.full((3, 2), np.inf), NONE)),
        LinkScores(DualPoint(np.zeros((3, 2), np.int64), NONE)),
        LinkScores(DualPoint(np.zeros((2, 3)), NONE)),
        Trusted("nobody", "0"),
        Listed(np.array([99]), ANSWER),
        IndependentParts(ANSWER[:2], ((ALL, LEAF),)),
        IndependentParts(ANSWER + np.int8(7), ((ALL, LEAF),)),
        IndependentParts(ANSWER, ((ALL + 1, LEAF),)),
        IndependentParts(ANSWER, (ALL, LEAF)),
        EliminationOrder((ALL[:1], ALL[1:2], np.array([99]))),
        EliminationOrder((ALL[:1], ALL[1:2], np.array([-1.0]))),
        Reduced((Leaves(np.array([99], np.int32)),), LEAF),
        Reduced((Leaves(np.array([[0]], np.int32)),), LEAF),
        Reduced((LEAF,), LEAF),
        multipliers(start=np.array([0, 2])),
        multipliers(start=np.array([], np.int64)),
        multipliers(start=np.array([0, 2, 1])),
        multipliers(place=np.array([-99])),
        multipliers(place=np.array([[0]])),
        multipliers(amount=np.array([np.nan])),
        multipliers(amount=np.array([1.0, 1.0])),
        multipliers(rules=np.zeros((1, 2), np.int64)),
        multipliers(rules=np.array([[0, 0, 99]])),
        multipliers(rules=np.array([0, 0, 0])),
    ],
    ids=lambda proof: type(proof).__name__,
)
def test_what_is_no_proof_shows_nothing(claim, proof):
    replay = Replay(claim.compiled, claim.scores)
    assert replay.bound(multipliers()) < np.inf
    assert replay.bound(proof) == np.inf
    if proof is not None:
        assert not replace(claim, proof=proof).verify()


def test_loans_that_cancel_each_other_take_no_scores_with_them(claim):
    replay = Replay(claim.compiled, claim.scores)
    for size in (1e3, 1e12, 1e16, 1e17, 1e300):
        proof = multipliers(start=np.array([0, 2]), place=np.zeros(2, np.int64),
                      amount=np.array([size, -size]))  # fmt: skip
        assert replay.bound(proof) >= claim.value


def test_a_rule_that_regions_speak_of_everywhere_is_left_out():
    """All joint values of forty coordinates are more than anybody can list."""
    g = at.FactorGraph()
    x = g.binary(40, scores=1.0)
    g.add(at.AtMost(2, x))
    compiled = g.compile()
    everywhere = np.stack([np.zeros(40, np.int64), np.zeros(40, np.int64), np.arange(40)], axis=1)
    links = DualPoint(np.zeros((0, 2)), np.zeros(40))
    for rules in (everywhere, everywhere[:5]):
        proof = multipliers(dual=links, rules=rules)
        assert Replay(compiled, graph_scores(g)).bound(proof) == pytest.approx(41.0)


def test_an_order_of_elimination_that_takes_too_much_memory_shows_nothing():
    g = at.FactorGraph()
    x = g.binary(40, scores=1.0)
    g.add(at.Pair(x[0], x[1:], scores=-1.0))
    claim = at.decode(g, at.Elimination()).certificate
    replay = Replay(claim.compiled, claim.scores)
    order = [np.array([v]) for v in range(40)]
    assert replay.bound(EliminationOrder(tuple(order))) == np.inf
    assert replay.bound(EliminationOrder(tuple(order[::-1]))) == pytest.approx(claim.value)
    g.add(at.AtMost(30, x))
    wide = at.decode(g, at.AD3()).certificate
    assert Replay(wide.compiled, wide.scores).bound(EliminationOrder(tuple(order[::-1]))) == np.inf


def halves(coordinate: int, proof):
    return Split(((coordinate,), (~coordinate,)), (proof, proof))


def one_by_one(coordinate: int, proof):
    return Fixed(proof, (coordinate, coordinate + 1), proof)


@pytest.mark.parametrize("share", [halves, one_by_one])
def test_parts_that_share_parts_that_share_parts_show_nothing(share):
    """A few dozen nodes would be a tree too large to replay."""
    g = at.FactorGraph()
    x = g.binary(60, scores=-1.0)
    g.add(at.Pair(x[:-1], x[1:], scores=1.0))
    claim = at.decode(g, at.AD3()).certificate
    proof = leaf = LinkScores(claim.flat_dual)
    for coordinate in range(0, 50, 2):
        proof = share(coordinate, proof)
    assert Replay(claim.compiled, claim.scores).bound(proof) == np.inf
    assert not replace(claim, proof=proof).verify()
    assert replace(claim, proof=halves(0, halves(1, halves(2, leaf)))).verify()


def test_parts_of_a_structure_that_add_up_are_not_below_what_is_possible():
    """A search shows that nothing is possible by a bound below every answer's worth."""
    g = at.FactorGraph()
    tag = g.categorical(4, states=2, name="tag")
    g.add(at.Chain(tag, transitions=-np.ones((2, 2))))
    claim = at.decode(g, at.AD3()).certificate
    assert claim.value == claim.bound == -3.0
    links = claim.compiled.problem.n_links
    nothing = np.zeros(0, np.int64)
    proof = DepthFirstProof(
        nothing, np.full((links, 2), -1), nothing, np.array([CLOSED, 0]), np.zeros((1, 1))
    )
    assert Replay(claim.compiled, claim.scores).bound(proof) == pytest.approx(-3.0)
