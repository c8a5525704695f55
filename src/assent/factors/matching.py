"""Matching: rows and columns of a table are paired, each within its capacity."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.arguments import as_array, shown
from assent.errors import ModelError
from assent.factors.structure import Kernels, Structure
from assent.kernels.problem import Int64
from assent.model.variables import as_literals


class Matching(Structure):
    """A bipartite matching: ``pairs[i, j]`` says that row ``i`` and column ``j`` are paired.

    Args:
        pairs: array of literals whose last two axes are rows and columns; one matching for each
            index of the others.
        rows: how many partners a row has at most: one number, or one per row.
        columns: how many partners a column has at most.
        fill_rows: every row has exactly that many.
        fill_columns: every column has exactly that many.

    A pair that is ruled out, by evidence or a score of ``-inf``, costs nothing: a sparse matching
    is a table with most pairs ruled out.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> pairs = g.binary(scores=[[5.0, 4.0, 1.0], [6.0, 2.0, -1.0]], name="pairs")
        >>> matching = g.add(at.Matching(pairs))
        >>> at.decode(g)[pairs].tolist()
        [[0, 1, 0], [1, 0, 0]]
    """

    paper_name = "matching"
    formula = "Σ_j x_ij ≤ or = rows_i and Σ_i x_ij ≤ or = columns_j"
    abilities = ("maximize", "project", "max_marginals")

    def __init__(
        self,
        pairs: Any,
        *,
        rows: Any = 1,
        columns: Any = 1,
        fill_rows: bool = False,
        fill_columns: bool = False,
    ) -> None:
        literals = as_literals(pairs)
        if literals.ndim < 2:
            raise ModelError(
                f"Matching got literals of shape {literals.shape}: the last two axes are rows "
                "and columns"
            )
        *shape, n, m = literals.shape
        if n * m == 0:
            raise ModelError(f"Matching over no pairs (shape {literals.shape}) says nothing")
        own, other = capacities("rows", rows, n), capacities("columns", columns, m)
        _refuse_infeasible(own, other, fill_rows, fill_columns)
        codes = literals.codes.reshape(-1, n * m)
        data = [n, m, fill_rows, fill_columns, *own, *other]
        self._attach_literals(literals.graph, codes, tuple(shape), data)
        self.scores = self.fit(np.zeros(0))

    def entry_shape(self) -> tuple[int, ...]:
        return (0,)

    def memory(self) -> int:
        from assent.kernels.kinds.matchings.matching_projection import matching_memory

        return matching_memory(int(self.data[0]), int(self.data[1]))

    def kernels(self) -> Kernels:
        from assent.kernels.kinds.matchings import bipartite_matching
        from assent.kernels.kinds.matchings.matching_projection import project_matching

        return Kernels(
            bipartite_matching.maximize_matching,
            bipartite_matching.parts_matching,
            bipartite_matching.max_marginals_matching,
            project=project_matching,
        )


def capacities(side: str, given: Any, count: int) -> Int64:
    """Capacities of one side, ``[count]``, checked."""
    array = as_array(given)
    if array is None or array.dtype.kind not in "iu" or array.shape not in ((), (count,)):
        raise ModelError(
            f"Matching: {side} is a whole number or {count} of them, one each; got {shown(given)}"
        )
    if array.size and (array.min() < 0 or array.max() >= 2**31):
        raise ModelError(f"Matching: {side} must not be negative or large, got {shown(given)}")
    return np.broadcast_to(array, count).astype(np.int64)


def _refuse_infeasible(rows: Int64, columns: Int64, fill_rows: bool, fill_columns: bool) -> None:
    """Capacities that no table can have: Gale and Ryser's test on sorted sums.

    If both sides are filled, it also finds out that they differ in total.
    """
    for name, own, other, filled in (
        ("row", rows, columns, fill_rows),
        ("column", columns, rows, fill_columns),
    ):
        if not filled:
            continue
        needed = np.cumsum(np.sort(own)[::-1])
        offered = [int(np.minimum(other, k).sum()) for k in range(1, len(own) + 1)]
        short = np.flatnonzero(needed > offered)
        if len(short):
            k = int(short[0])
            raise ModelError(
                f"Matching: filling {k + 1} {name}(s) takes {needed[k]} partners, there is room "
                f"for {offered[k]}; leave fill_{name}s out, or raise the other side's capacity"
            )
