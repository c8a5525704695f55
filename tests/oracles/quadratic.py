"""Nearest points of polytopes given by inequalities, by a general quadratic programming solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse


def nearest_point(
    point: np.ndarray, rows: Any, upper: np.ndarray, exact: np.ndarray, accuracy: float = 1e-12
) -> np.ndarray:
    """The ``x`` nearest to ``point`` with ``rows @ x <= upper``, and equal where ``exact``."""
    clarabel = pytest.importorskip("clarabel")
    order = np.argsort(~exact, kind="stable")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    count = int(exact.sum())
    cones = [clarabel.NonnegativeConeT(len(upper) - count)]
    if count:
        cones.insert(0, clarabel.ZeroConeT(count))
    solver = clarabel.DefaultSolver(
        sparse.eye(len(point), format="csc"), -point, sparse.csc_matrix(rows)[order],
        upper[order].astype(float), cones, settings,
    )  # fmt: skip
    return np.array(solver.solve().x)


def matching_rows(
    n: int, m: int, rows: np.ndarray, columns: np.ndarray, fill_rows: bool, fill_columns: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The matching polytope of ``n`` by ``m`` pairs: its rows, limits, and which are exact."""
    cube = sparse.eye(n * m)
    of_rows = sparse.kron(sparse.eye(n), np.ones((1, m)))
    of_columns = sparse.kron(np.ones((1, n)), sparse.eye(m))
    exact = np.zeros(n + m + 2 * n * m, bool)
    exact[:n], exact[n : n + m] = fill_rows, fill_columns
    upper = np.concatenate([rows, columns, np.ones(n * m), np.zeros(n * m)])
    return sparse.vstack([of_rows, of_columns, cube, -cube]), upper, exact
