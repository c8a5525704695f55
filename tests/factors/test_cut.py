"""Cuts beyond what enumeration reaches: quadratic programs, warm starts, shared edges, errors."""

import numpy as np
import pytest

import assent as at
from assent.kernels.graph_cut.cut_projection import project_cut
from tests.oracles.quadratic import cut_rows, is_nearest, nearest_point
from tests.oracles.sweep import sweep_seeds
from tests.structures import project_one


def random_edges(rng, n, most=40):
    """Edges between random nodes, at least one, some of them parallel."""
    edges = rng.integers(n, size=(int(rng.integers(1, most)), 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    return edges if len(edges) else np.array([[0, 1]])


def write(n, edges, **options):
    return at.Cut(at.FactorGraph().binary(n, name="x"), edges, **options)


def write_shared(n, edges):
    g = at.FactorGraph()
    return at.Cut(g.binary(n, name="x"), edges, cut=g.binary(len(edges), name="z"))


def size_of(rng, low, high):
    return 10.0 ** rng.uniform(low, high)


@sweep_seeds(1.0)
def test_projection_of_nodes_is_the_quadratic_programs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 15))
        edges = random_edges(rng, n)
        point = rng.normal(size=n) * size_of(rng, -1, 0.5) + 0.5
        scores = rng.random(len(edges)) * size_of(rng, -2, 0.5)
        if seed % 3 == 0:
            point, scores = point.round(1), scores.round(1)
        mine, inner = project_one(write(n, edges, scores=scores), point)
        # What an edge earns less where its ends differ is a cost of z = |x_j - x_k|.
        theirs = nearest_point(point, *cut_rows(n, edges), cost=scores)[:n].clip(0.0, 1.0)
        lost = [scores @ np.abs(x[edges[:, 0]] - x[edges[:, 1]]) for x in (mine, theirs)]
        assert abs(inner - (scores.sum() - lost[0])) <= 1e-9, seed
        assert is_nearest(mine, theirs, point, *lost), seed


@sweep_seeds(1.0)
def test_projection_of_nodes_and_edges_is_the_quadratic_programs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 15))
        edges = random_edges(rng, n)
        # Edges below zero are the case that the paper's appendix leaves out.
        point = np.concatenate([
            rng.normal(size=n) * size_of(rng, -1, 0.5) + 0.5,
            rng.normal(size=len(edges)) * size_of(rng, -1.5, 0.5),
        ])  # fmt: skip
        if seed % 3 == 0:
            point = point.round(1)
        mine, _ = project_one(write_shared(n, edges), point)
        rows, upper = cut_rows(n, edges)
        theirs = nearest_point(point, rows, upper)
        assert (rows @ mine <= upper + 1e-10).all(), seed
        assert is_nearest(mine, theirs, point), seed


