"""Presolving: the optimum stays, the way back is right, and what is not right does not hold."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import ANYOF, CAP, PARITY, SUM, DualPoint, Problem
from assent.model.variables import Literals
from assent.proof.certify import check_assignment
from assent.proof.proof_tree import Reduced, Trusted
from assent.proof.replay import Replay
from assent.reductions.dominance import Exchanges
from assent.reductions.leaves import Leaves, find_leaves
from assent.reductions.pairwise_tables import over_two
from assent.reductions.persistent_values import Persistent
from assent.reductions.reduction import Reduction
from assent.solvers.auto import presolving
from assent.solvers.base.driver import begin
from assent.solvers.presolve.presolve_rounds import FINDERS, find_persistent, presolve_compiled
from benchmarks.constrained import joint_labelling
from tests.answers import assert_proven
from tests.oracles.sweep import sweep_seeds, sweep_size
from tests.strategies import enumerate_graph, optimum, pick_literals, random_graph, random_scores
from tests.structures import STRUCTURES

WAYS = {"all": FINDERS, **{f"only {i}": (find,) for i, find in enumerate(FINDERS)}}


def mixed(seed: int) -> at.FactorGraph:
    """A small graph of mixed variables and factors, with ties; one of four over two at a time."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 3:
        return two_at_a_time(rng)
    g = random_graph(rng, binaries=7, categoricals=2, factors=8, scale=1.0, complements=0.2)
    if rng.random() < 0.3:
        say_it_again(rng, g)
    return g


def two_at_a_time(rng) -> at.FactorGraph:
    """Binary variables, also such of two states, with scores and rules for two of them each."""
    g = at.FactorGraph()
    x = g.binary(scores=random_scores(rng, 5, 2.0), name="x")
    tag = g.categorical(scores=random_scores(rng, (2, 2), 2.0), states=2, name="tag")
    for _ in range(8):
        a, b = pick_literals(rng, g, 2)
        kind = rng.integers(6)
        if kind == 0:
            g.add((at.Implies, at.Agree)[rng.integers(2)](a, b))
        elif kind == 1:
            g.add(at.AtMostOne([a, b]))
        elif kind == 2:
            own = tag[rng.integers(2)] if rng.random() < 0.5 else x[0]
            g.add(at.Dense(own, ~x[rng.integers(1, 5)], scores=random_scores(rng, (2, 2), 1, 0.1)))
        else:
            g.add(at.Pair(a, b, scores=random_scores(rng, (), 1.0)))
    if rng.random() < 0.5:
        g.add(at.Potts(tag[0], tag[1], scores=random_scores(rng, 2)))
    return g


def say_it_again(rng, g: at.FactorGraph) -> None:
    """Factors that are there already, as they are or turned round, and some that say nothing."""
    for handle in list(g.handles):
        twin, rows = copy.copy(handle.factor), rng.permutation(len(handle.factor))
        twin.codes = twin.codes[rows]
        for name in ("scores", "k", "weights", "capacity"):
            if hasattr(twin, name):
                setattr(twin, name, getattr(twin, name)[rows])
        if isinstance(twin, at.Pair):
            sign = -rng.integers(0, 2, twin.codes.shape).astype(np.int32)
            twin.codes = twin.codes[:, ::-1] ^ sign
        g.add(twin)
    tags = [v.symbol[0] for v in g.variables[1:]]
    own = [*tags, g.variables[0].symbol[0], ~g.variables[0].symbol[-1]][:3]
    count = [2 if isinstance(v, Literals) else len(v.states) for v in own]
    if len(own) == 2 or (len(own) == 3 and g.variables[0].symbol.size > 1):
        scores = sum(np.ix_(*(rng.normal(size=k) for k in count)), np.zeros(count))
        g.add(at.Dense(*own, scores=scores))
        g.add(at.Dense(*own[:2], scores=rng.normal(size=count[:2])))
        g.add(at.Dense(*own[1::-1], scores=rng.normal(size=count[1::-1])))


