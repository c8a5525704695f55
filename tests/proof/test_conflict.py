"""Small sets of constraints that cannot hold together."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.proof.conflict import small_conflict
from tests.strategies import optimum


def needs_cases(extra: int = 0) -> at.FactorGraph:
    """Every way to have x[0] and x[1] is forbidden, which takes two branches to see."""
    g = at.FactorGraph()
    x = g.binary(2 + extra, name="x")
    g.add(at.AtLeastOne([[x[0], x[1]], [x[0], ~x[1]], [~x[0], x[1]], [~x[0], ~x[1]]], axis=1))
    for i in range(2, 1 + extra):
        g.add(at.Implies(x[i], x[i + 1]))
    return g


def test_a_search_names_few_constraints():
    result = at.decode(needs_cases(40), at.BranchAndBound(core=0))
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()
    conflict = result.certificate.conflict
    assert len(conflict) == 4 and all("x[0]" in words for words in conflict)
    assert "AtLeastOne" in repr(result.certificate)


def test_evidence_is_part_of_a_conflict():
    g = at.FactorGraph()
    x = g.binary(4, name="x")
    g.add(at.AtLeastOne([[~x[0], x[1], x[2]], [x[1], ~x[2], ~x[0]]], axis=1))
    g.add(at.Implies(x[1], x[3]))
    g.fix(x[0], 1)
    g.fix(x[3], 0)
    words = small_conflict(g.compile(), 1.0)
    assert "evidence x[0]=1" in words and "evidence x[3]=0" in words
    assert len(words) == 5


def test_no_constraint_can_be_left_out():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(6, name="x")
        for _ in range(30):
            chosen = rng.choice(6, 3, replace=False)
            signs = rng.random(3) < 0.5
            g.add(at.AtLeastOne([x[i] if s else ~x[i] for i, s in zip(chosen, signs, strict=True)]))
        if optimum(g) > -np.inf:
            continue
        found += 1
        words = small_conflict(g.compile(), 5.0)
        rules = {h.words(0): h.factor.codes[0].tolist() for h in g.handles}
        if words[-1].startswith("…"):
            continue
        assert not satisfiable([rules[w] for w in words])
        for left_out in words:
            assert satisfiable([rules[w] for w in words if w != left_out])
    assert found > 5


def satisfiable(clauses) -> bool:
    """Whether some assignment of six variables makes a literal of every clause true."""
    points = (np.arange(64)[:, None] >> np.arange(6)) & 1
    good = np.ones(64, bool)
    for clause in clauses:
        good &= np.any([points[:, c] == 1 if c >= 0 else points[:, ~c] == 0 for c in clause], 0)
    return bool(good.any())


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_no_time_or_no_conflict_names_nothing(seconds):
    g = at.FactorGraph()
    g.add(at.AtLeastOne(g.binary(3)))
    assert small_conflict(g.compile(), seconds) == ()
