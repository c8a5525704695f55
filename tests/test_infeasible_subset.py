"""What an infeasible model names cannot hold together, and none of it can be left out."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.factors import Logic, Table
from assent.infeasible_subset import infeasible_subset
from assent.model.graph import Handle
from assent.model.variables import Categorical
from tests import structures
from tests.oracles.sweep import sweep_seeds
from tests.strategies import literal_truth, meaning, random_graph, table_scores

SOLVERS = (None, at.AD3(), at.BranchAndBound(core=0), at.IntegerProgram(), at.BranchAndCut())


def numbered(g: at.FactorGraph) -> at.FactorGraph:
    """The same graph, in which every factor tells its number and row."""
    g.handles = [
        Handle(handle.factor, f"c{number}", lambda row: f"row {row}")
        for number, handle in enumerate(g.handles)
    ]
    g._forget()
    return g


def allowed_by(g: at.FactorGraph) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Which of all points are assignments, and which of them each constraint allows, by name."""
    points = (np.arange(2**g.size)[:, None] >> np.arange(g.size)) & 1
    theta = np.concatenate([v.scores for v in g.variables])
    whole, by_name = np.ones(len(points), bool), {}
    for variable in g.variables:
        if isinstance(variable.symbol, Categorical):
            blocks = points[:, variable.symbol.codes]
            whole &= (blocks.sum(-1) == 1).reshape(len(points), -1).all(axis=1)
    points = points[whole]
    for code in g.evidence().tolist():
        by_name[f"evidence {g.describe_value(code)}"] = literal_truth(np.array(code), points)
    for v in np.flatnonzero(np.isneginf(theta)).tolist():
        by_name[f"{g.describe_value(~v)} by a score of -inf"] = points[:, v] == 0
    for number, handle in enumerate(g.handles):
        for row in range(len(handle.factor)):
            by_name[f"c{number} (row {row})"] = allowed_by_row(handle.factor, row, points)
    return np.ones(len(points), bool), by_name


def allowed_by_row(factor, row: int, points: np.ndarray) -> np.ndarray:
    truth = literal_truth(factor.codes, points)
    if isinstance(factor, at.Pair):
        return ~(truth[:, row].all(axis=-1) & np.isneginf(factor.scores[row]))
    if isinstance(factor, Logic):
        return meaning(factor, truth)[:, row]
    own = np.zeros(factor.scores.shape)
    own[row] = factor.scores[row]
    if isinstance(factor, Table):
        return np.isfinite(table_scores(factor, points, own))
    earned = [factor.value_at(each, factor.scores)[row] for each in truth]
    return np.isfinite(earned)


def patient(claim: at.Certificate) -> at.Certificate:
    """The same with time to spare: kernels may have to be compiled, and machines be busy."""
    return replace(claim, naming_seconds=60.0)


def check(g: at.FactorGraph, claim: at.Certificate) -> int:
    """Compare with the list of all assignments; returns how many constraints are named."""
    claim = patient(claim)
    everything, by_name = allowed_by(g)
    named = set()
    for words in claim.conflict:
        found = re.match(r"c\d+ \(row \d+\)", words)
        if found is None and words in by_name:
            named.add(words)
        elif found is not None:
            named.add(found[0])
        else:  # what variables are by themselves
            assert words.startswith("one state of") or "and its opposite are both" in words, words
    if any("and its opposite are both" in words for words in claim.conflict):
        return 0
    together = np.logical_and.reduce([everything, *(by_name[name] for name in named)])
    assert not together.any(), claim.conflict
    assert claim.irreducible
    for left_out in named:
        others = [by_name[name] for name in named if name != left_out]
        assert np.logical_and.reduce([everything, *others]).any(), (left_out, claim.conflict)
    return len(named)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
@sweep_seeds(1)
def test_random_models_name_an_irreducible_set(solver, seeds):
    found = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = numbered(random_graph(rng, factors=14, forbid=0.15, evidence=0.7, scale=1.0))
        result = at.decode(g) if solver is None else at.decode(g, solver)
        if result.status is at.Status.INFEASIBLE:
            found += 1
            check(g, result.certificate)
    assert found >= 2


@pytest.mark.parametrize(
    "kind", ["cardinality", "chain", "limited_chain", "tree", "regular", "matching", "custom"]
)
def test_structures_take_part(kind):
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        g.add(getattr(structures, kind)(rng, g))
        codes = np.concatenate([v.symbol.codes.ravel() for v in g.variables])
        if g.size > 11:
            continue
        for code in rng.permutation(codes)[:5].tolist():
            wanted = at.model.variables.Literals(
                g, np.array([code if rng.random() < 0.5 else ~code])
            )
            g.add(at.All(wanted))
        numbered(g)
        result = at.decode(g, exact=True)
        if result.status is at.Status.INFEASIBLE:
            found += 1
            check(g, result.certificate)
    assert found


