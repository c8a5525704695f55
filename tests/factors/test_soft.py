"""Soft constraints: every kind charges what it should, against the list of all assignments."""

import itertools

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.factors import KINDS, Logic
from assent.factors.soft import penalties_of_table, table_of_penalties
from tests.oracles.sweep import sweep_seeds

# A constraint of every kind over five literals.
RULES = {
    "ExactlyOne": lambda x, k: at.ExactlyOne(x),
    "AtMostOne": lambda x, k: at.AtMostOne(x),
    "AtMostOne-output": lambda x, k: at.AtMostOne(x[:-1], output=x[-1]),
    "AtLeastOne": lambda x, k: at.AtLeastOne(x),
    "AtLeastOne-output": lambda x, k: at.AtLeastOne(x[:-1], output=x[-1]),
    "All": lambda x, k: at.All(x),
    "All-output": lambda x, k: at.All(x[:-1], output=x[-1]),
    "Implies": lambda x, k: at.Implies(x[0] & x[1], x[2]),
    "AtMost": lambda x, k: at.AtMost(k, x),
    "AtLeast": lambda x, k: at.AtLeast(k, x),
    "Exactly": lambda x, k: at.Exactly(k, x),
    "Agree": lambda x, k: at.Agree(x[0], x[1]),
    "Parity": lambda x, k: at.Parity(x, odd=k % 2 == 1),
    "Knapsack": lambda x, k: at.Knapsack(x, weights=[1.0, 2.0, 0.0, 1.5, 3.0], capacity=k),
}


def test_every_hard_kind_is_listed():
    hard = {kind.__name__ for kind in KINDS if issubclass(kind, Logic)}
    assert hard == {name.split("-")[0] for name in RULES}


def every_assignment(size):
    return np.array(list(itertools.product([False, True], repeat=size)))