def best_left(g: at.FactorGraph, left: Reduction) -> tuple[float, np.ndarray | None]:
    """The best assignment of what is left, by enumeration."""
    best, winner = -np.inf, None
    points, values = enumerate_graph(g)
    points = points[values > -np.inf].astype(np.int8)
    fixed = left.compiled.fixed
    for x in points[((fixed == -1) | (points == fixed)).all(axis=1)]:
        check = check_assignment(left.compiled, left.scores, x)
        if check.feasible and check.value > best:
            best, winner = check.value, x
    return best, winner


@sweep_seeds(0.4)
@pytest.mark.parametrize("way", WAYS)
def test_the_optimum_stays_and_the_way_back_is_right(seeds, way):
    for seed in seeds:
        g = mixed(seed)
        if g.compile().conflict is not None:
            continue
        best, scores = optimum(g), graph_scores(g)
        made = presolve_compiled(g.compile(), scores, WAYS[way])
        if made.refuted:
            assert best == -np.inf
            continue
        left, x = best_left(g, made.reductions[-1])
        assert left == pytest.approx(best)
        assert made.reductions[-1].loss <= 1e-9
        if x is not None:
            check = check_assignment(g.compile(), scores, made.undo(x))
            assert check.feasible and check.value == pytest.approx(best)


@sweep_seeds(0.4)
def test_answers_become_no_worse_on_the_way(seeds):
    for seed in seeds:
        g = mixed(seed)
        points, values = enumerate_graph(g)
        made = at.presolve(g)
        last = made.reductions[-1]
        for place in np.flatnonzero(values > -np.inf)[::7]:
            x = made.follow(points[place].astype(np.int8))
            assert ((last.compiled.fixed == -1) | (last.compiled.fixed == x)).all()
            check = check_assignment(last.compiled, last.scores, x)
            assert check.feasible and check.value >= values[place] - 1e-9


@sweep_seeds(0.4)
def test_results_are_stated_for_the_graph_as_written(seeds):
    for seed in seeds:
        g = mixed(seed)
        best = optimum(g)
        result = at.presolve(g).decode(exact=True)
        assert_proven(result, best)
        if best > -np.inf:
            assert not replace(result.certificate, bound=best - 1e-3).verify()


@sweep_seeds(0.4)
def test_steps_that_are_found_are_believed(seeds):
    found = 0
    for seed in seeds:
        for g in (mixed(seed), at_most_one(np.random.default_rng(seed))):
            start = Reduction.of(g.compile(), graph_scores(g))
            for find in FINDERS if not start.refuted else ():
                made = find(start)
                if made is not None:
                    again = made[0].apply(start)
                    np.testing.assert_array_equal(again.compiled.fixed, made[1].compiled.fixed)
                    assert again.loss <= 1e-9
                    found += 1
    assert found


def at_most_one(rng) -> at.FactorGraph:
    """Of two threes of variables at most one each, not all of which are worth it."""
    g = at.FactorGraph()
    x = g.binary((2, 3), scores=np.round(rng.normal(size=(2, 3))), name="x")
    g.add(at.AtMostOne(x, axis=1))
    g.add(at.Pair(x[0, 0], x[1, 0], scores=0.5))
    return g


@sweep_seeds(0.4)
def test_no_step_is_believed_that_is_wrong(seeds):
    """Steps made up at random: those that are accepted lose no more than they say."""
    accepted = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for g in (mixed(seed), taken_apart(rng), tree(rng)):
            start = Reduction.of(g.compile(), graph_scores(g))
            if start.refuted or not len(start.compiled.free):
                continue
            best = optimum(g)
            for step in made_up(rng, start.compiled.free, start.compiled.problem):
                after = step.apply(start)
                if after is None:
                    continue
                accepted += 1
                left = -np.inf if after.refuted else best_left(g, after)[0]
                assert left + after.loss >= best - 1e-9
    assert accepted


