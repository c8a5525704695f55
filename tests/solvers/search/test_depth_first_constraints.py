"""DepthFirst with constraints over many literals, which are not tabulated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, SUM
from assent.solvers.direct.tabulated_problem import find_variables
from assent.solvers.search.depth_first import DepthFirst
from assent.solvers.search.table_network import layout_of
from tests.answers import assert_proven
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum


def any_literals(rng, pool, count):
    """Some literals, a third of them negated."""
    chosen = rng.choice(len(pool), min(count, len(pool)), replace=False)
    return [~pool[i] if rng.random() < 0.35 else pool[i] for i in chosen]


def any_constraint(rng, literals):
    """One of all kinds."""
    n, number = len(literals), int(rng.integers(8))
    k = int(rng.integers(1, n))
    with_output = {"output": literals[-1]} if n > 2 else {}
    inputs = literals[:-1] if n > 2 else literals
    return (
        lambda: at.AtMost(k, literals),
        lambda: at.AtLeast(k, literals),
        lambda: at.Exactly(k, literals),
        lambda: at.ExactlyOne(literals),
        lambda: at.Parity(literals),
        lambda: at.AtLeastOne(inputs, **with_output),
        lambda: at.All(inputs, **with_output) if with_output else at.AtMostOne(literals),
        lambda: at.AtMostOne(inputs, **with_output),
    )[number]()


def any_knapsack(rng, literals):
    """Whole or real weights, some of them 0."""
    n = len(literals)
    weights = rng.integers(0, 6, n).astype(float) if rng.random() < 0.6 else 3.0 * rng.random(n)
    return at.Knapsack(literals, weights=weights, capacity=float(weights.sum() * rng.random()))


def constrained_graph(rng):
    """Constraints over binary variables and states of categorical ones, tables and pairs."""
    g = at.FactorGraph()
    binaries, tags, states = (int(n) for n in rng.integers([3, 1, 3], [8, 4, 5]))
    whole = rng.random() < 0.3  # ties

    def draw(*shape):
        scores = 2.0 * rng.normal(size=shape)
        return np.round(scores) if whole else scores

    x = g.binary(binaries, scores=draw(binaries))
    tag = g.categorical(tags, states=states, scores=draw(tags, states))
    pool = [*x, *(tag[i].state(s) for i in range(tags) for s in range(states))]
    for _ in range(rng.integers(2, 6)):
        g.add(any_constraint(rng, any_literals(rng, pool, int(rng.integers(2, 8)))))
    for _ in range(rng.integers(0, 3)):
        g.add(any_knapsack(rng, any_literals(rng, pool, int(rng.integers(2, 9)))))
    for _ in range(rng.integers(1, 5)):
        g.add(at.Pair(*any_literals(rng, pool, 2), scores=float(draw(1)[0])))
    if tags > 1:
        scores = draw(states, states)
        scores[rng.random((states, states)) < 0.1] = -np.inf
        g.add(at.Dense(tag[0], tag[1], scores=scores))
    if rng.random() < 0.2:
        g.fix(x[0], int(rng.integers(2)))
    return g


@sweep_seeds(0.5)
def test_equals_enumeration_under_constraints(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = constrained_graph(rng)
        compiled, best = g.compile(), optimum(g)
        if compiled.conflict is None and isinstance(layout_of(compiled.problem), str):
            continue  # a constraint makes a variable of several that a table is about
        look = at.decode(g, at.AD3(max_iterations=20)) if rng.random() < 0.5 else None
        result = at.decode(g, DepthFirst(), warm_start=look)
        assert result.certificate.verify(), seed
        assert not result.certificate.trusted, seed
        if best == -np.inf:
            assert result.status is at.Status.INFEASIBLE, seed
        else:
            assert result.status is at.Status.OPTIMAL, seed
            assert result.value == pytest.approx(best, rel=1e-9, abs=1e-9), seed


def test_a_coarse_gap_makes_nothing_impossible():
    """The worst answer is nearer to what breaks rules than the gap, and is an answer still."""
    for seed in range(30):
        g = constrained_graph(np.random.default_rng(seed))
        compiled = g.compile()
        if compiled.conflict is None and isinstance(layout_of(compiled.problem), str):
            continue
        result = at.decode(g, DepthFirst(gap_tolerance=at.AbsoluteGap(1000.0)))
        assert result.feasible == np.isfinite(optimum(g)), seed
        assert result.certificate.verify(), seed


def test_all_forms_are_searched_as_they_are():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary(40, scores=rng.normal(size=40))
    g.add(at.AtMost(9, x))
    g.add(at.Exactly(3, [*x[:6], *~x[6:10]]))
    g.add(at.AtLeastOne(x[10:20], output=x[20]))
    g.add(at.Parity(x[18:30]))
    g.add(at.Knapsack(x[5:35], weights=rng.integers(1, 9, 30).astype(float), capacity=40.0))
    g.add(at.Pair(x[:-1], x[1:], scores=2.0 * rng.normal(size=39)))
    layout = layout_of(g.compile().problem)
    assert {CAP, SUM, ANYOF, PARITY, KNAPSACK} <= set(layout.form.tolist())
    result = at.decode(g, DepthFirst())
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)


def people_on_tasks(seed, people=8, tasks=7):
    """An assignment with limits, rules and rewards: some constraints name states of everybody."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    takes = g.binary(scores=rng.normal(size=(people, tasks)), name="takes")
    g.add(at.ExactlyOne(takes, axis=1))
    g.add(at.AtMost(2, takes[:, :-1], axis=0))
    g.add(at.AtMost(3, takes[:, :2].ravel()))  # several states of a variable
    g.add(at.Pair(takes[:-1], takes[1:], scores=rng.normal(size=(people - 1, tasks))))
    return g


