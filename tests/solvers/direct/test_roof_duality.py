"""Roof duality: the relaxation's optimum by a flow, and labels that some best assignment has."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.proof.certify import check_assignment
from benchmarks.instances import load_graph
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum


def random_graph(rng) -> at.FactorGraph:
    """Pairs, rules over two literals, tables over two variables of two states; some ties."""
    g, n = at.FactorGraph(), int(rng.integers(2, 8))
    whole = rng.random() < 0.5

    def scores(*shape):
        return rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(size=shape)

    def literal():
        v = int(rng.integers(n))
        return v, x[v] if rng.random() < 0.7 else ~x[v]

    x = g.binary(n, scores=scores(n), name="x")
    tag = g.categorical(2, states=["a", "b"], scores=scores(2, 2), name="tag")
    rules = (at.AtMostOne, at.ExactlyOne, at.Implies, at.Agree, at.AtLeastOne)
    for _ in range(int(rng.integers(0, 2 * n))):
        (v, a), (w, b) = literal(), literal()
        choice = rng.random()
        if v == w:
            continue
        if choice < 0.6:
            g.add(at.Pair(a, b, scores=float(scores())))
        elif choice < 0.7:
            rule = rules[int(rng.integers(len(rules)))]
            g.add(rule(a, b) if rule in (at.Implies, at.Agree) else rule([a, b]))
        else:
            table = scores(2, 2)
            table[rng.random((2, 2)) < 0.1] = -np.inf
            other = tag[int(rng.integers(2))] if rng.random() < 0.3 else b
            g.add(at.Dense(a, other, scores=table))
    g.add(at.Potts(tag[0], tag[1], scores=scores(2)))
    return g


@sweep_seeds()
def test_equals_the_linear_program_and_is_persistent(seeds):
    for seed in seeds:
        g = random_graph(np.random.default_rng(seed))
        result = at.decode(g, at.RoofDuality())
        best = optimum(g)
        if result.status is at.Status.INFEASIBLE:
            assert best == -np.inf
            continue
        assert result.certificate.verify()
        relaxed = at.decode(g, at.LinearProgram())
        assert result.bound == pytest.approx(relaxed.bound, abs=1e-7)
        assert result.certificate.relaxation.value == pytest.approx(relaxed.bound, abs=1e-7)
        assert set(result.consensus.tolist()) <= {0.0, 0.5, 1.0}
        assert best == -np.inf or some_optimum_agrees(g, result, best)


def some_optimum_agrees(g, result, best) -> bool:
    """Whether fixing all that is not one half leaves an assignment as good as the best."""
    fixed = result.consensus != 0.5
    compiled, own = result.certificate.compiled, result.certificate.scores
    for free in product((0, 1), repeat=int((~fixed).sum())):
        x = result.consensus.copy()
        x[~fixed] = free
        check = check_assignment(compiled, own, x.astype(np.int8))
        if check.feasible and check.value >= best - 1e-9 * (1.0 + abs(best)):
            return True
    return False


@pytest.mark.parametrize("seed", range(5))
def test_attracting_pairs_are_solved_exactly(seed):
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary((4, 3), scores=rng.normal(size=(4, 3)))
    hidden = rng.random((4, 3)) < 0.5  # negated throughout: still attracting
    for a, b in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        sign = np.where(hidden[a] == hidden[b], 1.0, -1.0)
        g.add(at.Pair(x[a], x[b], scores=sign * rng.random(sign.shape)))
    result = at.decode(g, at.RoofDuality())
    assert result.status is at.Status.OPTIMAL
    assert result.value == pytest.approx(optimum(g))


def test_ties_are_decided_where_they_can_be():
    g = at.FactorGraph()
    x = g.binary(4)
    g.add(at.Pair(x[:-1], x[1:], scores=-1.0))
    assert set(at.decode(g, at.RoofDuality()).marginals[x].tolist()) <= {0.0, 1.0}


def test_larger_factors_are_refused_by_name():
    g = at.FactorGraph()
    g.add(at.AtMost(2, g.binary(3)))
    with pytest.raises(ModelError, match=r"two binary variables, not a budget over 3 literals"):
        at.decode(g, at.RoofDuality())
    g = at.FactorGraph()
    tag = g.categorical(2, states=3)
    g.add(at.Potts(tag[0], tag[1], scores=1.0))
    with pytest.raises(ModelError, match="a count over 3 literals"):
        at.decode(g, at.RoofDuality())


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("grid_isingN200", 20206.748075108648), ("grid_ferro_0", 877.1843289032796)],
)
def test_stored_grids_reach_the_linear_programs_optimum(instances_folder, name, optimum):
    result = at.decode(load_graph(instances_folder / f"{name}.npz"), at.RoofDuality())
    assert result.bound == pytest.approx(optimum, abs=1e-7)