def taken_apart(rng) -> at.FactorGraph:
    """Labels with states that are tied to others before they are states of a label."""
    g = at.FactorGraph()
    x = g.binary(3, scores=rng.normal(size=3), name="x")
    tag = g.categorical(2, states=2, scores=rng.normal(size=(2, 2)), name="tag")
    g.add((at.ExactlyOne, at.AtMostOne)[rng.integers(2)]([tag[0].state(0), x[0]]))
    if rng.random() < 0.5:
        g.add(at.Dense(tag[0], tag[1], scores=rng.normal(size=(2, 2))))
    else:
        g.add(at.Dense(tag[rng.integers(2)], x[1], scores=rng.normal(size=(2, 2))))
    if rng.random() < 0.5:
        g.add(at.Pair(x[1], x[2], scores=3.0 * rng.normal()))
    if rng.random() < 0.3:
        g.add(at.Dense(tag[1].state(0), x[2], scores=2.0 * rng.normal(size=(2, 2))))
    elif rng.random() < 0.4:
        g.add(at.ExactlyOne(x[:2]))
        g.add(at.ExactlyOne([x[1], x[2], tag[1].state(0)]))
    return g


def made_up(rng, free: np.ndarray, problem: Problem) -> list:
    """Exchanges, leaves and persistent values without any sense."""
    links = problem.pair_var, problem.lits, problem.tables.lits

    def some(links):
        return rng.integers(-1, 2, links.shape) * rng.random()

    sign = -rng.integers(0, 2, len(free))
    own = (rng.permutation(free) ^ sign).astype(np.int32)
    count = int(rng.integers(1, 3))
    other = rng.permutation(free).astype(np.int32)
    return [
        Exchanges(own[:count], ~own[:count]),
        Exchanges(other[:1], other[-1:]),
        Exchanges(np.sort(other)[:-1], np.sort(other)[1:]),
        *(Leaves(own[i : i + 1]) for i in range(len(own))),
        *(Leaves(own[[i, -1]]) for i in range(len(own) - 1)),
        Leaves(own),
        *(Persistent(own[:n], DualPoint(*map(some, links))) for n in (1, 2, len(own))),
    ]


def tree(rng) -> at.FactorGraph:
    """Variables, each tied to one before it: by a table or a rule, as it is or negated."""
    g = at.FactorGraph()
    x = g.binary(4, scores=2.0 * rng.normal(size=4), name="x")
    tag = g.categorical(2, states=3, scores=2.0 * rng.normal(size=(2, 3)), name="tag")
    own = [*x, tag[0], tag[1]]
    for i in rng.permutation(range(1, 6)):
        two = [own[i], own[rng.integers(i)]]
        two = [~v if isinstance(v, Literals) and rng.random() < 0.5 else v for v in two]
        if rng.random() < 0.3 and all(isinstance(v, Literals) for v in two):
            g.add((at.AtMostOne, at.ExactlyOne, at.Parity)[rng.integers(3)](two))
        else:
            shape = [2 if isinstance(v, Literals) else 3 for v in two]
            g.add(at.Dense(*two, scores=rng.normal(size=shape)))
    return g


@sweep_seeds(0.4)
def test_trees_are_eliminated(seeds):
    for seed in seeds:
        g = tree(np.random.default_rng(seed))
        scores = graph_scores(g)
        made = presolve_compiled(g.compile(), scores, (find_leaves,))
        last, best = made.reductions[-1], optimum(g)
        left, x = best_left(g, last)
        assert made.compiled.problem.n <= 4 and left == pytest.approx(best)
        check = check_assignment(g.compile(), scores, made.undo(x))
        assert check.feasible and check.value == pytest.approx(best)
        points, values = enumerate_graph(g)
        for place in np.flatnonzero(values > -np.inf)[::7]:
            followed = made.follow(points[place].astype(np.int8))
            check = check_assignment(last.compiled, last.scores, followed)
            assert check.feasible and check.value >= values[place] - 1e-9


def quarrel() -> at.FactorGraph:
    """Dominated values, a leaf, and three that quarrel."""
    g = at.FactorGraph()
    x = g.binary(5, scores=[1.0, 1.1, 0.9, 5.0, 0.6], name="x")
    g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
    g.add(at.Pair(x[[0, 2, 1]], x[[3, 3, 4]], scores=[0.2, 0.3, -0.9]))
    g.add(at.AtMost(2, x[:3]))
    return g


def test_it_tells_what_was_done():
    made = at.presolve(quarrel())
    assert repr(made) == (
        "Presolved: 3 of 5 variables left: 1 variable of degree one eliminated, "
        "1 value pruned by dominance"
    )
    assert repr(at.presolve(at.FactorGraph())) == "Presolved: 0 of 0 variables left: nothing found"


