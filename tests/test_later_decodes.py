"""Results that outlive changes of their graph, and starts from results of all kinds."""

import numpy as np
import pytest

import assent as at


def choice():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 3.0, 2.0], name="x")
    g.add(at.ExactlyOne(x))
    return g, x


def test_a_start_from_the_linear_program():
    g, _ = choice()
    result = at.decode(g, warm_start=at.decode(g, at.LinearProgram()))
    assert result.status is at.Status.OPTIMAL
    assert result.bound == pytest.approx(3.0)
    assert result.certificate.verify()


def test_variables_in_no_factor_follow_their_new_scores():
    g = at.FactorGraph()
    x, y = g.binary(3, scores=1.0, name="x"), g.binary(2, scores=[5.0, -5.0], name="y")
    g.add(at.AtMostOne([x[0], x[1]]))
    g.add(at.AtMostOne([x[1], x[2]]))
    g.add(at.AtMostOne([x[0], x[2]]))  # an odd cycle: the relaxation has a gap
    first = at.decode(g, at.AD3())
    again = at.decode(g, at.AD3(), scores={y: [-5.0, 5.0]}, warm_start=first)
    assert again.status is first.status is at.Status.RELAXED
    assert again.marginals[y].tolist() == [0.0, 1.0]
    assert again.certificate.relaxation.value == pytest.approx(6.5, abs=1e-4)


def test_a_start_where_other_values_are_forbidden():
    g, x = choice()
    first = at.decode(g)
    with pytest.warns(at.RecompileWarning):
        again = at.decode(g, scores={x: [1.0, -np.inf, 2.0]}, warm_start=first)
    assert again[x].tolist() == [0, 0, 1]
    g.add(at.Implies(x[2], x[0]))
    with pytest.raises(at.ModelError, match="another graph, or the graph changed since"):
        at.decode(g, warm_start=first)


def test_a_proof_stands_when_its_graph_moves_on():
    g, x = choice()
    result = at.decode(g)
    y = g.binary(2, name="y")
    g.fix(y[0], 1)
    g.fix(x[1], 0)
    assert result.certificate.verify()
    with pytest.raises(at.ModelError, match="was declared after this result"):
        result[y]


def test_a_refutation_stands_when_its_graph_moves_on():
    g, x = choice()
    g.fix(x, 0)
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE
    g.add(at.Pair(x[0], x[1], scores=1.0))
    g.binary(2)
    assert result.certificate.verify()


@pytest.mark.parametrize("seed", range(20))
def test_optimal_if_and_only_if_the_stated_gap_is_closed(seed):
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary((3, 3), scores=rng.normal(size=(3, 3)))
    g.add(at.AtMostOne(x, axis=0))
    g.add(at.Pair(x[0], x[1], scores=rng.normal(size=3)))
    result = at.decode(g, at.AD3(gap_tolerance=0.0, max_iterations=500))
    assert (result.status is at.Status.OPTIMAL) == (result.feasible and result.gap == 0.0)


def test_variables_alone_close_their_gap():
    g = at.FactorGraph()
    g.binary(50, scores=np.random.default_rng(0).normal(size=50))
    result = at.decode(g, at.AD3(gap_tolerance=0.0))
    assert result.status is at.Status.OPTIMAL
    assert result.gap == 0.0
    assert result.certificate.verify()


def test_small_knapsacks_are_knapsacks():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.Knapsack(x, weights=2e-10, capacity=3e-10))
    assert at.decode(g)[x].sum() == 1


def test_labels_with_an_equals_sign():
    g = at.FactorGraph()
    t = g.categorical(2, states=["a=b", "c"], name="t")
    assert repr(t[0]) == "t[0]"
    assert repr(at.Potts(t[0], t[1], scores=1.0)) == "Potts(t[0], t[1])"


def test_infinite_tolerances_are_refused():
    with pytest.raises(ValueError, match="gap_tolerance is at least 0 and finite"):
        at.AD3(gap_tolerance=np.inf)
