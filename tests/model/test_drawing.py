"""Pictures say what the model and its answer are; graphs become networkx graphs."""

import numpy as np
import pytest

import assent as at
from assent.model.drawing import CHOSEN

pytest.importorskip("matplotlib")
networkx = pytest.importorskip("networkx")


def chosen(axes):
    return [line for line in axes.lines if line.get_color() == CHOSEN]


def test_chains_are_lattices_with_the_answer_as_a_path():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    tag = g.categorical(5, ["O", "B-X", "I-X"], scores=rng.normal(size=(5, 3)), name="tag")
    rule = g.add(at.Regular(tag, at.bio(["O", "B-X", "I-X"])))
    result = at.decode(g)
    axes = g.draw(result)
    (path,) = chosen(axes)
    assert path.get_xdata().tolist() == list(range(5))
    assert path.get_ydata().tolist() == result[tag].tolist()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["O", "B-X", "I-X"]
    assert len(axes.collections) == 5 and not chosen(g.draw(what=rule))


def test_trees_are_arcs_and_matchings_tables():
    rng = np.random.default_rng(1)
    g = at.FactorGraph()
    arc = g.binary((5, 4), scores=rng.normal(size=(5, 4)), name="arc")
    g.add(at.Arborescence(arc), name="tree")
    result = at.decode(g)
    heads = result[arc].argmax(axis=0)
    ends = {
        tuple(sorted((round(line.get_xdata()[0]), round(line.get_xdata()[-1]))))
        for line in chosen(g.draw(result))
    }
    assert ends == {tuple(sorted((int(h), m + 1))) for m, h in enumerate(heads)}
    g = at.FactorGraph()
    pair = g.binary((3, 4), scores=rng.random((3, 4)), name="pair")
    g.add(at.Matching(pair))
    result = at.decode(g)
    lines = chosen(g.draw(result))
    frames = [(np.mean(f.get_ydata()[:4]), np.mean(f.get_xdata()[:4])) for f in lines]
    assert np.allclose(sorted(frames), np.argwhere(result[pair]))


def test_grids_are_images(tmp_path):
    rng = np.random.default_rng(2)
    g = at.FactorGraph()
    x = g.categorical((4, 6), 3, scores=rng.normal(size=(4, 6, 3)), name="x")
    g.add(at.Potts(x[1:], x[:-1], scores=0.4))
    result = at.decode(g)
    axes = g.draw(result, path=tmp_path / "grid.png")
    assert np.array_equal(axes.images[0].get_array(), result[x])
    assert (tmp_path / "grid.png").stat().st_size > 1000
    alone = g.variables[0].scores.reshape(4, 6, 3).argmax(axis=-1)
    assert np.array_equal(g.draw().images[0].get_array(), alone)


def small():
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 2.0, -1.0], name="x")
    tag = g.categorical((), "ab", scores=[0.0, 1.0], name="tag")
    g.add(at.Implies(x[0] & x[1], ~x[2]), name="rule")
    g.add(at.AtMostOne([x[0], tag == "b"]))
    return g, x


def test_other_graphs_are_variables_and_factors_with_lines():
    g, _ = small()
    result = at.decode(g)
    texts = {text.get_text() for text in g.draw(result).texts}
    assert {"x[0]\n0", "x[1]\n1", "tag\nb", "Implies", "AtMostOne"} <= texts
    assert {"x[0]", "tag"} <= {text.get_text() for text in g.draw().texts}


def test_networkx_has_every_link():
    g, _ = small()
    made = g.to_networkx()
    assert networkx.is_bipartite(made)
    assert set(made.neighbors((0, 0))) == {"x[0]", "x[1]", "x[2]"}
    assert made.edges[(0, 0), "x[2]"]["negated"] and not made.edges[(0, 0), "x[0]"]["negated"]
    assert set(made.neighbors((1, 0))) == {"x[0]", "tag"}
    assert made.nodes["x[1]"]["scores"] == 2.0 and made.nodes["tag"]["scores"] == [0.0, 1.0]
    assert made.nodes[0, 0]["words"] == "rule: Implies(x[0] & x[1] ⇒ ~x[2])"


def test_what_cannot_be_drawn_is_said():
    g, x = small()
    with pytest.raises(at.ModelError, match="Implies has no picture of its own"):
        g.draw(what="rule")
    with pytest.raises(TypeError, match="takes a handle or its name"):
        g.draw(what=x)
    with pytest.raises(KeyError, match="nothing is called"):
        g.draw(what="rules")
    g = at.FactorGraph()
    y = g.binary(300)
    g.add(at.Implies(y[1:], y[:-1]))
    with pytest.raises(at.ModelError, match="599 variables and factors are too many"):
        g.draw()
    tag = g.categorical((2, 3))
    chains = g.add(at.Chain(tag, transitions=np.zeros((2, 2))))
    with pytest.raises(at.ModelError, match="holds 2 factors"):
        g.draw(what=chains)
