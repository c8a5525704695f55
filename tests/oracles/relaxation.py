"""The linear relaxation over enumerated vertices: one weight per vertex of every factor.

KNAPSACK factors are relaxed to their inequality instead.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from assent.kernels.problem import KNAPSACK, Problem, Scores
from tests.oracles.enumeration import binary_points, factors, load_limits, naive_tables, vertices


def _factor_list(problem: Problem, scores: Scores):
    """Every factor but KNAPSACK as ``(literals, vertices, score of each vertex)``."""
    corners = binary_points(2)
    for e, pair in enumerate(problem.pair_var):
        yield pair, corners, scores.pair[e] * corners.all(axis=1)
    for kind, k, literals, _ in factors(problem):
        if kind != KNAPSACK:
            allowed = vertices(kind, len(literals), k)
            yield literals, allowed, np.zeros(len(allowed))
    for table in naive_tables(problem, scores):
        finite = table.scores > -np.inf
        yield table.literals, table.truths[finite], table.scores[finite]


def _knapsack_rows(problem: Problem, columns: int):
    """Rows ``A z <= b`` of the KNAPSACK factors over the first ``n`` columns."""
    loads = load_limits(problem)
    rows, limits = np.zeros((len(loads), columns)), []
    literals = [lits for _, _, lits, _ in factors(problem)]
    for row, (index, (weights, capacity)) in zip(rows, loads.items(), strict=True):
        lits = literals[index]
        np.add.at(row, lits[lits >= 0], weights[lits >= 0])
        np.subtract.at(row, ~lits[lits < 0], weights[lits < 0])
        limits.append(capacity - weights[lits < 0].sum())
    return rows, np.array(limits)


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
    loads, limits = _knapsack_rows(problem, columns)
    if not rows and not len(limits):
        return float(scores.constant + np.maximum(scores.theta, 0.0).sum())
    answer = linprog(
        cost / scale,
        A_ub=loads if len(limits) else None,
        b_ub=limits if len(limits) else None,
        A_eq=matrix.tocsr() if rows else None,
        b_eq=rhs if rows else None,
        bounds=[(0.0, u) for u in upper],
    )
    if answer.status == 2:
        return -np.inf
    assert answer.status == 0, answer.message
    return float(scores.constant - scale * answer.fun)
