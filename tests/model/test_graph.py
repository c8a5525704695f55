"""Declaring variables, attaching factors, evidence, and how a graph shows itself."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at


def test_shape_is_taken_from_the_scores():
    g = at.FactorGraph()
    assert g.binary(scores=np.zeros((2, 3))).shape == (2, 3)
    assert g.binary().shape == ()
    assert g.categorical(scores=np.zeros((4, 2)), states="ab").shape == (4,)
    assert g.categorical(scores=[0.0, 1.0], states="ab").shape == ()
    assert g.categorical(states="ab").shape == ()
    assert g.size == 6 + 1 + 8 + 2 + 2


def test_scores_broadcast_to_the_shape():
    g = at.FactorGraph()
    x = g.binary((2, 3), scores=[1.0, -1.0, 1.0])
    t = g.categorical(2, states=2, scores=[0.0, 1.0])
    assert at.decode(g)[x].tolist() == [[1, 0, 1], [1, 0, 1]]
    assert at.decode(g)[t].tolist() == [1, 1]


def test_later_changes_to_an_array_of_scores_do_not_reach_the_graph():
    g = at.FactorGraph()
    unary, pair = np.ones(3), np.ones(2)
    x = g.binary(scores=unary)
    g.add(at.Pair(x[:2], x[1:], scores=pair))
    unary[:], pair[:] = -np.inf, np.nan
    assert at.decode(g).value == 5.0


def test_variables_are_found_by_name():
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    assert g["x"] is x
    g.binary(1, name="v2")
    assert g.binary(1) is g["v3"]  # made-up names avoid taken ones


def test_evidence_on_literals():
    g = at.FactorGraph()
    x = g.binary(5, scores=[1.0, -1.0, 1.0, -1.0, -1.0])
    g.fix(x[0], 0)
    g.fix(~x[1], False)
    g.fix([x[2], ~x[3]], [0, 0])
    g.fix(x[4:], np.array([1]))
    assert at.decode(g)[x].tolist() == [0, 1, 0, 1, 1]


@pytest.mark.parametrize("value", ["b", np.str_("b")])
def test_evidence_on_categoricals_is_a_label(value):
    g = at.FactorGraph()
    t = g.categorical(3, states=["a", "b"])
    g.fix(t[0], value)
    g.fix(t[1:], ["a", value])
    assert at.decode(g).labels[t].tolist() == ["b", "a", "b"]
    g.fix(t[1], "a")  # the same again is no contradiction
    assert at.decode(g).labels[t].tolist() == ["b", "a", "b"]


def test_one_label_fixes_all_variables():
    g = at.FactorGraph()
    t = g.categorical((2, 2), states=3)
    g.fix(t, np.int64(2))
    assert at.decode(g)[t].tolist() == [[2, 2], [2, 2]]


def test_evidence_with_tuples_and_numbers_as_labels():
    g = at.FactorGraph()
    arc = g.categorical(2, states=[(0, 1), (1, 0)])
    level = g.categorical(2, states=[0.5, 1.5])
    g.fix(arc, [(1, 0), (0, 1)])
    g.fix(level, 1.5)
    result = at.decode(g)
    assert result.labels[arc].tolist() == [(1, 0), (0, 1)]
    assert result.labels[level].tolist() == [1.5, 1.5]


def test_repr_shows_the_model():
    g = at.FactorGraph()
    x = g.binary((2, 3), name="x")
    t = g.categorical(2, states=["N", "V"], name="tag")
    g.add(at.ExactlyOne(x, axis=1), name="rows")
    g.add(at.Implies(x[0, 0] & (t[0] == "V"), ~x[1, 1]))
    g.fix(x[0, 2], 0)
    assert repr(g).splitlines() == [
        "FactorGraph: 2 variable arrays (10 indicators), 3 factors",
        "  x: 2×3 binary",
        "  tag: 2 categorical over {N, V}",
        "  rows: 2 × ExactlyOne, first ExactlyOne(x[0,0], x[0,1], x[0,2])",
        "  Implies(x[0,0] & tag[0]=V ⇒ ~x[1,1])",
        "  evidence on 1 variables",
    ]


def test_repr_abridges_what_is_long():
    g = at.FactorGraph()
    for _ in range(9):
        g.add(at.AtLeastOne(g.binary(30)))
    lines = repr(g).splitlines()
    assert "  … 3 more variable arrays" in lines
    assert "  … 3 more batches of factors" in lines
    assert max(map(len, lines)) < 200


def test_compiled_once_until_the_graph_changes():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    first = g.compile()
    at.decode(g)
    at.decode(g, scores={x: [1.0, 2.0, 3.0]})
    assert g.compile() is first
    for change in (
        lambda: g.add(at.AtMostOne(x)),
        lambda: g.fix(x[0], 0),
        lambda: g.binary(1),
    ):
        before = g.compile()
        change()
        assert g.compile() is not before


def test_a_million_pairs_build_and_compile():
    g = at.FactorGraph()
    x = g.binary((1000, 501), name="x")
    across = g.add(at.Pair(x[:, :-1], x[:, 1:], scores=1.0))
    down = g.add(at.Pair(x[:-1], x[1:], scores=-1.0))
    problem = g.compile().problem
    assert problem.n_pairs == across.factor.codes.shape[0] + down.factor.codes.shape[0]
    assert problem.n_pairs > 1_000_000
    assert not problem.pair_var.flags.writeable
