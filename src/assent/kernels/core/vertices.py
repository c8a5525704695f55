"""Vertices of structures: their shape, the best one, and room for those in use.

A structure has ``d`` slots; a vertex gives every slot a state, and has an inner score.  State
``s`` of slot ``i`` is number ``start[i] + s``; it is a coordinate if ``s >= first[i]``
(``first = 0`` for a categorical slot, 1 for a binary one, whose state 0 has no coordinate).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assent.kernels.ad3.active_set_system import packed_length
from assent.kernels.core.structure_addresses import call_compiled, call_python
from assent.kernels.jit import jit_inline_llvm, jit_no_allocation
from assent.kernels.kinds.table_scores import (
    dense_entry,
    maximize_dense,
    maximize_potts,
    potts_entry,
)
from assent.kernels.problem import POTTS, STRUCTURE

# Rows of L and D that a factor keeps from one projection to the next.  Supports are rarely larger
# (a handful of vertices on Potts grids of 8 labels); what is beyond is computed anew each time.
KEPT_ROWS = 16


class Slots(NamedTuple):
    """The shape of a structure's vertices and, where they are searched, how."""

    start: np.ndarray  # int32[d + 1]: number of each slot's state 0; all states at the end
    first: np.ndarray  # int32[d]: the first state of each slot that is a coordinate
    address: int  # of the function that searches; see ``structure_addresses``
    data: np.ndarray  # int32: its constants
    base: np.ndarray  # float64[states]: -inf for a state that cannot be, else 0
    masked: np.ndarray  # float64[states]: scratch
    runs: bool  # whether every state is a coordinate, and those of a slot follow each other


class Support(NamedTuple):
    """Vertices in use by each of ``m`` factors, kept from one projection to the next."""

    size: np.ndarray  # int32[m]
    states: np.ndarray  # int32[m, room, d]
    weight: np.ndarray  # float64[m, room]
    inner: np.ndarray  # float64[m, room] inner scores, not scaled
    kept: np.ndarray  # int32[m] leading vertices whose rows of L and D are kept
    rows: np.ndarray  # float64[m, packed] those rows; see ``row_place``


class Work(NamedTuple):
    """What one projection reads (``a``), writes (``q``) and needs on the way."""

    a: np.ndarray  # float64[states] the point to project, 0 where there is no coordinate
    q: np.ndarray  # float64[states] probabilities of the states: the solution
    residual: np.ndarray  # float64[states] a - M q, 0 where there is no coordinate
    score: np.ndarray  # float64[room] M'a + b, of the vertices in the support
    target: np.ndarray  # float64[room] weights that solve the KKT system
    right: np.ndarray  # float64[room]
    rows: np.ndarray  # float64[packed] the factors of H; see ``row_place``


def make_slots(counts: Sequence[int], first: Sequence[int]) -> Slots:
    """Slots with ``counts[d]`` states, of which coordinates from ``first[d]`` on.

    Example:
        >>> make_slots([3, 2], [0, 1]).start.tolist()
        [0, 3, 5]
    """
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    start.flags.writeable = False
    base = np.zeros(0)
    base.flags.writeable = False
    return Slots(start, np.asarray(first, np.int32), 0, start[:0], base, np.zeros(0), False)


def support_room(slots: Slots) -> int:
    """Vertices to keep room for: Proposition 1.7's, and the one about to enter.

    Example:
        >>> support_room(make_slots([3, 2], [0, 1]))
        5
    """
    return int(slots.start[-1]) - len(slots.first) + 2


def make_support(slots: Slots, factors: int, room: int | None = None) -> Support:
    """Empty supports of ``factors`` factors; a smaller ``room`` makes projections inexact."""
    if room is None:
        room = support_room(slots)
    return Support(
        np.zeros(factors, np.int32),
        np.zeros((factors, room, len(slots.first)), np.int32),
        np.zeros((factors, room)),
        np.zeros((factors, room)),
        np.zeros(factors, np.int32),
        np.zeros((factors, packed_length(min(room, KEPT_ROWS)))),
    )


def make_work(slots: Slots, room: int) -> Work:
    """Scratch for supports of ``room`` vertices."""
    a, q, residual = np.zeros((3, slots.start[-1]))
    score, target, right = np.zeros((3, room))
    return Work(a, q, residual, score, target, right, np.zeros(packed_length(room)))


@jit_inline_llvm
def maximize(kind, slots, scores, table, scale, states):
    """The best vertex, into ``states[d]``; returns its score and its inner score (not scaled)."""
    if kind >= STRUCTURE:
        for place in range(len(slots.base)):
            slots.masked[place] = scores[place] + slots.base[place]
        if kind == STRUCTURE:
            return call_compiled(
                slots.address, slots.start, slots.data, slots.masked, table, scale, states
            )
        inner = call_python(slots.address, slots.masked, table, scale, states)
        total = scale * inner
        for slot in range(len(states)):
            total += slots.masked[slots.start[slot] + states[slot]]
        return total, inner
    if kind == POTTS:
        return maximize_potts(slots.start, scores, table, scale, states)
    return maximize_dense(slots.start, scores, table, scale, states)


@jit_no_allocation
def rescore(kind, slots, tables, support):
    """Give the supports the inner scores of new tables ``[m, entries]``.

    A support with a vertex that is now forbidden is emptied.
    """
    for f in range(len(tables)):
        for i in range(support.size[f]):
            if kind == POTTS:
                entry = potts_entry(tables[f], support.states[f, i])
            else:
                entry = dense_entry(slots.start, tables[f], support.states[f, i])
            support.inner[f, i] = entry
            if entry == -np.inf:
                support.size[f] = 0
                support.kept[f] = 0
                break
