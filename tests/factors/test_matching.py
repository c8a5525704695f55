"""Matchings beyond what enumeration reaches: assignments, quadratic programs, evidence, errors."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import assent as at
from assent.kernels.kinds.matchings.matching_projection import project_matching
from tests.oracles.quadratic import is_nearest, matching_rows, nearest_point
from tests.oracles.sweep import sweep_seeds
from tests.structures import project_one


def random_shape(rng, most=8):
    """Sizes, capacities (of some table, where they have to be met) and which side is filled."""
    n, m = rng.integers(1, most, 2)
    fill = rng.random(2) < 0.4
    if rng.random() < 0.4 and not fill.any():
        return (n, m), np.ones(n, int), np.ones(m, int), fill
    example = rng.random((n, m)) < 0.4
    rows, columns = example.sum(axis=1), example.sum(axis=0)
    rows = rows if fill[0] else rows + rng.integers(2, size=n)
    columns = columns if fill[1] else columns + rng.integers(2, size=m)
    return (n, m), rows, columns, fill


def write(shape, rows, columns, fill):
    pairs = at.FactorGraph().binary(shape, name="pairs")
    return at.Matching(
        pairs, rows=rows, columns=columns, fill_rows=bool(fill[0]), fill_columns=bool(fill[1])
    )


@sweep_seeds(1.0)
def test_projection_is_the_quadratic_programs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        shape, rows, columns, fill = random_shape(rng)
        point = rng.normal(size=shape) * 10.0 ** rng.uniform(-1, 0.7)
        if seed % 3 == 0:
            point = np.round(point, 1)
        mine, _ = project_one(write(shape, rows, columns, fill), point.ravel())
        polytope = matching_rows(*shape, rows, columns, *fill)
        theirs = nearest_point(point.ravel(), *polytope)
        assert is_nearest(mine, theirs, point.ravel()), seed
        table = mine.reshape(shape)
        for sums, most, filled in zip(
            (table.sum(axis=1), table.sum(axis=0)), (rows, columns), fill, strict=True
        ):
            assert (sums <= most + 1e-9).all() and not (filled and (sums < most - 1e-9).any())


@sweep_seeds(0.5)
def test_projection_of_points_far_away(seeds):
    """A nearest point: no matching is farther in the direction of what was left out."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        shape, rows, columns, fill = random_shape(rng)
        matching = write(shape, rows, columns, fill)
        size = 10.0 ** rng.uniform(2, 9)
        point = rng.normal(size=shape).ravel() * size
        mine, _ = project_one(matching, point)
        value, _ = matching.maximize((point - mine)[None], matching.scores)
        assert value[0] - (point - mine) @ mine <= 1e-11 * size * (1.0 + size), seed
        table = mine.reshape(shape)
        assert table.min() >= 0.0 and table.max() <= 1.0
        for sums, most, filled in zip(
            (table.sum(axis=1), table.sum(axis=0)), (rows, columns), fill, strict=True
        ):
            close = 1e-11 * size
            assert (sums <= most + close).all() and not (filled and (sums < most - close).any())


def test_projection_goes_on_from_earlier_prices():
    rng = np.random.default_rng(0)
    matching = write((6, 9), np.ones(6, int), np.ones(9, int), (False, False))
    memory, base = np.zeros(matching.memory()), np.zeros(108)
    base.flags.writeable = False
    none = np.zeros(0)
    none.flags.writeable = False
    point, q = np.zeros(108), np.empty(108)
    for _ in range(30):
        point[1::2] += rng.normal(size=54) * 0.3
        project_matching(matching.start, matching.data, base, point, none, 1.0, memory, q)
        cold, _ = project_one(matching, point[1::2])
        assert np.allclose(q[1::2], cold, atol=1e-10)


