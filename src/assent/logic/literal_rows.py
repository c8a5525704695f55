"""Rows of literals: constants folded, repetitions removed, rows of equal length together.

``TRUE`` and ``FALSE`` are literals too; ``~`` negates any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Int32, Int64
from assent.logic.predicates import FALSE, TRUE
from assent.model.variables import coordinates_of


@dataclass(frozen=True)
class Ragged:
    """Literals ``lits[i]`` in rows ``row[i]`` of ``count`` rows, in any order."""

    row: Int64
    lits: Int32
    count: int


@dataclass(frozen=True)
class EqualRows:
    """Rows of one length: ``rows[m]`` of the original, ``lits[m, size]``."""

    rows: Int64
    lits: Int32


@dataclass(frozen=True)
class Disjunctions:
    """Disjunctions of literals: those that are constantly true, and the rest by length.

    A part of length 0 holds rows that are constantly false.
    """

    true: Int64
    parts: list[EqualRows]


@dataclass(frozen=True)
class Sums:
    """Weighted sums of literals, by length, and their constant parts."""

    constant: Int64  # [count]
    parts: list[EqualRows]
    weights: list[Int32]  # one [m, size] per part


def join(parts: list[Ragged]) -> Ragged:
    """Each row's literals of all parts together."""
    return Ragged(
        np.concatenate([p.row for p in parts]),
        np.concatenate([p.lits for p in parts]),
        parts[0].count,
    )


def disjunctions(lits: Ragged) -> Disjunctions:
    """Fold constants, drop repetitions; ``x`` with ``~x`` is true."""
    row, codes = _ordered(lits)
    true = np.zeros(lits.count, bool)
    true[row[codes == TRUE]] = True
    same_row = row[1:] == row[:-1]
    opposite = same_row & (codes[1:] == ~codes[:-1])
    true[row[1:][opposite]] = True
    keep = (codes != FALSE) & ~true[row]
    keep[1:] &= ~(same_row & (codes[1:] == codes[:-1]))
    return Disjunctions(np.flatnonzero(true), by_length(row[keep], codes[keep], ~true))


def as_disjunctions(lits: Int32) -> Disjunctions:
    """Rows ``lits[m, size]`` without constants or repetitions, as disjunctions."""
    return Disjunctions(np.zeros(0, np.int64), [EqualRows(np.arange(len(lits)), lits)])


def sums(lits: Ragged) -> Sums:
    """Fold constants (``x`` with ``~x`` is one), merge repetitions into weights."""
    row, codes = _ordered(lits)
    constant = np.bincount(row[codes == TRUE], minlength=lits.count)
    plain = (codes != TRUE) & (codes != FALSE)
    row, codes = row[plain], codes[plain]
    own = coordinates_of(codes)
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (own[1:] != own[:-1])
    group = np.cumsum(first) - 1
    positive = np.bincount(group[codes >= 0], minlength=int(first.sum()))
    negative = np.bincount(group[codes < 0], minlength=int(first.sum()))
    # p of x and q of ~x: min(p, q) of them are true, one of the two has the weight |p - q|.
    both = np.bincount(row[first], np.minimum(positive, negative), lits.count)
    constant += both.astype(np.int64)
    weight = np.abs(positive - negative).astype(np.int32)
    literal = np.where(positive > negative, own[first], ~own[first]).astype(np.int32)
    used = np.flatnonzero(weight > 0).astype(np.int32)
    parts = by_length(row[first][used], used, np.ones(lits.count, bool))
    weights = [weight[p.lits] for p in parts]
    return Sums(constant, [EqualRows(p.rows, literal[p.lits]) for p in parts], weights)


def _ordered(lits: Ragged) -> tuple[Int64, Int32]:
    """Sorted by row, coordinate and sign."""
    own = coordinates_of(lits.lits).astype(np.int64)
    key = (lits.row << 32) | (own << 1) | (lits.lits < 0)
    order = np.argsort(key, kind="stable")
    return lits.row[order], lits.lits[order]


def by_length(row: Int64, values: Int32, wanted: NDArray[np.bool_]) -> list[EqualRows]:
    """Values in rows (sorted) as matrices, one per length of the rows ``wanted[count]``."""
    lengths = np.bincount(row, minlength=len(wanted))
    start = np.cumsum(lengths) - lengths
    parts = []
    for size in np.unique(lengths[wanted]):
        rows = np.flatnonzero(wanted & (lengths == size))
        parts.append(EqualRows(rows, values[start[rows][:, None] + np.arange(size)]))
    return parts


def unique_rows(table: Int32) -> tuple[Int64, Int64]:
    """First occurrence ``[u]`` of each different row, and each row's index ``[m]`` among them."""
    mixed = hash_rows(table)
    _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    if (table[first[inverse]] != table).any():  # two rows share a hash
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.ravel()
    return first, inverse


def hash_rows(table: Int32) -> NDArray[np.uint64]:
    """A 64-bit hash of each row."""
    # Odd multipliers from the golden ratio and from MurmurHash3's finalizer.
    state = np.full(len(table), 0x9E3779B97F4A7C15, np.uint64)
    for column in table.T:
        state ^= column.astype(np.int64).view(np.uint64)
        state *= np.uint64(0xFF51AFD7ED558CCD)
        state ^= state >> np.uint64(32)
    return state


class RowIndex:
    """A hash index of rows of literals, each with a value."""

    def __init__(self) -> None:
        self._hash = np.zeros(0, np.uint64)
        self._rows: Int32 | None = None
        self._values = np.zeros(0, np.int64)

    def find(self, table: Int32) -> tuple[NDArray[np.bool_], Int64]:
        """Which rows are in the index, and their values."""
        if self._rows is None or not len(self._hash):
            return np.zeros(len(table), bool), np.zeros(len(table), np.int64)
        place = np.minimum(np.searchsorted(self._hash, hash_rows(table)), len(self._hash) - 1)
        return (self._rows[place] == table).all(axis=1), self._values[place]

    def add(self, table: Int32, values: Int64) -> None:
        """Add different rows that are not in the index yet."""
        rows = table if self._rows is None else np.concatenate([self._rows, table])
        hashes = np.concatenate([self._hash, hash_rows(table)])
        order = np.argsort(hashes, kind="stable")
        self._hash, self._rows = hashes[order], rows[order]
        self._values = np.concatenate([self._values, values])[order]
