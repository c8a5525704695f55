"""Certificates are proofs: they recheck, and a tampered one does not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.problem import DualPoint
from assent.proof import certify
from tests.strategies import optimum


def frustrated():
    """Three variables that pairwise want to differ: the relaxation leaves a gap."""
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.1, 0.9], name="x")
    g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0), name="differ")
    g.add(at.AtLeastOne(x))
    g.add_constant(0.25)
    return g


def choice():
    """Solved exactly by the relaxation."""
    g = at.FactorGraph()
    x = g.binary((2, 3), scores=np.arange(6.0).reshape(2, 3), name="x")
    t = g.categorical(2, states="ab", name="t")
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.AtMostOne(x, axis=0))
    g.add(at.Implies(x[:, 2], t == "b"))
    g.fix(x[0, 0], 0)
    return g


def impossible():
    """Pigeons: no propagation finds it, the relaxation does."""
    g = at.FactorGraph()
    x = g.binary((4, 3), scores=1.0, name="x")
    g.add(at.ExactlyOne(x, axis=1), name="placed")
    g.add(at.AtMostOne(x, axis=0), name="room")
    return g


models = pytest.mark.parametrize("make", [frustrated, choice])


@models
def test_a_certificate_states_and_proves_its_claims(make):
    g = make()
    certificate = at.decode(g, at.AD3()).certificate
    best = optimum(g)
    assert certificate.verify()
    assert certificate.feasible
    assert certificate.value <= best + 1e-9
    assert best <= certificate.bound + 1e-9
    assert certificate.gap == pytest.approx(certificate.bound - certificate.value)
    assert certificate.relative_gap == pytest.approx(certificate.gap / (1 + abs(certificate.bound)))
    bound = certify.upper_bound(certificate.compiled, certificate.scores, certificate.dual_point)
    assert bound == pytest.approx(certificate.bound, rel=1e-9)


def nudged(array, amount=0.5):
    """A copy that differs in its first element."""
    other = array.copy()
    other.flat[0] += amount
    return other


@models
@pytest.mark.parametrize(
    "tamper",
    [
        lambda c: replace(c, value=c.value + 1e-3),
        lambda c: replace(c, value=c.value - 1e-3),
        lambda c: replace(c, bound=c.bound - 1e-3),
        lambda c: replace(c, bound=-np.inf),
        lambda c: replace(c, bound=np.nan),
        lambda c: replace(c, value=np.nan),
        lambda c: replace(c, feasible=False),
        lambda c: replace(c, assignment=1 - c.assignment),
        lambda c: replace(c, assignment=np.zeros_like(c.assignment)),
        lambda c: replace(c, flat_dual=DualPoint(c.flat_dual.pair + 0.5, c.flat_dual.logic + 0.5)),
        lambda c: replace(
            c, flat_dual=DualPoint(0.0 * c.flat_dual.pair, nudged(c.flat_dual.logic))
        ),
        lambda c: replace(c, scores=replace(c.scores, theta=c.scores.theta - 0.1)),
        lambda c: replace(c, scores=replace(c.scores, constant=c.scores.constant - 0.1)),
    ],
)
def test_a_tampered_certificate_fails(make, tamper):
    certificate = at.decode(make(), at.AD3()).certificate
    assert not tamper(certificate).verify()


@pytest.mark.parametrize("solver", [at.AD3(), at.LinearProgram()], ids=["AD3", "LinearProgram"])
def test_infeasibility_by_a_ray(solver):
    result = at.decode(impossible(), solver)
    assert result.status is at.Status.INFEASIBLE
    certificate = result.certificate
    assert certificate.verify()
    assert (certificate.value, certificate.bound, certificate.gap) == (-np.inf, -np.inf, 0.0)
    assert any(reason.startswith("placed: ExactlyOne") for reason in certificate.conflict)
    assert any(reason.startswith("room: AtMostOne") for reason in certificate.conflict)
    assert "infeasible" in repr(certificate)
    ray = certificate.flat_dual
    assert not replace(certificate, flat_dual=DualPoint(ray.pair, -ray.logic)).verify()
    assert not replace(certificate, flat_dual=DualPoint(ray.pair, 0.0 * ray.logic)).verify()


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e8])
def test_infeasibility_is_proven_at_any_scale_of_the_scores(scale):
    g = impossible()
    result = at.decode(g, scores={g["x"]: np.random.default_rng(0).normal(size=(4, 3)) * scale})
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()


def test_infeasibility_by_propagation():
    g = choice()
    x = g["x"]
    g.fix(x[:, 1], 1)
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()
    assert any("AtMostOne" in reason for reason in result.certificate.conflict)
    assert result.violated
    with pytest.raises(at.ModelError, match="propagation alone proved this"):
        _ = result.certificate.dual_point
    feasible = at.decode(choice()).certificate
    assert not replace(result.certificate, compiled=feasible.compiled).verify()


def test_repr_states_both_sides():
    text = repr(at.decode(choice()).certificate)
    assert text.startswith("Certificate: value 6 ≤ optimum ≤ bound 6")


def test_certificates_are_compared_by_identity():
    first, second = at.decode(choice()).certificate, at.decode(choice()).certificate
    assert first != second
    assert len({first, second}) == 2


@pytest.mark.parametrize("iterations", [1, 3, 200])
def test_claims_hold_where_large_scores_cancel(iterations):
    """A bound of 1 beside scores of 1e15 is rounded elsewhere than the sum that rechecks it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(6, scores=rng.normal(size=6))
        i, j = np.triu_indices(6, 1)
        scores = rng.normal(size=15)
        scores[:6] = -(10.0 ** rng.integers(8, 16, 6))  # whoever takes part in these scores nothing
        g.add(at.Pair(x[i], ~x[j], scores=rng.permutation(scores)))
        g.add(at.AtMost(3, x))
        solver, best = at.AD3(max_iterations=iterations), optimum(g)
        for result in (at.decode(g, solver), at.decode_many([g], solver=solver)[0]):
            assert result.certificate.verify(), seed
            assert result.value <= best + 1e-6 * abs(best)
            assert result.bound >= best - 1e-6 * abs(best)


