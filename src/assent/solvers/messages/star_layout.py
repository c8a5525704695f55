"""The stars of a problem, laid out for :mod:`assent.kernels.messages.star_sweep`."""

from __future__ import annotations

import numpy as np

from assent.kernels.core import factor_list as column
from assent.kernels.core.factor_list import Flat, flat_of, links_of_group
from assent.kernels.core.memo import remembered
from assent.kernels.messages import star_sweep as edge
from assent.kernels.messages.star_sweep import Stars
from assent.kernels.problem import DENSE, POTTS, SUM, Int64, Problem


@remembered
def stars_of(problem: Problem) -> Stars:
    """The problem's stars, made at the first call."""
    flat = flat_of(problem, "max_marginals")
    units = _Units(problem, flat)
    parts = [np.zeros((0, edge.EDGE_COLUMNS + 2), np.int64)]
    for g, row in enumerate(flat.groups):
        for position, width, closed in slots_of_group(flat, row):
            parts += _slot_edges(flat, units, g, row, position, width, closed)
    edges = np.concatenate(parts)
    # A factor that meets a unit twice has its second edge in a star of its own there.
    unit, factor = edges[:, -2], edges[:, -1]
    edges = edges[np.lexsort((factor, unit))]
    unit, factor = edges[:, -2], edges[:, -1]
    again = np.zeros(len(edges), np.int64)
    for _ in range(int(flat.groups[:, column.SIZE].max(initial=1))):
        same = (unit[1:] == unit[:-1]) & (factor[1:] == factor[:-1])
        before = np.where(same, again[:-1] + 1, 0)
        if (again[1:] == before).all():
            break
        again[1:] = before
    order = np.lexsort((factor, again, unit))
    edges, unit, again = edges[order], unit[order], again[order]
    first = np.concatenate([[0], np.cumsum(_sizes(units))])
    return _in_order(flat, units, first, edges, unit, again, 2 * problem.n_pairs)


class _Units:
    """Categorical variables first, coordinates by themselves for the rest."""

    def __init__(self, problem: Problem, flat: Flat) -> None:
        n = problem.n
        self.of = np.full(n, -1)
        self.rank = np.zeros(n, np.int64)
        self.blocks: list[Int64] = []
        self.total: list[Int64] = []
        self.stride: list[Int64] = []
        self.count = 0
        self.is_total = np.zeros(problem.n_links, bool)  # links of the units' own factors
        first_of_slot = _slot_widths(problem, flat)
        for slots_first in (True, False):
            for row in flat.groups:
                if row[column.CODE] == SUM:
                    self._claim(flat, row, first_of_slot if slots_first else None)
        alone = np.flatnonzero((self.of < 0) & (problem.degree > 0))
        self.of[alone] = self.count + np.arange(len(alone))
        self.blocks.append(alone[:, None])
        self.total.append(np.full(len(alone), -1))
        self.stride.append(np.zeros(len(alone), np.int64))

    def _claim(self, flat: Flat, row: Int64, widths: Int64 | None) -> None:
        """Make units of the exactly-one factors of a group that share no coordinate."""
        m, size = int(row[column.COUNT]), int(row[column.SIZE])
        links = links_of_group(row).T
        lits = flat.lits[links].astype(np.int64)
        good = (flat.k[row[column.ITEM] : row[column.ITEM] + m] == 1) & (lits >= 0).all(axis=1)
        if widths is not None:
            good &= widths[np.maximum(lits[:, 0], 0)] == size
        good &= (self.of[np.maximum(lits, 0)] < 0).all(axis=1)
        index = np.flatnonzero(good)
        # Of factors with a common coordinate the first has it.
        earliest = np.full(len(self.of), m)
        np.minimum.at(earliest, lits[index], index[:, None])
        index = index[(earliest[lits[index]] == index[:, None]).all(axis=1)]
        own = lits[index]
        self.of[own] = (self.count + np.arange(len(index)))[:, None]
        self.rank[own] = np.arange(size)
        self.is_total[links[index]] = True
        self.blocks.append(own)
        self.total.append(links[index, 0] if len(index) else np.zeros(0, np.int64))
        self.stride.append(np.full(len(index), m))
        self.count += len(index)


