"""Structures in linear programs, integer programs, and both as files."""

from __future__ import annotations

import highspy
import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from tests.factors.test_structures import best_of
from tests.factors.test_structures import random_graph as structured_graph
from tests.oracles.enumeration import binary_points
from tests.oracles.sweep import sweep_seeds
from tests.strategies import literal_truth, optimum, random_graph
from tests.structures import STRUCTURES


@pytest.mark.parametrize("kind", STRUCTURES)
@sweep_seeds(0.1)
def test_structures_in_a_linear_program(kind, seeds):
    for seed in seeds:
        graph = structured_graph(np.random.default_rng(seed), kind)
        result = at.decode(graph, at.LinearProgram())
        best = best_of(graph)
        assert result.certificate.verify()
        assert result.value <= best + 1e-6 and best <= result.bound + 1e-6
        other = at.decode(graph, at.AD3())
        assert result.bound == pytest.approx(other.bound, abs=1e-5 * (1.0 + abs(best)))


@pytest.mark.parametrize("size", (1e-3, 1.0, 1e3, 1e6))
def test_vertices_may_earn_far_more_than_variables(size):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(6, scores=rng.normal(size=6))
        g.add(at.Cardinality(x[:4], scores=size * rng.normal(size=5)))
        others = x[1:].negate(where=rng.random(5) < 0.3)
        g.add(at.Cardinality(others, scores=size * rng.normal(size=6)))
        result = at.decode(g, at.LinearProgram())
        assert result.status is not at.Status.STOPPED, (seed, result)
        best, slack = max(values_by_count(g)), 1e-6 * (1.0 + size)
        assert result.value <= best + slack and best <= result.bound + slack
        assert result.bound == pytest.approx(at.decode(g, at.AD3()).bound, abs=1e-4 * (1.0 + size))


def values_by_count(graph: at.FactorGraph) -> list[float]:
    """What every assignment of a graph of cardinalities is worth."""
    found = []
    for point in binary_points(graph.size):
        value = float(graph.variables[0].scores @ point)
        for handle in graph.handles:
            truth = literal_truth(handle.factor.codes[0], point[None])[0]
            value += float(handle.factor.scores[0][int(truth.sum())])
        found.append(value)
    return found


def test_an_infeasible_model_with_structures_is_proven_so():
    h = at.FactorGraph()
    y = h.binary(4, scores=1.0)
    h.add(at.Cardinality(y, scores=[-np.inf, 0.0, -np.inf, -np.inf, -np.inf]))
    h.add(at.Cardinality(y, scores=[-np.inf, -np.inf, -np.inf, 1.0, -np.inf]))
    result = at.decode(h, at.LinearProgram())
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()


@sweep_seeds(0.3)
def test_integer_programs_find_the_optimum(seeds):
    for seed in seeds:
        graph = random_graph(np.random.default_rng(seed), scale=1.0, factors=6)
        best = optimum(graph)
        result = at.decode(graph, at.IntegerProgram())
        assert result.certificate.verify()
        assert result.value == pytest.approx(best, abs=1e-6)
        if np.isfinite(best):
            assert result.status is at.Status.OPTIMAL
            assert result.bound == pytest.approx(best, abs=1e-5 * (1.0 + abs(best)))


WITH_ROWS = [kind for kind in STRUCTURES if "Custom" not in kind]


@pytest.mark.parametrize("kind", WITH_ROWS)
@sweep_seeds(0.1)
def test_structures_in_an_integer_program(kind, seeds):
    for seed in seeds:
        graph = structured_graph(np.random.default_rng(seed), kind)
        result = at.decode(graph, at.IntegerProgram())
        assert result.value == pytest.approx(best_of(graph), abs=1e-6)
        assert result.certificate.verify()


def test_a_structure_without_rows_is_refused():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.Custom(x, maximize=lambda scores: np.ones(len(scores))))
    with pytest.raises(ModelError, match="IntegerProgram has no rows for Custom"):
        at.decode(g, at.IntegerProgram())


def test_the_search_closes_a_gap_and_says_so():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
    result = at.decode(g, at.IntegerProgram())
    assert result.status is at.Status.OPTIMAL and result.value == 1.0
    assert result.certificate.searched and not at.decode(g).certificate.searched
    assert result.certificate.verify()
    limited = at.decode(g, at.IntegerProgram(), time_limit=1e-6)
    assert limited.bound >= 1.0 - 1e-9


