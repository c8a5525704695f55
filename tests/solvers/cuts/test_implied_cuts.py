"""What products imply: propagated, told by rows, and shown again by the proof."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.kernels.core import propagate
from assent.kernels.search import probing
from assent.proof.replay import Replay
from assent.solvers.cuts.implied_cuts import ImpliedCuts
from tests.answers import assert_tightened_bounds, differences_at_answers, differences_of
from tests.oracles.sweep import sweep_seeds
from tests.strategies import random_graph


def chains_of_rules(rng, n: int = 9) -> at.FactorGraph:
    """Pairs of all signs, and short clauses and choices that lead from one to the next."""
    g = at.FactorGraph()
    x = g.binary(n, scores=rng.normal(size=n), name="x")
    for _ in range(4):
        three = x[rng.choice(n, 3, replace=False)].negate(where=rng.random(3) < 0.5)
        g.add(at.AtMost(2, three))
    g.add(at.ExactlyOne(x[rng.choice(n, 4, replace=False)]))
    g.add(at.AtLeastOne(x[rng.choice(n - 1, 3, replace=False)], output=x[n - 1]))
    i, j = np.triu_indices(n, 1)
    g.add(at.Pair(x[i], x[j], scores=2.0 * rng.normal(size=len(i))))
    return g


def test_literals_are_those_that_propagation_finds():
    """Of pairs of coordinates in graphs of all kinds, against propagation from scratch."""
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng) if seed % 2 else chains_of_rules(rng)
        problem = graph.compile().problem
        n = problem.n
        if n < 2:
            continue
        ends = np.stack(np.triu_indices(n, 1), axis=1).astype(np.int64)
        start, literals = np.zeros(len(ends) + 1, np.int64), np.zeros(n * len(ends), np.int64)
        done = probing.implied(propagate.build_links(problem), ends, start, literals)
        assert done == len(ends)
        for p, (u, v) in enumerate(ends.tolist()):
            told = literals[start[p] : start[p + 1]].tolist()
            assert sorted(told) == follows(problem, u, v)
            found += len(told)
    assert found > 100


def follows(problem, u: int, v: int) -> list[int]:
    """The slow twin: three times from scratch."""

    def closed(*true):
        values = np.full(problem.n, -1, np.int8)
        values[list(true)] = 1
        return propagate.fix(problem, values)

    (first, lost), (second, lost_too), (both, never) = closed(u), closed(v), closed(u, v)
    if lost >= 0 or lost_too >= 0:
        return []
    if never >= 0:
        return [problem.n]
    new = (both >= 0) & (first < 0) & (second < 0)
    return sorted(w if both[w] else ~w for w in np.flatnonzero(new).tolist())


def test_where_there_is_no_more_room_the_rest_waits():
    problem = chains_of_rules(np.random.default_rng(0)).compile().problem
    n = problem.n
    ends = np.stack(np.triu_indices(n, 1), axis=1).astype(np.int64)
    start = np.zeros(len(ends) + 1, np.int64)
    room = np.zeros(n + 2, np.int64)
    done = probing.implied(propagate.build_links(problem), ends, start, room)
    assert 0 < done < len(ends)


def test_every_answer_obeys_every_row():
    rows = 0
    for seed in range(20):
        graph = chains_of_rules(np.random.default_rng(seed))
        if graph.compile().conflict is not None:
            continue
        given = differences_of(graph)
        implied = ImpliedCuts(graph.compile().problem, given)
        implied._probe(np.ones(len(implied.ends)))
        cuts = implied._as_cuts(implied.product, implied.literal)
        d = differences_at_answers(graph, given)
        assert (d @ cuts.signs.toarray().T <= cuts.upper + 1e-9).all()
        rows += len(cuts)
    assert rows > 100


@sweep_seeds(0.3)
def test_bounds_bound_and_are_rechecked(seeds):
    for seed in seeds:
        assert_tightened_bounds(chains_of_rules(np.random.default_rng(seed)))


def in_two_steps() -> at.FactorGraph:
    """x[0] makes x[2] true, and that with x[1] makes x[3] so, which costs much."""
    g = at.FactorGraph()
    x = g.binary(4, scores=[-0.1, -0.1, 0.0, -2.0], name="x")
    g.add(at.Pair(x[0], x[1], scores=1.0))
    g.add(at.Implies(x[0], x[2]))
    g.add(at.AtMost(2, [x[1], x[2], ~x[3]]))
    return g


def test_a_row_tells_what_two_constraints_imply():
    result = at.decode(in_two_steps(), at.Tightened())
    assert at.decode(in_two_steps(), at.LinearProgram()).bound > 0.01
    assert result.status is at.Status.OPTIMAL
    assert result.bound == pytest.approx(0.0)
    assert result.certificate.verify()
    assert result.certificate.proof.never.tolist() == [[0, 0, 1, ~3]]


@pytest.mark.parametrize(
    "never",
    [
        np.zeros((0, 4), np.int64),
        np.array([[0, 0, 1, 3]]),  # these can all be true
        np.array([[0, 0, 2, ~3]]),
        np.array([[5, 0, 1, ~3]]),  # of no region
        np.array([[0, 0, 1, 9]]),  # no such coordinate
        np.array([[0, 0, 1]]),
    ],
)
def test_literals_that_can_all_be_true_show_nothing(never):
    claim = at.decode(in_two_steps(), at.Tightened()).certificate
    replay = Replay(claim.compiled, claim.scores)
    assert replay.bound(claim.proof) == pytest.approx(0.0)
    assert replay.bound(replace(claim.proof, never=never)) > 0.01