def _slot_widths(problem: Problem, flat: Flat) -> Int64:
    """By first coordinate, the number of links of a slot of some table; 0 elsewhere."""
    widths = np.zeros(problem.n, np.int64)
    for row in flat.groups:
        for position, width, _ in slots_of_group(flat, row):
            links = links_of_group(row)[position]
            lits = flat.lits[links]
            widths[lits[lits >= 0]] = np.where(width > 1, width, widths[lits[lits >= 0]])
    return widths


def slots_of_group(flat: Flat, row: Int64) -> list[tuple[int, int, bool]]:
    """Slots of a group with links: first link, number of links, whether one of them is true.

    The last is so where every place without a link is impossible.
    """
    if row[column.CODE] < column.TABLE:
        return [(j, 1, False) for j in range(row[column.SIZE])]
    start = flat.integers[row[column.START] :][: row[column.SLOTS] + 1]
    place = flat.integers[row[column.PLACE] :][: row[column.SIZE]]
    base = flat.numbers[row[column.BASE] :][: row[column.PLACES]].copy()
    base[place] = -np.inf
    slot = np.searchsorted(start, place, side="right") - 1
    found = []
    for own in np.unique(slot):
        positions = np.flatnonzero(slot == own)
        closed = not np.isfinite(base[start[own] : start[own + 1]]).any()
        found.append((int(positions[0]), len(positions), closed))
    return found


def _slot_edges(
    flat: Flat, units: _Units, g: int, row: Int64, position: int, width: int, closed: bool
) -> list[Int64]:
    """Rays of one slot of all factors of a group: for a whole unit, or one per link."""
    links = links_of_group(row)[position : position + width].T
    lits = flat.lits[links].astype(np.int64)
    v = np.where(lits < 0, ~lits, lits)
    unit = units.of[v]
    member = np.arange(len(links))
    is_table = row[column.CODE] >= column.TABLE
    rows = []
    whole = np.zeros(len(links), bool)
    if closed and width > 1:
        sizes = _sizes(units)
        whole = (lits >= 0).all(axis=1) & (unit == unit[:, :1]).all(axis=1)
        whole &= (units.rank[v] == np.arange(width)).all(axis=1) & (sizes[unit[:, 0]] == width)
        rows.append(
            _rows(g, row, member[whole], links[whole, 0], position, flat, -1, unit[whole, 0], 0)
        )
    for k in range(width):
        kept = ~whole & ~units.is_total[links[:, k]]
        at = flat.integers[row[column.PLACE] + position + k] if is_table else 2 * position + 1
        rows.append(
            _rows(
                g, row, member[kept], links[kept, k], position + k, flat, int(at),
                unit[kept, k], units.rank[v[kept, k]],
            )
        )  # fmt: skip
    return rows


def _sizes(units: _Units) -> Int64:
    return np.concatenate([np.full(len(b), b.shape[1]) for b in units.blocks])


def _rows(
    g: int, row: Int64, member: Int64, link: Int64, position: int, flat: Flat, at: int,
    unit: Int64, rank: Int64 | int,
) -> Int64:  # fmt: skip
    out = np.zeros((len(member), edge.EDGE_COLUMNS + 2), np.int64)
    out[:, edge.GROUP], out[:, edge.MEMBER], out[:, edge.OWN_LINK] = g, member, link
    out[:, edge.POSITION], out[:, edge.AT], out[:, edge.RANK] = position, at, rank
    begin, end = 2 * position, 2 * position + 2
    if row[column.CODE] >= column.TABLE:
        start = flat.integers[row[column.START] :][: row[column.SLOTS] + 1]
        place = flat.integers[row[column.PLACE] + position]
        own = int(np.searchsorted(start, place, side="right")) - 1
        begin, end = int(start[own]), int(start[own + 1])
    out[:, edge.BEGIN], out[:, edge.END] = begin, end
    out[:, -2], out[:, -1] = unit, row[column.FACTOR] + member
    return out