def test_proofs_that_were_tampered_with_fail():
    g = quarrel()
    made = at.presolve(g)
    claim = made.decode(exact=True).certificate
    assert claim.verify() and isinstance(claim.proof, Reduced)
    leaves, exchanges = made.steps
    inner = claim.proof.proof
    lost, by = exchanges.lost, exchanges.by
    for steps in (
        (leaves,), (exchanges,), (), (leaves, exchanges, exchanges),
        (leaves, Exchanges(~lost, ~by)), (leaves, Exchanges(by, by)),
        (leaves, Exchanges(lost - 9, by)), (leaves, Exchanges(lost, by[:0])),
        (Leaves(~leaves.literals - 1), exchanges), (Leaves(np.array([0], np.int32)), exchanges),
        (Leaves(np.array([77], np.int32)), exchanges),
    ):  # fmt: skip
        assert not replace(claim, proof=Reduced(steps, inner)).verify()


def test_factors_over_two_as_tables():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(30):
        g = at.FactorGraph()
        x = g.binary(5, scores=rng.normal(size=5))
        tag = g.categorical(1, states=2, scores=rng.normal(size=(1, 2)))[0]
        a, b, c = pick_literals(rng, g, 3)
        g.add(at.Parity(x[:3]))  # of no interest, between those that are
        g.add(at.Dense(x[0], x[1], x[3], scores=np.zeros((2, 2, 2))))
        g.add((at.AtMostOne, at.ExactlyOne, at.Parity)[rng.integers(3)]([a, b]))
        g.add(at.AtLeastOne([b], output=c))
        g.add(at.AtMostOne([[x[0], ~x[3]], [x[4], x[1]]], axis=1))
        g.add(at.Dense(tag, ~x[4], scores=rng.normal(size=(2, 2))))
        g.add(at.Pair(a, c, scores=1.0))
        compiled, scores = g.compile(), graph_scores(g)
        problem = compiled.problem
        if compiled.conflict is not None or problem.n < g.size:
            continue
        points, values = enumerate_graph(g)
        flat = compiled.flat_scores(scores)
        found = points @ flat.theta + flat.constant
        for tables, links in over_two(problem, flat):
            states = []
            for slot in tables.slots:
                truth = (points[:, slot.column] == 1) ^ (slot.lits < 0)
                states.append(truth[..., 0] if slot.is_literal else truth.argmax(axis=-1))
            rows = np.arange(len(tables.scores))
            found = found + tables.scores[rows, states[0] * 1, states[1] * 1].sum(axis=1)
            lits = np.concatenate([slot.lits for slot in tables.slots], axis=1)
            np.testing.assert_array_equal(problem.all_lits[links], lits)
        labelled = (points[:, :3].sum(axis=1) % 2 == 0) & (points[:, 5:].sum(axis=1) == 1)
        np.testing.assert_allclose(found[labelled], values[labelled])
        seen |= set(problem.group_kind[problem.group_size == 2].tolist())
    assert seen >= {CAP, SUM, PARITY, ANYOF}


def test_persistent_values_are_checked_under_link_scores():
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, 1.0, 1.0, -3.0], name="x")
    g.add(at.Pair(x[[0, 1, 2, 2]], x[[1, 2, 0, 3]], scores=[-2.0, -2.0, -2.0, 0.5]))
    start = Reduction.of(g.compile(), graph_scores(g))
    step, after = find_persistent(start)
    assert after.compiled.fixed.tolist() == [-1, -1, -1, 0] and after.loss == 0.0
    assert Persistent(~step.literals, step.dual).apply(start).loss >= 2.5
    both = np.concatenate([step.literals, ~step.literals])
    less = DualPoint(step.dual.pair[:-1], step.dual.logic)
    none = DualPoint(step.dual.pair + np.nan, step.dual.logic)
    for wrong in (
        Persistent(both, step.dual),
        Persistent(step.literals, less),
        Persistent(step.literals, none),
        Persistent(step.literals - 4, step.dual),
    ):
        assert wrong.apply(start) is None
    g.add(at.AtMost(2, x[1:]))
    assert step.apply(Reduction.of(g.compile(), graph_scores(g))) is None  # over more than two


