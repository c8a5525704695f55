"""Conflicts are explained by steps, each of which is a valid and minimal conclusion."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at
from assent.compile.explain import fewest
from assent.factors import Logic
from tests.oracles.sweep import sweep_seeds
from tests.strategies import meaning, random_graph


def reasons(graph):
    """The conflict of a graph, whose proof checks out."""
    result = at.decode(graph)
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()
    return result.certificate.conflict


# ------------------------------------------------------------------ what a person reads


def test_a_chain_of_reasons_through_many_kinds():
    g = at.FactorGraph()
    x = g.binary(6, name="x")
    t = g.categorical(3, states="ab", name="t")
    g.add(at.AtMostOne(x[:2]), name="hole")
    g.add(at.Parity(x[1:3], odd=True))
    g.add(at.Knapsack(x[2:4], weights=[2.0, 2.0], capacity=3.0))
    g.add(at.Dense(x[3], t[0], scores=[[-np.inf, 0.0], [0.0, 0.0]]))
    g.add(at.Potts(t[0], t[1], scores=[0.0, -np.inf]), name="differ")
    g.add(at.Chain(t[1:], transitions=[[0.0, -np.inf], [0.0, 0.0]]), name="steps")
    g.add(at.Pair(t[2] == "a", x[4], scores=-np.inf))
    g.add(at.Cardinality(x[4:], scores=[-np.inf, 0.0, 0.0]))
    assert at.decode(g).feasible
    g.fix(x[0], 1)
    assert at.decode(g)[x].tolist() == [1, 0, 1, 0, 0, 1]
    g.fix(x[5], 0)
    assert reasons(g) == (
        "evidence x[0]=1",
        "evidence x[5]=0",
        "hole: AtMostOne(x[0], x[1]) → x[1]=0",
        "Parity(odd; x[1], x[2]) → x[2]=1",
        "Knapsack(x[2], x[3]) → x[3]=0",
        "Cardinality(x[4], x[5]) → x[4]=1",
        "Dense(x[3], t[0]) → t[0]≠a",
        "Pair(t[2]=a, x[4]) → t[2]≠a",
        "steps: Chain(t[1], t[2]) → t[1]≠a",
        "differ: Potts(t[0], t[1]) → t[1]≠b",
        "one state of t: ExactlyOne(t[1]=a, t[1]=b) cannot hold",
    )


def test_only_the_evidence_that_matters_is_named():
    g = at.FactorGraph()
    x = g.binary(50, name="x")
    g.add(at.AtMost(2, x[[*range(5, 40)]]), name="few")
    g.fix(x[10:], 1)
    *given, end = reasons(g)
    assert given == ["evidence x[10]=1", "evidence x[11]=1", "evidence x[12]=1"]
    assert end.startswith("few: AtMost(2; x[5], ") and end.endswith("cannot hold")


def test_forbidden_scores_are_reasons():
    g = at.FactorGraph()
    x = g.binary(scores=[-np.inf, 0.0, -np.inf], name="x")
    g.add(at.Implies(~x[0], x[1]))
    g.add(at.AtMostOne([x[1], ~x[2]]))
    assert reasons(g) == (
        "x[0]=0 by a score of -inf",
        "x[2]=0 by a score of -inf",
        "Implies(~x[0] ⇒ x[1]) → x[1]=1",
        "AtMostOne(x[1], ~x[2]) cannot hold",
    )


def test_factors_that_cannot_hold_by_themselves():
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    g.add(at.Agree(x[0], ~x[0]), name="never")
    assert reasons(g)[-1] == "never: Agree(x[0], ~x[0]) cannot hold"


def test_what_is_fixed_in_a_proof_by_multipliers_is_explained_too():
    """Three pigeons in three holes, one of which is taken by way of a rule: no unit finds it."""
    g = at.FactorGraph()
    sits = g.binary((3, 3), name="sits")
    closed = g.binary(name="closed")
    g.add(at.ExactlyOne(sits, axis=1), name="pigeon")
    g.add(at.AtMostOne(sits, axis=0), name="hole")
    g.add(at.Implies(closed, ~sits[:, 2]), name="shut")
    g.fix(closed, 1)
    steps = reasons(g)
    assert g.compile().conflict is None
    assert steps[:2] == ("evidence closed=1", "shut: Implies(closed ⇒ ~sits[0,2]) → sits[0,2]=0")
    assert {"pigeon", "hole"} <= {step.split(":")[0] for step in steps}


def test_long_chains_are_told_in_full_and_shown_abridged():
    g = at.FactorGraph()
    x = g.binary(500, name="x")
    g.add(at.Implies(x[:-1], x[1:]))
    g.fix(x[0], 1)
    g.fix(x[-1], 0)
    steps = reasons(g)
    assert len(steps) == len(g.compile().conflict.steps) == 501
    assert steps[0] == "evidence x[0]=1"
    shown = repr(at.decode(g).certificate)
    assert "…" in shown and len(shown) < 500


def test_a_table_deduces_what_lets_a_structure_deduce():
    """A table that forces a value by itself sets off structures, without any evidence."""
    g = at.FactorGraph()
    t = g.categorical(3, states="ab", name="t")
    g.add(at.Dense(t[0], t[1], scores=[[-np.inf, -np.inf], [0.0, -np.inf]]), name="first")
    g.add(at.Tree(t, parents=[-1, 0, 1], scores=0.0, counts=("b", [0.0, 0.0])), name="few")
    assert g.compile().fixed.tolist() == [0, 1, 1, 0, 1, 0]


# ------------------------------------------------------------------ whether the steps are right


def holds(handle, row, never, state):
    """Whether factor ``row`` allows a full state ``{coordinate: value}`` of its coordinates."""
    factor = handle.factor
    codes = factor.codes[row]
    truth = np.array([state[~c] == 0 if c < 0 else state[c] == 1 for c in codes.tolist()])
    if isinstance(factor, at.Pair):
        return not (row in never and truth.all())
    if isinstance(factor, Logic):
        # The oracle reads full batches: all rows alike.
        everywhere = np.broadcast_to(truth, factor.codes.shape)
        return bool(meaning(factor, everywhere)[row])
    scores = np.zeros(factor.scores.shape)
    scores.flat[never] = -np.inf
    everywhere = np.broadcast_to(truth, factor.codes.shape)
    for place, first in zip(factor.slot_links(), factor.first, strict=True):
        if not first and truth[place].sum() != 1:
            return False
    return bool(np.isfinite(factor.value_at(everywhere, scores)[row]))


def breaks(handle, row, never, codes):
    """Whether no state of a factor's coordinates has all literals ``codes`` true."""
    own = handle.factor.codes[row]
    coordinates = np.unique(np.where(own < 0, ~own, own)).tolist()
    known = {~c if c < 0 else c: int(c >= 0) for c in codes}
    free = [c for c in coordinates if c not in known]
    return not any(
        holds(handle, row, never, {**known, **dict(zip(free, values, strict=True))})
        for values in product((0, 1), repeat=len(free))
    )


