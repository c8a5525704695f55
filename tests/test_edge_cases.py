"""Odd but legal models get right answers, everything else an error in our own words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at
from assent.factors import Structure
from tests.test_errors import says

# ------------------------------------------------------------------ x beside ~x

TABLE = np.random.default_rng(1).normal(size=(2, 2, 2))
STEP = np.array([[0.3, -1.0], [2.0, 0.1]])
COUNT = np.array([0.0, -1.0, 1.5, -np.inf])
BANNED = -np.inf


def rule(holds):
    """The score of a constraint."""
    return lambda *t: 0.0 if holds(*t) else BANNED


# Over the literals (x0, ~x0, x1): how the factor is written and its value.
COMPLEMENTS = {
    "ExactlyOne": (at.ExactlyOne, rule(lambda *t: sum(t) == 1)),
    "AtMostOne": (at.AtMostOne, rule(lambda *t: sum(t) <= 1)),
    "AtLeastOne": (at.AtLeastOne, rule(lambda *t: sum(t) >= 1)),
    "All": (at.All, rule(lambda *t: all(t))),
    "AtMostOne output": (
        lambda v: at.AtMostOne(v[:2], output=v[2]), rule(lambda a, b, z: a + b == z)),
    "AtLeastOne output": (
        lambda v: at.AtLeastOne(v[:2], output=v[2]), rule(lambda a, b, z: (a or b) == z)),
    "output denied": (
        lambda v: at.AtLeastOne(v[1:], output=v[0]), rule(lambda z, a, b: (a or b) == z)),
    "All output": (lambda v: at.All(v[:2], output=v[2]), rule(lambda a, b, z: (a and b) == z)),
    "Implies": (lambda v: at.Implies(v[0] & v[1], v[2]), rule(lambda a, b, c: not (a and b) or c)),
    "Implies itself": (
        lambda v: at.Implies(v[2] & v[0], v[1]), rule(lambda a, b, c: not (c and a) or b)),
    "AtMost": (lambda v: at.AtMost(1, v), rule(lambda *t: sum(t) <= 1)),
    "AtLeast": (lambda v: at.AtLeast(2, v), rule(lambda *t: sum(t) >= 2)),
    "Exactly": (lambda v: at.Exactly(2, v), rule(lambda *t: sum(t) == 2)),
    "Agree": (lambda v: at.Agree(v[0], v[1]), rule(lambda a, b, c: a == b)),
    "Parity": (at.Parity, rule(lambda *t: sum(t) % 2 == 0)),
    "odd Parity": (lambda v: at.Parity(v, odd=True), rule(lambda *t: sum(t) % 2 == 1)),
    "Knapsack": (
        lambda v: at.Knapsack(v, weights=[2.0, 1.0, 1.0], capacity=2.0),
        rule(lambda a, b, c: 2 * a + b + c <= 2)),
    "Cardinality": (lambda v: at.Cardinality(v, scores=COUNT), lambda *t: COUNT[sum(t)]),
    "Dense": (lambda v: at.Dense(*v, scores=TABLE), lambda *t: TABLE[t]),
    "Chain": (
        lambda v: at.Chain(v, transitions=STEP), lambda a, b, c: STEP[a, b] + STEP[b, c]),
    "Tree": (
        lambda v: at.Tree(v, parents=[-1, 0, 0], scores=STEP),
        lambda a, b, c: STEP[a, b] + STEP[a, c]),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEMENTS)
@pytest.mark.parametrize("evidence", [None, (0, 0), (1, 1)])
def test_a_literal_beside_its_negation(name, evidence):
    write, value_of = COMPLEMENTS[name]
    for seed in range(4):
        theta = np.random.default_rng(seed).normal(size=2)
        g = at.FactorGraph()
        x = g.binary(scores=theta, name="x")
        searched = isinstance(g.add(write([x[0], ~x[0], x[1]])).factor, Structure)
        if evidence is not None:
            g.fix(x[evidence[0]], evidence[1])
        best = max(
            theta @ (a, b) + value_of(a, 1 - a, b)
            for a, b in product((0, 1), repeat=2)
            if evidence is None or (a, b)[evidence[0]] == evidence[1]
        )
        for solver in (at.AD3(), at.LinearProgram())[: 1 if searched else 2]:
            result = at.decode(g, solver)
            assert result.certificate.verify()
            assert result.value <= best + 1e-9
            assert result.bound >= best - 1e-9
            assert result.feasible == (best > -np.inf)
            if result.feasible:
                assert result.value == pytest.approx(best, abs=1e-9)
        if best == -np.inf:
            assert result.status is at.Status.INFEASIBLE


def test_a_literal_twice_is_refused_in_every_kind():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    for name, (write, _) in COMPLEMENTS.items():
        if name in ("Agree", "AtMostOne output"):  # look at the first two, say the same of all
            continue
        with says(at.ModelError, "has a literal twice"):
            write([x[0], x[1], x[0]] if "itself" not in name else [x[0], x[0], x[0]])
    with says(at.ModelError, "has a literal twice"):
        at.Agree(x[0], x[0])
    t = g.categorical(2, states=3, name="t")
    for write in (
        lambda: at.Potts(t[0], t[0], scores=1.0),
        lambda: at.Dense(t[0], t[0], scores=0.0),
        lambda: at.Chain(t[[0, 1, 0]], transitions=0.0),
    ):
        with says(at.ModelError, "has a literal twice"):
            write()


# ------------------------------------------------------------------ evidence


def test_evidence_that_contradicts_itself():
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    g.fix(x[0], 1)
    g.fix(x[0], 1)
    assert at.decode(g)[x].tolist()[0] == 1
    g.fix(x[0], 0)
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE
    assert "x[0]" in result.certificate.conflict[0]
    assert result.certificate.verify()


def test_evidence_for_two_states_of_one_variable():
    g = at.FactorGraph()
    t = g.categorical(2, states="abc", name="t")
    g.fix(t[1], "a")
    g.fix(t[1] == "b", 1)
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE
    assert "one state of t" in " ".join(result.certificate.conflict)


def test_evidence_against_forbidden_values():
    g = at.FactorGraph()
    x = g.binary(scores=[-np.inf, 0.0], name="x")
    g.fix(x[0], 1)
    assert at.decode(g).status is at.Status.INFEASIBLE
    g = at.FactorGraph()
    t = g.categorical(states="ab", scores=[[-np.inf, 1.0]], name="t")
    g.fix(t[0], "a")
    assert at.decode(g).status is at.Status.INFEASIBLE


def test_a_variable_all_of_whose_states_are_forbidden():
    g = at.FactorGraph()
    g.categorical(2, states="ab", scores=[[0.0, 0.0], [-np.inf, -np.inf]], name="t")
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE
    assert "t[1]" in " ".join(result.certificate.conflict)


def test_evidence_on_everything():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 2.0, 4.0], name="x")
    t = g.categorical(2, states="ab", scores=[[0.0, 8.0]], name="t")
    g.add(at.Pair(x[0], x[1], scores=16.0))
    g.add(at.Potts(t[0], t[1], scores=[0.0, 32.0]))
    g.add(at.Knapsack(x, weights=1.0, capacity=2.0))
    g.add(at.Chain(t, transitions=[[0.0, 0.0], [0.0, 64.0]]))
    g.fix(x, [1, 1, 0])
    g.fix(t, "b")
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL
    assert result.value == result.bound == 1 + 2 + 16 + 8 + 8 + 32 + 64


# ------------------------------------------------------------------ sizes


def test_one_value_variables_everywhere():
    g = at.FactorGraph()
    one = g.categorical(3, states=["only"], scores=2.0, name="one")
    t = g.categorical(2, states=2, name="t")
    g.add(at.Dense(one[0], t[0], scores=[[0.0, 1.0]]))
    g.add(at.Chain([one[1], t[0], t[1]], transitions=[[[0.0, 0.5]], [[0.0, 0.0], [0.0, 3.0]]]))
    g.add(at.Chain(one, transitions=[[7.0]]))
    result = at.decode(g)
    assert result[one].tolist() == [0, 0, 0]
    assert result[t].tolist() == [1, 1]
    assert result.value == pytest.approx(6.0 + 1.0 + 0.5 + 3.0 + 14.0)
    with says(at.ModelError, "one state always agree; add a constant instead"):
        at.Potts(one[0], one[1], scores=1.0)


def test_ten_thousand_literals_and_a_score_per_count():
    many = 10_000
    scores = np.random.default_rng(2).normal(size=many)
    g = at.FactorGraph()
    x = g.binary(scores=scores, name="x")
    per_count = -0.01 * np.arange(many + 1.0)
    g.add(at.Cardinality(x, scores=per_count))
    best = (np.concatenate([[0.0], np.cumsum(-np.sort(-scores))]) + per_count).max()
    result = at.decode(g)
    assert result.certificate.verify()
    assert result.value == pytest.approx(best, rel=1e-6)
    assert result.bound == pytest.approx(best, rel=1e-4)


# ------------------------------------------------------------------ types


@pytest.fixture
def g():
    return at.FactorGraph()


@pytest.fixture
def x(g):
    return g.binary(3, name="x")


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda g, x: g.categorical(2, states=2.5, name="t"), "t: states are labels, or how many"),
        (lambda g, x: g.categorical(2, states=None, name="t"), "t: states are labels, or how many"),
        (lambda g, x: g.categorical(1, states=[[1], [2]], name="t"), "t: a label must be hashable"),
        (
            lambda g, x: at.ExactlyOne(x, axis="a"),
            "ExactlyOne: an axis is a whole number, or a tuple of them, got 'a'",
        ),
        (
            lambda g, x: at.AtMost(1, x, axis=0.0),
            "AtMost: an axis is a whole number, or a tuple of them, got 0.0",
        ),
        (lambda g, x: at.Parity(x, odd="yes"), "Parity: odd is True or False, got 'yes'"),
        (lambda g, x: at.AtMost(x, 2), "expected literals, got int: 2"),
        (lambda g, x: g.add(at.ExactlyOne(x), name=3), "the name of a factor is a string, got 3"),
        (lambda g, x: g.add_constant("a"), "a constant is a number, got 'a'"),
        (lambda g, x: g.fix(None, 1), "expected literals, got NoneType: None"),
        (lambda g, x: at.Dense(x[0], "y", scores=0.0), "expected literals, got str: 'y'"),
        (lambda g, x: at.Chain(3, transitions=0.0), "Chain takes an array of variables"),
        (lambda g, x: at.decode(g, time_limit="a"), "time_limit is a positive number of seconds"),
        (lambda g, x: at.decode(g, callback=3), "callback is a function of a Progress, got 3"),
        (lambda g, x: at.decode(g, scores=[1.0]), "scores is a dict of variables or handles"),
        (lambda g, x: at.AD3(max_iterations=2.5), "max_iterations is a whole number, got 2.5"),
        (lambda g, x: at.AD3(gap_tolerance="a"), "gap_tolerance is a number, got 'a'"),
        (lambda g, x: at.AD3(residual_tolerance=None), "residual_tolerance is a number, got None"),
        (lambda g, x: at.AD3(penalty="a"), "penalty is a number or None, got 'a'"),
    ],
)
def test_wrong_types(g, x, use, text):
    with says(TypeError, text):
        use(g, x)


@pytest.mark.parametrize(
    ("capacity", "text"),
    [
        (-1.0, "Knapsack: capacity must be numbers >= 0, got -1.0"),
        (np.nan, "Knapsack: capacity must be numbers >= 0, got nan"),
        ("a", "Knapsack: capacity must be one number, got 'a'"),
        ([1.0, 2.0], "Knapsack: capacity must be one number, got [1.0, 2.0]"),
        (None, "Knapsack: capacity must be one number, got None"),
    ],
)
def test_wrong_capacities(x, capacity, text):
    with says(at.ModelError, text):
        at.Knapsack(x, weights=1.0, capacity=capacity)


@pytest.mark.parametrize("capacity", [3.0, 1e9, np.inf])
def test_a_knapsack_with_room_for_all_says_nothing(capacity):
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, -1.0, 2.0], name="x")
    g.add(at.Knapsack(x, weights=1.0, capacity=capacity))
    assert at.decode(g)[x].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("solver", "is_exact"),
    [
        (at.Auto(), True),
        (at.Auto(exact=True), True),
        (at.DepthFirst(), True),
        (at.Elimination(), True),
        (at.BranchAndBound(), True),
        (at.BranchAndCut(), True),
        (at.LinearProgram(), False),
        (at.AD3(), False),
    ],
    ids=repr,
)
def test_what_is_packed_may_be_a_million_times_as_heavy_as_the_rest(solver, is_exact):
    """Then the rounding of the full capacity is no less than what is left."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        scores, weights = rng.uniform(0.5, 2.0, 5), rng.integers(1, 4, 5) * [1e6, 1, 1, 1, 1]
        weights[1:] *= 10.0 ** rng.integers(-5, 0)
        x = g.binary(5, scores=scores)
        g.add(at.Knapsack(x, weights=weights, capacity=weights[:3].sum()))
        g.add(at.AtMost(4, x))
        g.fix(x[0], 1)
        truths = np.array([row for row in product((0, 1), repeat=5) if row[0] and not all(row)])
        fits = truths @ weights <= weights[:3].sum() * (1.0 + 1e-9)
        best = (truths @ scores)[fits].max()
        result = at.decode(g, solver)
        assert result.certificate.verify()
        assert result.bound >= best - 1e-6 and result.value <= best + 1e-6
        if is_exact:
            assert result.status is at.Status.OPTIMAL and result.value == pytest.approx(best)