@sweep_seeds(0.1)
def test_projections_of_grids_with_large_groups(seeds):
    """Strong edges make hundreds of neighbours equal, which flows have to hold together."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        side = int(rng.integers(5, 16))
        n, edges = side * side, grid_edges(side, side)
        point = rng.normal(size=n + len(edges)) * size_of(rng, -1, 0.5)
        point[:n] += 0.5
        point[n:] -= rng.uniform(0.0, 1.5)
        rows, upper = cut_rows(n, edges)
        mine, _ = project_one(write_shared(n, edges), point)
        assert (rows @ mine <= upper + 1e-10).all(), seed
        assert is_nearest(mine, nearest_point(point, rows, upper), point), seed
        scores = rng.random(len(edges)) * size_of(rng, -1, 0.7)
        mine, _ = project_one(write(n, edges, scores=scores), point[:n])
        theirs = nearest_point(point[:n], rows, upper, cost=scores)[:n].clip(0.0, 1.0)
        lost = [scores @ np.abs(x[edges[:, 0]] - x[edges[:, 1]]) for x in (mine, theirs)]
        assert is_nearest(mine, theirs, point[:n], *lost), seed


@pytest.mark.parametrize("shared", [False, True])
def test_projection_goes_on_from_the_last_one(shared):
    rng = np.random.default_rng(1)
    n = 30
    edges = random_edges(rng, n, most=80)
    structure = write_shared(n, edges) if shared else write(n, edges, scores=rng.random(len(edges)))
    places = int(structure.start[-1])
    memory, base = np.zeros(structure.memory()), np.zeros(places)
    inner = structure.scores[0].copy()
    for array in (base, inner):
        array.flags.writeable = False
    point, q = np.zeros(places), np.empty(places)
    for _ in range(20):
        point[1::2] += rng.normal(size=places // 2) * 0.2
        project_cut(structure.start, structure.data, base, point, inner, 1.0, memory, q)
        cold, _ = project_one(structure, point[1::2])
        assert np.allclose(q[1::2], cold, atol=1e-9)


def grid_edges(height, width):
    number = np.arange(height * width).reshape(height, width)
    return np.concatenate([
        np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1),
        np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1),
    ])  # fmt: skip


def test_a_grid_is_solved_at_once_where_pairs_take_iterations():
    rng = np.random.default_rng(0)
    edges = grid_edges(12, 15)
    theta, scores = rng.normal(size=180), rng.random(len(edges))
    g = at.FactorGraph()
    x = g.binary(scores=theta, name="x")
    handle = g.add(at.Cut(x, edges, scores=scores))
    result = at.decode(g)
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    h = at.FactorGraph()
    y = h.binary(scores=theta, name="y")
    for states in (y, ~y):
        h.add(at.Pair(states[edges[:, 0]], states[edges[:, 1]], scores=scores))
    rival = at.decode(h, at.AD3(max_iterations=5000))
    assert np.isclose(result.value, rival.value)
    agree = result[x][edges[:, 0]] == result[x][edges[:, 1]]
    # The run may end, the answer being proven, before the last node has settled.
    assert ((result.marginals[handle] > 0.5) == agree).all()


def test_shared_edges_earn_their_own_scores():
    """The same model twice: scores of agreement, and costs of the literals that say "cut"."""
    rng = np.random.default_rng(2)
    edges = grid_edges(4, 4)
    theta, scores = rng.normal(size=16), rng.random(len(edges))
    values = []
    for shared in (False, True):
        g = at.FactorGraph()
        x = g.binary(scores=theta, name="x")
        if shared:
            z = g.binary(scores=-scores, name="z")
            g.add(at.Cut(x, edges, cut=z))
        else:
            g.add(at.Cut(x, edges, scores=scores))
        g.add(at.AtMost(5, x))
        result = at.decode(g)
        assert result.certificate.verify()
        values.append(result.value + (scores.sum() if shared else 0.0))
    assert np.isclose(*values)
    assert ((result[x][edges[:, 0]] != result[x][edges[:, 1]]) == result[z]).all()


def test_tables_and_negated_nodes():
    g = at.FactorGraph()
    x = g.binary(scores=[1.0, 0.2], name="x")
    tables = [[[0.5, 0.0], [0.25, 2.0]]]
    handle = g.add(at.Cut([x[0], ~x[1]], [[0, 1]], scores=tables))
    result = at.decode(g)
    assert result[x].tolist() == [1, 0] and np.isclose(result.value, 3.0)
    assert np.allclose(result.marginals[handle], [[[0, 0], [0, 1]]], atol=0.1)
    again = at.decode(g, scores={handle: [0.1]})
    assert again[x].tolist() == [1, 1] and np.isclose(again.value, 1.2)


def test_evidence():
    """Known nodes pull at their neighbours; an edge known not to be cut holds its ends together."""
    g = at.FactorGraph()
    x = g.binary(scores=[0.0, -0.4, -0.3], name="x")
    z = g.binary(scores=[-1.0, -1.0], name="z")
    g.add(at.Cut(x, [[0, 1], [1, 2]], cut=z))
    g.add(at.AtMost(2, x))
    g.fix(x[0], 1)
    result = at.decode(g)
    assert result[x].tolist() == [1, 0, 0] and np.isclose(result.value, -1.0)
    g.fix(z[1], 0)
    g.fix(z[0], 0)
    assert at.decode(g).status is at.Status.INFEASIBLE


def test_structures_that_break_a_rule_follow_it_in_the_end():
    """What both cuts would choose is one too many; the relaxation mixes it with other answers."""
    g = at.FactorGraph()
    x = g.binary(scores=[2.0, -0.5, 1.0, -3.0], name="x")
    z = g.binary(scores=[-1.0, -1.0], name="z")
    g.add(at.Cut(x, [[0, 1], [1, 2], [2, 3]], scores=1.0))
    g.add(at.Cut(x[:3], [[0, 1], [1, 2]], cut=z))
    g.add(at.AtMost(2, x))
    result = at.decode(g)
    assert result.feasible and result.certificate.verify()
    assert result[x].sum() <= 2 and (result[z] >= abs(np.diff(result[x][:3]))).all()


def test_several_networks_of_one_shape():
    rng = np.random.default_rng(4)
    g = at.FactorGraph()
    theta, scores, edges = rng.normal(size=(3, 5)), rng.random((3, 3)), [[0, 1], [3, 1], [2, 4]]
    x = g.binary(scores=theta, name="x")
    handle = g.add(at.Cut(x, edges, scores=scores))
    result = at.decode(g)
    assert result.marginals[handle].shape == (3, 3)
    for row in range(3):
        h = at.FactorGraph()
        y = h.binary(scores=theta[row], name="y")
        h.add(at.Cut(y, edges, scores=scores[row]))
        assert (at.decode(h)[y] == result[x][row]).all()


@pytest.mark.parametrize(
    "edges, options, words",
    [
        ([[0, 1]], {}, "either scores= .* or cut="),
        ([[0, 1]], {"scores": -1.0}, r"edge 0 \(x\[0\], x\[1\]\) prefers ends that differ"),
        ([[0, 1]], {"scores": [[[0.0, -np.inf], [0.0, 0.0]]]}, "a score of -inf; Implies"),
        ([[0, 1]], {"scores": [1.0, 2.0]}, r"scores have shape \(2,\), expected \(1,\)"),
        ([[0, 1]], {"scores": np.nan}, "score nan"),
        ([[0, 3]], {"scores": 1.0}, r"edge 0 is \[0, 3\], but nodes are numbered 0 to 2"),
        ([[1, 1]], {"scores": 1.0}, "edge 0 joins node 1 with itself"),
        ([0, 1], {"scores": 1.0}, r"edges are pairs of whole numbers, \[E, 2\]"),
        ([[0.5, 1.0]], {"scores": 1.0}, "edges are pairs of whole numbers"),
        (np.zeros((0, 2), int), {"scores": 1.0}, "without edges says nothing"),
    ],
)
def test_errors(edges, options, words):
    with pytest.raises(at.ModelError, match=words):
        write(3, edges, **options)


def test_errors_of_shared_edges():
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    with pytest.raises(at.ModelError, match=r"cut has shape \(2,\), expected one literal per edge"):
        at.Cut(x, [[0, 1]], cut=g.binary(2, name="z"))
    with pytest.raises(at.ModelError, match="belong to different graphs"):
        at.Cut(x, [[0, 1]], cut=at.FactorGraph().binary(1, name="z"))
    structure = at.Cut(x, [[0, 1]], scores=1.0)
    with pytest.raises(TypeError, match="cannot answer max_marginals"):
        structure.max_marginals(np.zeros((1, 3)), structure.scores)