def pigeonhole(pigeons: int, holes: int) -> at.FactorGraph:
    """Pigeons that each need a hole of their own; irrelevant rules beside them."""
    g = at.FactorGraph()
    x = g.binary((pigeons, holes), scores=1.0, name="x")
    y = g.binary(30, name="y")
    g.add(at.Implies(y[:-1], y[1:]), name="other")
    g.add(at.ExactlyOne(x, axis=1), name="pigeon")
    g.add(at.AtMostOne(x, axis=0), name="hole")
    return g


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_pigeons_are_all_named(solver):
    g = pigeonhole(7, 6)
    result = at.decode(g) if solver is None else at.decode(g, solver)
    claim = patient(result.certificate)
    assert sorted(words.split(":")[0] for words in claim.conflict) == ["hole"] * 6 + ["pigeon"] * 7
    assert claim.irreducible and claim.verify()
    assert repr(claim).count("pigeon:") + repr(claim).count("hole:") == 4 and "…" in repr(claim)


def test_many_results_name_what_one_does():
    graphs = [pigeonhole(5, 4), pigeonhole(3, 3), pigeonhole(4, 3)]
    first, possible, last = at.decode_many(graphs)
    assert [len(patient(r.certificate).conflict) for r in (first, last)] == [9, 7]
    assert possible.certificate.conflict == () and not possible.certificate.irreducible


def test_without_time_everything_is_named_and_that_is_said():
    g = pigeonhole(5, 4)
    claim = at.decode(g, at.BranchAndBound(core=0)).certificate
    found = infeasible_subset(claim, 0.0)
    assert not found.irreducible
    assert len(found.words) == g.n_factors
    late = at.decode(g, time_limit=60.0).by(time.perf_counter()).certificate
    assert late.naming_seconds == 0.0 and not late.irreducible
    assert {"pigeon", "hole"} <= {words.split(":")[0] for words in late.conflict}
    assert "involved, with others perhaps: " in repr(late)


def test_the_time_for_looking_is_kept():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary(120, name="x")
    for _ in range(700):  # far more clauses than can hold, each question takes a search
        own = rng.choice(120, 3, replace=False)
        g.add(at.AtLeastOne(x[own].negate(where=rng.random(3) < 0.5)))
    g.add(at.AtMostOne(x))
    g.add(at.AtLeast(2, x))
    claim = at.decode(g).certificate
    began = time.perf_counter()
    assert infeasible_subset(claim, 0.5).words
    assert time.perf_counter() - began < 2.0


def test_soft_constraints_and_irrelevant_tables_are_never_named():
    g = at.FactorGraph()
    x = g.binary(4, name="x")
    t = g.categorical(2, states="abc", name="t")
    g.add(at.Soft(at.Knapsack(x, weights=[1.0, 2.0, 1.0, 3.0], capacity=1.0), penalty=1.0))
    g.add(at.Soft(at.AtMostOne(x), penalty=1.0))
    g.add(at.Dense(t[0], t[1], scores=np.where(np.eye(3), -np.inf, 0.0)), name="differ")
    g.add(at.AtLeast(3, x), name="many")
    g.add(at.AtMost(2, x), name="few")
    claim = patient(at.decode(g).certificate)
    assert [words.split(":")[0] for words in claim.conflict] == ["many", "few"]


def test_tables_that_forbid_are_named():
    g = at.FactorGraph()
    t = g.categorical(4, states="abc", name="t")
    i, j = np.triu_indices(4, 1)
    g.add(at.Dense(t[i], t[j], scores=np.where(np.eye(3), -np.inf, 0.0)), name="differ")
    claim = patient(at.decode(g).certificate)
    assert len([words for words in claim.conflict if words.startswith("differ: ")]) == 6
    assert claim.irreducible


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
    conflict = patient(result.certificate).conflict
    assert len(conflict) == 4 and all("x[0]" in words for words in conflict)
    assert "AtLeastOne" in repr(result.certificate)


def test_evidence_is_part_of_a_conflict():
    g = at.FactorGraph()
    x = g.binary(4, name="x")
    g.add(at.AtLeastOne([[~x[0], x[1], x[2]], [x[1], ~x[2], ~x[0]]], axis=1))
    g.add(at.Implies(x[1], x[3]))
    g.fix(x[0], 1)
    g.fix(x[3], 0)
    words = patient(at.decode(g).certificate).conflict
    assert "evidence x[0]=1" in words and "evidence x[3]=0" in words
    assert len(words) == 5


def test_a_graph_that_grew_since_names_what_it_had():
    g = pigeonhole(4, 3)
    claim = patient(at.decode(g).certificate)
    more = g.categorical(3, states="ab")
    g.add(at.Potts(more[0], more[1], scores=1.0))
    assert len(claim.conflict) == 7