def check_steps(graph):
    """Every step follows from earlier ones alone, and none of its reasons is superfluous."""
    compiled = graph.compile()
    forbids = compiled.forbids
    never = dict(enumerate(forbids.factors))
    known, evidence = set(), set(graph.evidence().tolist())
    *_, last = compiled.conflict.steps
    for step in compiled.conflict.steps:
        if step.block is None:
            assert step.code in evidence or (step.code < 0 and ~step.code in forbids.theta)
        else:
            handle, own = compiled.blocks[step.block], never.get(step.block, ())
            assert set(step.because) <= known
            denied = [] if step.code is None else [~step.code]
            assert breaks(handle, step.row, own, [*step.because, *denied])
            for left_out in step.because:
                fewer = [c for c in step.because if c != left_out]
                assert not breaks(handle, step.row, own, [*fewer, *denied])
        known.add(step.code)
    assert last.code is None


@sweep_seeds(share=0.5)
def test_every_step_follows(seeds):
    found = 0
    for seed in seeds:
        rng = np.random.default_rng(60_000 + seed)
        graph = random_graph(rng, evidence=0.5, forbid=0.4, complements=0.3)
        conflict = graph.compile().conflict
        if conflict is not None and conflict.steps:
            found += 1
            check_steps(graph)
    assert found


@pytest.mark.parametrize("seed", range(20))
def test_every_step_of_structures_follows(seed):
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    t = g.categorical(4, states=3, name="t")
    x = g.binary(4, name="x")
    g.add(at.Chain(t, transitions=np.where(rng.random((3, 3, 3)) < 0.5, -np.inf, 0.0)))
    g.add(at.Cardinality(x, scores=[0.0, -np.inf, 0.0, -np.inf, 0.0]))
    g.add(at.Tree(x, parents=[-1, 0, 0, 2], scores=[[0.0, -np.inf], [0.0, 0.0]]))
    g.add(at.Agree(x[:3], (t == 0)[:3]))
    g.fix(t[rng.integers(4)], int(rng.integers(3)))
    g.fix(x[rng.integers(4)], int(rng.integers(2)))
    conflict = g.compile().conflict
    if conflict is not None and conflict.steps:
        check_steps(g)


def test_fewest_is_minimal():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        items, needed = list(range(12)), set(rng.choice(12, rng.integers(0, 5), replace=False))
        assert set(fewest(items, lambda own, needed=needed: needed <= set(own))) == needed