def _in_order(
    flat: Flat, units: _Units, first: Int64, edges: Int64, unit: Int64, again: Int64,
    pair_links: int,
) -> Stars:  # fmt: skip
    """Stars in the order of their units' first coordinates."""
    coordinates = np.concatenate([b.ravel() for b in units.blocks])
    total, stride = np.concatenate(units.total), np.concatenate(units.stride)
    lowest = coordinates[first[:-1]] if len(first) > 1 else np.zeros(0, np.int64)
    order = np.argsort(lowest, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    sizes = np.diff(first)[order]
    moved = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    within = np.arange(moved[-1]) - np.repeat(moved[:-1], sizes)
    coordinates = coordinates[np.repeat(first[:-1][order], sizes) + within]
    unit = place[unit] if len(unit) else unit
    by_star = np.lexsort((again, unit))
    edges, unit, again = edges[by_star], unit[by_star], again[by_star]
    group = flat.groups[edges[:, edge.GROUP]]
    potts = (group[:, column.CODE] == column.TABLE + POTTS) & (edges[:, edge.AT] < 0)
    tables = potts | (
        (group[:, column.CODE] == column.TABLE + DENSE) & (edges[:, edge.AT] < 0)
        & (group[:, column.SLOTS] == 2) & (group[:, column.AS_PLACES] == 1)
    )  # fmt: skip
    # Every exactly-one factor has a star, with or without edges.
    keys = np.stack([unit, again], axis=1)
    own = np.flatnonzero(total[order] >= 0)
    lonely = np.stack([own, np.zeros_like(own)], axis=1)
    found, counts = np.unique(np.concatenate([keys, lonely]), axis=0, return_counts=True)
    counts -= np.isin(found[:, 0], own) & (found[:, 1] == 0)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    # Pairs are the first group, if there are any: their links are numbered from 0.
    others = np.concatenate([[0], np.cumsum(edges[:, edge.OWN_LINK] >= pair_links)])
    plain = (total[order][found[:, 0]] < 0) & (others[start[1:]] == others[start[:-1]])
    alone = np.where(plain, coordinates[moved[found[:, 0]]], -1).astype(np.int32)
    wide = (total[order][found[:, 0]] >= 0) & (sizes[found[:, 0]] > 1)
    for of_kind, mark in ((tables, edge.TABLES_ONLY), (potts, edge.POTTS_ONLY)):
        odd = np.concatenate([[0], np.cumsum(~of_kind)])
        alone[wide & (odd[start[1:]] == odd[start[:-1]])] = mark
    stars = Stars(
        moved, coordinates.astype(np.int64), total[order].astype(np.int64),
        stride[order].astype(np.int64), np.ascontiguousarray(found[:, 0], np.int64),
        start, np.ascontiguousarray(edges[:, : edge.EDGE_COLUMNS]), alone,
        edges[:, edge.OWN_LINK].astype(np.int32),
    )  # fmt: skip
    for array in stars:
        array.flags.writeable = False
    return stars


def edges_at(stars: Stars, chosen: np.ndarray) -> Int64:
    """For every edge, how many of the ``chosen[R]`` edges of its star speak about the same states.

    An edge for a whole unit counts the most that any of its states has.
    """
    star = np.repeat(np.arange(len(stars.unit)), np.diff(stars.start))
    whole = stars.edges[:, edge.AT] < 0
    widest = int(np.diff(stars.first).max(initial=1))
    key = star * widest + stars.edges[:, edge.RANK]
    slots = np.bincount(star[whole & chosen], minlength=len(stars.unit))
    singles = np.bincount(key[~whole & chosen], minlength=len(stars.unit) * widest)
    most = singles.reshape(-1, widest).max(axis=1, initial=0)
    return slots[star] + np.where(whole, most[star], singles[key])
