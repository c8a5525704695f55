"""A graph inside a graph, and views."""

import numpy as np
import pytest

import assent as at
from tests.strategies import enumerate_graph, random_graph


@pytest.mark.parametrize("seed", range(30))
def test_included_graphs_mean_what_they_meant(seed):
    rng = np.random.default_rng(seed)
    inner = random_graph(rng, scale=1.0)
    outer = at.FactorGraph()
    first = outer.binary(2, scores=rng.normal(size=2), name="first")
    outer.add(at.Pair(first[0], first[1], scores=1.0))
    where = outer.include(inner, name="part")
    scores = enumerate_graph(outer)[1]
    alone = enumerate_graph(inner)[1].max()
    with_pair = max(first_scores(outer, a, b) for a in (0, 1) for b in (0, 1))
    assert np.isclose(scores.max(), alone + with_pair) or scores.max() == alone == -np.inf
    assert len(where) == len(inner.variables) + len(inner.handles)


def first_scores(outer, a, b):
    one, two = outer.variables[0].scores
    return a * one + b * two + a * b


def test_linked_variables_are_one_and_scores_add_up():
    part = at.FactorGraph()
    tag = part.categorical(3, states="NV", scores=[[1.0, 0.0]] * 3, name="tag")
    bonus = part.binary(scores=0.5, name="bonus")
    rule = part.add(at.Implies(bonus, tag[0] == "V"), name="rule")
    part.fix(tag[2], "V")
    part.add_constant(2.0)
    g = at.FactorGraph()
    own = g.categorical(3, states="NV", scores=[[0.0, 0.9], [0.0, 2.0], [0.0, 0.0]], name="own")
    where = g.include(part, {tag: own}, name="part")
    result = at.decode(g)
    assert "".join(result.labels[own]) == "VVV"
    assert result[where[bonus]] == 1
    assert np.isclose(result.value, 0.9 + 2.0 + 0.5 + 2.0)
    assert where[rule].name == "rule" and where[tag[1]].shape == ()
    assert g["part.bonus"] is not None
    assert result.certificate.verify()


def test_what_cannot_be_linked_is_said():
    part, g = at.FactorGraph(), at.FactorGraph()
    y, x = part.binary(3, name="y"), g.binary(2, name="x")
    tag = part.categorical(1, states="ab", name="tag")
    with pytest.raises(at.ModelError, match="are states of tag, of which exactly one"):
        g.include(part, {tag.indicators: ~x[None]})
    with pytest.raises(at.ModelError, match="differ in shape"):
        g.include(part, {y: x})
    with pytest.raises(at.ModelError, match="only a part of y"):
        g.include(part, {y[:2]: x})
    with pytest.raises(at.ModelError, match="none of the inner graph's"):
        g.include(part, {x: y})
    with pytest.raises(TypeError, match="another FactorGraph"):
        g.include(g)
    t, u = part.categorical(states="ab"), g.categorical(states="ac")
    with pytest.raises(at.ModelError, match="other states"):
        g.include(part, {t: u})


def test_a_view_groups_states():
    g = at.FactorGraph()
    head = g.categorical(2, states=4, scores=[[0.0, 3.0, 2.0, 2.5], [1.0, 0.0, 0.9, 0.0]])
    views = [at.group(head[i], by=["r", "n", "v", "v"], name=f"tag{i}") for i in range(2)]
    g.add(at.Agree(views[0], views[1]))
    result = at.decode(g)
    assert result[head].tolist() == [3, 2]
    assert [result.labels[view].item() for view in views] == ["v", "v"]
    assert np.isclose(result.value, 3.4)


def test_a_view_needs_a_label_for_each():
    g = at.FactorGraph()
    x = g.binary(3)
    with pytest.raises(at.ModelError, match=r"shape \(3,\) and 2 labels"):
        at.group(x, by=[0, 1])
    with pytest.raises(at.ModelError, match="one variable, got an array"):
        at.group(g.categorical(2, states=3), by=[0, 1, 1])
