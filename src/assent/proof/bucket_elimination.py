"""The maximum of a sum of small tables, one variable eliminated after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.problem import Float

# Entries of the largest table that is written down.
LARGEST = 2**24


class Piece(NamedTuple):
    """A table over some variables, by their numbers in increasing order, an axis for each."""

    scope: tuple[int, ...]
    table: Float


def maximum(pieces: list[Piece]) -> float:
    """The largest sum of all tables over all states of all variables.

    The variable that makes the smallest table is eliminated first.  Cycles and other graphs that
    are nearly trees are quick; where a table would be too large the answer is ``inf``.

    Example:
        >>> differ = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> triangle = [Piece((0, 1), differ), Piece((1, 2), differ), Piece((0, 2), differ)]
        >>> maximum(triangle)
        2.0
    """
    total = 0.0
    left = list(pieces)
    sizes = {v: k for piece in left for v, k in zip(piece.scope, piece.table.shape, strict=True)}
    while True:
        total += sum(float(piece.table) for piece in left if not piece.scope)
        left = [piece for piece in left if piece.scope]
        if not left:
            return total
        variable = _cheapest(left, sizes)
        own = [piece for piece in left if variable in piece.scope]
        left = [piece for piece in left if variable not in piece.scope]
        if _entries({v for piece in own for v in piece.scope}, sizes) > LARGEST:
            return np.inf
        joint = _sum(own, sizes)
        rest = tuple(v for v in joint.scope if v != variable)
        left.append(Piece(rest, joint.table.max(axis=joint.scope.index(variable))))


def _cheapest(pieces: list[Piece], sizes: dict[int, int]) -> int:
    """The variable whose elimination makes the smallest table."""
    beside: dict[int, set[int]] = {}
    for piece in pieces:
        for v in piece.scope:
            beside.setdefault(v, set()).update(piece.scope)
    return min(beside, key=lambda v: (_entries(beside[v], sizes), v))


def _entries(variables: set[int], sizes: dict[int, int]) -> float:
    """Joint states of some variables."""
    return float(np.prod([float(sizes[v]) for v in variables]))


def _sum(pieces: list[Piece], sizes: dict[int, int]) -> Piece:
    """One table over all variables of some."""
    scope = tuple(sorted({v for piece in pieces for v in piece.scope}))
    table = np.zeros([sizes[v] for v in scope])
    for piece in pieces:
        table += piece.table.reshape([sizes[v] if v in piece.scope else 1 for v in scope])
    return Piece(scope, table)