def test_persistent_values_in_tables_over_two_and_more():
    g = at.FactorGraph()
    x = g.binary(3, scores=[-1.0, -1.0, 0.0], name="x")
    g.add(at.Dense(~x[0], x[1], scores=[[0.0, 3.0], [0.0, 0.0]]))

    def applied(*links):
        dual = DualPoint(np.zeros((0, 2)), np.zeros(0), np.array(links))
        start = Reduction.of(g.compile(), graph_scores(g))
        return Persistent(np.array([0, 1], np.int32), dual).apply(start)

    assert applied(1.0, -1.0).loss == 0.0
    assert applied(-1.0, -1.0).loss >= 1.0
    g.add(at.Dense(*x, scores=np.zeros((2, 2, 2))))
    assert applied(1.0, -1.0, 0.0, 0.0, 0.0) is None


def test_exchanges_that_lose_something_add_it_to_the_bound():
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, 0.5, 1.0, 0.25], name="x")
    g.add(at.Pair(x[[0, 2]], x[[1, 3]], scores=-0.75))
    replay = Replay(g.compile(), graph_scores(g))
    for lost, loss in (([~1], 0.25), ([~1, ~3], 0.25 + 0.5)):
        step = Exchanges(np.array(lost, np.int32), ~np.array(lost, np.int32))
        proof = Reduced((step,), Trusted("us", 1.25))
        assert replay.bound(proof) == pytest.approx(1.25 + loss)


def test_exchanges_that_are_none_are_refused():
    g = at.FactorGraph()
    x = g.binary(5, scores=[-2.0, -1.5, -1.0, -1.0, 0.0], name="x")
    g.add(at.AtMostOne(x[:3]))
    g.add(at.AtMostOne(x[3:]))
    two_choices = Reduction.of(g.compile(), graph_scores(g))
    h = at.FactorGraph()
    h.add(at.AtMostOne(h.binary(4, scores=[-2.0, -1.0, 0.0, 0.0])))
    one = Reduction.of(h.compile(), graph_scores(h))

    def exchanged(start, lost, by):
        return Exchanges(np.array(lost, np.int32), np.array(by, np.int32)).apply(start)

    assert exchanged(two_choices, [0, 1, 3], [2, 2, ~3]).loss == 0.0
    assert exchanged(one, [0, 1], [2, 2]).loss == 0.0
    for start, lost, by in (
        (two_choices, [0, 1], [1, ~1]),  # the target is pruned itself
        (two_choices, [0, 0], [~0, 2]),  # twice
        (two_choices, [0], [3]),  # of another choice
        (two_choices, [~0], [0]),  # another may be true
        (two_choices, [3], [~0]),  # not for another literal
        (one, [~0], [2]),
        (one, [0, 1], [2, 3]),  # two targets
        (one, [0], [99]),
        (one, [99], [0]),
        (one, [0], [2, 2]),
    ):
        assert exchanged(start, lost, by) is None, (lost, by)


@pytest.mark.parametrize("kind", [at.Exactly, at.AtMost])
def test_a_rule_about_all_states_of_a_label_keeps_it(kind):
    """Two of the three literals are negated, so that it is no choice: the last state cannot be."""
    g = at.FactorGraph()
    tag = g.categorical(2, states=3, scores=[[0.0, 0.0, 5.0], [0.1, 0.2, 0.3]], name="tag")
    g.add(at.Dense(tag[0], tag[1], scores=0.5 * np.eye(3)))
    g.add(kind(1, [~tag[0].state(0), ~tag[0].state(1), tag[0].state(2)]))
    start = Reduction.of(g.compile(), graph_scores(g))
    assert Leaves(np.array([0], np.int32)).apply(start) is None
    assert_proven(at.presolve(g).decode(exact=True), optimum(g))


def test_no_answer_is_no_answer_and_constraints_are_named():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.0, -1.0], name="x")
    g.add(at.AtLeast(2, x[:2]))
    g.add(at.AtMost(1, x[:2]))
    g.add(at.Pair(x[1], x[2], scores=-1.0))
    result = at.presolve(g).decode()
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()
    assert result.certificate.conflict


