"""Rows of literals: constants folded, repetitions removed, rows of equal length together.

All functions work on whole arrays.  ``TRUE`` and ``FALSE`` are literals too; ``~`` negates any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Int32, Int64
from assent.logic.predicates import FALSE, TRUE


@dataclass(frozen=True)
class Ragged:
    """Literals ``lits[i]`` in rows ``row[i]`` of ``count`` rows, in any order."""

    row: Int64
    lits: Int32
    count: int


@dataclass(frozen=True)
class Part:
    """Rows of one length: ``rows[m]`` of the original, ``lits[m, size]``."""

    rows: Int64
    lits: Int32


@dataclass(frozen=True)
class Disjunctions:
    """Rows read as "one of these": those that are true anyway, and the rest by length.

    A part of length 0 holds rows that are false anyway.
    """

    true: Int64
    parts: list[Part]


@dataclass(frozen=True)
class Sums:
    """Rows read as "how many": parts by length, what is true anyway, and how often each counts."""

    sure: Int64  # [count] number of literals that are true anyway
    parts: list[Part]
    weights: list[Int32]  # one [m, size] per part


def coordinate(lits: Int32) -> Int32:
    """The coordinate of each literal: that of its negation is the same."""
    return np.where(lits < 0, ~lits, lits)


def matrix(columns: list[Int32]) -> Ragged:
    """Rows that all have the same length."""
    count = len(columns[0])
    row = np.repeat(np.arange(count), len(columns))
    return Ragged(row, np.stack(columns, axis=1).ravel(), count)


def join(parts: list[Ragged]) -> Ragged:
    """Rows that go on in each other."""
    if len(parts) == 1:
        return parts[0]
    return Ragged(
        np.concatenate([p.row for p in parts]),
        np.concatenate([p.lits for p in parts]),
        parts[0].count,
    )


def disjunctions(lits: Ragged | list[Int32]) -> Disjunctions:
    """Fold constants, drop repetitions; ``x`` with ``~x`` is true."""
    if isinstance(lits, list):
        quick, rest = _quick(lits)
        slow = disjunctions(matrix([column[rest] for column in lits]))
        parts = [Part(rest[p.rows], p.lits) for p in slow.parts]
        return Disjunctions(rest[slow.true], [quick, *parts] if len(quick.rows) else parts)
    row, codes = _ordered(lits)
    true = np.zeros(lits.count, bool)
    true[row[codes == TRUE]] = True
    same_row = row[1:] == row[:-1]
    opposite = same_row & (codes[1:] == ~codes[:-1])
    true[row[1:][opposite]] = True
    keep = (codes != FALSE) & ~true[row]
    keep[1:] &= ~(same_row & (codes[1:] == codes[:-1]))
    false = np.flatnonzero(~true & (np.bincount(row[keep], minlength=lits.count) == 0))
    parts = by_length(row[keep], codes[keep], lits.count)
    if len(false):
        parts.append(Part(false, np.zeros((len(false), 0), np.int32)))
    return Disjunctions(np.flatnonzero(true), parts)


def as_disjunctions(lits: Int32) -> Disjunctions:
    """Rows ``lits[m, size]`` that need no folding, as disjunctions."""
    return Disjunctions(np.zeros(0, np.int64), [Part(np.arange(len(lits)), lits)])


def _quick(columns: list[Int32]) -> tuple[Part, Int64]:
    """Rows in which nothing is to be folded, sorted; and the numbers of the others."""
    table = np.stack(columns, axis=1)
    own = coordinate(table)
    order = (
        np.argsort(own, axis=1, kind="stable")
        if table.shape[1] > 1
        else np.zeros(table.shape, np.int64)
    )
    table = np.take_along_axis(table, order, axis=1)
    own = np.take_along_axis(own, order, axis=1)
    plain = own[:, -1] != TRUE
    plain &= (own[:, 1:] != own[:, :-1]).all(axis=1)
    rows = np.flatnonzero(plain)
    return Part(rows, table[rows]), np.flatnonzero(~plain)


def sums(lits: Ragged) -> Sums:
    """Count what is sure (a literal with its opposite is one), merge repetitions into weights."""
    row, codes = _ordered(lits)
    sure = np.bincount(row[codes == TRUE], minlength=lits.count)
    plain = (codes != TRUE) & (codes != FALSE)
    row, codes = row[plain], codes[plain]
    own = coordinate(codes)
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (own[1:] != own[:-1])
    group = np.cumsum(first) - 1
    positive = np.bincount(group[codes >= 0], minlength=int(first.sum()))
    negative = np.bincount(group[codes < 0], minlength=int(first.sum()))
    # p of x and q of ~x: min(p, q) are sure, the rest counts |p - q| times.
    sure += np.bincount(row[first], np.minimum(positive, negative), lits.count).astype(np.int64)
    weight = np.abs(positive - negative).astype(np.int32)
    literal = np.where(positive > negative, own[first], ~own[first]).astype(np.int32)
    used = weight > 0
    where = np.flatnonzero(used)
    parts = by_length(row[first][used], where.astype(np.int32), lits.count)
    empty = np.flatnonzero(np.bincount(row[first][used], minlength=lits.count) == 0)
    weights = [weight[p.lits] for p in parts]
    parts = [Part(p.rows, literal[p.lits]) for p in parts]
    if len(empty):
        parts.append(Part(empty, np.zeros((len(empty), 0), np.int32)))
        weights.append(np.zeros((len(empty), 0), np.int32))
    return Sums(sure, parts, weights)


def _ordered(lits: Ragged) -> tuple[Int64, Int32]:
    """Row by row, literals of one coordinate side by side."""
    own = coordinate(lits.lits).astype(np.int64)
    key = (lits.row << 32) | (own << 1) | (lits.lits < 0)
    order = np.argsort(key, kind="stable")
    return lits.row[order], lits.lits[order]


def by_length(row: Int64, values: Int32, count: int) -> list[Part]:
    """Values in rows (sorted) as matrices, one per length of row; empty rows are left out."""
    lengths = np.bincount(row, minlength=count)
    start = np.cumsum(lengths) - lengths
    parts = []
    for size in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == size)
        parts.append(Part(rows, values[start[rows][:, None] + np.arange(size)]))
    return parts


def unique_rows(table: Int32) -> tuple[Int64, Int64]:
    """First occurrence ``[u]`` of each different row, and the number ``[m]`` of each row's."""
    mixed = mix(table)
    _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    if (table[first[inverse]] != table).any():  # two rows share a hash: rare beyond measure
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.ravel()
    return first, inverse


