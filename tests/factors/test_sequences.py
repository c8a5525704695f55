"""Chain and Tree through the public face: shapes, limits, errors, and what they equal."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at


def tagged(T=4, K=3, seed=0, batch=()):
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    return g, g.categorical(states=K, scores=rng.normal(size=(*batch, T, K)), name="tag"), rng


def decoded_value(graph):
    result = at.decode(graph)
    assert result.status is at.Status.OPTIMAL, result
    assert result.certificate.verify()
    return result.value


def test_a_chain_equals_its_edges():
    g, tag, rng = tagged(T=6)
    table = rng.normal(size=(5, 3, 3))
    h, other, _ = tagged(T=6)
    g.add(at.Chain(tag, transitions=table))
    h.add(at.Dense(other[:-1], other[1:], scores=table))
    assert decoded_value(g) == pytest.approx(decoded_value(h), abs=1e-5)


def test_start_and_stop_are_unary_scores():
    g, tag, rng = tagged()
    table, start, stop = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    g.add(at.Chain(tag, transitions=table, start=start, stop=stop))
    h = at.FactorGraph()
    scores = g.variables[0].scores.reshape(4, 3).copy()
    scores[0] += start
    scores[-1] += stop
    h.add(at.Chain(h.categorical(states=3, scores=scores), transitions=table))
    assert decoded_value(g) == pytest.approx(decoded_value(h))


def test_one_chain_for_each_row():
    g, tag, rng = tagged(batch=(5,))
    table = rng.normal(size=(3, 3))
    rows = g.add(at.Chain(tag, transitions=table))
    assert rows.shape == (5,)
    result = at.decode(g)
    for row in range(5):
        h = at.FactorGraph()
        own = h.categorical(states=3, scores=g.variables[0].scores.reshape(5, 4, 3)[row])
        h.add(at.Chain(own, transitions=table))
        assert at.decode(h)[own].tolist() == result[tag][row].tolist()
    assert result.marginals[rows].shape == (5, 3, 3, 3)


def test_inner_marginals_are_transitions():
    g, tag, rng = tagged(T=5)
    chain = g.add(at.Chain(tag, transitions=rng.normal(size=(3, 3)), start=[1.0, 0.0, 0.0]))
    result = at.decode(g)
    pairs = np.zeros((4, 3, 3))
    states = result[tag]
    pairs[np.arange(4), states[:-1], states[1:]] = 1.0
    assert np.allclose(result.marginals[chain], pairs, atol=1e-3)


def test_inner_marginals_of_a_tree_have_the_parent_first():
    g = at.FactorGraph()
    a, b = g.categorical((), 2, scores=[0.0, 3.0]), g.categorical((), 3, scores=[0.0, 0.0, 3.0])
    c = g.categorical((), 2, scores=[5.0, 0.0])
    tree = g.add(at.Tree([a, b, c], [-1, 0, 1], scores=[np.zeros((2, 3)), np.zeros((3, 2))]))
    ab, bc = at.decode(g).marginals[tree]
    assert np.unravel_index(ab.argmax(), (2, 3)) == (1, 2)
    assert np.unravel_index(bc.argmax(), (3, 2)) == (2, 0)


def test_new_transitions_keep_start_and_stop():
    g, tag, rng = tagged()
    start, new = rng.normal(size=3), rng.normal(size=(3, 3))
    chain = g.add(at.Chain(tag, transitions=np.zeros((3, 3)), start=start))
    h, other, _ = tagged()
    h.add(at.Chain(other, transitions=new, start=start))
    assert at.decode(g, scores={chain: new}).value == pytest.approx(at.decode(h).value)


def test_no_more_visits_than_allowed():
    g = at.FactorGraph()
    tag = g.categorical(states="NV", scores=[[0.0, w] for w in (1.0, 5.0, 2.0, 4.0)])
    g.add(at.Chain(tag, transitions=np.zeros((2, 2)), at_most=("V", 2)))
    assert at.decode(g).labels[tag].tolist() == ["N", "V", "N", "V"]


def test_a_limit_inside_the_chain_is_tighter_than_beside_it():
    inside, beside = [], []
    for seed in range(8):
        for make, bounds in ((True, inside), (False, beside)):
            g, tag, rng = tagged(T=7, seed=seed)
            table = 3.0 * rng.normal(size=(3, 3))
            limit = {"at_most": (1, 2)} if make else {}
            g.add(at.Chain(tag, transitions=table, **limit))
            if not make:
                g.add(at.AtMost(2, tag.state(1)))
            bounds.append(at.decode(g, at.AD3(max_iterations=5000)).bound)
    gain = np.array(beside) - np.array(inside)
    assert gain.min() >= -1e-3
    assert gain.max() > 1e-2


def test_chain_of_literals():
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, 2.0, 2.0, 1.0])
    apart = np.array([[0.0, 0.0], [0.0, -np.inf]])  # no two neighbours
    g.add(at.Chain(~x, transitions=apart[::-1, ::-1]))
    assert decoded_value(g) == 3.0


def test_one_variable_is_a_chain():
    g = at.FactorGraph()
    tag = g.categorical(1, states=3, scores=[[0.0, 1.0, 0.0]])
    chain = g.add(at.Chain(tag, transitions=np.zeros((3, 3)), start=[2.0, 0, 0], stop=[0, 0, 9.0]))
    result = at.decode(g)
    assert result.value == 9.0
    assert result.marginals[chain].shape == (0, 3, 3)


def test_evidence_on_a_chain():
    g, tag, rng = tagged(T=5)
    table = rng.normal(size=(3, 3))
    g.add(at.Chain(tag, transitions=table))
    g.fix(tag[2], 1)
    h, other, _ = tagged(T=5)
    h.add(at.Dense(other[:-1], other[1:], scores=table))
    h.fix(other[2], 1)
    assert decoded_value(g) == pytest.approx(decoded_value(h))


def test_a_chain_that_cannot_go_on_is_infeasible():
    g, tag, _ = tagged()
    stuck = np.full((3, 3), -np.inf)
    stuck[0, 1] = 0.0  # from 0 to 1, and nowhere from there
    g.add(at.Chain(tag, transitions=stuck))
    assert at.decode(g).status is at.Status.INFEASIBLE


def test_tree_scores_per_count():
    g = at.FactorGraph()
    x = g.binary(4, scores=1.0)
    g.add(at.Tree(x, [-1, 0, 0, 0], scores=0.0, counts=(1, [0.0, 0.0, 0.0, -5.0])))
    assert at.decode(g)[x].sum() == 2


def test_a_count_at_different_places_of_different_variables():
    g = at.FactorGraph()
    a = g.categorical((), ["N", "V"], scores=[0.0, 1.0])
    b = g.categorical((), ["V", "D", "N"], scores=[2.0, 0.0, 0.0])
    g.add(at.Tree([a, b], [-1, 0], scores=[np.zeros((2, 3))], counts=("V", [0.0, 0.0])))
    result = at.decode(g)
    assert (result.labels[a].item(), result.labels[b].item()) == ("N", "V")


@pytest.mark.parametrize(
    "write, says",
    [
        (lambda t: at.Chain(t, transitions=np.zeros((2, 2))), r"expected \(3, 3, 3\) .*from, to"),
        (lambda t: at.Chain(t[0], transitions=0.0), "needs an axis"),
        (lambda t: at.Chain("tag", transitions=0.0), "an array of variables or a list"),
        (lambda t: at.Chain(t, transitions=0.0, start=[1.0, 2.0]), r"start has shape \(2,\)"),
        (lambda t: at.Chain(t, transitions=0.0, at_most=2), "a pair"),
        (lambda t: at.Chain(t, transitions=0.0, at_most=(0, -1)), "whole number"),
        (lambda t: at.Chain(t, transitions=0.0, at_most=("X", 1)), "none of the variables"),
        (lambda t: at.Chain(t, transitions=np.nan), "score nan"),
        (lambda t: at.Chain([t[0], t[0]], transitions=0.0), "twice"),
        (lambda t: at.Tree(t, [-1, 0, 0], scores=0.0), "4 whole numbers"),
        (lambda t: at.Tree(t, [-1, 0, 0, 7], scores=0.0), "0..3 or -1"),
        (lambda t: at.Tree(t, [-1, 2, 1, 0], scores=0.0), r"\[1, 2\] hang on a cycle"),
        (lambda t: at.Tree(t, [-1, 0, 1, 2], scores=0.0, counts=(0, 1.0)), "a list"),
        (lambda t: at.Tree(t, [-1, 0, 1, 2], scores=0.0, counts=(0, [-np.inf])), "0 to 4 times"),
    ],
)
def test_errors(write, says):
    _, tag, _ = tagged()
    with pytest.raises((at.ModelError, TypeError), match=says):
        write(tag)


def test_different_numbers_of_states_need_a_list():
    g = at.FactorGraph()
    a, b, c = (g.categorical((), k) for k in (2, 3, 2))
    with pytest.raises(at.ModelError, match="give a list of 2 tables"):
        at.Chain([a, b, c], transitions=np.zeros((2, 2)))
    with pytest.raises(at.ModelError, match="2 tables are needed, got 1"):
        at.Chain([a, b, c], transitions=[np.zeros((2, 3))])
    with pytest.raises(at.ModelError, match=r"table 1 has shape \(2, 3\), expected \(3, 2\)"):
        at.Chain([a, b, c], transitions=[np.zeros((2, 3)), np.zeros((2, 3))])
