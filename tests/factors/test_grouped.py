"""Factors over groups of different sizes, against enumeration and the same factors one by one."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import assent as at
from assent.io import load_graph, save_graph

BY = np.array([2, 0, 2, 1, 0, 2, 5])
LIMITS = np.array([1, 1, 2, 1])  # of groups 0, 1, 2 and 5

KINDS = {
    "ExactlyOne": (lambda x, by: at.ExactlyOne(x, by=by), lambda xs, n: xs.sum() == 1),
    "AtMostOne": (lambda x, by: at.AtMostOne(x, by=by), lambda xs, n: xs.sum() <= 1),
    "AtLeastOne": (lambda x, by: at.AtLeastOne(x, by=by), lambda xs, n: xs.any()),
    "All": (lambda x, by: at.All(x, by=by), lambda xs, n: xs.all()),
    "AtMost": (lambda x, by: at.AtMost(LIMITS, x, by=by), lambda xs, n: xs.sum() <= LIMITS[n]),
    "AtLeast": (lambda x, by: at.AtLeast(LIMITS, x, by=by), lambda xs, n: xs.sum() >= LIMITS[n]),
    "Exactly": (lambda x, by: at.Exactly(LIMITS, x, by=by), lambda xs, n: xs.sum() == LIMITS[n]),
    "Parity": (lambda x, by: at.Parity(x, by=by, odd=True), lambda xs, n: xs.sum() % 2 == 1),
}


def best_by_enumeration(scores, allowed):
    """The best of all truth values whose groups are allowed, and the penalties of what is not."""
    best = -np.inf
    for bits in itertools.product((0, 1), repeat=len(BY)):
        truth = np.array(bits)
        values = [allowed(truth[label == BY], n) for n, label in enumerate(np.unique(BY))]
        best = max(best, scores @ truth + sum(values))
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_each_group_is_a_factor(kind):
    make, holds = KINDS[kind]
    for seed in range(4):
        scores = np.random.default_rng(seed).normal(size=len(BY))
        g = at.FactorGraph()
        x = g.binary(scores=scores, name="x")
        rule = g.add(make(x, BY), name="rule")
        result = at.decode(g, exact=True)
        best = best_by_enumeration(scores, lambda xs, n: 0.0 if holds(xs, n) else -np.inf)
        assert result.value == pytest.approx(best)
        assert result.certificate.verify()
        assert rule.groups == (0, 1, 2, 5) and rule.shape == (4,) and g["rule"] is rule
        read = result["rule"]
        for n, label in enumerate(rule.groups):
            assert read[n].compressed().tolist() == result[x][label == BY].tolist()
        assert np.allclose(
            result.marginals[rule].compressed(), result.marginals[x][BY.argsort(kind="stable")]
        )


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_softened_each_for_its_price(kind):
    make, holds = KINDS[kind]
    price = np.array([0.3, 0.9, 0.2, 0.6])
    scores = np.random.default_rng(7).normal(size=len(BY))
    g = at.FactorGraph()
    x = g.binary(scores=scores, name="x")
    soft = g.add(at.Soft(make(x, BY), penalty=9.0), name="soft")
    result = at.decode(g, scores={"soft": price}, exact=True)
    best = best_by_enumeration(scores, lambda xs, n: 0.0 if holds(xs, n) else -price[n])
    assert result.value == pytest.approx(best)
    assert sum(paid.cost for paid in result.paid) == pytest.approx(scores @ result[x] - best)
    assert all(paid.rule.startswith("soft (group ") for paid in result.paid)
    many = at.decode_many(g, scores={soft: np.stack([price, 0 * price])}, exact=True)
    assert many.values == pytest.approx([best, scores[scores > 0].sum()])
    assert result.marginals[soft].shape == (4,)


def test_outputs_weights_and_capacities_follow_their_groups():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=len(BY))
    weights, capacity = rng.random(len(BY)), np.array([0.5, 0.2, 0.9, 1.0])
    g = at.FactorGraph()
    x, z = g.binary(scores=scores, name="x"), g.binary(4, scores=0.4, name="z")
    g.add(at.AtLeastOne(x, by=BY, output=~z))
    g.add(at.Knapsack(x, weights=weights, capacity=capacity, by=BY))
    result = at.decode(g, exact=True)

    def worth(xs, n):
        fits = xs @ weights[np.unique(BY)[n] == BY] <= capacity[n] + 1e-9
        return (0.0 if xs.any() else 0.4) if fits else -np.inf

    assert result.value == pytest.approx(best_by_enumeration(scores, worth))
    assert result[z].tolist() == [int(not result[x][label == BY].any()) for label in np.unique(BY)]


def test_groups_are_one_batch_with_names_in_words_files_and_other_graphs(tmp_path):
    g = at.FactorGraph()
    x = g.binary((2, 3), scores=1.0, name="x")
    team = [["red", "blue", "red"], ["red", "green", "blue"]]
    rule = g.add(at.AtMostOne(x, by=team), name="team")
    assert repr(rule) == "<team: 3 × AtMostOne, first AtMostOne(x[0,1], x[1,2])>"
    assert repr(g).count("team") == 1 and g._repr_html_().count("AtMostOne</td>") == 1
    assert [handle.words(0) for handle in g.handles] == [
        "team (group green): AtMostOne(x[1,1])",
        "team (group blue): AtMostOne(x[0,1], x[1,2])",
        "team (group red): AtMostOne(x[0,0], x[0,2], x[1,0])",
    ]
    assert at.decode(g).value == 3.0
    outer = at.FactorGraph()
    where = outer.include(g, name="part")
    assert where[rule] is outer["team"] and at.decode(outer)[where[rule]].sum() == 3
    save_graph(g, tmp_path / "g.fg")
    assert at.decode(load_graph(tmp_path / "g.fg")).value == pytest.approx(3.0)
    g.add(at.AtLeastOne(x[0, [0, 2]]), name="one")
    g.fix(x[1, 0], 1)
    conflict = at.decode(g).certificate.conflict
    assert any("team (group red)" in words for words in conflict)


def test_factors_can_be_copied():
    x = at.FactorGraph().binary(3)
    for rule in (at.ExactlyOne(x), at.AtMost(2, x), at.Parity(x), at.AtMostOne(x, by=[0, 0, 1])):
        assert repr(copy.copy(rule)) == repr(rule) == repr(pickle.loads(pickle.dumps(rule)))


@pytest.mark.parametrize(
    ("write", "complaint"),
    [(lambda x: at.ExactlyOne(x, by=[1, 2]), r"by= has shape \(2,\), the literals have shape \(6,"),
     (lambda x: at.ExactlyOne(x, by=[0.5] * 6), "a whole number or a name"),
     (lambda x: at.ExactlyOne(x, by=[[1], [2, 3]]), "a whole number or a name"),
     (lambda x: at.ExactlyOne(x, axis=0, by=range(6)), "an axis or over groups, not both"),
     (lambda x: at.ExactlyOne(x[:0], by=np.zeros(0, int)), "over no literals"),
     (lambda x: at.AtLeast(2, x, by=[0, 0, 0, 1, 1, 2]), r"k = 2 is out of range 0\.\.1"),
     (lambda x: at.AtMost([1, 2], x, by=[0, 0, 0, 1, 1, 2]), "there are 3 groups"),
     (lambda x: at.AtMost("a", x, by=[0] * 6), "must be a whole number"),
     (lambda x: at.AtLeastOne(x, by=[0] * 6, output=x[:2]), "one output per group"),
     (lambda x: at.Knapsack(x, weights=[1, 2], capacity=1, by=[0] * 6), "weights has shape"),
     (lambda x: at.Soft(at.AtMostOne(x, by=[0] * 6), penalty=[1, 2]), "there are 1 groups"),
     (lambda x: at.AtMostOne([x[0], x[0]], by=[0, 0]), "has a literal twice")],
)  # fmt: skip
def test_what_does_not_fit_is_named(write, complaint):
    with pytest.raises(at.ModelError, match=complaint):
        write(at.FactorGraph().binary(6, name="x"))


def test_scores_of_groups_are_one_per_group():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    soft = g.add(at.Soft(at.AtMostOne(x, by=[0, 0, 1]), penalty=1.0))
    with pytest.raises(at.ModelError, match="there are 2 groups"):
        at.decode(g, scores={soft: [1.0, 2.0, 3.0]})
    hard = g.add(at.AtMostOne(x, by=[0, 0, 1]))
    with pytest.raises(at.ModelError, match="has no scores in this graph to change"):
        at.decode(g, scores={hard: 1.0})


def test_implications_broadcast_as_arrays_do():
    g = at.FactorGraph()
    a, b, one = g.binary(3, name="a"), g.binary(6, name="b"), g.binary(name="one")
    assert at.Implies(a, b[3:]).codes.tolist() == np.stack([a.codes, b.codes[3:]], 1).tolist()
    assert at.Implies(one, b[3:]).shape == (3,)
    assert at.Implies(a[:, None], b.reshape(2, 3)[:, None]).shape == (2, 3, 3)
    with pytest.raises(at.ModelError, match=r"Implies: shapes \(3,\) and \(4,\) do not broadcast"):
        at.Implies(a, b[2:])
