"""Rows, columns and entries of a linear program over links, collected a family at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float, Int64


class ProgramRows(NamedTuple):
    """All rows as triplets: over links (``row, link, entry``) and over the further columns.

    Attributes:
        lower, upper: ``[R]`` limits of the rows.
        limit: ``[R]`` what no optimal multiplier exceeds; infinite where that is unknown.
        cost: ``[C]`` of the further columns, to be minimised.
        earned_link, earned: scores that literals of links earn besides the model's.
        constant: score that is earned in any case.
        integral: ``[C]`` which of the further columns an integer program needs integral.
        priced: structures whose columns are still to be generated.
        products: the products among the further columns.
        entry_column: ``[entries]`` the column of every entry of a DENSE table, -1 where none is.
    """

    row: Int64
    link: Int64
    entry: Float
    column_row: Int64
    column: Int64
    column_entry: Float
    lower: Float
    upper: Float
    limit: Float
    cost: Float
    earned_link: Int64
    earned: Float
    constant: float
    integral: NDArray[np.bool_]
    priced: tuple[Priced, ...]
    products: Products
    entry_column: Int64


class Products(NamedTuple):
    """Products ``w`` of two literals: a column ``t``, or ``u - t`` for those that gain.

    Attributes:
        place: ``[E]`` pair ``p``, or ``P + j`` for entry ``j`` of the tables' scores.
        links: ``[E, 2]`` the links of ``u`` and ``v``; ``opposite``: whether they are negated.
        column: ``[E]`` the column ``t``.
        gains: ``[E]`` whether ``w = u - t``.
    """

    place: Int64
    links: Int64
    opposite: NDArray[np.bool_]
    column: Int64
    gains: NDArray[np.bool_]


class Priced(NamedTuple):
    """A group of structures as columns, one per vertex: their rows.

    ``links[m, links]`` are the rows of the coordinates, ``convexity[m]`` those that say "one vertex
    each"; ``table`` is the group's number among the problem's tables.
    """

    table: int
    links: Int64
    convexity: Int64


@dataclass(frozen=True)
class LinkStates:
    """Indicators of states: ``links`` whose literals they are, or the ``opposite`` of."""

    links: Int64
    opposite: NDArray[np.bool_] | bool = False

    def __getitem__(self, chosen: Any) -> LinkStates:
        if isinstance(self.opposite, bool):
            return LinkStates(self.links[chosen], self.opposite)
        opposite = np.broadcast_to(self.opposite, self.links.shape)
        return LinkStates(self.links[chosen], opposite[chosen])


class RowBuilder:
    """Collects rows, columns and entries; arguments of one call broadcast together."""

    def __init__(self) -> None:
        self.n_rows = self.n_columns = 0
        self._limits: list[tuple[Float, ...]] = []
        self._cost: list[Float] = []
        self._integral: list[NDArray[np.bool_]] = []
        self.priced: list[Priced] = []
        self._entries: list[tuple[NDArray, ...]] = []
        self._column_entries: list[tuple[NDArray, ...]] = []
        self._shifts: list[tuple[NDArray, ...]] = []
        self._scores: list[tuple[NDArray, ...]] = []
        self._products: list[tuple[NDArray, ...]] = []
        self._entry_columns: list[tuple[NDArray, ...]] = []
        self._constant = 0.0

    def rows(self, upper: Float, lower: Any = -np.inf, limit: Any = np.inf) -> Int64:
        """New rows, one per element of ``upper``: their numbers, in its shape."""
        self._limits.append(_flat(lower, upper, limit))
        self.n_rows += upper.size
        return np.arange(self.n_rows - upper.size, self.n_rows).reshape(upper.shape)

    def columns(self, cost: Float, integral: bool = False) -> Int64:
        """New non-negative columns, one per element of ``cost``: their numbers, in its shape."""
        self._cost.append(cost.ravel())
        self._integral.append(np.full(cost.size, integral))
        self.n_columns += cost.size
        return np.arange(self.n_columns - cost.size, self.n_columns).reshape(cost.shape)

    def put(self, rows: Int64, state: LinkStates, entry: Any) -> None:
        """Entries of states; of the opposite of a literal ``l``, which is ``1 - l``."""
        if state.opposite is False:
            self._entries.append(_flat(rows, state.links, entry))
            return
        sign = np.where(state.opposite, -1.0, 1.0)
        self._entries.append(_flat(rows, state.links, entry * sign))
        if np.any(state.opposite):
            self._shifts.append(_flat(rows, entry * (sign < 0)))

    def put_column(self, rows: Int64, columns: Int64, entry: Any) -> None:
        """Entries of further columns."""
        self._column_entries.append(_flat(rows, columns, entry))

    def add_scores(self, state: LinkStates, amount: Float) -> None:
        """Scores for states being true."""
        self._scores.append(_flat(state.links, np.where(state.opposite, -amount, amount)))
        self._constant += float(amount[np.broadcast_to(state.opposite, amount.shape)].sum())

    def add_constant(self, amount: float) -> None:
        """A score whatever is true."""
        self._constant += amount

    def product(
        self, place: Int64, u: LinkStates, v: LinkStates, columns: Int64, gains: bool
    ) -> None:
        """Where the products of two states are to be found: ``columns``, or ``u - columns``."""
        opposite = [np.broadcast_to(s.opposite, s.links.shape) for s in (u, v)]
        self._products.append(_flat(place, u.links, v.links, *opposite, columns, gains))

    def entries(self, place: Int64, columns: Int64) -> None:
        """The columns of entries of tables."""
        self._entry_columns.append(_flat(place, columns))

    def finish(self, n_entries: int) -> ProgramRows:
        """Everything collected."""
        index, number = np.zeros(0, np.int64), np.zeros(0)
        row, link, entry = _joined((index, index, number), self._entries)
        column_row, column, column_entry = _joined((index, index, number), self._column_entries)
        lower, upper, limit = _joined((number, number, number), self._limits)
        shift_row, shift = _joined((index, number), self._shifts)
        moved = np.bincount(shift_row, shift, minlength=self.n_rows)
        earned_link, earned = _joined((index, number), self._scores)
        (cost,) = _joined((number,), [(part,) for part in self._cost])
        (integral,) = _joined((np.zeros(0, bool),), [(part,) for part in self._integral])
        return ProgramRows(
            row, link, entry, column_row, column, column_entry, lower - moved, upper - moved,
            limit, cost, earned_link, earned, self._constant, integral, tuple(self.priced),
            self._all_products(), self._columns_of_entries(n_entries),
        )  # fmt: skip

    def _all_products(self) -> Products:
        index, truth = np.zeros(0, np.int64), np.zeros(0, bool)
        place, u, v, not_u, not_v, column, gains = _joined(
            (index, index, index, truth, truth, index, truth), self._products
        )
        return Products(
            place, np.stack([u, v], axis=1), np.stack([not_u, not_v], axis=1), column, gains
        )

    def _columns_of_entries(self, n_entries: int) -> Int64:
        index = np.zeros(0, np.int64)
        place, column = _joined((index, index), self._entry_columns)
        out = np.full(n_entries, -1)
        out[place] = column
        return out


def _flat(*arrays: Any) -> tuple[NDArray, ...]:
    """Arrays broadcast together and flattened."""
    shape = np.broadcast(*arrays).shape
    return tuple(_spread(array, shape).ravel() for array in arrays)


def _spread(array: Any, shape: tuple[int, ...]) -> NDArray:
    """An array of the shape, itself where it has it; quicker than a view of a number."""
    own = np.asarray(array)
    if own.shape == shape:
        return own
    out = np.empty(shape, own.dtype)
    out[...] = own
    return out


def _joined(empty: tuple[NDArray, ...], parts: list[tuple[NDArray, ...]]) -> list[NDArray]:
    """The first arrays of all parts joined, the second ones, …; typed as ``empty``."""
    return [
        np.concatenate([none, *(part[i] for part in parts)]).astype(none.dtype, copy=False)
        for i, none in enumerate(empty)
    ]
