"""Where structures go: as they are, with what evidence rules out forbidden."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.logic_placement import FREE
from assent.factors.structure import Structure
from assent.kernels.problem import Float, Int32, Int64, Model
from assent.model.variables import coordinates_of


class PlacedStructures(NamedTuple):
    """Structures of one batch with the same coordinates left: a group of the flat problem.

    ``rows`` and ``links[count, links]`` say which of the batch and which of their literals
    (``None``: all), ``first`` where each slot's coordinates begin (behind the end of a slot that
    has none left), ``codes[count, links]`` are the literals.
    """

    rows: Int64 | None
    links: Int64 | None
    first: tuple[int, ...]
    model: Model
    codes: Int32
    block: int


class Settled(NamedTuple):
    """Structures of one batch without a free coordinate: they earn a constant."""

    block: int
    rows: Int64
    truth: NDArray[np.bool_]  # [rows, links]


def place_structures(
    block: int, factor: Structure, fixed: NDArray[np.int8], all_free: bool
) -> tuple[list[PlacedStructures], list[Settled]]:
    """One group per pattern of fixed coordinates and forbidden places."""
    coordinate = coordinates_of(factor.codes)
    place_of_link = np.flatnonzero(factor.linked).astype(np.int32)
    if all_free or (fixed[coordinate] == FREE).all():
        model = Model(factor, place_of_link, np.zeros(int(factor.start[-1])))
        return [PlacedStructures(None, None, factor.first, model, factor.codes, block)], []
    free, allowed = fixed[coordinate] == FREE, factor.allowed_places(fixed)
    parts, settled = [], []
    patterns, which = np.unique(np.hstack([free, allowed]), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        own_free, own_allowed = np.split(pattern, [free.shape[1]])
        if not own_free.any():
            truth = (fixed[coordinate[rows]] == 1) ^ (factor.codes[rows] < 0)
            settled.append(Settled(block, rows, truth))
            continue
        links = np.broadcast_to(np.flatnonzero(own_free), (len(rows), own_free.sum()))
        model = Model(factor, place_of_link[own_free], np.where(own_allowed, 0.0, -np.inf))
        codes = factor.codes[rows[:, None], links]
        first = _first_coordinates(factor, own_free)
        parts.append(PlacedStructures(rows, links, first, model, codes, block))
    return parts, settled


def _first_coordinates(factor: Structure, free: NDArray[np.bool_]) -> tuple[int, ...]:
    """``first`` per slot, or all its states where no coordinate of it is free."""
    return tuple(
        first if free[place].any() else states
        for place, first, states in zip(
            factor.slot_links(), factor.first, factor.states, strict=True
        )
    )


def settled_value(factor: Structure, done: Settled, scores: Float) -> float:
    """What settled structures earn with scores ``[m, entries]`` of their batch.

    Nothing where evidence has made them impossible, which propagation has found out.
    """
    values = factor.value_at(done.truth, scores[done.rows])
    return float(values[np.isfinite(values)].sum())
