"""The exact optimum of a small problem of pairs and logic, through an integer program."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from assent.compile.compiled import graph_scores
from assent.kernels.problem import CAP, SUM
from assent.model.graph import FactorGraph
from tests.oracles.enumeration import factors


def integer_optimum(graph: FactorGraph) -> tuple[float, np.ndarray]:
    """Best value of a graph, and the assignment of all its coordinates."""
    compiled = graph.compile()
    assert compiled.conflict is None
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    assert not len(problem.tables.kind) and not len(problem.capacity)
    n, pairs = problem.n, problem.n_pairs
    rows: list[tuple[np.ndarray, np.ndarray, float, float]] = []  # columns, entries, low, high

    def add(literals, weights, low, high):
        literals, weights = np.asarray(literals), np.asarray(weights, float)
        shift = weights[literals < 0].sum()
        columns = np.where(literals < 0, ~literals, literals)
        rows.append((columns, np.where(literals < 0, -weights, weights), low - shift, high - shift))

    for kind, k, lits, _ in factors(problem):
        ones = np.ones(len(lits))
        if kind == CAP:
            add(lits, ones, -np.inf, k)
        elif kind == SUM:
            add(lits, ones, k, k)
        else:
            add(lits, np.append(-ones[:-1], 1.0), -np.inf, 0.0)
            for lit in lits[:-1]:
                add([lit, lits[-1]], [1.0, -1.0], -np.inf, 0.0)
    for e, (i, j) in enumerate(problem.pair_var):
        w = n + e
        rows += [(np.array([w, i]), np.array([1.0, -1.0]), -np.inf, 0.0),
                 (np.array([w, j]), np.array([1.0, -1.0]), -np.inf, 0.0),
                 (np.array([i, j, w]), np.array([1.0, 1.0, -1.0]), -np.inf, 1.0)]  # fmt: skip
    matrix = sparse.csr_matrix(
        (
            np.concatenate([r[1] for r in rows]),
            np.concatenate([r[0] for r in rows]),
            np.cumsum([0, *(len(r[0]) for r in rows)]),
        ),
        shape=(len(rows), n + pairs),
    )
    matrix.sum_duplicates()
    answer = milp(
        -np.concatenate([scores.theta, scores.pair]),
        constraints=LinearConstraint(matrix, [r[2] for r in rows], [r[3] for r in rows]),
        integrality=np.concatenate([np.ones(n), np.zeros(pairs)]),
        bounds=Bounds(0.0, 1.0),
        options={"mip_rel_gap": 1e-9},
    )
    assert answer.status == 0, answer.message
    return scores.constant - answer.fun, compiled.full(np.round(answer.x[:n]).astype(np.int8))
