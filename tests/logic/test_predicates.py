"""Predicates, relations and domains: how they look things up, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent import logic
from assent.logic.predicates import FALSE, TRUE

x, y = logic.variables("x y")


def raises(match):
    return pytest.raises(at.ModelError, match=match)


@pytest.fixture
def graph():
    return at.FactorGraph()


@pytest.mark.parametrize("size", [100, 100_000])  # a plain array, a sorted list
def test_lookups_agree_with_a_dictionary(graph, size):
    rng = np.random.default_rng(size)
    tuples = np.unique(rng.integers(0, size, (200, 2)), axis=0)
    lits = graph.binary(len(tuples), name="p")
    p = logic.predicate(lits, size, size, at=tuples)
    known = {tuple(t): int(c) for t, c in zip(tuples.tolist(), lits.codes, strict=True)}
    asked = np.concatenate([tuples[::3], rng.integers(0, size, (50, 2))])
    expected = [known.get(tuple(t), int(FALSE)) for t in asked.tolist()]
    assert p.codes_at(list(asked.T)).tolist() == expected
    assert {tuple(t) for t in p.possible().tolist()} == set(known)


def test_an_empty_sparse_predicate_is_false_everywhere(graph):
    p = logic.predicate(graph.binary(0, name="p"), 10**5, 10**5, name="p", at=np.zeros((0, 2), int))
    assert p.codes_at([np.array([3]), np.array([4])]).tolist() == [int(FALSE)]
    with raises(r"p\(1, 2\) has no variable to observe"):
        p.observe([(1, 2)])


def test_relations_from_masks_arrays_and_lists():
    mask = np.eye(3, dtype=bool)
    for given in (mask, np.argwhere(mask), [(0, 0), (1, 1), (2, 2)], [(2, 2), (0, 0), (1, 1)] * 2):
        same = logic.relation("same", given, 3, 3)
        assert same.possible().tolist() == [[0, 0], [1, 1], [2, 2]]
        assert (same.codes_at([np.arange(3), np.arange(3)]) == TRUE).all()
    own = logic.relation("r", [("b", 2), ("a", 2)])
    assert [d.labels for d in own.domains] == [["b", "a"], [2]]
    assert logic.relation("r", ["u", "v"]).domains[0].labels == ["u", "v"]
    with raises("without tuples its domains must be given"):
        logic.relation("r", [])
    with raises(r"domains have sizes \(2, 3\), the mask has shape \(3, 3\)"):
        logic.relation("r", mask, 2, 3)
    with raises(r"r takes 2 arguments .* got tuples of shape \(3,\)"):
        logic.relation("r", np.arange(3), 3, 3)


def test_members_may_be_any_labels():
    mixed = logic.Domain("mixed", ["a", 2, ("b", 1)])
    r = logic.relation("r", [(("b", 1),), (2,)], mixed)
    assert r.possible().tolist() == [[1], [2]]
    with raises("'c' is not in domain 'mixed'"):
        r("c")


def test_domains_refuse_repetitions_and_find_scattered_numbers():
    with raises("domain 'd' has a member twice"):
        logic.Domain("d", [1, 2, 1])
    scattered = logic.Domain("d", [7, 3, 9])
    assert scattered.find(np.array([9, 3, 4, 7])).tolist() == [2, 1, -1, 0]


def test_shapes_must_fit(graph):
    lits = graph.binary((2, 3), name="p")
    with raises(r"domains have sizes \(2, 2\), the variables have shape \(2, 3\)"):
        logic.predicate(lits, 2, 2)
    with raises("1 domains are given for 2 axes"):
        logic.predicate(lits, 2)
    with raises("give the domains of the tuples in at="):
        logic.predicate(lits[0], at=[(0,)])
    with raises(r"2 tuples are given for variables of shape \(3,\)"):
        logic.predicate(lits[0], 5, at=[0, 1])
    with raises(r"\(1\) is given twice"):
        logic.predicate(lits[0], 5, at=[1, 1, 2])
    with raises(r"domains have sizes \(3,\), the entries have shape \(2,\)"):
        logic.table("t", [1.0, 2.0], 3)
    with raises("needs a name"):
        logic.predicate(graph.binary(0, name="none"), 0)
    with raises("r is data already"):
        logic.relation("r", [1], 3).observe([1])


def test_categorical_variables_at_tuples(graph):
    tag = graph.categorical(2, states=["N", "V"], name="tag")
    p = logic.predicate(tag, 10, at=[3, 7])
    assert p.possible().tolist() == [[3, 0], [3, 1], [7, 0], [7, 1]]
    rule = logic.Rules(graph).add((p(x, "V") & p(y, "V")) >> p(y, "N"), where=x < y)
    assert rule.factors == {"AtLeastOne": 1}  # elsewhere the premise is false
    words = graph.handles[0].words(0)
    assert words == "rule 1 (x=3, y=7): AtLeastOne(~tag[0]=V, tag[1]=N, ~tag[1]=V)"


def test_views_of_categorical_variables(graph):
    head = graph.categorical(states=4, scores=[0.0, 3.0, 2.0, 1.0], name="head")
    kind = at.group(head, by=["root", "N", "V", "V"], name="kind")
    is_a = logic.predicate(kind)
    logic.Rules(graph).add(is_a("V"))
    assert at.decode(graph)[head].item() == 2


def test_expressions_read_as_they_are_written():
    t = logic.table("t", [[1.0, 2.0]])
    shown = {
        repr(1 + x): "1 + x",
        repr(2 - x * 3): "2 - (x * 3)",
        repr(-x): "0 - x",
        repr(abs(t(0, x)) >= y): "abs(t(0, x)) >= y",
    }
    assert all(a == b for a, b in shown.items())
    with pytest.raises(TypeError, match="expected a logic variable, a number or a label"):
        x + None  # type: ignore[operator]
    with pytest.raises(TypeError, match="conditions on indices go into where="):
        bool(x)


def test_tables_in_conditions_and_labels_in_computations(graph):
    p = logic.predicate(graph.binary(3, name="p"), ["a", "b", "c"])
    size = logic.table("size", [1.0, 5.0, 3.0], p.domains[0])
    rules = logic.Rules(graph)
    assert rules.add(p(x), where=size(x) > 2).bindings == 2
    assert rules.add(p(x), where=(x != "b") & (x != "c")).bindings == 1
    with raises("'a' is a label and cannot be computed with"):
        rules.add(p(x), weight=size(x) + "a")
    with raises("p.0 has labels, .* is a number"):
        rules.add(p(size(x) + 1))
    with raises("compares members of 'p.0' and 'other'"):
        z = logic.Variable("z", logic.Domain("other", ["u"]))
        rules.add(p(x), where=x == z)
    with raises("where= takes comparisons and data joined by"):
        rules.add(p(x), where=logic.exists(y, p(y)))


def test_the_dependency_parser_checks_shapes():
    from assent.logic.dependency_parser import PartScores

    with raises(r"sibling scores have shape \(2, 2\); 3 words need \(4, 3, 3\)"):
        PartScores(np.zeros((4, 3)), sibling=np.zeros((2, 2)))
