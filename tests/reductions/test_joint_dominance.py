"""Values pruned together: some best answer is without them, and what is wrong is refused."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import DualPoint, split_links
from assent.proof.certify import upper_bound
from assent.proof.proof_tree import Reduced
from assent.proof.replay import Replay
from assent.reductions.exchange_difference import most_gained
from assent.reductions.exclusive_literals import find_choices
from assent.reductions.joint_dominance import Improving
from assent.reductions.reduction import Reduction
from assent.solvers.presolve import joint_dominance_sweeps
from assent.solvers.presolve.presolve_rounds import presolve_compiled
from tests.answers import assert_proven
from tests.oracles.sweep import sweep_seeds
from tests.strategies import enumerate_graph, optimum, pick_literals, random_scores
from tests.test_presolve import best_left


def labels(rng) -> at.FactorGraph:
    """A few labels with tables over one to three of them, ties, and now and then a rule."""
    g = at.FactorGraph()
    states = rng.integers(2, 4, 4)
    tags = [
        g.categorical(1, states=int(k), scores=random_scores(rng, (1, k), 2.0))[0] for k in states
    ]
    x = g.binary(2, scores=random_scores(rng, 2, 1.0))
    for _ in range(rng.integers(2, 6)):
        chosen = rng.choice(4, rng.integers(1, 4), replace=False)
        own = [tags[i] for i in chosen] + [~x[rng.integers(2)]] * bool(rng.random() < 0.2)
        shape = (*states[chosen], *[2] * (len(own) - len(chosen)))
        scores = random_scores(rng, shape, 1.0, 0.1 * (rng.random() < 0.3))
        scores.flat[-1] = 0.0  # something is possible
        g.add(at.Dense(*own, scores=scores))
    if states[0] == states[1]:
        g.add(at.Potts(tags[0], tags[1], scores=random_scores(rng, int(states[0]))))
    if rng.random() < 0.4:
        kind = (at.AtMostOne, at.AtLeastOne, at.ExactlyOne)[rng.integers(3)]
        g.add(kind(pick_literals(rng, g, int(rng.integers(2, 4)))))
    return g


def start_of(g: at.FactorGraph) -> Reduction | None:
    compiled = g.compile()
    return None if compiled.conflict is not None else Reduction.of(compiled, graph_scores(g))


@sweep_seeds()
def test_the_optimum_stays(seeds, monkeypatch):
    monkeypatch.setattr(joint_dominance_sweeps, "LEAST", 0.0)
    checked = 0
    for seed in seeds:
        g = labels(np.random.default_rng(seed))
        start = start_of(g)
        found = None if start is None else joint_dominance_sweeps.find_improving(start)
        if found is None:
            continue
        after = found[1]
        assert after.loss <= 1e-7
        assert best_left(g, after)[0] == pytest.approx(optimum(g), abs=1e-7)
        checked += 1
    assert checked


@sweep_seeds()
def test_no_exchange_costs_more_than_is_told(seeds):
    """Whatever is exchanged for whatever, under any link scores."""
    checked = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = labels(rng)
        start = start_of(g)
        if start is None:
            continue
        problem = start.compiled.problem
        number = find_choices(problem).number
        lost, by = [], []
        for choice in range(number.max(initial=-1) + 1):
            columns = rng.permutation(np.flatnonzero(number == choice))
            own = columns[1 : 1 + rng.integers(0, len(columns))]
            lost += own.tolist()
            by += [columns[0]] * len(own)
        links = rng.normal(size=problem.n_links) * (rng.random() < 0.7)
        step = Improving(
            start.coordinates(np.array(lost, np.int64)),
            start.coordinates(np.array(by, np.int64)),
            split_links(problem, links),
        )
        after = step.apply(start)
        if after is not None:
            best = optimum(g)
            left = -np.inf if after.refuted else best_left(g, after)[0]
            assert left + after.loss >= best - 1e-9
            checked += 1
    assert checked


@sweep_seeds()
def test_no_assignment_is_worth_more_above_what_it_turns_into(seeds):
    """Whatever turns into whatever, under any link scores, against all assignments."""
    told = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = labels(rng)
        if rng.random() < 0.3:  # a state by itself
            g.add(at.Dense(*pick_literals(rng, g, 2), scores=rng.normal(size=(2, 2))))
        start = start_of(g)
        if start is None or len(start.compiled.free) < g.size:
            continue
        problem = start.compiled.problem
        to, number = np.arange(problem.n), find_choices(problem).number
        for choice in range(number.max(initial=-1) + 1):
            own = np.flatnonzero(number == choice)
            to[own[rng.random(len(own)) < 0.5 * rng.random()]] = rng.choice(own)
        links = rng.normal(size=problem.n_links) * rng.choice([0.0, 0.1, 1.0])
        most = most_gained(problem, start.flat, to, split_links(problem, links))
        points, values = enumerate_graph(g)
        after = np.zeros_like(points)
        for column, other in enumerate(to):
            after[:, other] |= points[:, column]
        places = 1 << np.arange(problem.n)
        possible = values > -np.inf
        more = values[possible] - values[after[possible] @ places]
        assert more.max(initial=-np.inf) <= most + 1e-9, seed
        told += most < np.inf
    assert told


SCOPES = ((0, 1), (1, 3), (2, 4, 0), (3, 4), (2, 3))  # labels 0 to 2, literals 3 and 4


def written(theta, tables) -> at.FactorGraph:
    """Three labels of three states and two literals, one of them negated, under tables."""
    g = at.FactorGraph()
    t = g.categorical(3, states=3, scores=theta[:9].reshape(3, 3))
    x = g.binary(2, scores=theta[9:])
    own = [*t, x[0], ~x[1]]
    for scope, table in zip(SCOPES, tables, strict=True):
        g.add(at.Dense(*(own[i] for i in scope), scores=table))
    return g


def test_link_scores_bound_the_difference_as_they_bound_a_graph():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        theta = rng.normal(size=11)
        tables = [rng.normal(size=[3 if i < 3 else 2 for i in scope]) for scope in SCOPES]
        moves = rng.random((3, 3)) < 0.5
        turns = [np.where(own, rng.integers(3), np.arange(3)) for own in moves]
        turns += [np.arange(2)] * 2
        to = np.concatenate([*(3 * i + turns[i] for i in range(3)), [9, 10]])
        more = [
            table - table[np.ix_(*(turns[i] for i in scope))]
            for scope, table in zip(SCOPES, tables, strict=True)
        ]
        g, h = written(theta, tables), written(theta - theta[to], more)
        compiled, scores = h.compile(), graph_scores(h)
        problem = compiled.problem
        dual = split_links(problem, rng.normal(size=problem.n_links))
        bound = upper_bound(compiled, scores, compiled.graph_dual(dual, scores))
        flat = g.compile().flat_scores(graph_scores(g))
        assert most_gained(g.compile().problem, flat, to, dual) == pytest.approx(bound)


@sweep_seeds(0.2)
def test_answers_are_proven_for_the_graph_as_written(seeds):
    for seed in seeds:
        g = labels(np.random.default_rng(seed))
        best = optimum(g)
        assert_proven(at.presolve(g, thorough=True).decode(exact=True), best)


def pair_of_labels(**rule) -> Reduction:
    g = at.FactorGraph()
    t = g.categorical(2, states="ab", scores=[[2.0, 0.0], [0.0, 0.5]], name="t")
    g.add(at.Potts(t[0], t[1], scores=1.0))
    for kind, literals in rule.items():
        g.add(getattr(at, kind)([t[i] == state for i, state in literals]))
    return Reduction.of(g.compile(), graph_scores(g))


def step(lost, by, links=(0.0, -1.0, 0.0, 1.0), logic=4) -> Improving:
    dual = DualPoint(np.zeros((0, 2)), np.zeros(logic), np.array(links))
    return Improving(np.array(lost, np.int32), np.array(by, np.int32), dual)


def test_what_is_wrong_is_refused():
    start = pair_of_labels()
    right = step([1, 3], [0, 2])
    assert right.apply(start).loss == 0.0
    assert step([1, 3], [0, 2], np.zeros(4)).apply(start).loss == pytest.approx(0.5)
    for wrong in (
        step([1, 3], [0]),
        step([1, 3], [2, 0]),  # states of another variable
        step([1, 0], [0, 1]),  # brought back
        step([1, 1], [0, 2]),  # two targets
        step([~0], [2]),
        step([3], [~1]),
        step([1, 3], [0, 2], np.zeros(3)),
        step([1, 3], [0, 2], [np.nan] * 4),
        step([1, 99], [0, 2]),
    ):
        assert wrong.apply(start) is None
        replay = Replay(start.compiled, start.scores)
        assert replay.bound(Reduced((wrong,), None)) == np.inf


def test_a_state_has_one_target():
    g = at.FactorGraph()
    g.categorical(1, states=3)
    start = Reduction.of(g.compile(), graph_scores(g))
    assert step([0, 0], [1, 1], (), 3).apply(start).loss == 0.0
    assert step([0, 0], [1, 2], (), 3).apply(start) is None


def test_a_rule_about_states_keeps_them():
    start = pair_of_labels(AtMostOne=[(0, "a"), (1, "b")])
    assert step([1, 3], [0, 2], logic=6).apply(start) is None
    assert joint_dominance_sweeps.find_improving(start) is None


@pytest.mark.parametrize(
    ("states", "rules"),
    [
        (2, [[(0, 0), (1, 0), (2, 0)]]),
        (3, [[(0, 0), (1, 0), (3, 0)], [(0, 0), (2, 0), (4, 0)]]),
        (3, [[(2, ~0), (2, ~1), (2, 2)]]),
    ],
)
def test_rules_that_look_like_labels_keep_states(states, rules):
    """Exactly one, but of several labels' states, or of negated ones."""
    g = at.FactorGraph()
    t = g.categorical(5, states=states)
    g.add(at.Dense(t[2], t[3], scores=np.zeros((states, states))))
    for rule in rules:
        g.add(at.ExactlyOne([t[i].state(s) if s >= 0 else ~t[i].state(~s) for i, s in rule]))
    start = Reduction.of(g.compile(), graph_scores(g))
    problem = start.compiled.problem
    zero = split_links(problem, np.zeros(problem.n_links))
    lost = np.arange(2 * states, 3 * states, dtype=np.int32)
    for target in lost:
        others = lost[lost != target]
        assert Improving(others, np.full_like(others, target), zero).apply(start) is None


def test_what_a_table_forbids_is_no_target():
    g = at.FactorGraph()
    t = g.categorical(2, states="ab", name="t")
    g.add(at.Dense(t[0], t[1], scores=[[-np.inf, 0.0], [0.0, 0.0]]))
    start = Reduction.of(g.compile(), graph_scores(g))
    assert step([1, 3], [0, 2], np.zeros(4)).apply(start) is None
    assert step([0], [1], np.zeros(4)).apply(start).loss == 0.0


def test_most_of_a_weak_grid_goes():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.categorical((12, 12), states=5, scores=rng.normal(size=(12, 12, 5)))
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(at.Potts(a, b, scores=1.2 * rng.uniform(-1, 1, (*a.shape, 1))))
    compiled, scores = g.compile(), graph_scores(g)
    plain = presolve_compiled(compiled, scores)
    made = at.presolve(g, thorough=True)
    assert made.compiled.problem.n < 0.2 * plain.compiled.problem.n
    assert "pruned by joint exchange" in made.told()
    result, reference = made.decode(exact=True), at.decode(g, exact=True)
    assert result.value == pytest.approx(reference.value)
    assert result.certificate.verify()
