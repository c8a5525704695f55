"""Tables over the same variables are one, and tables that are sums over variables are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from assent.factors.table import Table
from assent.kernels.problem import DENSE, Float, Int32, Int64
from assent.model.variables import coordinates_of
from assent.reductions.dense_tables import Slot
from assent.reductions.rewritten_graph import GraphRewrite

# A table counts as a sum if this part of its largest entry is all that is left.
ROUNDED = 1e-14


class _Part(NamedTuple):
    """Rows of a batch of tables, their two slots swapped if ``swapped``."""

    block: int
    rows: Int64
    codes: Int32
    swapped: bool


def merge_tables(draft: GraphRewrite) -> None:
    """The first table over some variables takes all; sums go to the variables."""
    shapes: dict[tuple[object, ...], list[_Part]] = {}
    for number, block in enumerate(draft.blocks):
        if isinstance(block.factor, Table):
            for shape, part in _parts(number, block.factor):
                shapes.setdefault(shape, []).append(part)
    for parts in shapes.values():
        _merge(draft, parts)
    for number, block in enumerate(draft.blocks):
        if isinstance(block.factor, Table) and len(block.factor.states) > 1:
            _give_sums(draft, number, block.factor)


def _parts(number: int, factor: Table) -> Iterator[tuple[tuple[object, ...], _Part]]:
    """A batch, in two parts if the slots of some rows have to change places to be in order."""
    shape = (factor.kind_code, factor.states, factor.first)
    swapped = np.zeros(len(factor), bool)
    if len(factor.states) == 2 and factor.kind_code == DENSE:
        places = factor.slot_links()
        own = coordinates_of(factor.codes)
        swapped = own[:, places[1].start] < own[:, places[0].start]
        second = places[1].start
        rows = np.flatnonzero(swapped)
        codes = np.concatenate([factor.codes[rows, second:], factor.codes[rows, :second]], axis=1)
        yield (
            (factor.kind_code, factor.states[::-1], factor.first[::-1]),
            _Part(number, rows, codes, True),
        )
    rows = np.flatnonzero(~swapped)
    yield shape, _Part(number, rows, factor.codes[rows], False)


def _merge(draft: GraphRewrite, parts: list[_Part]) -> None:
    """Add tables over the same literals to the first one of them."""
    codes = np.concatenate([part.codes for part in parts])
    _, first, member = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    member = member.ravel()
    several = np.bincount(member)[member] > 1
    if not several.any():
        return
    tables = np.concatenate(
        [_reordered(draft, part, draft.scores[part.block][part.rows]) for part in parts]
    )
    total = np.zeros((len(first), tables.shape[1]))
    np.add.at(total, member[several], tables[several])
    is_kept = first[member] == np.arange(len(member))
    begin = 0
    for part in parts:
        own = slice(begin, begin + len(part.rows))
        begin += len(part.rows)
        kept = np.flatnonzero(several[own] & is_kept[own])
        sums = total[member[own][kept]]
        draft.scores[part.block][part.rows[kept]] = _reordered(draft, part, sums, back=True)
        draft.stays[part.block][part.rows[~is_kept[own]]] = False


def _reordered(draft: GraphRewrite, part: _Part, tables: Float, back: bool = False) -> Float:
    """Scores ``[rows, entries]`` with the slots in order, or ``back`` in the factor's."""
    if not part.swapped:
        return tables
    factor = draft.blocks[part.block].factor
    assert isinstance(factor, Table)
    states = factor.states[::-1] if back else factor.states
    return tables.reshape(-1, *states).transpose(0, 2, 1).reshape(tables.shape)


def _give_sums(draft: GraphRewrite, number: int, factor: Table) -> None:
    """Tables that are a score per state of each variable, added up."""
    rows = np.flatnonzero(draft.stays[number] & np.isfinite(draft.scores[number]).all(axis=1))
    if factor.kind_code != DENSE:  # a score for common states only: a sum where there is none
        rows = rows[(draft.scores[number][rows] == 0.0).all(axis=1)]
    tables = factor.dense(draft.scores[number][rows])
    singles = _singles(tables)
    first = tables[(slice(None), *[slice(0, 1)] * len(factor.states))]
    rest = tables - first - factor.spread(singles)
    axes = tuple(range(1, tables.ndim))
    left = np.abs(rest).max(axis=axes)
    chosen = np.flatnonzero(left <= ROUNDED * np.abs(tables).max(axis=axes))
    draft.stays[number][rows[chosen]] = False
    draft.loss += float(left[chosen].sum())
    draft.constant += float(first[chosen].sum())
    codes = factor.codes[rows[chosen]]
    for place, first_state, single in zip(factor.slot_links(), factor.first, singles, strict=True):
        slot = Slot(codes[:, place], bool(first_state))
        draft.constant += slot.add_scores(single[chosen], draft.theta)


def _singles(tables: Float) -> list[Float]:
    """States of each slot less the first one, beside the others' first states, ``[m, k]``."""
    count = tables.ndim - 1
    out = []
    for slot in range(count):
        place = tuple(slice(None) if s == slot else 0 for s in range(count))
        own = tables[(slice(None), *place)]
        out.append(own - own[:, :1])
    return out
