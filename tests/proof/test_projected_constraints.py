"""Constraints seen through some of their literals, against enumeration of the others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, SUM
from assent.proof.projected_constraints import possible, region_rules


def holds(form: int, k: int, truth: np.ndarray, weights: np.ndarray, capacity: float) -> bool:
    count = int(truth.sum())
    return {
        CAP: count <= k,
        SUM: count == k,
        ANYOF: bool(truth[-1]) == bool(truth[:-1].any()),
        PARITY: count % 2 == 0,
        KNAPSACK: bool(weights @ truth <= capacity),
    }[form]


@pytest.mark.parametrize("form", [CAP, SUM, ANYOF, PARITY, KNAPSACK])
def test_some_values_of_the_others_fit(form):
    rng = np.random.default_rng(form)
    for _ in range(40):
        size = int(rng.integers(2, 6))
        k, free = int(rng.integers(0, size + 1)), rng.random(size) < 0.4
        weights, capacity = rng.integers(0, 4, size).astype(float), float(rng.integers(0, 6))
        truth = rng.random((8, size)) < 0.5
        for row, found in zip(
            truth, possible(form, k, truth, free, weights, capacity), strict=True
        ):
            fitting = False
            for others in product((False, True), repeat=int(free.sum())):
                full = row.copy()
                full[free] = others
                fitting |= holds(form, k, full, weights, capacity)
            assert found == fitting


def test_rules_are_read_from_the_graph_as_written():
    g = at.FactorGraph()
    x = g.binary(4, scores=1.0, name="x")
    g.add(at.AtLeastOne(x[:3]))
    g.add(at.Pair(x[2], x[3], scores=-np.inf))
    g.fix(x[3], 0)  # the pair is gone with it
    compiled, scores = g.compile(), graph_scores(g)
    entries = np.array([[0, 0, 0], [0, 0, 1], [5, 0, 2], [5, 77, 2]])
    found = region_rules(compiled, scores, entries)
    assert sorted(found) == [0, 5]
    (rule,) = found[0]
    assert (rule.form, rule.k, rule.lits.tolist()) == (CAP, 2, [~0, ~1, ~2])
    assert rule.mentioned == {0, 1} and found[5][0].mentioned == {2}
    assert region_rules(compiled, scores, entries[:0]) == {}
