"""The active set method against exact projections, optimality conditions and linear programs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from assent.kernels.ad3.active_set import EXACT, project
from assent.kernels.ad3.active_set_steps import step_structures, structure_chunk
from assent.kernels.ad3.iteration import move_consensus
from assent.kernels.ad3.state import Consensus, Sweep
from assent.kernels.core.bound_sweep import DualState
from assent.kernels.core.vertices import make_slots, make_support, make_work, rescore, support_room
from assent.kernels.kinds.table_scores import potts_table
from assent.kernels.problem import DENSE, POTTS
from tests.oracles.sweep import sweep_seeds

SCALES = (1e-6, 1.0, 1e8)


class Instance:
    """One random table factor and all its allowed vertices."""

    def __init__(self, rng, kind, largest_table, forbid=0.3):
        self.kind = kind
        self.scale = float(rng.choice([1.0, 0.25]))
        if kind == POTTS:
            count = int(rng.integers(1, int(largest_table**0.5) + 1))
            counts, first = [count, count], [0, 0]
        else:
            counts = self._random_counts(rng, largest_table)
            first = [int(k == 2 and rng.random() < 0.5) for k in counts]
        self.slots = make_slots(counts, first)
        magnitude = rng.choice(SCALES)
        entries = counts[0] if kind == POTTS else int(np.prod(counts))
        self.table = self._values(rng, entries) * magnitude
        forbidden = rng.random(entries) < rng.choice([0.0, forbid])
        forbidden[rng.integers(entries)] = False
        self.table[forbidden] = -np.inf
        self.magnitude = magnitude
        table = potts_table(self.table) if kind == POTTS else self.table
        joint = np.array(list(product(*map(range, counts))), np.int32)
        self.states = joint[table > -np.inf]
        self.inner = table[table > -np.inf]

    @staticmethod
    def _random_counts(rng, largest_table):
        while True:
            counts = [int(k) for k in rng.integers(1, 6, rng.integers(1, 5))]
            if np.prod(counts) <= largest_table:
                return counts

    @staticmethod
    def _values(rng, size):
        """Normal, or small integers (ties)."""
        return rng.normal(size=size) if rng.random() < 0.6 else rng.integers(-2, 3, size) * 1.0

    def has_coordinate(self):
        flags = np.zeros(self.slots.start[-1], bool)
        for slot, first in enumerate(self.slots.first):
            flags[self.slots.start[slot] + first : self.slots.start[slot + 1]] = True
        return flags

    def random_point(self, rng):
        """A point 0 where there is no coordinate; a vertex's inner score may dwarf it."""
        spread = self.magnitude if rng.random() < 0.5 else 1.0
        return self._values(rng, self.slots.start[-1]) * spread * self.has_coordinate()

    def corners(self):
        """Coordinates of all allowed vertices ``[vertices, states]``."""
        rows = np.zeros((len(self.states), self.slots.start[-1]))
        for row, states in zip(rows, self.states, strict=True):
            row[self.slots.start[:-1] + states] = 1.0
        return rows

    def solver(self, room=None):
        support = make_support(self.slots, 1, room)
        return support, make_work(self.slots, support.weight.shape[1])

    def solve(self, point, support, work, max_inner=EXACT):
        work.a[:] = point
        exact = project(self.kind, self.slots, self.table, self.scale, support, 0, work, max_inner)
        return work.q.copy(), exact

    def reach(self, point):
        """What rounding is relative to."""
        return 1.0 + np.abs(point).max() + self.scale * np.abs(self.inner).max()

    def blur(self, point):
        """How much rounding may move a solution: 1e-8 is asked for at ordinary scales."""
        return 1e-10 + 1e-14 * self.reach(point)

    def check(self, point, q, support):
        """The optimality conditions (1.27) to (1.29), and Proposition 1.7."""
        size = support.size[0]
        weight, states = support.weight[0, :size], support.states[0, :size]
        assert (weight >= 0).all()
        assert weight.sum() == pytest.approx(1.0, abs=1e-12)
        allowed = {tuple(row): inner for row, inner in zip(self.states, self.inner, strict=True)}
        rebuilt = np.zeros(len(q))
        for share, row, inner in zip(weight, states, support.inner[0], strict=False):
            assert allowed[tuple(row)] == inner
            rebuilt[self.slots.start[:-1] + row] += share
        np.testing.assert_allclose(q, rebuilt, atol=1e-12)
        residual = (point - q) * self.has_coordinate()
        scores = self.corners() @ residual + self.scale * self.inner
        in_support = [scores[np.flatnonzero((self.states == row).all(1))[0]] for row in states]
        assert scores.max() - min(in_support) <= 1e-11 * self.reach(point)
        used = self.corners()[[(self.states == row).all(1).argmax() for row in states]]
        affine = np.column_stack([used * self.has_coordinate(), np.ones(size)])
        assert np.linalg.matrix_rank(affine) == size
        assert size <= self.slots.start[-1] - len(self.slots.first) + 1


