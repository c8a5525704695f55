"""Every factor of a problem by the vertices of its set: the relaxation and bounds, slowly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from assent.kernels.problem import DENSE, KNAPSACK, PARITY, DualPoint, Problem, Scores
from tests.oracles.enumeration import binary_points, factors, vertices


class Hull(NamedTuple):
    """A factor: its literals, vertices ``[m, literals]``, their scores and its link scores."""

    literals: np.ndarray
    corners: np.ndarray
    scores: np.ndarray
    links: np.ndarray


def hulls(problem: Problem, scores: Scores, dual: DualPoint | None = None) -> Iterator[Hull]:
    """All factors, pairs first, then logic factors, then tables."""
    if dual is None:
        dual = DualPoint(
            np.zeros((problem.n_pairs, 2)),
            np.zeros(len(problem.lits)),
            np.zeros(len(problem.tables.lits)),
        )
    corners = binary_points(2)
    for e, pair in enumerate(problem.pair_var):
        yield Hull(pair, corners, scores.pair[e] * corners.all(axis=1), dual.pair[e])
    first_knapsack = problem.n_logic - len(problem.capacity)
    for f, (kind, k, literals, links) in enumerate(factors(problem)):
        if kind == KNAPSACK:
            weights = problem.weights[links - (len(problem.lits) - len(problem.weights))]
            allowed = knapsack_vertices(weights, problem.capacity[f - first_knapsack])
        elif kind == PARITY:
            points = binary_points(len(literals))
            allowed = points[points.sum(axis=1) % 2 == 0]
        else:
            allowed = vertices(kind, len(literals), k)
        yield Hull(literals, allowed, np.zeros(len(allowed)), dual.logic[links])
    yield from _tables(problem, scores, dual)


def knapsack_vertices(weights: np.ndarray, capacity: float) -> np.ndarray:
    """Vertices of ``0 <= x <= 1, weights . x <= capacity``: one item at most is cut."""
    found = []
    for point in binary_points(len(weights)).astype(float):
        if weights @ point <= capacity:
            found.append(point)
        for item in np.flatnonzero((point > 0) & (weights > 0)):
            share = 1.0 - (weights @ point - capacity) / weights[item]
            if 0.0 < share < 1.0:
                found.append(np.where(np.arange(len(point)) == item, share, point))
    return np.array(found).reshape(-1, len(weights))


def _tables(problem: Problem, scores: Scores, dual: DualPoint) -> Iterator[Hull]:
    tables = problem.tables
    for t, kind in enumerate(tables.kind):
        slots = slice(tables.slot[t], tables.slot[t + 1])
        shape, first = tables.states[slots], tables.first[slots]
        m = int(tables.factor[t + 1] - tables.factor[t])
        corners, entries = [], []
        for joint in product(*(range(k) for k in shape)):
            indicators = [np.arange(f, k) == s for k, f, s in zip(shape, first, joint, strict=True)]
            corners.append(np.concatenate(indicators))
            if kind == DENSE:
                entries.append(int(np.ravel_multi_index(joint, shape)))
            else:
                entries.append(joint[0] if joint[0] == joint[1] else -1)
        table = scores.table[tables.entry[t] : tables.entry[t + 1]].reshape(m, -1)
        table = np.column_stack([table, np.zeros(m)])[:, entries]
        literals = tables.lits[tables.link[t] : tables.link[t + 1]].reshape(m, -1)
        links = dual.table[tables.link[t] : tables.link[t + 1]].reshape(m, -1)
        for row in range(m):
            kept = table[row] > -np.inf
            yield Hull(literals[row], np.array(corners)[kept], table[row, kept], links[row])


def hull_bound(problem: Problem, scores: Scores, dual: DualPoint) -> float:
    """Upper bound of a dual point, every factor maximised over its vertices."""
    total = scores.constant
    residual = np.array(scores.theta, float)
    for hull in hulls(problem, scores, dual):
        total += (hull.corners @ hull.links + hull.scores).max(initial=-np.inf)
        for literal, score in zip(hull.literals, hull.links, strict=True):
            residual[literal if literal >= 0 else ~literal] -= score if literal >= 0 else -score
            total -= score if literal < 0 else 0.0
    return float(total + np.maximum(residual, 0.0).sum())


def hull_lp(problem: Problem, scores: Scores) -> float:
    """Optimum of the relaxation with a weight per vertex of every factor; -inf if infeasible."""
    n, columns, costs, entries, rhs = problem.n, problem.n, [-scores.theta], [], []
    for hull in hulls(problem, scores):
        weights = range(columns, columns + len(hull.corners))
        columns += len(hull.corners)
        costs.append(-hull.scores)
        entries += [(len(rhs), w, 1.0) for w in weights]
        rhs.append(1.0)
        for j, literal in enumerate(hull.literals):
            entries += [
                (len(rhs), w, value) for w, value in zip(weights, hull.corners[:, j], strict=True)
            ]
            entries.append((len(rhs), *((literal, -1.0) if literal >= 0 else (~literal, 1.0))))
            rhs.append(0.0 if literal >= 0 else 1.0)
    cost = np.concatenate(costs)
    scale = np.abs(cost).max(initial=0.0) or 1.0
    if not rhs:
        return float(scores.constant + np.maximum(scores.theta, 0.0).sum())
    row, column, value = (np.array(part, float) for part in zip(*entries, strict=True))
    matrix = sparse.csr_matrix((value, (row.astype(int), column.astype(int))), (len(rhs), columns))
    bounds = [(0.0, 1.0)] * n + [(0.0, None)] * (columns - n)
    answer = linprog(cost / scale, A_eq=matrix, b_eq=rhs, bounds=bounds)
    if answer.status == 2:
        return -np.inf
    assert answer.status == 0, answer.message
    return float(scores.constant - scale * answer.fun)