def test_constraints_are_named_where_a_value_was_put_away():
    g = at.FactorGraph()
    x = g.binary(5, scores=[0.0, 0.0, 0.0, 0.0, -1.0], name="x")
    g.add(at.AtLeast(3, x[:4]))
    g.add(at.AtMost(2, x))
    made = at.presolve(g)
    assert made.compiled.fixed.tolist() == [-1, -1, -1, -1, 0] and not made.refuted
    result = made.decode()
    assert result.status is at.Status.INFEASIBLE and result.certificate.verify()
    assert len(result.certificate.conflict) == 2


def test_constraints_are_named_within_the_time_limit():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    g.add(at.AtLeast(2, x))
    g.add(at.AtMost(1, x))
    result = at.presolve(g).decode(exact=True, time_limit=1.0)
    assert result.status is at.Status.INFEASIBLE
    assert 0.0 < result.certificate.naming_seconds <= 1.0


@pytest.mark.parametrize("name", ["Arborescence", "Cardinality", "Chain", "Matching"])
def test_beside_structures(name):
    for seed in range(sweep_size() // 20):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        g.add(STRUCTURES[name](rng, g))
        if not 1 <= g.size <= 8:
            continue
        y = g.binary(3, scores=rng.normal(size=3), name="y")
        own = Literals(g, rng.integers(0, g.size - 3, 3).astype(np.int32))
        g.add(at.Pair(own, y, scores=rng.normal(size=3)))
        made = at.presolve(g)
        if made.refuted:
            continue
        points = ((np.arange(2**g.size)[:, None] >> np.arange(g.size)) & 1).astype(np.int8)
        checks = (check_assignment(g.compile(), graph_scores(g), point) for point in points)
        best = max((check.value for check in checks if check.feasible), default=-np.inf)
        result = made.decode(exact=True)
        assert result.value == pytest.approx(best) and result.certificate.verify()


PRESOLVED = presolving.Presolving(
    lambda left, scores, request, is_smaller: begin(left, scores, at.BranchAndCut(), request)
)


def test_exact_answers_are_sought_on_what_is_left():
    g = joint_labelling(200, seed=2)
    result = at.decode(g, PRESOLVED)
    assert result.plan.startswith("Presolved: 87 of 125 variables left: 43 values pruned by dom")
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, exact=True).value)
    assert "Presolved" not in at.decode(g).plan  # relaxed answers keep their meaning
    again = at.decode(g, PRESOLVED, warm_start=result)
    assert again.value == pytest.approx(result.value) and again.certificate.verify()
    dense = at.decode(tangle(), PRESOLVED)
    assert dense.status is at.Status.OPTIMAL and "Presolved" not in dense.plan


def tangle() -> at.FactorGraph:
    """Everybody quarrels with everybody: there is nothing to presolve."""
    g = at.FactorGraph()
    x = g.binary(9, scores=np.linspace(1.9, 2.1, 9), name="x")
    first, second = np.triu_indices(9, 1)
    g.add(at.Pair(x[first], x[second], scores=-1.0))
    return g


def test_interrupts_while_presolving_keep_the_answer(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(presolving, "presolve_compiled", interrupt)
    result = at.decode(joint_labelling(1000, seed=2), exact=True)
    assert result.status is at.Status.STOPPED and "Interrupted" in result.message
    assert result.feasible and result.certificate.verify()


def test_no_step_is_begun_when_time_is_over():
    g = quarrel()
    made = presolve_compiled(g.compile(), graph_scores(g), deadline=0.0)
    assert not made.steps and made.compiled is g.compile()


def test_every_answer_of_a_list_stays():
    g = at.FactorGraph()
    g.binary(2, scores=[1.0, 2.0], name="x")
    assert at.presolve(g).compiled.problem.n == 0
    assert [r.value for r in at.k_best(g, 4)] == [3.0, 2.0, 1.0, 0.0]


def test_what_cannot_be_presolved_is_said():
    with pytest.raises(TypeError, match="presolve takes a FactorGraph, got int"):
        at.presolve(3)
    with pytest.raises(TypeError, match="scores is a dict"):
        at.presolve(at.FactorGraph(), scores=[1.0])
    made = at.presolve(at.FactorGraph())
    for way in (made.undo, made.follow):
        with pytest.raises(ValueError, match=r"an assignment has shape \(0,\), 0 or 1 each, got"):
            way(np.zeros(3, np.int8))