@sweep_seeds(0.5)
def test_projection_goes_on_from_prices_of_another_scale(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        shape, rows, columns, fill = random_shape(rng)
        matching = write(shape, rows, columns, fill)
        memory, places = np.zeros(matching.memory()), 2 * int(np.prod(shape))
        base, none = np.zeros(places), np.zeros(0)
        base.flags.writeable = none.flags.writeable = False
        for size in 10.0 ** rng.uniform(-2, 5, 6):
            point, q = np.zeros(places), np.empty(places)
            point[1::2] = rng.normal(size=places // 2) * size
            project_matching(matching.start, matching.data, base, point, none, 1.0, memory, q)
            cold, _ = matching.project(point[None, 1::2], none[None])
            assert np.allclose(q[1::2], cold[0], atol=1e-9 + 1e-12 * size), (seed, size)


@pytest.mark.parametrize("shape", [(12, 12), (7, 15), (15, 7)])
def test_assignments(shape):
    """Every member of the smaller side is matched: an assignment problem."""
    for seed in range(10):
        scores = np.random.default_rng(seed).normal(size=shape)
        rows, columns = shape[0] <= shape[1], shape[1] <= shape[0]
        matching = write(shape, 1, 1, (rows, columns))
        value, states = matching.maximize(scores.reshape(1, -1), matching.scores)
        ends = linear_sum_assignment(-scores)
        assert np.isclose(value[0], scores[ends].sum())
        assert np.isclose((states.reshape(shape) * scores).sum(), value[0])


def test_max_marginals_of_a_larger_one():
    """Forcing a pair, or ruling it out, and solving again."""
    rng = np.random.default_rng(5)
    matching = write((6, 7), 1, 1, (False, False))
    places = np.zeros(84)
    places[1::2] = rng.normal(size=42)
    found = matching._max_marginals(places[None], matching.scores)[0]
    for place in range(84):
        forced = places.copy()
        forced[place ^ 1] = -np.inf
        assert np.isclose(found[place], matching._maximize(forced[None], matching.scores)[0][0])


def test_evidence_takes_capacity():
    g = at.FactorGraph()
    pairs = g.binary(scores=[[3.0, 2.0, 0.5], [3.0, 1.0, 0.2]], name="pairs")
    g.add(at.Matching(pairs, fill_rows=True))
    g.add(at.AtMost(1, pairs[:, 1:].ravel()))
    g.fix(pairs[0, 1], 1)
    result = at.decode(g)
    assert result[pairs].tolist() == [[0, 1, 0], [1, 0, 0]]
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    g.fix(pairs[1, 0], 0)
    assert at.decode(g).status is at.Status.INFEASIBLE


def test_with_other_factors_it_agrees_with_rules_per_row_and_column():
    for seed in range(10):
        values = []
        for whole in (True, False):
            rng = np.random.default_rng(seed)
            g = at.FactorGraph()
            pairs = g.binary(scores=rng.normal(size=(5, 6)) + 0.5, name="pairs")
            if whole:
                g.add(at.Matching(pairs))
            else:
                g.add(at.AtMostOne(pairs, axis=0))
                g.add(at.AtMostOne(pairs, axis=1))
            g.add(at.Pair(pairs[:-1, :-1], pairs[1:, 1:], scores=rng.normal(size=(4, 5))))
            result = at.decode(g, at.AD3(max_iterations=5000))
            assert result.certificate.verify()
            values.append(result)
        assert values[0].bound >= values[1].value - 1e-6
        assert values[1].bound >= values[0].value - 1e-6


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"rows": 0.5}, "rows is a whole number or 2 of them"),
        ({"rows": [1, 1, 1]}, "rows is a whole number or 2 of them"),
        ({"columns": -1}, "columns must not be negative"),
        ({"rows": 4, "fill_rows": True}, r"1 row\(s\) takes 4 partners, there is room for 3"),
        ({"fill_columns": True}, r"filling 3 column\(s\) takes 3 partners, there is room for 2"),
        ({"rows": 1, "columns": [1, 0, 0], "fill_rows": True}, "room for 1; leave fill_rows out"),
        (
            {"rows": [2, 1], "columns": [1, 1, 0], "fill_rows": True, "fill_columns": True},
            r"filling 2 row\(s\) takes 3 partners",
        ),
        (
            {"rows": 1, "columns": [1, 0, 0], "fill_columns": True, "fill_rows": True},
            "there is room for 1",
        ),
    ],
)
def test_errors(arguments, words):
    pairs = at.FactorGraph().binary((2, 3), name="pairs")
    with pytest.raises(at.ModelError, match=words):
        at.Matching(pairs, **arguments)


def test_more_errors():
    g = at.FactorGraph()
    with pytest.raises(at.ModelError, match="the last two axes are rows and columns"):
        at.Matching(g.binary(4, name="x"))
    matching = at.Matching(g.binary((2, 2), name="w"))
    with pytest.raises(TypeError, match="cannot answer marginals"):
        matching.marginals(np.zeros((1, 4)), matching.scores)
