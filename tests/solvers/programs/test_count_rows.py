"""Scores of counts in linear and integer programs: lines of concave ones, columns of others."""

from itertools import product

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.proof.certify import check_assignment
from assent.solvers.programs.compact_lp import build_lp
from assent.solvers.programs.count_rows import is_concave


def count_scores(random, n, shape):
    """Scores of ``0 … n`` true literals, concave or not, some with forbidden ends."""
    slopes = random.normal(size=n)
    scores = np.concatenate([[0.0], np.cumsum(-np.sort(-slopes) if shape != "any" else slopes)])
    if shape == "forbidden":
        scores[: random.integers(0, n // 2)] = -np.inf
        scores[n + 1 - random.integers(0, n // 2) :] = -np.inf
    return scores + random.normal()


def counted_graph(seed, shape):
    """Overlapping counts, negated literals and evidence among them."""
    random = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary(8, scores=random.normal(size=8), name="x")
    literals = [x[i] if random.random() < 0.7 else ~x[i] for i in range(8)]
    for _ in range(3):
        own = random.choice(8, 5, replace=False)
        scores = count_scores(random, 5, shape)
        g.add(at.Cardinality([literals[i] for i in own], scores=scores))
    for make in (at.AtMost, at.AtLeast, at.Exactly):
        own, k, penalty = random.choice(8, 5, replace=False), int(random.integers(1, 4)), 0.7
        g.add(at.SoftCount(make(k, [literals[i] for i in own]), penalty=penalty))
    g.add(at.Soft(at.AtLeastOne(x[:4]), penalty=random.random()))
    if seed % 3 == 0:
        g.fix(x[int(random.integers(8))], int(random.integers(2)))
    return g


def optimum(graph):
    """The best value by enumeration, each assignment checked on the graph."""
    compiled, scores = graph.compile(), graph_scores(graph)
    checks = (
        check_assignment(compiled, scores, np.array(point, np.int8))
        for point in product((0, 1), repeat=graph.size)
    )
    return max((check.value for check in checks if check.feasible), default=-np.inf)


@pytest.mark.parametrize("shape", ("concave", "forbidden", "any"))
def test_programs_agree_with_enumeration_and_with_ad3(shape):
    for seed in range(6):
        graph = counted_graph(seed, shape)
        best = optimum(graph)
        relaxed, exact = at.decode(graph, at.LinearProgram()), at.decode(graph, at.IntegerProgram())
        assert relaxed.certificate.verify() and exact.certificate.verify()
        assert exact.value == pytest.approx(best, abs=1e-6)
        if best == -np.inf:
            assert exact.status is at.Status.INFEASIBLE
            continue
        assert relaxed.bound >= best - 1e-7
        other = at.decode(graph, at.AD3(gap_tolerance=0.0, max_iterations=20_000))
        assert relaxed.bound == pytest.approx(other.bound, abs=1e-4)


@pytest.mark.parametrize("shape", ("concave", "forbidden"))
def test_branch_and_cut_takes_concave_counts(shape):
    for seed in range(12):
        graph = counted_graph(seed, shape)
        best = optimum(graph)
        result = at.decode(graph, at.BranchAndCut())
        assert result.value == pytest.approx(best, abs=1e-6)
        assert result.certificate.verify()


def test_a_hinge_is_a_row_and_a_column_an_exact_count_two_rows():
    for make, rows in ((at.AtMost, 1), (at.AtLeast, 1), (at.Exactly, 2)):
        g = at.FactorGraph()
        x = g.binary((10, 30), scores=1.0)
        g.add(at.SoftCount(make(4, x, axis=1), penalty=1.0))
        compiled = g.compile()
        lp = build_lp(compiled.problem, compiled.flat_scores(graph_scores(g)))
        assert not lp.rows.priced
        assert lp.matrix.shape == (10 * rows, 300 + 10)


def test_concavity_forgives_rounding_and_sees_gaps():
    penalties = -0.1 * np.arange(30.0)
    assert is_concave(penalties[None])[0]
    assert is_concave(np.array([[-np.inf, 0.0, 1.0, -np.inf]]))[0]
    assert not is_concave(np.array([[0.0, -np.inf, 0.0]]))[0]
    assert not is_concave(np.array([[0.0, -1.0, -1.0]]))[0]
    assert not is_concave(np.full((1, 3), -np.inf))[0]


def test_a_roster_is_solved_in_no_time():
    """40 people on 28 days: column generation had a bound of 3,170 after 8 seconds."""
    random = np.random.default_rng(0)
    g = at.FactorGraph()
    works = g.binary((40, 28), scores=random.normal(size=(40, 28)), name="works")
    g.add(at.SoftCount(at.Exactly(20, works, axis=1), penalty=3.0))
    g.add(at.SoftCount(at.AtLeast(30, works, axis=0), penalty=5.0))
    for start in range(0, 24, 4):
        g.add(at.SoftCount(at.AtMost(4, works[:, start : start + 6], axis=1), penalty=2.0))
    for solver in (at.LinearProgram(time_limit=5.0), at.IntegerProgram(time_limit=5.0)):
        result = at.decode(g, solver)
        assert result.status in (at.Status.OPTIMAL, at.Status.RELAXED)
        assert result.certificate.verify()