@pytest.mark.parametrize("factor", (1e-3, 1.0, 1e6))
def test_the_search_closes_gaps_relative_to_all_that_is_scored(factor):
    """Also where a constant takes away most of what the program itself is worth."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary(7, scores=factor * (2.0 + rng.normal(size=7)))
        first, second = np.triu_indices(7, 1)
        g.add(at.Pair(x[first], x[second], scores=factor * (rng.normal(size=21) - 0.7)))
        y = g.binary(4, scores=1e4 * factor)
        g.add(at.AtMost(3, y))
        g.add_constant(-3e4 * factor)
        result = at.decode(g, at.IntegerProgram())
        assert result.status is at.Status.OPTIMAL, (seed, result)
        assert result.value == pytest.approx(optimum(g), abs=1e-5 * factor)
        assert result.certificate.verify()


def test_a_gap_of_rounding_is_called_so():
    """HiGHS does not tell apart what is that far below the largest score."""
    g = at.FactorGraph()
    x = g.binary(3, scores=1e-9)
    g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2e-9))
    y = g.binary(2, scores=0.4)
    g.add(at.Pair(y[0], y[1], scores=-1.0))
    g.add_constant(-0.4)
    result = at.decode(g, at.IntegerProgram())
    assert result.status is at.Status.STOPPED and 1e-9 <= result.bound <= 1e-8
    assert result.message.startswith("The gap is closed up to rounding only.")


def reread(path) -> highspy.Highs:
    highs = highspy.Highs()
    highs.silent()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    return highs


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize(
    "kind",
    [
        "Chain",
        "Tree",
        "Arborescence",
        "ProjectiveTree",
        "HeadAutomaton",
        "HeadSequence",
        "Matching",
        "Cut",
        "Regular",
    ],
)
def test_written_programs_have_the_same_optimum(tmp_path, suffix, kind):
    for seed in range(4):
        graph = structured_graph(np.random.default_rng(seed), kind)
        graph.add_constant(2.5)
        if graph.compile().conflict is not None or not graph.compile().problem.n_links:
            continue
        for solver in (at.LinearProgram(), at.IntegerProgram()):
            result = at.decode(graph, solver)
            if not np.isfinite(result.bound):
                continue
            path = tmp_path / f"program{suffix}"
            solver.write(graph, path)
            found = reread(path).getInfo().objective_function_value
            assert found == pytest.approx(result.bound, abs=1e-5)


def test_files_keep_names_and_refuse_what_they_cannot_say(tmp_path):
    g = at.FactorGraph()
    arc = g.binary((2, 2), scores=1.0, name="arc")
    g.add(at.AtMostOne(arc, axis=0))
    at.IntegerProgram().write(g, tmp_path / "arcs.lp")
    assert "arc_0_1" in (tmp_path / "arcs.lp").read_text()
    with pytest.raises(ValueError, match=r"ends in \.lp or \.mps, got"):
        at.LinearProgram().write(g, tmp_path / "arcs.txt")
    g.add(at.Cardinality(arc.ravel(), scores=[0.0, -1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(ModelError, match="Cardinality has no rows of its own"):
        at.LinearProgram().write(g, tmp_path / "arcs.lp")


def test_what_only_the_search_finds_infeasible_is_said_to_be_trusted():
    g = at.FactorGraph()
    x = g.binary(6, scores=np.arange(6.0), name="x")
    first, second = np.triu_indices(6, 1)
    for a, b in zip(first, second, strict=True):  # no two fit, and each three quarters
        g.add(at.Knapsack(x[[a, b]], weights=[2.0, 2.0], capacity=3.0))
    g.add(at.AtLeast(2, x))
    result = at.decode(g, at.IntegerProgram(), exact=True)
    assert result.status is at.Status.INFEASIBLE and result.bound == -np.inf
    assert result.certificate.trusted == ("HiGHS",)
    assert result.certificate.verify()
    assert result.certificate.conflict


def test_limits_of_one_step_solvers_are_time_limits():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((20, 20), scores=rng.normal(size=(20, 20)))
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1])):
        g.add(at.Pair(a, b, scores=3.0 * rng.normal(size=a.shape)))
    for solver in (at.Elimination(), at.LinearProgram(), at.IntegerProgram(), at.Tightened()):
        result = at.decode(g, solver, time_limit=1e-3)
        assert result.message.startswith("Time limit."), solver
        assert result.certificate.verify()
