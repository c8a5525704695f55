"""Soft rules are as tight as the factors that one would write by hand."""

from itertools import product

import numpy as np
import pytest

import assent as at
from assent import logic

# Formulas over four atoms: how they are written, and when they hold.
NESTED = {
    "conclusion": (lambda a, b, c, d: a >> (b & c), lambda a, b, c, d: not a or (b and c)),
    "two ways": (lambda a, b, c, d: (a & b) | (c & d), lambda a, b, c, d: (a and b) or (c and d)),
    "equivalence": (lambda a, b, c, d: a == b, lambda a, b, c, d: a == b),
    "defined": (lambda a, b, c, d: a == (b | ~c), lambda a, b, c, d: a == (b or not c)),
    "not one": (
        lambda a, b, c, d: ~logic.one_of(a, b, c),
        lambda a, b, c, d: a + b + c != 1,
    ),
    "counted": (
        lambda a, b, c, d: d >> logic.one_of(a, b, ~c),
        lambda a, b, c, d: not d or a + b + (1 - c) == 1,
    ),
}


def model(seed, n=5):
    """Atoms ``p(0) … p(n - 1)`` with scores, and a ring of pairs."""
    random = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary(n, scores=random.normal(size=n), name="p")
    g.add(at.Pair(x, x[(np.arange(n) + 1) % n], scores=random.normal(size=n)))
    return g, x, random


def bound(graph):
    return at.decode(graph, at.LinearProgram()).bound


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("key", ("weight", "penalty"))
def test_nested_formulas_are_as_tight_as_tables(name, key):
    write, holds = NESTED[name]
    for seed in range(6):
        g, x, random = model(seed)
        p, i = logic.predicate(x), logic.Variable("i")
        amount = 3.0 * random.random()
        statement = write(*(p(i if k == 0 else i + k) for k in range(4)))
        rules = logic.Rules(g)
        rule = rules.add(statement, where=i < 2, **{key: amount})
        assert rule.auxiliaries == 0
        own, y, _ = model(seed)
        truth = np.array([bool(holds(*t)) for t in product((0, 1), repeat=4)]).reshape((2,) * 4)
        for k in range(2):
            scores = amount * truth if key == "weight" else -amount * ~truth
            own.add(at.Dense(*(y[k + j] for j in range(4)), scores=scores))
        assert bound(g) == pytest.approx(bound(own), abs=1e-6)
        assert at.decode(g, exact=True).value == pytest.approx(at.decode(own, exact=True).value)


@pytest.mark.parametrize("kind", ("at_most", "at_least", "exactly"))
@pytest.mark.parametrize("amount", (2.5, -1.5))
def test_counts_are_as_tight_as_scores_of_numbers(kind, amount):
    for seed in range(6):
        g, x, random = model(seed, 9)
        p, i = logic.predicate(x), logic.Variable("i")
        k = int(random.integers(2, 6))
        rules = logic.Rules(g)
        rule = rules.add(getattr(logic, kind)(k, i, p(i)), weight=amount)
        assert rule.factors == {"Cardinality": 1} and rule.auxiliaries == 0
        number = np.arange(10)
        holds = {"at_most": number <= k, "at_least": number >= k, "exactly": number == k}[kind]
        own, y, _ = model(seed, 9)
        own.add(at.Cardinality(y, scores=amount * holds))
        assert bound(g) == pytest.approx(bound(own), abs=1e-6)
        assert at.decode(g, exact=True).value == pytest.approx(at.decode(own, exact=True).value)


def test_what_is_paid_is_told_for_tables_and_counts():
    g = at.FactorGraph()
    x = g.binary(6, scores=1.0, name="p")
    p, i = logic.predicate(x), logic.Variable("i")
    rules = logic.Rules(g)
    rules.add(logic.at_most(2, i, p(i)), penalty=0.5, name="few")
    rules.add(p(0) >> (~p(1) & ~p(2)), penalty=0.25, name="alone")
    paid = rules.explain(at.decode(g)).paid
    assert [(found.rule, found.amount) for found in paid] == [("few", 0.5), ("alone", 0.25)]
