"""The maximum of a sum of small tables, by bucket elimination."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from assent.kernels.problem import Float

# Entries of the largest table over the variables of a region: a tenth of a second.
LARGEST = 2**24


class Piece(NamedTuple):
    """A table over some variables, by their numbers, an axis for each."""

    scope: tuple[int, ...]
    table: Float


def maximum(pieces: list[Piece]) -> float:
    """The largest sum of all tables over all states of all variables.

    The variable that makes the smallest table is eliminated first.  Cycles and other graphs that
    are nearly trees are quick; where a table would be too large the answer is ``inf``.
    """
    sizes = {v: k for piece in pieces for v, k in zip(piece.scope, piece.table.shape, strict=True)}
    number = {v: i for i, v in enumerate(_smallest_first(pieces, sizes))}
    renumbered = [Piece(tuple(number[v] for v in scope), table) for scope, table in pieces]
    return eliminate(len(number), renumbered, LARGEST)


def _smallest_first(pieces: list[Piece], sizes: dict[int, int]) -> list[int]:
    """All variables, each the one whose elimination makes the smallest table at its turn."""
    beside: dict[int, set[int]] = {v: set() for v in sizes}
    for piece in pieces:
        for v in piece.scope:
            beside[v].update(piece.scope)
    order = []
    while beside:
        v = min(beside, key=lambda v: (prod(sizes[w] for w in beside[v]), v))
        others = beside.pop(v) - {v}
        for w in others:
            beside[w] = (beside[w] | others) - {v}
        order.append(v)
    return order


def eliminate(count: int, pieces: list[Piece], largest: int) -> float:
    """The best sum of tables over ``count`` variables, eliminated in the order of their numbers.

    ``inf`` where a table would have more than ``largest`` entries.
    """
    buckets: list[list[Piece]] = [[] for _ in range(count)]
    total = sum(float(piece.table) for piece in pieces if not piece.scope)
    for piece in pieces:
        if piece.scope:
            buckets[min(piece.scope)].append(piece)
    for bucket in buckets:
        sizes = {v: k for own, table in bucket for v, k in zip(own, table.shape, strict=True)}
        if prod(sizes.values()) > largest:
            return np.inf
        scope = tuple(sorted(sizes))
        joint = np.zeros([1] * len(scope))
        for own, table in bucket:
            joint = joint + _aligned(own, table, scope)
        message = joint.max(axis=0)
        bucket.clear()  # the memory of its tables
        if len(scope) > 1:
            buckets[scope[1]].append(Piece(scope[1:], message))
        else:
            total += float(message)
    return total


def _aligned(own: tuple[int, ...], table: Float, scope: tuple[int, ...]) -> Float:
    """A table with an axis for every variable of ``scope``, of length one where it has none."""
    order = sorted(range(len(own)), key=lambda axis: own[axis])
    sizes = {own[axis]: table.shape[axis] for axis in order}
    return table.transpose(order).reshape([sizes.get(v, 1) for v in scope])
