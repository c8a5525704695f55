"""Soft constraints as boxes: the dual of a penalty is a multiplier that may not exceed it.

Submodels that share nothing but soft constraints need no copies of variables.  A penalty
``c * [g(x)]+`` for a linear ``g`` is the most that ``nu * g(x)`` can be for ``0 <= nu <= c``, so

    bound = min over the box of  sum of submodels' maxima, their scores less nu times g

(Belanger et al., 2014, with the signs corrected).  Here ``g = terms of literals - offset``, one per
state for agreement, one per count for a hinge, one per entry for a matrix; the same ``nu`` read as
link scores of the soft factors is a dual point like any other, at which those factors earn nothing
but ``nu * offset``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.soft import AgreeSoft, HingeSoft, MatrixSoft
from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    BASE,
    CODE,
    COUNT,
    ENTRIES,
    ENTRY,
    FACTOR,
    ITEM,
    LINK,
    PLACE,
    PLACES,
    SIZE,
    SLOTS,
    START,
    TABLE,
    Flat,
)
from assent.kernels.problem import SUM, Float, Int32, Int64, Problem

NO_OWNER = -1  # owner of a coordinate in no factor, or of a state that evidence fixed
NEVER = np.iinfo(np.int32).max  # literal of a state that cannot be, or that is certain
OPEN, CERTAIN, IMPOSSIBLE = 0, 1, 2


class Submodels(NamedTuple):
    """Which factor, and where in it, has each coordinate; the others are soft or redundant.

    Attributes:
        owner: ``[n]`` number of the factor, or NO_OWNER.
        link: ``[n]`` its link.
        place: ``[n, 2]`` its places where the coordinate is false and true, -1 if it has none.
        group: ``[factors]`` the group of each factor.
    """

    owner: Int64
    link: Int64
    place: Int64
    group: Int64


class Boxes(NamedTuple):
    """Multipliers ``nu[T]`` and what each is charged for, ``sum of signs * literals - offset``.

    Attributes:
        first: ``[B + 1]`` the multipliers of each soft factor.
        states: ``[B]`` K for agreement, with K multipliers or, for a matrix, K²; 0 for counts.
        term: ``[T + 1]`` the terms of each multiplier.
        lits, sign: its literals, and +1 (first side, counts) or -1 (second side); 0 where a
            state is known, which `known` then tells.
        known: OPEN, CERTAIN or IMPOSSIBLE.
        offset: ``[T]``.
        lower, upper: ``[T]`` the box.
        link_of: ``[terms]`` link of the soft factor, ``~link`` for the false of a literal.
    """

    first: Int64
    states: Int64
    term: Int64
    lits: Int32
    sign: Float
    known: NDArray[np.int8]
    offset: Float
    lower: Float
    upper: Float
    link_of: Int64


def soft_groups(problem: Problem, flat: Flat) -> list[tuple[int, type]]:
    """Groups of soft factors that have a box, and their kinds."""
    first = len(flat.groups) - len(problem.models)
    kinds = (MatrixSoft, AgreeSoft, HingeSoft)  # the first one is a kind of the second
    return [
        (first + g, next(kind for kind in kinds if isinstance(model.structure, kind)))
        for g, model in enumerate(problem.models)
        if isinstance(model.structure, kinds)
    ]


def find_submodels(solver: str, problem: Problem, flat: Flat, soft: list[int]) -> Submodels:
    """Give every coordinate to the one factor that has it beside soft ones."""
    n = problem.n
    owner, link_of = np.full(n, NO_OWNER, np.int64), np.full(n, -1, np.int64)
    place, slot_of = np.full((n, 2), -1, np.int64), np.full(n, -1, np.int64)
    hard = [g for g in range(len(flat.groups)) if g not in soft]
    # Tables and structures first: "one state each" of what they hold says nothing new.
    slots = 0
    for g in sorted(hard, key=lambda g: -flat.groups[g, CODE]):
        row = flat.groups[g]
        links, literals = group_links(flat, row)
        own = np.where(literals < 0, ~literals, literals)
        new = ~_covered(flat, row, own, slot_of)
        links, literals, own = links[new], literals[new], own[new]
        if (owner[own] != NO_OWNER).any() or len(np.unique(own)) < own.size:
            raise ModelError(
                f"{solver} takes submodels that share nothing but soft constraints, and a "
                "variable here is in two others; decode with AD3(), MPLP() or Subgradient()"
            )
        owner[own] = row[FACTOR] + np.flatnonzero(new)[:, None]
        link_of[own] = links
        place[own] = _places(flat, row, literals)
        if row[CODE] >= TABLE:
            in_slot = np.searchsorted(
                flat.integers[row[START] : row[START] + row[SLOTS] + 1],
                flat.integers[row[PLACE] : row[PLACE] + row[SIZE]], side="right",
            )  # fmt: skip
            slot_of[own] = slots + np.arange(row[COUNT])[:, None] * row[SLOTS] + in_slot
            slots += int(row[COUNT] * row[SLOTS]) + 1
    group = np.repeat(np.arange(len(flat.groups)), flat.groups[:, COUNT])
    return Submodels(owner, link_of, place, group)


def group_links(flat: Flat, row: Int64) -> tuple[Int64, Int32]:
    """Links ``[count, size]`` of a group and their literals."""
    links = (
        row[LINK] + np.arange(row[COUNT])[:, None] * row[ALONG] + np.arange(row[SIZE]) * row[ACROSS]
    )
    return links, flat.lits[links]


def _covered(flat: Flat, row: Int64, own: Int64, slot_of: Int64) -> NDArray[np.bool_]:
    """Which factors ``[count]`` say "one of these" of what are the states of one slot anyway."""
    if row[CODE] != SUM:
        return np.zeros(len(own), bool)
    slots = slot_of[own]
    same = (slots[:, 0] >= 0) & (slots == slots[:, :1]).all(axis=1)
    return same & (flat.k[row[ITEM] : row[ITEM] + row[COUNT]] == 1)


def _places(flat: Flat, row: Int64, literals: Int32) -> Int64:
    """Places ``[count, size, 2]`` of false and true of the coordinates of a group."""
    if row[CODE] < TABLE or row[PLACES] == 0:
        place = np.stack([2 * np.arange(row[SIZE]), 2 * np.arange(row[SIZE]) + 1], axis=1)
    else:
        true = flat.integers[row[PLACE] : row[PLACE] + row[SIZE]].astype(np.int64)
        start = flat.integers[row[START] : row[START] + row[SLOTS] + 1]
        slot = np.searchsorted(start, true, side="right") - 1
        alone = np.bincount(slot, minlength=len(start))[slot] == 1
        literal = alone & (start[slot + 1] - start[slot] == 2)
        place = np.stack([np.where(literal, start[slot], -1), true], axis=1)
        place[literal, 0] += place[literal, 1] == start[slot[literal]]
    place = np.broadcast_to(place, (*literals.shape, 2)).copy()
    place[literals < 0] = place[literals < 0][:, ::-1]
    return place


def make_boxes(flat: Flat, soft: list[tuple[int, type]], inner: Float) -> Boxes:
    """The boxes of all soft factors, in the order of their groups."""
    parts = [_MAKERS[kind](flat, flat.groups[g], inner) for g, kind in soft]
    joined = Boxes(*(np.concatenate(arrays) for arrays in zip(_NONE, *parts, strict=True)))
    return joined._replace(
        first=np.concatenate([[0], np.cumsum(joined.first)]),
        term=np.concatenate([[0], np.cumsum(joined.term)]),
    )


# Of one group, ``first`` and ``term`` are how many multipliers and terms there are.
_NONE = Boxes(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32),
    np.zeros(0), np.zeros(0, np.int8), np.zeros(0), np.zeros(0), np.zeros(0),
    np.zeros(0, np.int64),
)  # fmt: skip


def _sides(flat: Flat, row: Int64) -> tuple[Int32, Int64, NDArray[np.bool_]]:
    """Literals and links ``[count, 2 K]`` of the states of both sides, and which can be.

    The false of a literal is the literal negated.
    """
    links, literals = group_links(flat, row)
    states = int(row[PLACES]) // 2
    place = flat.integers[row[PLACE] : row[PLACE] + row[SIZE]]
    lits = np.full((row[COUNT], 2 * states), NEVER, np.int32)
    link_of = np.zeros((row[COUNT], 2 * states), np.int64)
    lits[:, place], link_of[:, place] = literals, links
    for side in range(2):
        own = place[(place >= side * states) & (place < (side + 1) * states)]
        if states == 2 and len(own) == 1:  # a literal: its other state has no link
            other = own[0] ^ 1
            lits[:, other], link_of[:, other] = ~lits[:, own[0]], ~link_of[:, own[0]]
    possible = flat.numbers[row[BASE] : row[BASE] + row[PLACES]] > -np.inf
    return lits, link_of, possible


def _agreement(flat: Flat, row: Int64, inner: Float) -> Boxes:
    states = np.arange(int(row[PLACES]) // 2)
    return _pairs(flat, row, inner, np.stack([states, states], axis=1))


def _matrix(flat: Flat, row: Int64, inner: Float) -> Boxes:
    states = int(row[PLACES]) // 2
    return _pairs(flat, row, inner, np.indices((states, states)).reshape(2, -1).T)


def _pairs(flat: Flat, row: Int64, inner: Float, pairs: Int64) -> Boxes:
    """One multiplier per pair of states ``[T, 2]``: ``first is i`` less ``second is j``."""
    lits, link_of, possible = _sides(flat, row)
    count, states = int(row[COUNT]), int(row[PLACES]) // 2
    columns = pairs + np.array([0, states])
    both = lits[:, columns]  # [count, T, 2]
    known = both == NEVER
    # Without a literal a state is certain or impossible, and counts in the offset.
    sign = np.where(known, 0.0, np.array([1.0, -1.0]))
    certain = known & possible[columns]
    offset = certain[..., 1].astype(float) - certain[..., 0]
    upper = -inner[row[ENTRY] : row[ENTRY] + count * row[ENTRIES]]
    return Boxes(
        np.full(count, len(pairs)),
        np.full(count, states),
        np.full(count * len(pairs), 2),
        np.where(known, 0, both).ravel().astype(np.int32),
        sign.ravel(),
        np.where(known, np.where(certain, CERTAIN, IMPOSSIBLE), OPEN).ravel().astype(np.int8),
        offset.ravel(),
        np.zeros(count * len(pairs)),
        np.maximum(upper, 0.0),
        np.where(known, 0, link_of[:, columns]).ravel(),
    )


def _hinge(flat: Flat, row: Int64, inner: Float) -> Boxes:
    links, literals = group_links(flat, row)
    count, size, entries = int(row[COUNT]), int(row[SIZE]), int(row[ENTRIES])
    price = -inner[row[ENTRY] : row[ENTRY] + count * entries].reshape(count, entries)
    # By count: nothing between the first and the last that are free, a slope on either side.
    free = price <= 0.0
    last = entries - 1 - free[:, ::-1].argmax(axis=1)
    first = free.argmax(axis=1)
    rows = np.arange(count)
    above = np.where(last < entries - 1, price[rows, np.minimum(last + 1, entries - 1)], 0.0)
    below = np.where(first > 0, price[rows, np.maximum(first - 1, 0)], 0.0)
    base = flat.numbers[row[BASE] : row[BASE] + row[PLACES]]
    certain = int((base[0::2] == -np.inf).sum())  # evidence made these true
    target = np.where(above > 0.0, last, first)
    return Boxes(
        np.ones(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, size),
        literals.ravel().astype(np.int32),
        np.ones(count * size),
        np.zeros(count * size, np.int8),
        (target - certain).astype(float),
        -below,
        above,
        links.ravel(),
    )


_MAKERS: dict[type, Callable[[Flat, Int64, Float], Boxes]] = {
    AgreeSoft: _agreement,
    MatrixSoft: _matrix,
    HingeSoft: _hinge,
}