def solve_exactly(matrix, right):
    """Solution of a square system of fractions by elimination; None if it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(len(rows)):
            if r != k:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def exact_projection(corners, scores, point):
    """The solution in rational arithmetic: the support whose KKT point satisfies everything."""
    corners = [[int(x) for x in row] for row in corners]
    point = [Fraction(x) for x in point]
    gram = [[sum(x * y for x, y in zip(u, v, strict=True)) for v in corners] for u in corners]
    worth = [
        sum((p for p, x in zip(point, row, strict=True) if x), Fraction(score))
        for row, score in zip(corners, scores, strict=True)
    ]
    for size in range(1, len(corners) + 1):
        for support in combinations(range(len(corners)), size):
            matrix = [[Fraction(gram[i][j]) for j in support] + [Fraction(1)] for i in support]
            matrix.append([Fraction(1)] * size + [Fraction(0)])
            solution = solve_exactly(matrix, [worth[i] for i in support] + [Fraction(1)])
            if solution is None or min(solution[:-1]) < 0:
                continue
            *weight, tau = solution
            pull = [
                worth[i] - sum(x * gram[i][j] for x, j in zip(weight, support, strict=True))
                for i in range(len(corners))
            ]
            if max(pull) <= tau:
                used = [corners[j] for j in support]
                return [
                    float(sum(x * c for x, c in zip(weight, column, strict=True)))
                    for column in zip(*used, strict=True)
                ]
    raise AssertionError("no support satisfies the optimality conditions")


@sweep_seeds()
@pytest.mark.parametrize("kind", [DENSE, POTTS])
def test_small_factors_exactly(kind, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        instance = Instance(rng, kind, 4)
        point = instance.random_point(rng)
        support, work = instance.solver()
        q, exact = instance.solve(point, support, work)
        assert exact
        instance.check(point, q, support)
        seen = instance.has_coordinate()
        expected = exact_projection(
            instance.corners()[:, seen], instance.scale * instance.inner, point[seen]
        )
        np.testing.assert_allclose(q[seen], expected, rtol=0, atol=instance.blur(point))


@sweep_seeds()
@pytest.mark.parametrize("kind", [DENSE, POTTS])
def test_warm_equals_cold(kind, seeds):
    """A sequence of points, small and large moves, each solved warm and from nothing."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        instance = Instance(rng, kind, 64)
        support, work = instance.solver()
        point = instance.random_point(rng)
        for _ in range(4):
            q, exact = instance.solve(point, support, work)
            assert exact
            instance.check(point, q, support)
            cold, _ = instance.solve(point, *instance.solver())
            np.testing.assert_allclose(q, cold, rtol=0, atol=instance.blur(point))
            point = point + rng.choice([0.1, 10.0]) * instance.random_point(rng)


