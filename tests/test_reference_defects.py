"""What the C++ implementation of AD3 gets wrong, one test each, and what happens here."""

from __future__ import annotations

import platform
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.specifiers import SpecifierSet

import assent as at
from tests.strategies import optimum, random_graph

ROOT = Path(__file__).parents[1]


def test_1_it_installs_on_the_python_at_hand():
    """Nothing is built at installation, and the Python that runs this is a supported one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]).contains(platform.python_version())
    package = Path(at.__file__).parent
    files = [p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert {path.suffix for path in files} <= {".py", ".typed", ".model", ".md"}


def test_2_odd_graphs_do_not_end_the_interpreter():
    empty = at.FactorGraph()
    assert at.decode(empty).status is at.Status.OPTIMAL
    for shape, evidence in ((1, [1, 0]), (3, [1, 1])):
        g = at.FactorGraph()
        x = g.binary(shape, name="x")
        g.add(at.ExactlyOne(x))
        for place, value in enumerate(evidence):
            g.fix(x[place % shape], value)
        result = at.decode(g)
        assert result.status is at.Status.INFEASIBLE
        with pytest.raises(at.NoFeasibleAssignment):
            result[x]


def test_3_trees_of_any_shape_and_wrong_ones_are_told():
    g = at.FactorGraph()
    x = g.binary(4, scores=[-1.0, 1.0, 1.0, -3.0], name="x")
    with_parent = [[0.0, -np.inf], [0.0, 0.0]]
    for parents in ([-1, 2, 1, -1], [0, 0, 0, 0], [-1, 4, 0, 0], [-1, -2, 0, 0], [-1, 0, 0]):
        with pytest.raises(at.ModelError, match="parent"):
            at.Tree(x, parents=parents, scores=with_parent)
    g.add(at.Tree(x, parents=[-1, 0, 0, 2], scores=with_parent))
    assert at.decode(g)[x].tolist() == [1, 1, 1, 0]
    g.add(at.Tree(x[:1], parents=[-1], scores=[]))
    g.add(at.Tree(x, parents=[-1, -1, -1, -1], scores=[]))
    assert at.decode(g)[x].tolist() == [1, 1, 1, 0]
    g.fix(x[3], 1)
    g.fix(x[0], 0)
    assert at.decode(g).status is at.Status.INFEASIBLE


def test_4_decoding_again_adds_nothing():
    graph = random_graph(np.random.default_rng(3))
    first = at.decode(graph)
    count, links = graph.n_factors, graph.compile().problem.n_links
    for _ in range(3):
        again = at.decode(graph)
        assert (graph.n_factors, graph.compile().problem.n_links) == (count, links)
        assert (again.iterations, again.bound) == (first.iterations, first.bound)
        assert np.array_equal(again.consensus, first.consensus)


def test_5_variables_without_factors_converge():
    g = at.FactorGraph()
    alone = g.binary(scores=[1.0, -2.0, 0.0], name="alone")
    x = g.binary(2, scores=1.0, name="x")
    g.add(at.AtMostOne(x))
    tag = g.categorical(2, states=3, scores=[[0.0, 1.0, 0.5]], name="tag")
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL
    assert result[alone].tolist()[:2] == [1, 0]
    assert result[tag].tolist() == [1, 1]
    assert result.value == pytest.approx(4.0)


def test_6_items_without_weight_converge():
    g = at.FactorGraph()
    x = g.binary(scores=[2.0, 1.0, -1.0, 3.0], name="x")
    g.add(at.Knapsack(x, weights=[0.0, 1.0, 0.0, 1.0], capacity=1.0))
    g.add(at.Pair(x[0], x[3], scores=0.5))
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL
    assert result[x].tolist() == [1, 0, 0, 1]


def test_7_infeasibility_is_detected_and_proven():
    """Three pigeons, two holes: no evidence to follow, only the constraints together."""
    g = at.FactorGraph()
    sits = g.binary((3, 2), scores=1.0, name="sits")
    g.add(at.ExactlyOne(sits, axis=1), name="pigeon")
    g.add(at.AtMostOne(sits, axis=0), name="hole")
    result = at.decode(g)
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()
    assert {"pigeon", "hole"} <= {reason.split(":")[0] for reason in result.certificate.conflict}


@pytest.mark.parametrize("iterations", [1, 2, 5, 20])
def test_8_an_unfinished_run_still_bounds(iterations):
    for seed in range(15):
        graph = random_graph(np.random.default_rng(700 + seed))
        best = optimum(graph)
        result = at.decode(graph, at.AD3(max_iterations=iterations))
        assert result.value <= best + 1e-9
        assert result.bound >= best - 1e-9
        assert result.certificate.verify()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_9_tolerances_and_penalties_follow_the_scores(scale):
    """Hard constraints hold beside scores of any size: forbidden is not "minus a thousand"."""
    answers = []
    for factor in (1.0, scale):
        rng = np.random.default_rng(9)
        g = at.FactorGraph()
        x = g.binary((6, 6), scores=factor * rng.normal(size=(6, 6)), name="x")
        pairs = factor * rng.normal(size=(6, 5))
        g.add(at.ExactlyOne(x, axis=1))
        g.add(at.Pair(x[:, :-1], x[:, 1:], scores=np.where(pairs > 1.5 * factor, -np.inf, 0.0)))
        g.add(at.Pair(x[:-1], x[1:], scores=factor))
        result = at.decode(g, at.AD3(gap_tolerance=0.0))
        answers.append((result[x], result.iterations, result.value / factor))
    (plain, iterations, value), (scaled, again, same) = answers
    assert np.array_equal(plain, scaled)
    assert again == pytest.approx(iterations, rel=0.2)
    assert same == pytest.approx(value)


def test_10_whole_answers_are_called_optimal():
    """Assignments and chains have integral relaxations: nothing may be reported as a fraction."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        x = g.binary((7, 7), scores=rng.normal(size=(7, 7)), name="x")
        g.add(at.ExactlyOne(x, axis=0))
        g.add(at.ExactlyOne(x, axis=1))
        y = g.binary(30, scores=rng.normal(size=30), name="y")
        g.add(at.Pair(y[:-1], y[1:], scores=rng.normal(size=29)))
        exact = at.decode(g, at.LinearProgram())
        result = at.decode(g)
        assert result.status is at.Status.OPTIMAL
        assert result.value == pytest.approx(exact.value, rel=1e-5)
        assert set(np.unique(result[x])) == {0, 1}


def test_11_ties_are_broken_the_same_way_whatever_the_noise():
    """Marginals of one half differ by rounding errors; the answer does not hang on them."""
    g = at.FactorGraph()
    x = g.binary(9, scores=1.0, name="x")
    ring = g.add(at.Pair(x, x[np.roll(np.arange(9), -1)], scores=-2.0))
    first = at.decode(g, at.AD3())
    assert np.abs(first.consensus - 0.5).max() < 0.01
    for seed in range(5):
        noise = 1e-12 * np.random.default_rng(seed).normal(size=(2, 9))
        again = at.decode(g, at.AD3(), scores={x: 1.0 + noise[0], ring: -2.0 + noise[1]})
        assert again[x].tolist() == first[x].tolist()
        assert again.value == pytest.approx(4.0)
