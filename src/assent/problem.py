"""The compiled problem: flat, read-only arrays that every solver and kernel works on.

Maximise ``constant + theta . x + sum_e pair[e] * x_i * x_j`` over binary coordinates ``x``
subject to logic factors.  Structure (:class:`Problem`) and scores (:class:`Scores`) are apart,
so that a graph compiled once is decoded again with new scores only.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

# The three logic forms every constraint is reduced to; negated literals do the rest.
CAP = 0  # sum of literals <= k
SUM = 1  # sum of literals == k
ANYOF = 2  # last literal == OR of the others

Float = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Problem:
    """Structure of a compiled factor graph.

    A group holds all logic factors of one form and size.  Link ``j`` of factor ``f`` (counted
    within its group of ``m`` factors) stands at ``group_link + j * m + f``: factors of a group
    are processed side by side, so their links are stored transposed.

    Attributes:
        n: number of coordinates (indicators still free after compilation).
        pair_var: ``[P, 2]`` the two coordinates of each pair factor.
        group_kind: ``[G]`` CAP, SUM or ANYOF.
        group_size: ``[G]`` literals per factor, an ANYOF's output included.
        group_count: ``[G]`` factors in the group.
        group_link: ``[G]`` first link of the group.
        group_factor: ``[G]`` first logic factor of the group.
        lits: ``[L]`` coordinate ``v``, or ``~v`` for its negation.
        k: ``[F]`` right-hand side of CAP and SUM, 1 for ANYOF.
        degree: ``[n]`` links of each coordinate, pairs included.
    """

    n: int
    pair_var: Int32
    group_kind: NDArray[np.int8]
    group_size: Int32
    group_count: Int64
    group_link: Int64
    group_factor: Int64
    lits: Int32
    k: Int32
    degree: Int32

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def n_pairs(self) -> int:
        return len(self.pair_var)

    @property
    def n_logic(self) -> int:
        return len(self.k)

    @property
    def n_links(self) -> int:
        """All links: two per pair and one per literal of a logic factor."""
        return 2 * len(self.pair_var) + len(self.lits)


@dataclass(frozen=True)
class Scores:
    """Finite scores of a :class:`Problem`: ``theta[n]``, ``pair[P]`` and a constant."""

    theta: Float
    pair: Float
    constant: float = 0.0


@dataclass(frozen=True)
class DualPoint:
    """One score per link: ``pair[P, 2]`` on coordinates, ``logic[L]`` on literals.

    Any values give a valid upper bound; good ones give a tight one.
    """

    pair: Float
    logic: Float


def make_problem(
    n: int,
    pair_var: Int32,
    groups: list[tuple[int, Int32, Int32]],
) -> Problem:
    """Assemble a :class:`Problem` from ``(kind, literals[m, size], k[m])`` groups.

    Groups are sorted by kind, then size; factors keep their order within a group.

    Example:
        >>> pairs = np.zeros((0, 2), np.int32)
        >>> group = (SUM, np.array([[0, ~1]], np.int32), np.array([1], np.int32))
        >>> make_problem(2, pairs, [group]).degree.tolist()
        [1, 1]
    """
    order = sorted(range(len(groups)), key=lambda i: (groups[i][0], groups[i][1].shape[1]))
    ordered = [groups[i] for i in order]
    sizes = np.array([lits.shape[1] for _, lits, _ in ordered], np.int32)
    counts = np.array([lits.shape[0] for _, lits, _ in ordered], np.int64)
    links = sizes.astype(np.int64) * counts
    lits = np.concatenate([np.zeros(0, np.int32), *(g[1].T.ravel() for g in ordered)])
    k = np.concatenate([np.zeros(0, np.int32), *(g[2] for g in ordered)])
    lits = lits.astype(np.int32, copy=False)
    degree = np.bincount(np.where(lits < 0, ~lits, lits), minlength=n)
    degree += np.bincount(pair_var.ravel(), minlength=n)
    return Problem(
        n=n,
        pair_var=np.ascontiguousarray(pair_var, np.int32).reshape(-1, 2),
        group_kind=np.array([g[0] for g in ordered], np.int8),
        group_size=sizes,
        group_count=counts,
        group_link=np.concatenate([[0], np.cumsum(links)[:-1]]).astype(np.int64)[: len(ordered)],
        group_factor=np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)[: len(ordered)],
        lits=lits,
        k=k.astype(np.int32, copy=False),
        degree=degree.astype(np.int32),
    )
