"""BranchAndCut: optimal with a proof on anything that has rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.proof.proof_tree import Split, nodes
from assent.proof.regions import Regions
from assent.solvers.base import search_tree
from assent.solvers.cutting_planes.cut_nodes import CutTree
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


def check(result: at.Result, best: float) -> None:
    """The optimum, proven: or that there is none."""
    assert result.certificate.verify()
    assert not result.certificate.trusted
    if best == -np.inf:
        assert not result.feasible
        return
    assert result.status is at.Status.OPTIMAL
    assert result.value == pytest.approx(best, rel=1e-5, abs=1e-9)
    assert result.bound >= best - 1e-9 * (1.0 + abs(best))


@sweep_seeds(1.0)
def test_mixed_graphs(seeds):
    for seed in seeds:
        graph = random_graph(np.random.default_rng(seed), factors=7)
        check(at.decode(graph, at.BranchAndCut()), optimum(graph))


def knapsacks(rng, n: int, count: int) -> at.FactorGraph:
    """Loads and pairs: nothing for cycles to close alone."""
    g = at.FactorGraph()
    x = g.binary(n, scores=rng.random(n) + 0.5, name="x")
    weights = rng.random((count, n)) + 0.2
    for row in weights:
        g.add(at.Knapsack(x, weights=row, capacity=0.4 * row.sum()))
    i, j = rng.permutation(n)[: 2 * (n // 2)].reshape(2, -1)
    g.add(at.Pair(x[i], x[j], scores=rng.normal(size=len(i))))
    return g


@sweep_seeds(0.1)
def test_loads_are_searched(seeds):
    for seed in seeds:
        graph = knapsacks(np.random.default_rng(seed), 12, 2)
        check(at.decode(graph, at.BranchAndCut()), optimum(graph))


def test_a_proof_of_many_cases_that_was_changed_fails():
    graph = knapsacks(np.random.default_rng(1), 14, 2)
    claim = at.decode(graph, at.BranchAndCut()).certificate
    assert isinstance(claim.proof, Split) and claim.verify()
    assert sum(isinstance(node, Regions) for node in nodes(claim.proof)) > 3
    first, second = claim.proof.children
    for children in ((first, first), (second, second), (second, first)):
        assert not replace(claim, proof=replace(claim.proof, children=children)).verify()


def test_limits_end_with_an_answer_and_an_honest_gap():
    graph = knapsacks(np.random.default_rng(0), 40, 5)
    whole = at.decode(graph, at.BranchAndCut())
    assert whole.status is at.Status.OPTIMAL
    for limited in (
        at.decode(graph, at.BranchAndCut(max_iterations=6)),
        at.decode(graph, at.BranchAndCut(), time_limit=0.02),
    ):
        assert limited.feasible and limited.certificate.verify()
        assert limited.value <= whole.value + 1e-9 <= limited.bound + 1e-6


def test_a_proof_that_grows_too_large_says_so(monkeypatch):
    monkeypatch.setattr(search_tree, "MOST_BYTES", 1_000)
    result = at.decode(knapsacks(np.random.default_rng(0), 40, 5), at.BranchAndCut())
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.certificate.trusted == (search_tree.NOT_KEPT,)


def test_an_interrupt_keeps_what_was_found(monkeypatch):
    steps = iter(range(100))

    def interrupted(tree, deadline, own=CutTree.step):
        if next(steps) == 20:
            raise KeyboardInterrupt
        return own(tree, deadline)

    monkeypatch.setattr(CutTree, "step", interrupted)
    result = at.decode(knapsacks(np.random.default_rng(0), 40, 5), at.BranchAndCut())
    assert result.message.startswith("Interrupted") and result.feasible
    assert result.certificate.verify()


def test_an_answer_that_is_known_closes_cases():
    graph = knapsacks(np.random.default_rng(2), 30, 3)
    first = at.decode(graph, at.BranchAndCut())
    again = at.decode(graph, at.BranchAndCut(), warm_start=first)
    assert again.status is at.Status.OPTIMAL and again.iterations <= first.iterations


def test_nothing_is_possible():
    g = at.FactorGraph()
    x = g.binary(6, scores=1.0, name="x")
    g.add(at.Parity(x[:3], odd=True))
    g.add(at.Parity(x[3:], odd=True))
    g.add(at.Exactly(3, x))
    result = at.decode(g, at.BranchAndCut())
    assert not result.feasible and result.certificate.verify()