def test_an_assignment_takes_few_cases_and_its_proof_holds():
    for seed in range(4):
        g = people_on_tasks(seed)
        result = at.decode(g, DepthFirst())
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)
        claim = result.certificate
        assert claim.verify()
        assert not replace(claim, bound=claim.bound - 0.1, value=claim.value - 0.1).verify()
        zero = replace(claim.proof, rows=np.zeros_like(claim.proof.rows))
        assert not replace(claim, proof=zero).verify()


def test_limits_leave_a_bound_and_an_answer():
    g = people_on_tasks(1, people=14, tasks=13)
    best = at.decode(g, at.IntegerProgram()).value
    for solver in (DepthFirst(max_rounds=2), DepthFirst(max_rounds=20)):
        stopped = at.decode(g, solver)
        assert stopped.certificate.verify()
        assert stopped.value - 1e-9 <= best <= stopped.bound + 1e-9


def test_a_knapsack_is_filled_with_parts_of_items_in_the_proof_as_well():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(25, scores=rng.uniform(0.5, 2.0, 25))
        weights = rng.integers(1, 20, 25).astype(float)
        g.add(at.Knapsack(x, weights=weights, capacity=float(weights.sum() // 3)))
        g.add(at.Pair(x[:-1], x[1:], scores=-rng.uniform(0.0, 1.0, 24)))
        result = at.decode(g, DepthFirst())
        assert result.status is at.Status.OPTIMAL and result.certificate.verify()
        assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)


def test_a_knapsack_filled_to_the_brim_is_not_overfull():
    """What the first leaves, as it is rounded, is less than the second takes."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(6, scores=rng.normal(size=6), name="x")
        g.add(at.Knapsack(x[:3], weights=[3.3, 0.001, 5.0], capacity=3.3 + 0.001))
        g.add(at.Pair(x[1], x[2:], scores=4.0 * rng.random(4)))
        g.add(at.Pair(x[3:5], x[4:], scores=rng.normal(size=2)))
        g.fix(x[0], 1)
        assert_proven(at.decode(g, DepthFirst()), optimum(g))


def test_variables_are_what_tables_take_for_them():
    """A rule over some states of one, or over states of several, is a constraint like others."""
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    tag = g.categorical(3, states=3, scores=rng.normal(size=(3, 3)), name="tag")
    x = g.binary(2, scores=1.0)
    g.add(at.ExactlyOne([tag[0].state(0), tag[0].state(2)]))
    g.add(at.ExactlyOne([tag[1].state(1), tag[1].state(2), tag[2].state(0), *x]))
    g.add(at.Dense(tag[0], tag[1], scores=rng.normal(size=(3, 3))))
    g.add(at.Potts(tag[1], tag[2], scores=rng.normal(size=3)))
    assert find_variables(g.compile().problem).card.tolist() == [3, 3, 3, 2, 2]
    assert_proven(at.decode(g, DepthFirst()), optimum(g))


def test_link_scores_of_a_decoder_spare_rounds():
    g = people_on_tasks(1, people=14, tasks=13)
    cold = at.decode(g, DepthFirst())
    look = at.decode(g, at.AD3(max_iterations=100))
    warm = at.decode(g, DepthFirst(), warm_start=look)
    assert warm.value == pytest.approx(cold.value) and warm.certificate.verify()
    assert warm.iterations < cold.iterations
    first = at.decode(g, DepthFirst(max_rounds=1), warm_start=look)
    assert first.bound <= look.bound + 1e-6
    scores = {g["takes"]: np.random.default_rng(7).normal(size=(14, 13))}
    other = at.decode(g, DepthFirst(), warm_start=look, scores=scores)
    assert other.value == pytest.approx(at.decode(g, at.IntegerProgram(), scores=scores).value)
    assert other.status is at.Status.OPTIMAL and other.certificate.verify()


def test_exact_decoding_searches_constrained_models_in_turns():
    for size in (6, 14):
        g = people_on_tasks(2, people=size, tasks=size - 1)
        result = at.decode(g, exact=True)
        assert result.plan.startswith("AD3, as") and result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)
        assert result.certificate.verify()


def test_what_cannot_be_is_never_worth_more_than_what_can():
    """Messages outgrow any fixed amount that a broken constraint might cost."""
    g = at.FactorGraph()
    x = g.binary(10, scores=[1.63, 2.11, -1.9, -2.39, -0.72, -3.15, 2.71, 0.17, 0.18, 0.26])
    t = g.categorical(1, states=4, scores=[[-2.62, -0.62, -0.91, 0.94]])
    s = [t[0].state(state) for state in range(4)]
    every = [x[3], x[1], ~s[0], ~s[1], ~s[3], x[8], s[2], x[6], x[9], ~x[0], ~x[7]]
    g.add(at.All(every, output=x[4]))
    few = [~x[5], x[4], x[8], ~s[3], ~x[2], ~x[9]]
    g.add(at.Knapsack(few, weights=[0.0, 0.0, 0.001, 1.1, 0.3, 0.1], capacity=1.1 + 0.3))
    g.add(at.Knapsack([~x[1], x[2]], weights=[3.3, 0.1], capacity=3.3))
    many = [~x[7], x[2], ~s[1], x[1], ~x[3], x[9], x[4], x[5], x[8]]
    weights = [0.3, 3.3, 0.1, 0.1, 3.3, 0.7, 0.001, 0.1, 0.7]
    g.add(at.Knapsack(many, weights=weights, capacity=3.801))
    for one, other, score in (
        (~s[0], x[1], -4.39), (~x[8], x[6], -2.88), (x[0], x[2], 2.0), (x[1], ~x[3], -0.66),
        (x[4], x[6], -0.46), (s[3], x[2], 1.18), (~s[3], s[2], 4.66), (x[6], ~s[3], -0.52),
        (s[0], x[5], -0.58),
    ):  # fmt: skip
        g.add(at.Pair(one, other, scores=score))
    g.fix(x[7], 0)
    g.fix(s[3], 0)
    result = at.decode(g, DepthFirst())
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(at.decode(g, at.IntegerProgram()).value)


def test_a_round_reads_a_constraint_once_for_each_of_its_literals():
    """Not as a table, of which there would be an entry for all pairs of literals."""
    g = at.FactorGraph()
    x = g.binary(400, name="x")
    g.add(at.AtMost(7, x))
    reads = layout_of(g.compile().problem).round_reads()
    g = at.FactorGraph()
    x = g.binary((2, 200), name="x")
    g.add(at.AtMost(7, x, axis=1))
    assert layout_of(g.compile().problem).round_reads() == reads
