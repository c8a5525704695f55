"""Binarization: the same optimum and the same relaxation, and a way back."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


def joint_model(seed=0):
    """Tables of three shapes over categorical variables and a literal, and a constraint."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    tag = g.categorical(3, states="NVD", scores=rng.normal(size=(3, 3)), name="tag")
    x = g.binary(2, scores=rng.normal(size=2), name="x")
    table = rng.normal(size=(3, 2)) * 2
    table[0, 1] = -np.inf
    handles = [
        g.add(at.Potts(tag[:-1], tag[1:], scores=rng.normal(size=(2, 3)))),
        g.add(at.Dense(tag[2], ~x[0], scores=table)),
        g.add(at.Dense(tag[0], x[0], x[1], scores=rng.normal(size=(3, 2, 2)))),
    ]
    g.add(at.AtMost(1, tag == "V"))
    g.add_constant(2.5)
    return g, tag, x, handles


@sweep_seeds(0.2)
def test_same_relaxation_and_same_optimum(seeds):
    for seed in seeds:
        g = random_graph(np.random.default_rng(seed), scale=1.0)
        plain = at.decode(g, at.LinearProgram())
        binary = at.decode(at.binarize(g).graph, at.LinearProgram())
        best = optimum(g)
        if best == -np.inf:
            assert not binary.feasible
            continue
        assert binary.bound == pytest.approx(plain.bound, abs=1e-6)
        assert binary.value <= best + 1e-6


def test_the_way_back():
    g, tag, x, (potts, pair, triple) = joint_model()
    binary = at.binarize(g)
    plain, restored = at.decode(g), binary.undo(at.decode(binary.graph))
    assert plain.status is restored.result.status is at.Status.OPTIMAL
    assert restored.value == pytest.approx(plain.value)
    assert restored.bound >= restored.value
    assert restored[tag].tolist() == plain[tag].tolist()
    assert restored.labels[tag[1:]].tolist() == plain.labels[tag[1:]].tolist()
    assert restored[~x].tolist() == plain[~x].tolist()
    # A proof may be at hand before marginals have settled: here they have to.
    settled = at.AD3(gap_tolerance=0.0, residual_tolerance=1e-4)
    plain, restored = at.decode(g, settled), binary.undo(at.decode(binary.graph, settled))
    assert np.allclose(restored.marginals[tag], np.eye(3)[plain[tag]], atol=0.05)
    for handle in (potts, pair, triple):
        assert restored.marginals[handle].shape == plain.marginals[handle].shape
        assert np.allclose(restored.marginals[handle], plain.marginals[handle], atol=0.05)


def test_no_tables_and_no_categories_are_left():
    binary = at.binarize(joint_model()[0])
    kinds = {handle.factor.kind for handle in binary.graph.handles}
    assert kinds == {"ExactlyOne", "AtMostOne", "AtMost"}
    assert all(variable.states is None for variable in binary.graph.variables)


def test_evidence_stays():
    g, tag, _, _ = joint_model()
    g.fix(tag[1], "D")
    binary = at.binarize(g)
    assert binary.undo(at.decode(binary.graph)).labels[tag[1]].item() == "D"


def test_chains_stay_chains():
    g = at.FactorGraph()
    tag = g.categorical(3, states=2, scores=np.eye(3, 2))
    g.add(at.Chain(tag, transitions=[[0.0, 1.0], [1.0, 0.0]]))
    binary = at.binarize(g)
    assert binary.undo(at.decode(binary.graph)).value == pytest.approx(at.decode(g).value)


def test_errors():
    g, tag, _, _ = joint_model()
    binary = at.binarize(g)
    with pytest.raises(at.ModelError, match="a result of the binarized graph"):
        binary.undo(at.decode(g))
    restored = binary.undo(at.decode(binary.graph))
    with pytest.raises(TypeError, match="read by variable"):
        restored[3]
    with pytest.raises(TypeError, match="labels belong to"):
        restored.labels[tag == "V"]
    with pytest.raises(at.ModelError, match="another graph"):
        restored[binary.graph.variables[0].symbol]
    with pytest.raises(at.ModelError, match="no table"):
        restored.marginals[g.handles[3]]