@pytest.mark.parametrize("name", RULES)
@sweep_seeds(0.5)
def test_paid_once_where_violated(name, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        theta = rng.normal(size=5)
        x = g.binary(5, scores=theta, name="x")
        lits = x.negate(where=rng.random(5) < 0.4)
        rule = RULES[name](lits, int(rng.integers(1, 5)))
        penalty = float(rng.choice([0.0, 0.3, 1.0, 50.0]))
        g.add(at.Soft(rule, penalty=penalty))
        result = at.decode(g)
        x_all = every_assignment(5)
        own = np.where(rule.codes[0] < 0, ~rule.codes[0], rule.codes[0])
        truth = x_all[:, own] ^ (rule.codes[0] < 0)
        held = np.array([rule.holds(row[None])[0] for row in truth])
        best = (x_all @ theta - penalty * ~held).max()
        assert result.feasible
        assert result.value <= best + 1e-8 <= result.bound + 2e-6
        assert result.value == pytest.approx(best, abs=1e-6)
        chosen = truth[(x_all == (result[x] == 1)).all(axis=1)]
        paid = 0.0 if rule.holds(chosen)[0] else penalty
        assert sum(cost for _, cost in result.paid) == pytest.approx(paid)
        assert result.certificate.verify()


@sweep_seeds(0.3)
def test_counts_are_charged_by_the_distance(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        theta = rng.normal(size=5)
        x = g.binary(5, scores=theta, name="x")
        k, penalty = int(rng.integers(6)), float(rng.random())
        kind = [at.AtMost, at.AtLeast, at.Exactly][seed % 3]
        g.add(at.SoftCount(kind(k, x), penalty=penalty))
        x_all = every_assignment(5)
        off = x_all.sum(axis=1) - k
        off = [np.maximum(off, 0), np.maximum(-off, 0), np.abs(off)][seed % 3]
        best = (x_all @ theta - penalty * off).max()
        assert at.decode(g).value == pytest.approx(best, abs=1e-6)


PAIRS = list(itertools.product(range(3), repeat=2))


def charge(penalty, i, j):
    """What a pair of labels costs, by the penalty's shape."""
    if np.ndim(penalty) == 2:
        return sum(penalty[i][other] for other in range(3) if other != j)
    return (i != j) * (penalty if np.ndim(penalty) == 0 else penalty[i])


@pytest.mark.parametrize("penalty", ["scalar", "label", "matrix"])
@sweep_seeds(0.3)
def test_labels_that_should_agree(penalty, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        scores = rng.normal(size=(2, 3))
        y = g.categorical(2, states="abc", scores=scores, name="y")
        given = {"scalar": 0.7, "label": rng.random(3), "matrix": rng.random((3, 3))}[penalty]
        handle = g.add(at.Soft(at.Agree(y[0], y[1]), penalty=given))

        result = at.decode(g)
        best = max(scores[0, i] + scores[1, j] - charge(given, i, j) for i, j in PAIRS)
        assert result.value == pytest.approx(best, abs=1e-6)
        assert result.certificate.verify()
        doubled = 2.0 * np.asarray(given)
        again = at.decode(g, scores={handle: doubled})
        best = max(scores[0, i] + scores[1, j] - charge(doubled, i, j) for i, j in PAIRS)
        assert again.value == pytest.approx(best, abs=1e-6)


def test_penalties_of_many_at_once():
    g = at.FactorGraph()
    x = g.binary((2, 3), scores=1.0, name="x")
    handle = g.add(at.Soft(at.AtMostOne(x, axis=1), penalty=[0.5, 5.0]), name="one")
    result = at.decode(g)
    assert result[x].sum(axis=1).tolist() == [3, 1]
    assert result.paid == (("one: Soft(AtMostOne(x[0,0], x[0,1], x[0,2]))", 0.5),)
    np.testing.assert_allclose(result.marginals[handle], [1.0, 0.0], atol=1e-5)
    again = at.decode(g, scores={handle: [5.0, 0.1]})
    assert again[x].sum(axis=1).tolist() == [1, 3]


def test_agreement_of_many_with_one():
    """A consensus: scalars, one per pair, one per label, one per pair and label."""
    g = at.FactorGraph()
    scores = np.array([[1.0, 0.0], [0.0, 0.4], [0.2, 0.0]])
    y = g.categorical(3, states=2, scores=scores, name="y")
    top = g.categorical(states=2, name="top")
    rule = at.Agree(y, top)
    handle = g.add(at.Soft(rule, penalty=0.5))
    assert at.decode(g)[y].tolist() == [0, 0, 0]
    for penalty in ([0.5, 0.2, 0.5], [[0.5, 0.5], [0.2, 0.2], [0.5, 0.5]]):
        assert at.decode(g, scores={handle: penalty})[y].tolist() == [0, 1, 0]
    with pytest.raises(ModelError, match="shape"):
        at.decode(g, scores={handle: [0.5, 0.2]})


def test_a_soft_problem_is_never_infeasible_for_it():
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    g.add(at.Soft(at.AtLeastOne(x), penalty=3.0))
    g.fix(x, 0)
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL
    assert result.value == -3.0
    assert result.paid == (("Soft(AtLeastOne(x[0], x[1]))", 3.0),)


def test_inside_another_graph():
    part = at.FactorGraph()
    y = part.binary(3, scores=1.0, name="y")
    part.add(at.Soft(at.AtMostOne(y), penalty=10.0))
    part.add(at.Soft(at.AtMostOne(y[:1], output=y[1]), penalty=0.25))
    g = at.FactorGraph()
    z = g.binary(3, name="z")
    g.add(at.All(z[:2]))
    g.include(part, {y: z})
    result = at.decode(g)
    assert result[z].tolist() == [1, 1, 1]
    assert result.paid == (("Soft(AtMostOne(z[0], z[1], z[2]))", 10.0),)


def soft_knapsack():
    """Three items of which two fit, for a price of one."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[3.0, 2.5, 2.5])
    rule = at.Knapsack(x, weights=[3.0, 2.0, 2.0], capacity=4.0)
    return g, x, g.add(at.Soft(rule, penalty=1.0), name="room")


def test_the_variable_that_pays_for_a_knapsack_is_seen_nowhere():
    g, x, handle = soft_knapsack()
    words = "Soft(Knapsack(v0[0], v0[1], v0[2]))"
    assert repr(handle) == f"<room: {words}>"
    assert repr(g).splitlines() == [
        "FactorGraph: 1 variable arrays (3 indicators), 1 factors",
        "  v0: 3 binary",
        f"  room: {words}",
    ]
    assert at.decode(g).paid == ((f"room: {words}", 1.0),)
    assert at.decode(g).marginals[handle] == pytest.approx(1.0)
    assert at.decode(g, scores={handle: 50.0}).marginals[handle] < 0.1
    with pytest.raises(KeyError, match="there are v0"):
        g["w"]
    outer = at.FactorGraph()
    z, other = outer.binary(3, name="z"), outer.binary(3, name="other")
    outer.include(g, {x: z})
    outer.include(g, {x: other})
    assert at.decode(outer).paid == tuple(
        (f"room: Soft(Knapsack({', '.join(f'{name}[{i}]' for i in range(3))}))", 1.0)
        for name in ("z", "other")
    )


def test_the_price_of_a_knapsack_changes_with_later_scores():
    g, _, handle = soft_knapsack()
    cheap, dear = at.decode(g, scores={handle: 0.2}), at.decode(g, scores={handle: 50.0})
    assert (cheap.value, [cost for _, cost in cheap.paid]) == (pytest.approx(7.8), [0.2])
    assert (dear.value, dear.paid) == (5.0, ())
    assert at.decode(g).value == 7.0
    many = at.decode_many(g, scores={handle: [0.2, 50.0, 1.0]})
    assert many.values.tolist() == pytest.approx([7.8, 5.0, 7.0])
    with pytest.raises(ModelError, match="penalties are numbers >= 0"):
        at.decode(g, scores={handle: -1.0})
    with pytest.raises(ModelError, match="no scores in this graph to change"):
        at.decode(soft_knapsack()[0], scores={handle: 1.0})


@pytest.mark.parametrize(
    "solver", [at.Auto(), at.AD3(), at.LinearProgram(), at.BranchAndBound(), at.DepthFirst()]
)
def test_what_can_be_paid_for_is_never_what_an_answer_breaks(solver):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(8, scores=rng.normal(size=8), name="x")
        for _ in range(4):
            own = x[rng.permutation(8)[:4]].negate(where=rng.random(4) < 0.4)
            rule = at.Knapsack(own, weights=rng.integers(1, 5, 4), capacity=rng.integers(1, 8))
            g.add(at.Soft(rule, penalty=rng.choice([0.1, 2.0])))
        g.add(at.AtMostOne(x[:3]))
        g.add(at.AtLeast(2, x[:3]))
        for result in (at.decode(g, solver), at.decode_many([g, g])[0]):
            assert not result.feasible
            assert not any("Soft" in words for words in result.violated)
            assert not any("auxiliary" in words for words in result.certificate.conflict)
            assert result.certificate.verify()


@sweep_seeds(0.3)
def test_scores_and_penalties_say_the_same(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(int(rng.integers(1, 5)), int(rng.integers(2, 5))))
        penalty, constant = penalties_of_table(table)
        assert (penalty >= -1e-12).all()
        np.testing.assert_allclose(table_of_penalties(penalty) + constant, table, atol=1e-9)


def test_what_cannot_be_softened_is_named():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    with pytest.raises(TypeError, match="takes a constraint such as AtMost"):
        at.Soft("x", penalty=1.0)
    with pytest.raises(TypeError, match="a Pair, which has scores"):
        at.Soft(at.Pair(x[0], x[1], scores=1.0), penalty=1.0)
    with pytest.raises(ModelError, match="numbers >= 0"):
        at.Soft(at.AtMostOne(x), penalty=-1.0)
    with pytest.raises(ModelError, match="numbers >= 0"):
        at.Soft(at.AtMostOne(x), penalty=np.nan)
    with pytest.raises(ModelError, match="the constraint itself"):
        at.Soft(at.AtMostOne(x), penalty=np.inf)
    with pytest.raises(ModelError, match="one number"):
        at.Soft(at.AtMostOne(x), penalty=[1.0, 2.0])
    with pytest.raises(ModelError, match="does not count literals"):
        at.SoftCount(at.AtLeastOne(x[:2], output=x[2]), penalty=1.0)
    with pytest.raises(ModelError, match="one state"):
        penalties_of_table([[1.0]])
