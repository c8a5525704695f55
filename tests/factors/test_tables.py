"""Tables, parities and knapsacks: contracts against enumeration, and their edges."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from tests.oracles.projection import scored_projection
from tests.oracles.sweep import sweep_seeds
from tests.strategies import (
    TABLES,
    joint_scores,
    joint_states,
    optimum,
    random_dense,
    random_scores,
)

every_table = pytest.mark.parametrize("draw", TABLES, ids=["Dense", "Potts"])


def table_graph(rng, states=None, binaries=2):
    """Two categorical variables of the same states, and a few binary ones."""
    g = at.FactorGraph()
    g.binary(binaries, name="x")
    states = int(rng.integers(2, 4)) if states is None else states
    for name in "st":
        g.categorical(1, states=states, name=name)
    return g


def one_table(rng, draw, most=12, forbid=0.2):
    """A table of up to ``most`` joint states: what enumeration of supports can bear."""
    while True:
        factor = draw(rng, table_graph(rng), forbid=forbid)
        if np.prod(factor.states) <= most:
            return factor


@sweep_seeds()
@every_table
def test_maximize_finds_the_best_joint_state(draw, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        factor = one_table(rng, draw, most=100)
        scale = float(rng.choice([1e-6, 1.0, 1e8]))
        links = random_scores(rng, factor.codes.shape, scale)
        table = scale * factor.scores
        value, states = factor.maximize(links, table)
        joint, truths = joint_states(factor)
        total = truths @ links[0] + joint_scores(factor, table[0])
        assert value[0] == pytest.approx(total.max(), rel=1e-12)
        (chosen,) = np.flatnonzero((joint == states[0]).all(axis=1))
        assert total[chosen] == pytest.approx(total.max(), rel=1e-12)


@sweep_seeds()
@every_table
def test_project_finds_the_nearest_point_and_its_inner_score(draw, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        factor = one_table(rng, draw, most=9)
        point = 0.5 + rng.choice([0.3, 1.0, 5.0]) * rng.normal(size=factor.codes.shape)
        z, inner = factor.project(point, factor.scores)
        _, truths = joint_states(factor)
        scores = joint_scores(factor, factor.scores[0])
        possible = scores > -np.inf
        objective = 0.5 * ((z - point) ** 2).sum() - inner[0]
        assert_nearest_scored(truths[possible], scores[possible], point[0], z[0], objective)


def assert_nearest_scored(corners, scores, point, z, objective):
    """Optimal by duality: no joint state improves on ``z`` along the gradient at it.

    The objective is convex, so it lies within the largest improvement of its minimum.
    """
    inner = 0.5 * ((z - point) ** 2).sum() - objective
    improvement = (corners @ (point - z) + scores).max() - ((point - z) @ z + inner)
    assert -1e-9 <= improvement <= 1e-8 * (1.0 + np.abs(point).max() ** 2)


def test_the_duality_check_agrees_with_enumeration_of_supports():
    rng = np.random.default_rng(0)
    for _ in range(20):
        factor = one_table(rng, random_dense, most=6, forbid=0.0)
        point = 0.5 + rng.normal(size=factor.codes.shape)
        z, _ = factor.project(point, factor.scores)
        _, truths = joint_states(factor)
        np.testing.assert_allclose(
            z[0], scored_projection(truths, factor.scores[0], point[0]), atol=1e-7
        )


@every_table
def test_scores_far_below_and_above_one_keep_projections_in_the_hull(draw):
    rng = np.random.default_rng(1)
    for scale in (1e-8, 1e3, 1e6):
        for _ in range(10):
            factor = one_table(rng, draw)
            z, _ = factor.project(scale * rng.normal(size=factor.codes.shape), factor.scores)
            for place, first in zip(factor.slot_links(), factor.first, strict=True):
                assert z[0, place].min() >= -1e-9
                assert z[0, place].sum() <= 1 + 1e-9
                assert first or z[0, place].sum() >= 1 - 1e-9


def potts_and_dense(rng, states=3, variables=4):
    """The same ring of variables with mixed-sign rewards per label, written both ways."""
    unary = random_scores(rng, (variables, states))
    ends = np.arange(variables), np.roll(np.arange(variables), -1)
    scores = random_scores(rng, (variables, states), 2.0)
    graphs = []
    for dense in (False, True):
        g = at.FactorGraph()
        t = g.categorical(states=states, scores=unary, name="t")
        a, b = t[ends[0]], t[ends[1]]
        if dense:
            g.add(at.Dense(a, b, scores=scores[:, :, None] * np.eye(states)))
        else:
            g.add(at.Potts(a, b, scores=scores))
        graphs.append(g)
    return graphs


@sweep_seeds()
def test_potts_is_the_dense_table_it_stands_for(seeds):
    for seed in seeds:
        short, full = potts_and_dense(np.random.default_rng(seed))
        best = optimum(short)
        assert optimum(full) == pytest.approx(best, abs=1e-9)
        exact = at.decode(full, at.LinearProgram())
        slack = 1e-6 * (1 + abs(exact.bound))
        assert at.decode(short, at.LinearProgram()).bound == pytest.approx(exact.bound, abs=slack)
        for g in (short, full):
            found = at.decode(g, at.AD3(max_iterations=5000))
            assert found.certificate.verify()
            assert found.value <= best + slack
            assert found.bound >= exact.bound - slack
            if found.status is at.Status.RELAXED:
                assert found.bound <= exact.bound + 100 * slack


@sweep_seeds()
@every_table
def test_project_and_maximize_of_a_batch_are_those_of_its_factors(draw, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        t = g.categorical((2, 3), states=3)
        kind = at.Dense if draw is random_dense else at.Potts
        entry = (3, 3) if kind is at.Dense else (3,)
        scores = random_scores(rng, (3, *entry), forbid=0.1)
        batch = kind(t[0], t[1], scores=scores)
        points = rng.normal(size=batch.codes.shape)
        z, inner = batch.project(points, batch.scores)
        values, _ = batch.maximize(points, batch.scores)
        for row in range(3):
            alone = kind(t[0, row], t[1, row], scores=scores[row])
            own, part = alone.project(points[[row]], alone.scores)
            np.testing.assert_allclose(z[row], own[0], atol=1e-8)
            assert inner[row] == pytest.approx(part[0], abs=1e-7)
            assert alone.maximize(points[[row]], alone.scores)[0][0] == values[row]


def chain(unary, dense, potts):
    """Three variables of three states: tables along the chain, a Potts between its ends."""
    g = at.FactorGraph()
    t = g.categorical(states=3, scores=unary, name="t")
    rules = g.add(at.Dense(t[:-1], t[1:], scores=dense)), g.add(at.Potts(t[0], t[2], scores=potts))
    return g, dict(zip((t, *rules), (unary, dense, potts), strict=True))


@sweep_seeds(share=0.5)
def test_new_table_scores_are_a_rebuilt_graph(seeds):
    shapes = (3, 3), (2, 3, 3), (3,)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        never = [rng.random(shape) < 0.1 for shape in shapes]
        never[1][:, 0, 0] = False  # a table that forbids everything is refused
        old, new = (
            [np.where(no, -np.inf, rng.normal(size=no.shape)) for no in never] for _ in range(2)
        )
        g, first = chain(*old)
        rebuilt, _ = chain(*new)
        changes = dict(zip(first, new, strict=True))
        again, direct = at.decode(g, scores=changes), at.decode(rebuilt)
        assert (again.status, again.value, again.bound) == (
            direct.status,
            direct.value,
            direct.bound,
        )
        warm = at.decode(g, scores=changes, warm_start=at.decode(g))
        best = optimum(rebuilt)
        assert warm.certificate.verify()
        assert warm.value - 1e-9 <= best <= warm.bound + 1e-9


@sweep_seeds()
def test_tables_that_forbid_much_and_evidence(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = table_graph(rng)
        for _ in range(3):
            g.add(TABLES[rng.integers(2)](rng, g, forbid=0.4))
        s, t = g["s"], g["t"]
        for variable in (s, t):
            if rng.random() < 0.5:
                g.fix(variable[0], int(rng.integers(len(variable.states))))
        best = optimum(g)
        result = at.decode(g)
        assert result.certificate.verify()
        assert result.value <= best + 1e-9
        assert result.bound >= best - 1e-9
        if result.status is at.Status.INFEASIBLE:
            assert best == -np.inf


# ---------------------------------------------------------------- edges


def solved(g):
    """Decode with both solvers, recheck, compare with enumeration."""
    best = optimum(g)
    for solver in (at.LinearProgram(), at.AD3()):
        result = at.decode(g, solver)
        assert result.certificate.verify()
        if best == -np.inf:
            assert result.status is at.Status.INFEASIBLE
        else:
            assert result.value == pytest.approx(best, abs=1e-9)
            assert result.bound >= best - 1e-9
    return result


def test_knapsack_items_without_weight_are_free():
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, 2.0, 3.0, -1.0], name="x")
    g.add(at.Knapsack(x, weights=[0.0, 2.0, 2.0, 0.0], capacity=2.0))
    assert solved(g)[x].tolist() == [1, 0, 1, 0]
    g.add(at.Knapsack(x, weights=0.0, capacity=0.0))
    assert solved(g)[x].tolist() == [1, 0, 1, 0]


def test_knapsack_with_no_room_and_with_room_for_all():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0, name="x")
    rule = at.Knapsack(x, weights=[1.0, 2.0, 3.0], capacity=6.0)
    g.add(rule)
    assert g.compile().problem.n_logic == 0
    assert solved(g)[x].tolist() == [1, 1, 1]
    g.add(at.Knapsack(x, weights=[1.0, 2.0, 0.0], capacity=0.0))
    assert solved(g)[x].tolist() == [0, 0, 1]
    with pytest.raises(at.ModelError, match=r"Knapsack: capacity must be numbers >= 0, got -1"):
        at.Knapsack(x, weights=1.0, capacity=-1)
    with pytest.raises(at.ModelError, match=r"Knapsack: weights must be numbers >= 0"):
        at.Knapsack(x, weights=[1.0, -2.0, np.nan], capacity=1)
    with pytest.raises(at.ModelError, match=r"Knapsack: weights must be numbers of shape \(3,\)"):
        at.Knapsack(x, weights=[1.0, 2.0], capacity=1)


def test_knapsack_on_a_literal_and_its_negation():
    g = at.FactorGraph()
    x = g.binary(2, scores=[-1.0, 2.0], name="x")
    g.add(at.Knapsack([x[0], ~x[0], x[1]], weights=[1.0, 2.0, 2.0], capacity=3.0))
    assert solved(g)[x].tolist() == [1, 1]


def test_evidence_fills_a_knapsack():
    g = at.FactorGraph()
    x = g.binary(3, scores=[-1.0, 5.0, 1.0], name="x")
    g.add(at.Knapsack(x, weights=[2.0, 2.0, 1.0], capacity=3.0))
    g.fix(x[0], 1)
    assert solved(g)[x].tolist() == [1, 0, 1]
    g.fix(x[1], 1)
    assert any("Knapsack" in reason for reason in solved(g).certificate.conflict)


@pytest.mark.parametrize("odd", [False, True])
def test_parity_of_one_literal_and_of_a_literal_and_its_negation(odd):
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, -1.0, 0.5], name="x")
    g.add(at.Parity(x[0], odd=odd))
    g.add(at.Parity([x[1], ~x[1], x[2]], odd=odd))
    assert solved(g)[x].tolist() == [int(odd), 0, int(not odd)]


def test_evidence_completes_a_parity():
    g = at.FactorGraph()
    x = g.binary(3, scores=-1.0, name="x")
    g.add(at.Parity(x, odd=True))
    g.fix(x[:2], [1, 1])
    assert solved(g)[x].tolist() == [1, 1, 1]
    g.fix(x[2], 0)
    assert any("Parity(odd; " in reason for reason in solved(g).certificate.conflict)


def test_a_table_that_forbids_everything_is_refused():
    g = at.FactorGraph()
    t = g.categorical((2, 2), states=2, name="t")
    scores = np.zeros((2, 2, 2))
    scores[1] = -np.inf
    with pytest.raises(
        at.ModelError,
        match="Dense factor 1: every entry is -inf, so nothing is possible; give at least one "
        "finite score",
    ):
        at.Dense(t[0], t[1], scores=scores)
    handle = g.add(at.Dense(t[0], t[1], scores=0.0))
    with pytest.raises(at.ModelError, match="every entry is -inf"):
        graph_scores(g, {handle: scores})


def test_a_potts_that_forbids_every_label_keeps_its_variables_apart():
    g = at.FactorGraph()
    t = g.categorical(states="ab", scores=[[1.0, 0.0], [1.0, 0.5]], name="t")
    g.add(at.Potts(t[0], t[1], scores=-np.inf))
    assert solved(g).labels[t].tolist() == ["a", "b"]


def test_variables_of_one_value_in_tables():
    g = at.FactorGraph()
    only = g.categorical(1, states=["one"], name="only")
    t = g.categorical(1, states=3, name="t")
    x = g.binary(1, name="x")
    g.add(at.Dense(only, t, x, scores=[[[0.0, 1.0], [3.0, -1.0], [2.0, 2.5]]]))
    result = solved(g)
    assert (result[only].tolist(), result[t].tolist(), result[x].tolist()) == ([0], [1], [0])
    g.add(at.Dense(only, scores=[7.0]))
    assert solved(g).value == pytest.approx(10.0)
    with pytest.raises(at.ModelError, match="one state"):
        at.Potts(only, g.categorical(1, states=["one"]), scores=1.0)


def test_evidence_against_a_table_is_infeasible_and_names_it():
    g = at.FactorGraph()
    t = g.categorical(2, states="ab", name="t")
    g.add(at.Dense(t[0], t[1], scores=[[0.0, -np.inf], [-np.inf, 0.0]]), name="equal")
    g.fix(t[0], "a")
    assert solved(g).labels[t].tolist() == ["a", "a"]
    g.fix(t[1], "b")
    assert any("equal" in reason for reason in solved(g).certificate.conflict)


def test_tables_that_contradict_each_other_without_evidence():
    g = at.FactorGraph()
    t = g.categorical(3, states=2, name="t")
    differ = [[-np.inf, 0.0], [0.0, -np.inf]]
    g.add(at.Dense(t[:-1], t[1:], scores=differ))
    assert solved(g).feasible
    g.add(at.Dense(t[0], t[2], scores=differ))
    assert optimum(g) == -np.inf
    # The relaxation of an odd ring is feasible at one half: nothing is proven, nothing is claimed.
    result = at.decode(g)
    assert not result.feasible
    assert result.certificate.verify()


def test_shapes_that_do_not_fit_are_told():
    g = at.FactorGraph()
    t = g.categorical(2, states=3, name="t")
    with pytest.raises(at.ModelError, match=r"scores have shape \(2, 2\), expected \(3, 3\)"):
        at.Dense(t[0], t[1], scores=np.zeros((2, 2)))
    with pytest.raises(at.ModelError, match="different states"):
        at.Potts(t[0], g.categorical(states=2, scores=[0.0, 1.0]), scores=1.0)
    with pytest.raises(TypeError, match="for literals use Pair"):
        at.Potts(g.binary(), g.binary(), scores=1.0)
    with pytest.raises(at.ModelError, match="literal twice"):
        at.Dense(t[0], t[0], scores=0.0)
    with pytest.raises(at.ModelError, match="at least one variable"):
        at.Dense(scores=0.0)
    with pytest.raises(at.ModelError, match="too large"):
        at.Dense(*g.binary(25), scores=0.0)


MANY = 10_000


@pytest.mark.parametrize(
    ("write", "best"),
    [
        (lambda x: at.Exactly(100, x), lambda s: np.sort(s)[-100:].sum()),
        (lambda x: at.AtMost(100, x), lambda s: np.sort(s)[-100:].sum()),
        (lambda x: at.ExactlyOne(x), lambda s: s.max()),
        (lambda x: at.AtLeastOne(x), lambda s: s[s > 0].sum()),
        (lambda x: at.Knapsack(x, weights=2.0, capacity=201.0), lambda s: np.sort(s)[-100:].sum()),
        (lambda x: at.Parity(x), lambda s: best_parity(s, 0)),
        (lambda x: at.Parity(x, odd=True), lambda s: best_parity(s, 1)),
    ],
    ids=["Exactly", "AtMost", "ExactlyOne", "AtLeastOne", "Knapsack", "Parity", "Odd"],
)
def test_a_factor_of_ten_thousand_literals(write, best):
    g = at.FactorGraph()
    scores = np.random.default_rng(5).normal(size=MANY)
    x = g.binary(scores=scores, name="x")
    factor = g.add(write(x)).factor
    result = at.decode(g)
    assert result.certificate.verify()
    assert result.value <= best(scores) + 1e-6
    assert result.bound >= best(scores) - 1e-6
    if not isinstance(factor, at.Knapsack):  # half an item is cut: a gap that rounding leaves
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(best(scores), rel=1e-4)


def best_parity(scores, rest):
    """All that gain; if their number has the wrong rest, the cheapest change."""
    total = scores[scores > 0].sum()
    return total if (scores > 0).sum() % 2 == rest else total - np.abs(scores).min()