def test_the_relaxation_is_proven_solved():
    relaxation = at.decode(frustrated()).certificate.relaxation
    assert relaxation.solved
    assert relaxation.delta <= 1e-5
    assert relaxation.epsilon <= 1e-5


def test_what_rechecks_claims_imports_no_solver():
    code = (
        "import sys, assent.proof.certify, assent.proof.replay\n"
        "import assent.proof.depth_first_proof, assent.proof.elimination_proof\n"
        "import assent.proof.regions\n"
        "assert not [m for m in sys.modules if 'solvers' in m or 'numba' in m or 'highs' in m]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_knapsack_is_bounded_beside_what_is_known():
    """Items known to be packed count and take their weight: the linear program says how much."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        scores, weights = rng.normal(size=6) + 0.5, rng.uniform(0.2, 1.0, 6)
        known = rng.choice(np.array([-1, -1, 0, 1], np.int8), 6)
        capacity = weights[known == 1].sum() + 0.6
        g = at.FactorGraph()
        x = g.binary(6, scores=scores, name="x")
        g.add(at.Knapsack(x, weights=weights, capacity=capacity))
        bound = certify.upper_bound(g.compile(), graph_scores(g), (scores[None],), known)
        limits = [(0, 1) if k < 0 else (k, k) for k in known]
        best = linprog(-scores, A_ub=weights[None], b_ub=[capacity], bounds=limits)
        assert bound == pytest.approx(-best.fun)


def test_marginals_of_literals():
    """The first variable's too, whose number is 0."""
    marginals = certify.literal_marginals(np.array([0, ~0, 1, ~1]), np.array([0.25, 0.875]))
    np.testing.assert_array_equal(marginals, [0.25, 0.75, 0.875, 0.125])
