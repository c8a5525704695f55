"""Rules: what they become, what they refuse, and how they say so."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest

import assent as at
from assent import logic
from tests.oracles.enumeration import binary_points
from tests.oracles.first_order import completed

x, y, z = logic.variables("x y z")


@pytest.fixture
def graph():
    return at.FactorGraph()


def unary(graph, size=3, name="p"):
    return logic.predicate(graph.binary(size, name=name))


def feasible_points(graph, base):
    points = binary_points(base)
    return {tuple(p) for p in points[completed(graph, points)[1]].tolist()}


# ---------------------------------------------------------------- the cheapest factors


def test_an_implication_is_one_clause_without_new_variables(graph):
    p = logic.predicate(graph.binary((4, 4), name="p"))
    rule = logic.Rules(graph).add((p(x, y) & p(y, z)) >> p(x, z), where=(x != y) & (y != z))
    assert rule.factors == {"AtLeastOne": 36}  # 4·3·3 triples
    assert rule.auxiliaries == 0
    assert graph.handles[0].factor.size == 3


def test_a_conjunction_in_a_clause_is_multiplied_out(graph):
    p, q, r = (unary(graph, 2, name) for name in "pqr")
    rules = logic.Rules(graph)
    for statement in (p(x) >> (q(x) & r(x)), (p(x) & q(x)) >> ~(p(y) | r(y))):
        rule = rules.add(statement, where=None)
        assert set(rule.factors) == {"AtLeastOne"}
        assert rule.auxiliaries == 0
    assert rules.rules[0].factors == {"AtLeastOne": 4}


def test_a_name_is_not_captured_when_a_clause_is_multiplied_out(graph):
    p, q = unary(graph, 2, "p"), unary(graph, 2, "q")
    logic.Rules(graph).add(p(x) | logic.forall(x, q(x)))
    expected = {
        tuple(point) for point in binary_points(4).tolist() if all(point[:2]) or all(point[2:])
    }
    assert feasible_points(graph, 4) == expected


def test_nested_formulas_are_named_once_for_all_rules(graph):
    p = logic.predicate(graph.binary((3, 3), name="p"))
    q = unary(graph, 3, "q")
    rules = logic.Rules(graph)
    some = logic.exists(y, p(x, y))
    first = rules.add(q(x) == (some & ~p(x, x)))
    second = rules.add((some & q(x)) >> p(0, x), weight=2.0)
    assert first.auxiliaries == 3
    assert second.factors["AtLeastOne"] == second.auxiliaries  # of its own clauses, not of some
    assert second.auxiliaries <= 3


def test_a_definition_gives_its_name_to_later_rules(graph):
    p, q = logic.predicate(graph.binary((2, 3), name="p")), unary(graph, 2, "q")
    rules = logic.Rules(graph)
    rules.add(q(x).defines(logic.exists(y, p(x, y))))
    rule = rules.add(logic.exactly(1, x, logic.exists(y, p(x, y))))
    assert rule.auxiliaries == 0
    assert rule.factors == {"ExactlyOne": 1}
    assert "q[0]" in repr(graph.handles[-1])


def test_equal_ground_rules_are_merged(graph):
    p = unary(graph)
    rules = logic.Rules(graph)
    rule = rules.add(~p(x) | ~p(y), where=x != y)
    assert rule.factors == {"AtLeastOne": 3} and rule.merged == 3
    again = rules.add(~(p(x) & p(y)), where=x < y)
    assert again.factors == {} and again.merged == 3


def test_soft_rules_over_two_literals_are_pairs(graph):
    p = unary(graph)
    rule = logic.Rules(graph).add(p(x) >> p(y), where=x < y, penalty=1.0)
    assert rule.factors == {"Pair": 3} and rule.auxiliaries == 0 and rule.constant == 0.0


def test_relations_in_a_premise_are_joined_not_multiplied(graph):
    people = logic.Domain("person", 3000)
    p = logic.predicate(graph.binary(3000, name="p"), people)
    ring = np.stack([np.arange(3000), (np.arange(3000) + 1) % 3000], axis=1)
    friend = logic.relation("friend", ring, people, people)
    rules = logic.Rules(graph)
    rule = rules.add((friend(x, y) & friend(y, z) & p(x)) >> p(z))
    assert rule.bindings == 3000 and rule.factors == {"AtLeastOne": 3000}
    some = rules.add(p(x) >> logic.exists(y, z, p(z), where=friend(x, y) & friend(y, z)))
    assert some.factors == {} and some.merged == 3000


def test_variables_of_several_integer_domains_take_the_narrowest(graph):
    heads, words = logic.Domain("head", range(4)), logic.Domain("word", range(1, 4))
    arc = logic.predicate(graph.binary((4, 3), name="arc"), heads, words)
    rule = logic.Rules(graph).add(arc(x, y) >> ~arc(y, x), where=x < y)
    assert rule.factors == {"AtLeastOne": 3}
    assert repr(graph.handles[0].factor.words(0)) == "'AtLeastOne(~arc[1,1], ~arc[2,0])'"


def test_categorical_variables_have_their_states_as_last_argument(graph):
    tag = logic.predicate(graph.categorical(3, states=["N", "V"], name="tag"))
    logic.Rules(graph).add(tag(x, "V") >> ~tag(x + 1, "V"), where=x < 2)
    assert graph.handles[0].words(0) == "rule 1 (x=0): AtLeastOne(~tag[0]=V, ~tag[1]=V)"


def test_an_observed_state_excludes_the_others(graph):
    tag = logic.predicate(graph.categorical(2, states=["N", "V", "D"], name="tag"))
    tag.observe([(0, "V")])
    rule = logic.Rules(graph).add(logic.at_most(1, x, tag(x, y)))
    assert rule.factors == {"All": 1}  # only tag 1 = V is left to forbid
    with raises(r"one variable is observed in two states, \(1, N\), \(1, D\)"):
        tag.observe([(1, "N"), (1, "D")])


# ---------------------------------------------------------------- exists_one, three ways


def test_exists_one_as_a_definition_forbids_two(graph):
    p, q = unary(graph, 2), logic.predicate(graph.binary((), name="q"))
    rule = logic.Rules(graph).add(q().defines(logic.exists_one(x, p(x))))
    assert rule.factors == {"ExactlyOne": 1} and rule.auxiliaries == 0
    assert feasible_points(graph, 3) == {(0, 0, 0), (0, 1, 1), (1, 0, 1)}


@pytest.mark.parametrize("size", [2, 3, 4])
def test_exists_one_as_an_equivalence_allows_two(graph, size):
    p, q = unary(graph, size), logic.predicate(graph.binary((), name="q"))
    logic.Rules(graph).add(q() == logic.exists_one(x, p(x)))
    expected = {(*p, int(sum(p) == 1)) for p in binary_points(size).tolist()}
    assert feasible_points(graph, size + 1) == expected


def test_exists_one_under_negation(graph):
    p = unary(graph, 3)
    logic.Rules(graph).add(~logic.exists_one(x, p(x)))
    assert feasible_points(graph, 3) == {tuple(v) for v in binary_points(3).tolist() if sum(v) != 1}


# ---------------------------------------------------------------- counting the same thing twice


def test_a_literal_that_counts_twice_weighs_two(graph):
    p = unary(graph, 2)
    y = logic.Variable("y", p.domains[0])
    logic.Rules(graph).add(logic.at_most(2, x, y, p(x), where=x >= y))  # p(0) once, p(1) twice
    assert feasible_points(graph, 2) == {(0, 0), (1, 0), (0, 1)}


def test_evidence_is_folded_into_counts(graph):
    p = unary(graph, 4)
    p.observe([0, 1], [True, False])
    rule = logic.Rules(graph).add(logic.exactly(2, x, p(x)))
    assert rule.factors == {"ExactlyOne": 1}
    assert graph.handles[0].factor.size == 2


def test_closed_world_evidence(graph):
    p = unary(graph, 3)
    p.observe([1], closed=True)
    assert at.decode(graph)[graph["p"]].tolist() == [0, 1, 0]
    rule = logic.Rules(graph).add(p(x) >> ~p(x + 1), where=x < 2)
    assert rule.factors == {}


# ---------------------------------------------------------------- refusals


def raises(match):
    return pytest.raises(at.ModelError, match=match)


def test_wrong_arity_names_the_predicate():
    friend = logic.relation("friend", [("ann", "bob")])
    with raises(r"friend takes 2 arguments \(friend.0, friend.1\), got 1: friend\(x\)"):
        friend(x)
    with raises(r"friend takes 1 arguments .* got \(1, 2\)"):
        logic.relation("friend", [(1, 2)], 3)


def test_unknown_labels_and_indices(graph):
    people = logic.Domain("person", ["ann", "bob"])
    p = logic.predicate(graph.binary(2, name="p"), people)
    with raises(r"p\('eve'\): 'eve' is not in domain 'person', which has ann, bob"):
        p("eve")
    with raises("friend, argument 2: 'eve' is not in domain 'person'"):
        logic.relation("friend", [("ann", "eve")], people, people)
    q = unary(graph, 3, "q")
    with raises(r"step: x \+ 1 in q\(x \+ 1\) is outside domain q.0: 0, 1, 2 for x=2; a where="):
        logic.Rules(graph).add(q(x) >> q(x + 1), name="step")


def test_an_empty_domain_is_refused():
    with raises("domain 'word' is empty"):
        logic.Domain("word", [])


def test_unbound_variables_are_named(graph):
    p = unary(graph)
    with raises(r"both: variable y is unbound: .* give it a domain"):
        logic.Rules(graph).add(p(x), where=x < y, name="both")
    with raises("variable y is unbound"):
        logic.Rules(graph).add(logic.exists(y, p(x)))
    with raises("variable y is unbound"):
        logic.Rules(graph).add(p(x), weight=y)


def test_a_variable_of_two_unrelated_domains_is_refused(graph):
    p = logic.predicate(graph.binary(2, name="p"), logic.Domain("a", ["u", "v"]))
    q = logic.predicate(graph.binary(2, name="q"), logic.Domain("b", ["v", "w"]))
    with raises("variable x ranges over a and b"):
        logic.Rules(graph).add(p(x) >> q(x))


def test_contradictions_name_rule_and_binding_and_leave_no_trace(graph):
    p = unary(graph)
    p.observe([2], False)
    rules = logic.Rules(graph)
    with raises(r"all: the rule contradicts what is known for x=2: it is false; correct the data"):
        rules.add(p(x), name="all")
    bound = logic.Variable("b", p.domains[0])
    with raises(r"for b=1, and for 1 more bindings: nothing in .* can hold"):
        rules.add(logic.exists(x, p(x), where=x > bound))
    with raises("0 to 2 are true where >= 3 should be"):
        rules.add(logic.at_least(3, x, p(x)))
    assert not graph.handles and len(graph.variables) == 1 and not rules.rules


def test_an_explosion_is_refused_before_it_happens(graph):
    p = unary(graph, 2000)
    rules = logic.Rules(graph)
    with raises(r"big: grounding x, y, z would make 8,000,000,000 bindings, more than limit=10,0.*"
                r"\(x has 2000, y has 2000, z has 2000 values\); put a relation"):  # fmt: skip
        rules.add((p(x) & p(y)) >> p(z), name="big", limit=10_000_000)
    with raises("grounding y would make 4,000,000 bindings, more than limit=1,000,000"):
        rules.add(p(x) >> logic.exists(y, p(y), where=x < y), limit=1_000_000)
    some = np.stack(np.indices((2000, 5)), -1).reshape(-1, 2)
    known = logic.relation("known", some, p.domains[0], p.domains[0])
    with raises(r"grounding known\(x, y\) would make 10,000 bindings"):
        rules.add((known(x, y) & p(x)) >> p(y), limit=1000)
    assert not graph.handles


def test_conditions_must_be_known(graph):
    p = unary(graph)
    with raises(r"the condition p\(x\) is not known for"):
        logic.Rules(graph).add(p(y), where=p(x))


def test_weights_must_be_finite_numbers(graph):
    p = unary(graph)
    bonus = logic.table("bonus", [1.0, -np.inf, 0.0])
    with raises("a weight must be finite, it is -inf for x=1"):
        logic.Rules(graph).add(p(x), weight=bonus(x))
    with raises("a weight or a penalty, not both"):
        logic.Rules(graph).add(p(x), weight=1.0, penalty=1.0)
    with raises("a definition has no weight"):
        logic.Rules(graph).add(p(x).defines(p(y)), weight=1.0)


def test_pythons_traps_are_closed(graph):
    p = unary(graph)
    with pytest.raises(TypeError, match=r"write \(a & b\) >> c"):
        p(x) & p(y) >> p(z)
    with pytest.raises(TypeError, match="no truth value before decoding"):
        bool(p(x))
    with pytest.raises(TypeError, match="do not chain"):
        x < y < z  # noqa: B015
    with pytest.raises(TypeError, match="put comparisons in parentheses"):
        x & p(x)
    with pytest.raises(TypeError, match="only atoms are defined"):
        (p(x) & p(y)).defines(p(z))
    with pytest.raises(TypeError, match="takes logic variables, then a formula"):
        logic.exists(p(x))


def test_labels_are_compared_in_order_but_not_computed_with(graph):
    people = logic.Domain("person", ["ann", "bob", "eve"])
    p = logic.predicate(graph.binary(3, name="p"), people)
    rules = logic.Rules(graph)
    assert rules.add(~p(x) | ~p(y), where=x < y).factors == {"AtLeastOne": 3}
    assert rules.add(p(x), where=x != "bob").bindings == 2
    with raises("x runs over labels, not numbers"):
        rules.add(p(x) >> p(y), where=x + 1 == y - 1)
    with raises("compares a label with a number"):
        rules.add(p(x), where=x < 2)


def test_another_graphs_predicate_is_refused(graph):
    other = unary(at.FactorGraph())
    with raises("belongs to another graph"):
        logic.Rules(graph).add(other(x))


# ---------------------------------------------------------------- explanations


def test_a_report_counts_what_each_rule_became(graph):
    p, q = logic.predicate(graph.binary((3, 4), name="p")), unary(graph, 3, "q")
    rules = logic.Rules(graph)
    rules.add(logic.at_most(2, y, p(x, y)), name="two at most")
    rules.add(p(x, 0) >> (q(x) == logic.exists(y, p(x, y))), name="nested")
    report = rules.report()
    assert report.factors == graph.n_factors
    assert report.auxiliaries == graph.size - 15
    lines = [line.split() for line in str(report).splitlines()]
    assert lines[2] == ["two", "at", "most", "hard", "3", "3", "AtMost", "0", "0"]
    assert lines[3][:3] == ["nested", "hard", "3"]


def test_an_explanation_names_rule_and_binding(graph):
    p = logic.predicate(graph.binary(3, scores=[3.0, 2.0, -1.0], name="p"))
    rules = logic.Rules(graph)
    rules.add(~p(0) | ~p(1), name="not both")
    rules.add(p(x) >> p(y), where=x < y, penalty=0.25, name="follow")
    rules.add(p(2), weight=0.5, name="wish")
    found = rules.explain(at.decode(graph))
    assert [str(f) for f in found.tight] == ["not both: ~p(0) | ~p(1)"]
    assert found.tight[0].factor == "AtLeastOne(~p[0], ~p[1])"
    relaxed = at.FactorGraph()  # the same without the hard rule: better by what it held back
    q = logic.predicate(relaxed.binary(3, scores=[3.0, 2.0, -1.0], name="p"))
    free = logic.Rules(relaxed)
    free.add(q(x) >> q(y), where=x < y, penalty=0.25)
    free.add(q(2), weight=0.5)
    gain = at.decode(relaxed).bound - at.decode(graph).bound
    assert gain <= found.tight[0].amount + 1e-6
    assert not found.violated
    assert [(f.rule, f.binding, f.amount) for f in found.paid] == [
        ("wish", "", 0.5),
        ("follow", "x=0, y=1", 0.25),
        ("follow", "x=0, y=2", 0.25),
    ]
    assert "follow for x=0, y=1: p(0) >> p(1)" in str(found)


def test_an_infeasible_model_names_rules_and_bindings(graph):
    p = unary(graph, 3)
    rules = logic.Rules(graph)
    rules.add(logic.at_least(2, x, p(x)), name="two")
    rules.add(~p(x) | ~p(y), where=x < y, name="never both")
    result = at.decode(graph)
    assert result.status.name == "INFEASIBLE"
    conflict = " ".join(result.certificate.conflict)
    assert "two: AtLeast(2;" in conflict and "never both (x=0, y=1): AtLeastOne" in conflict
    found = rules.explain(result)
    assert found.violated and "violated: " in str(found)


def test_a_long_explanation_keeps_what_matters_most(graph):
    p = logic.predicate(graph.binary(50, scores=-1.0, name="p"))
    rules = logic.Rules(graph)
    bonus = logic.table("bonus", np.linspace(0.01, 0.5, 50))
    rules.add(p(x), weight=bonus(x))
    found = rules.explain(at.decode(graph), most=3).paid
    assert [f.binding for f in found] == ["x=49", "x=48", "x=47"]
    assert "… 30 more" in str(rules.explain(at.decode(graph)))


def test_an_explanation_speaks_of_the_rule_where_a_variable_was_needed(graph):
    p = logic.predicate(graph.binary(3, scores=[2.0, 2.0, -3.0], name="p"))
    rules = logic.Rules(graph)
    rules.add((p(x) & p(y)) >> p(z), where=(x < y) & (y < z), penalty=1.0, name="third")
    (found,) = rules.explain(at.decode(graph)).paid
    assert str(found) == "third for x=0, y=1, z=2: (p(0) & p(1)) >> p(2)"
    assert found.factor == "Dense(~third/auxiliary[0])"


def test_more_combinations_than_64_bits_can_number(graph):
    """Five variables over 2^16 members: without care the first would be shifted out."""
    many = logic.Domain("many", 2**16)
    pairs = [(1, 2), (15_000, 2)]
    r = logic.relation("r", pairs, many, many)
    q = logic.predicate(graph.binary(2, name="q"), many, many, at=pairs)
    s = logic.predicate(graph.binary(3, name="s"), many, at=[1, 15_000, 2])
    a, b, c, d, e, f = logic.variables("a b c d e f")
    premise = r(a, b) & r(c, d) & r(e, f)
    rule = logic.Rules(graph).add(premise >> logic.one_of(s(f), q(a, b) & q(c, d) & s(e)))
    assert rule.bindings == 8
    triples = list(product(range(2), repeat=3))
    expected = {
        (*q, *s)
        for q in product((0, 1), repeat=2)
        for s in product((0, 1), repeat=3)
        if all(s[2] + (q[i] and q[j] and s[k]) == 1 for i, j, k in triples)
    }
    assert feasible_points(graph, 5) == expected
    with raises("more combinations than can be numbered"):
        logic.relation("five", [(1,) * 5], *[many] * 5)


def test_rules_survive_pickling(graph):
    p = unary(graph, 3)
    logic.Rules(graph).add(p(x) >> p(y), where=x < y, name="up")
    again = pickle.loads(pickle.dumps(graph))
    assert again.handles[0].words(1) == graph.handles[0].words(1)
    assert "up (x=0, y=2)" in again.handles[0].words(1)


def test_reprs_say_what_things_are(graph):
    p = unary(graph, 3)
    rules = logic.Rules(graph)
    assert repr(p) == "p(p.0)"
    assert repr(p.domains[0]) == "p.0: 0, 1, 2"
    assert repr(logic.Domain("n", 9)) == "n: 0, 1, 2, 3, 4, 5, … 9 members"
    assert repr(logic.table("t", [1.0])) == "t(t.0)"
    assert repr(rules) == "<0 rules over FactorGraph: 1 variable arrays (3 indicators), 0 factors>"
    assert repr(p(x).defines(logic.exactly(2, y, p(y)))) == "p(x) := exactly(2) y: p(y)"
    assert repr(logic.one_of(p(x), p(y) | p(z))) == "one_of(p(x), (p(y) | p(z)))"
    assert repr(logic.forall(x, y, p(x) != p(y), where=x < y)) == (
        "forall x, y where x < y: ~(p(x) == p(y))"
    )


def test_a_result_of_another_graph_or_time_is_refused(graph):
    p = unary(graph, 2)
    rules = logic.Rules(graph)
    other = at.FactorGraph()
    other.binary(2)
    with raises("another graph"):
        rules.explain(at.decode(other))
    early = at.decode(graph)
    rules.add(p(x) | p(y) | (p(0) == p(1)), weight=1.0)
    with raises("added after this result"):
        rules.explain(early)
