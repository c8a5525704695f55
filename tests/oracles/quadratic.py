"""Nearest points of polytopes given by inequalities, by a general quadratic programming solver."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
from scipy import sparse

# Of values: points are then known to about its square root.
ACCURACY = 1e-12


def nearest_point(
    point: np.ndarray,
    rows: Any,
    upper: np.ndarray,
    exact: np.ndarray | bool = False,
    cost: np.ndarray | None = None,
    accuracy: float = ACCURACY,
) -> np.ndarray:
    """The ``x`` nearest to ``point`` with ``rows @ x <= upper``, and equal where ``exact``.

    With a ``cost``, ``x`` has as many more coordinates, which cost so much and are not in the
    distance: minimise ``|x - point|^2 / 2 + cost @ x[len(point):]``.
    """
    exact = np.broadcast_to(exact, upper.shape)
    order = np.argsort(~exact, kind="stable")
    more = np.zeros(0) if cost is None else cost
    squares = sparse.diags(np.repeat([1.0, 0.0], [len(point), len(more)]), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    count = int(exact.sum())
    cones = [clarabel.NonnegativeConeT(len(upper) - count)]
    if count:
        cones.insert(0, clarabel.ZeroConeT(count))
    solver = clarabel.DefaultSolver(
        squares, np.concatenate([-point, more]), sparse.csc_matrix(rows)[order],
        upper[order].astype(float), cones, settings,
    )  # fmt: skip
    return np.array(solver.solve().x)


def is_nearest(
    mine: np.ndarray, theirs: np.ndarray, point: np.ndarray, mine_pays: float = 0.0,
    theirs_pays: float = 0.0,
) -> bool:  # fmt: skip
    """Whether ``mine`` is nearest to ``point``, given the solver's point ``theirs``.

    What is minimised, half the squared distance and what else is paid, curves by 1 or more in all
    directions: a point at a distance d from the minimum costs at least d² / 2 more.  Where the
    minimum is degenerate the solver itself stops at such a distance; elsewhere both agree up to
    1e-6.
    """
    own = 0.5 * ((mine - point) ** 2).sum() + mine_pays
    other = 0.5 * ((theirs - point) ** 2).sum() + theirs_pays
    return bool(((mine - theirs) ** 2).sum() <= 2.0 * (other - own) + 1e-12 * (1.0 + abs(own)))


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


def cut_rows(n: int, edges: np.ndarray) -> tuple[Any, np.ndarray]:
    """``|x_j - x_k| <= z_jk``, all in [0, 1]: rows over nodes, then edges, and limits."""
    count = len(edges)
    number = np.arange(count)
    difference = sparse.coo_array(
        (np.repeat([1.0, -1.0], count), (np.tile(number, 2), edges.T.ravel())), (count, n)
    )
    edge = sparse.eye(count)
    cube = sparse.eye(n + count)
    rows = sparse.vstack([
        sparse.hstack([difference, -edge]), sparse.hstack([-difference, -edge]), cube, -cube
    ])  # fmt: skip
    return rows, np.concatenate([np.zeros(2 * count), np.ones(n + count), np.zeros(n + count)])