@sweep_seeds(share=0.5)
def test_dependent_starts(seeds):
    """Any distribution over any vertices may be handed in, repeated ones included."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        instance = Instance(rng, DENSE, 16)
        point = instance.random_point(rng)
        cold, _ = instance.solve(point, *instance.solver())
        count = int(rng.integers(2, 12))
        support, work = instance.solver(room=count + support_room(instance.slots))
        chosen = rng.integers(len(instance.states), size=count)
        support.size[0] = count
        support.states[0, :count] = instance.states[chosen]
        support.inner[0, :count] = instance.inner[chosen]
        weight = rng.random(count) * (rng.random(count) < 0.7) + 1e-3
        support.weight[0, :count] = weight / weight.sum()
        q, exact = instance.solve(point, support, work)
        assert exact
        instance.check(point, q, support)
        np.testing.assert_allclose(q, cold, rtol=0, atol=instance.blur(point))


@sweep_seeds(share=0.5)
def test_early_exits_are_feasible_and_go_on(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        instance = Instance(rng, DENSE, 64)
        point = instance.random_point(rng)
        support, work = instance.solver()
        for _ in range(EXACT):
            q, exact = instance.solve(point, support, work, max_inner=1)
            assert q.sum() == pytest.approx(len(instance.slots.first))
            if exact:
                break
        assert exact
        instance.check(point, q, support)


def test_a_support_without_room_says_so():
    slots = make_slots([4, 4], [0, 0])
    support, work = make_support(slots, 1, room=3), make_work(slots, 3)
    work.a[:] = 0.25
    table = np.eye(4).ravel() * 10.0
    assert not project(DENSE, slots, table, 1.0, support, 0, work, EXACT)
    assert support.size[0] <= 3
    assert work.q.sum() == pytest.approx(2.0)


def test_the_single_vertex():
    slots = make_slots([1, 1], [0, 0])
    support, work = make_support(slots, 1), make_work(slots, support_room(slots))
    work.a[:] = [-5.0, 7.0]
    assert project(POTTS, slots, np.array([-1e8]), 1.0, support, 0, work, EXACT)
    np.testing.assert_array_equal(work.q, 1.0)


@pytest.mark.parametrize("kind", [DENSE, POTTS])
def test_new_tables_keep_the_support(kind):
    rng = np.random.default_rng(1)
    slots = make_slots([3, 3], [0, 0])
    tables = rng.normal(size=(2, 3 if kind == POTTS else 9))
    support, work = make_support(slots, 2), make_work(slots, support_room(slots))
    for f in range(2):
        work.a[:] = rng.normal(size=6)
        assert project(kind, slots, tables[f], 1.0, support, f, work, EXACT)
    fresh = rng.normal(size=tables.shape)
    support.states[0, 0] = support.states[1, 0] = 1
    fresh[1, 1 if kind == POTTS else 4] = -np.inf
    rescore(kind, slots, fresh, support)
    assert support.size[0] > 0
    joint = (potts_table(fresh[0]) if kind == POTTS else fresh[0]).reshape(3, 3)
    for i in range(support.size[0]):
        assert support.inner[0, i] == joint[tuple(support.states[0, i])]
    assert support.size[1] == 0
    assert project(kind, slots, fresh[1], 1.0, support, 1, work, EXACT)


@sweep_seeds(share=0.2)
@pytest.mark.parametrize("kind", [DENSE, POTTS])
def test_bound_of_any_dual_point(kind, seeds):
    """Factor maxima and what the coordinates keep add up to every vertex's score, or more."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        instance = Instance(rng, kind, 16)
        slots, links = instance.slots, int(instance.has_coordinate().sum())
        lits = np.where(rng.random(links) < 0.3, ~np.arange(links), np.arange(links))[None, :]
        values, p = rng.normal(size=(1, links)), rng.random(links)
        scale, factor = float(rng.choice([0.5, 3.0])), float(rng.integers(2))
        residual, states = np.zeros(links), np.empty(len(slots.first), np.int32)
        no_links = np.zeros(0)
        _, work = instance.solver()
        partial = structure_chunk(
            kind, slots, lits.astype(np.int32), instance.table[None, :],
            DualState(np.array([scale]), no_links, no_links, no_links, factor, p),
            values, residual, states, work,
        )  # fmt: skip
        literal_p = np.where(lits[0] < 0, 1.0 - p, p)
        scores = scale * (values[0] + factor * literal_p)
        truths = instance.corners()[:, instance.has_coordinate()]
        constant = scores[lits[0] < 0].sum()
        expected = (truths @ scores + instance.inner).max() - constant
        assert partial == pytest.approx(expected, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(residual, np.where(lits[0] < 0, scores, -scores))


def run_ad3(kind, slots, lits, tables, theta, rho, iterations):
    """AD3 on table factors alone; returns the link scores of the last dual point, and p."""
    alpha = 1.6
    degree = np.bincount(np.where(lits < 0, ~lits, lits).ravel(), minlength=len(theta))
    p, total = np.full(len(theta), 0.5), np.zeros(len(theta))
    share = (theta / degree / rho)[np.where(lits < 0, ~lits, lits)]
    w = np.where(lits < 0, -share, share) - 0.5
    support = make_support(slots, len(lits))
    work = make_work(slots, support_room(slots))
    inactive = np.zeros(len(lits), np.uint8)
    for _ in range(iterations):
        step_structures(
            kind, slots, lits, tables, Sweep(1.0 / rho, alpha, True, 0.0, EXACT), w, inactive,
            Consensus(p, np.zeros(0), total), support, work,
        )  # fmt: skip
        move_consensus(degree.astype(np.int32), alpha, p, total)
    literal_p = np.where(lits < 0, 1.0 - p[~lits], p[lits])
    return rho * (w + literal_p), p


def block_literals(edges, count):
    """Literals of both ends' blocks, a row per edge."""
    ends = [edges[:, [side]] * count + np.arange(count) for side in range(2)]
    return np.concatenate(ends, axis=1).astype(np.int32)


def pairwise_bound(link_scores, joint_tables, theta, lits, count):
    """Bound of a dual point over pairwise tables ``[m, count, count]`` on whole blocks."""
    left, right = link_scores[:, :count, None], link_scores[:, None, count:]
    residual = theta - np.bincount(lits.ravel(), link_scores.ravel(), minlength=len(theta))
    best = (joint_tables + left + right).max((1, 2)).sum()
    return best + residual.reshape(-1, count).max(1).sum()


def pairwise_lp(joint_tables, theta, edges, count):
    """Optimum of the local polytope: state and joint-state weights, marginals agreeing."""
    n = len(theta)
    columns = n + joint_tables.size
    rows, right = [], []
    for v in range(n // count):
        row = np.zeros(columns)
        row[v * count : (v + 1) * count] = 1.0
        rows.append(row)
        right.append(1.0)
    for e, ends in enumerate(edges):
        joint = (n + e * count**2 + np.arange(count**2)).reshape(count, count)
        for side, k in product(range(2), range(count)):
            row = np.zeros(columns)
            row[joint.take(k, axis=side)] = 1.0
            row[ends[side] * count + k] = -1.0
            rows.append(row)
            right.append(0.0)
    cost = -np.concatenate([theta, joint_tables.ravel()])
    return -linprog(cost, A_eq=np.array(rows), b_eq=right, bounds=(0, None)).fun


@pytest.mark.parametrize("kind", [DENSE, POTTS])
def test_iterations_reach_the_relaxation(kind):
    rng = np.random.default_rng(3)
    count, n = 3, 6
    edges = np.array([(i, j) for i in range(n) for j in range(i)])
    edges = edges[rng.random(len(edges)) < 0.7]
    theta = rng.uniform(-1, 1, n * count)
    if kind == POTTS:
        tables = rng.uniform(-3, 3, (len(edges), count))
        joint = np.stack([potts_table(row) for row in tables]).reshape(-1, count, count)
    else:
        tables = rng.uniform(-3, 3, (len(edges), count**2))
        joint = tables.reshape(-1, count, count)
    slots = make_slots([count, count], [0, 0])
    lits = block_literals(edges, count)
    link_scores, _ = run_ad3(kind, slots, lits, tables, theta, 1.0, 3000)
    bound = pairwise_bound(link_scores, joint, theta, lits, count)
    optimum = pairwise_lp(joint, theta, edges, count)
    assert bound >= optimum - 1e-9
    assert bound == pytest.approx(optimum, abs=1e-5)


def test_negated_binary_slots():
    """Negating a literal and reversing its axis of the table changes nothing."""
    rng = np.random.default_rng(5)
    edges = np.array([(0, 1), (1, 2), (2, 0)], np.int32)
    tables = rng.normal(size=(3, 4))
    flipped = tables.reshape(3, 2, 2)[:, ::-1].reshape(3, 4).copy()
    negated = edges.copy()
    negated[:, 0] = ~negated[:, 0]
    theta = rng.normal(size=3)
    slots = make_slots([2, 2], [1, 1])
    _, plain = run_ad3(DENSE, slots, edges, tables, theta, 1.0, 50)
    _, turned = run_ad3(DENSE, slots, negated, flipped, theta, 1.0, 50)
    np.testing.assert_allclose(plain, turned, atol=1e-12)


def test_sleeping_factors_rest():
    slots = make_slots([2, 2], [1, 1])
    lits = np.array([[0, 1]], np.int32)
    support, work = make_support(slots, 1), make_work(slots, support_room(slots))
    w, p, total = np.full((1, 2), 0.3), np.full(2, 0.5), np.zeros(2)
    for full, expected in [(False, True), (True, False)]:
        inactive = np.ones(1, np.uint8)
        before = w.copy()
        squares = step_structures(
            DENSE, slots, lits, np.ones((1, 4)), Sweep(1.0, 1.0, full, 0.0, EXACT), w, inactive,
            Consensus(p, np.zeros(0), total), support, work,
        )  # fmt: skip
        assert bool(squares == 0.0) is expected
        assert np.array_equal(before, w) is expected
        assert bool(inactive[0]) is expected


@pytest.mark.parametrize("kind", [DENSE, POTTS])
def test_stored_potts_grid(kind, instances_folder):
    with np.load(instances_folder / "potts_n20_K8_c10.0_s0.npz") as stored:
        theta, edges, rewards = stored["unary"].ravel(), stored["edges"], stored["diag"]
    count = rewards.shape[1]
    joint = np.stack([potts_table(row) for row in rewards])
    slots = make_slots([count, count], [0, 0])
    lits = block_literals(edges, count)
    tables = rewards if kind == POTTS else joint
    link_scores, _ = run_ad3(kind, slots, lits, tables, theta, 2.0, 400)
    bound = pairwise_bound(link_scores, joint.reshape(-1, count, count), theta, lits, count)
    optimum = 2689.514888975  # of the local polytope
    assert optimum - 1e-6 <= bound <= optimum * (1 + 3e-4)
