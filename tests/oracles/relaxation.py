"""The linear relaxation over enumerated vertices: one weight per vertex of every factor."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from assent.problem import Problem, Scores
from tests.oracles.enumeration import binary_points, factors, vertices


def _factor_list(problem: Problem, scores: Scores):
    """Every factor as ``(literals, vertices, score of each vertex)``."""
    corners = binary_points(2)
    for e, pair in enumerate(problem.pair_var):
        yield pair, corners, scores.pair[e] * corners.all(axis=1)
    for kind, k, literals, _ in factors(problem):
        allowed = vertices(kind, len(literals), k)
        yield literals, allowed, np.zeros(len(allowed))


def naive_lp(problem: Problem, scores: Scores) -> float:
    """Optimum of the relaxation; -inf if it is infeasible."""
    n = problem.n
    columns, costs, rows, rhs = n, [-scores.theta], [], []
    for literals, corners, corner_scores in _factor_list(problem, scores):
        weights = columns + np.arange(len(corners))
        columns += len(corners)
        costs.append(-corner_scores)
        rows.append(dict.fromkeys(weights, 1.0))
        rhs.append(1.0)
        for j, literal in enumerate(literals):
            row = dict(zip(weights, corners[:, j].astype(float), strict=True))
            row[literal if literal >= 0 else ~literal] = -1.0 if literal >= 0 else 1.0
            rows.append(row)
            rhs.append(0.0 if literal >= 0 else 1.0)
    matrix = sparse.dok_matrix((len(rows), columns))
    for r, row in enumerate(rows):
        for column, entry in row.items():
            matrix[r, column] = entry
    upper = [1.0] * n + [None] * (columns - n)
    cost = np.concatenate(costs)
    scale = np.abs(cost).max(initial=0.0) or 1.0
    if not rows:
        return float(scores.constant + np.maximum(scores.theta, 0.0).sum())
    answer = linprog(cost / scale, A_eq=matrix.tocsr(), b_eq=rhs, bounds=[(0.0, u) for u in upper])
    if answer.status == 2:
        return -np.inf
    assert answer.status == 0, answer.message
    return float(scores.constant - scale * answer.fun)
