"""What every exact answer, and every bound of a tightened relaxation, has to show."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.solvers.cutting_planes.pair_disagreement import Differences, differences
from assent.solvers.programs.compact_lp import build_lp
from tests.strategies import enumerate_graph, optimum


def assert_proven(result: at.Result, best: float) -> None:
    """The optimum ``best`` (-inf: nothing is feasible) with a proof that rests on nobody's word."""
    assert result.certificate.verify() and not result.certificate.trusted
    if best == -np.inf:
        assert result.status is at.Status.INFEASIBLE
    else:
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(best)


def assert_tightened_bounds(graph: at.FactorGraph) -> None:
    """Bounds of `Tightened` and `BranchAndCut` hold and are rechecked; the latter has the best."""
    best = optimum(graph)
    for solver in (at.Tightened(), at.BranchAndCut()):
        result = at.decode(graph, solver)
        assert result.value <= best + 1e-9
        assert best <= result.bound + 1e-6
        assert result.certificate.verify()
    if np.isfinite(best):
        assert result.value == pytest.approx(best, abs=1e-6)


def differences_of(graph: at.FactorGraph) -> Differences:
    """What rows of a graph's program are written in."""
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    return differences(problem, build_lp(problem, scores))


def differences_at_answers(graph: at.FactorGraph, given: Differences) -> np.ndarray:
    """Those of coordinates and of two literals, at every feasible assignment."""
    points, values = enumerate_graph(graph)
    feasible = points[np.isfinite(values)][:, graph.compile().free]
    u, v = given.ends[given.n_single : given.n_single + given.n_two].T
    return np.hstack([feasible, feasible[:, u] ^ feasible[:, v]])