def mix(table: Int32) -> NDArray[np.uint64]:
    """A 64-bit hash of each row."""
    # Odd multipliers from the golden ratio and from MurmurHash3's finalizer.
    state = np.full(len(table), 0x9E3779B97F4A7C15, np.uint64)
    for column in table.T:
        state ^= column.astype(np.int64).view(np.uint64)
        state *= np.uint64(0xFF51AFD7ED558CCD)
        state ^= state >> np.uint64(32)
    return state


class Known:
    """Rows of literals met before, each with a value; found again by content."""

    def __init__(self) -> None:
        self._hash = np.zeros(0, np.uint64)
        self._rows: Int32 | None = None
        self._values = np.zeros(0, np.int64)

    def find(self, table: Int32) -> tuple[NDArray[np.bool_], Int64]:
        """Which rows are known, and their values."""
        if self._rows is None or not len(self._hash):
            return np.zeros(len(table), bool), np.zeros(len(table), np.int64)
        place = np.minimum(np.searchsorted(self._hash, mix(table)), len(self._hash) - 1)
        return (self._rows[place] == table).all(axis=1), self._values[place]

    def add(self, table: Int32, values: Int64) -> None:
        """Remember different rows that are not known yet."""
        rows = table if self._rows is None else np.concatenate([self._rows, table])
        hashes = np.concatenate([self._hash, mix(table)])
        order = np.argsort(hashes, kind="stable")
        self._hash, self._rows = hashes[order], rows[order]
        self._values = np.concatenate([self._values, values])[order]
