"""What known literals imply: never more than all assignments show, and all that one factor does."""

from __future__ import annotations

import numpy as np

import assent as at
from assent.compile.closure import Closure
from tests.oracles.sweep import sweep_seeds
from tests.strategies import enumerate_graph, literal_truth, pick_literals, random_graph


@sweep_seeds()
def test_nothing_possible_is_lost(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, scale=1.0, forbid=0.15, evidence=0.0)
        compiled = graph.compile()
        if compiled.conflict is not None:
            continue
        closure = Closure(compiled)
        literals = pick_literals(rng, graph, int(rng.integers(1, min(4, graph.size) + 1))).codes
        points, values = enumerate_graph(graph)
        possible = points[(values > -np.inf) & literal_truth(literals, points).all(axis=1)]
        known = closure.extend(closure.start, literals.tolist())
        if known is None:
            assert not len(possible)
            continue
        assert literal_truth(literals, known[None]).all()
        assert ((possible == known) | (known == -1)).all()


def test_a_literal_that_contradicts_what_is_known():
    closure = Closure(unrelated().compile())
    known = closure.extend(closure.start, [0])
    assert known.tolist() == [1, -1]
    assert closure.extend(known, [~0]) is None
    assert closure.extend(closure.start, [1, ~1]) is None


def unrelated():
    g = at.FactorGraph()
    g.binary(2, name="x")
    return g


def test_forbidden_states_of_a_table_are_heeded():
    """Not the first with the second, and the second or the third: one follows from another."""
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    g.add(at.Dense(x[0], x[1], scores=[[0.0, 1.0], [0.0, -np.inf]]))
    g.add(at.Dense(x[1], x[2], scores=[[-np.inf, 0.0], [0.0, 0.0]]))
    closure = Closure(g.compile())
    assert closure.extend(closure.start, [0]).tolist() == [1, 0, 1]
    assert closure.extend(closure.start, [1]).tolist() == [0, 1, -1]
    assert closure.extend(closure.start, [0, ~2]) is None
