"""All table factors of a problem in one compiled sweep: an AD3 step, a bound, inner parts.

Groups of one kind and shape are cut out of the flat arrays of ``problem.Tables`` here, one view
each, and handed to the active set method: models with hundreds of shapes cost no more calls
from Python than models with one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.ad3.active_set_steps import step_structures, structure_chunk
from assent.kernels.ad3.active_set_system import packed_length
from assent.kernels.core.bound_sweep import CHUNK, add_compensated
from assent.kernels.core.memo import remembered
from assent.kernels.core.vertices import KEPT_ROWS, Slots, Support, Work, rescore
from assent.kernels.jit import jit_inline, jit_no_allocation
from assent.kernels.problem import POTTS, STRUCTURE, Problem, Tables

ALL = np.iinfo(np.int64).max


class Layout(NamedTuple):
    """Where the supports of each group of tables stand in the flat arrays."""

    start: np.ndarray  # int32[slots + T]: group t's Slots.start at slot[t] + t
    room: np.ndarray  # int64[T]: vertices kept per factor
    vertex: np.ndarray  # int64[T + 1]: the group's weights, [m, room], begin here
    place: np.ndarray  # int64[T + 1]: the group's states, [m, room, d], begin here
    row: np.ndarray  # int64[T + 1]: the group's kept rows of L and D, [m, packed], begin here
    runs: np.ndarray  # bool[T]: the group's Slots.runs
    no_base: np.ndarray  # float64[0]: what only searched structures have
    no_scratch: np.ndarray  # float64[0]


def make_layout(tables: Tables, most: int | np.ndarray = ALL) -> Layout:
    """Room for the vertices that Proposition 1.7 (Martins et al. 2015) allows, and one more.

    ``most`` limits it, for all groups or per group.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import DENSE, make_tables
        >>> lits = np.arange(4, dtype=np.int32)[None]
        >>> make_layout(make_tables([(DENSE, (3, 2), (0, 1), lits)])).room.tolist()
        [5]
    """
    slots, count = np.diff(tables.slot), np.diff(tables.factor)
    ends = np.concatenate([[0], np.cumsum(tables.states)])
    base = ends[tables.slot[:-1]]
    group = np.repeat(np.arange(len(slots)), slots)
    start = np.zeros(len(tables.states) + len(slots), np.int32)
    start[np.arange(len(group)) + group + 1] = ends[1:] - base[group]
    start.flags.writeable = False
    room = np.minimum(ends[tables.slot[1:]] - base - slots + 2, most)
    vertex = np.concatenate([[0], np.cumsum(count * room)])
    place = np.concatenate([[0], np.cumsum(count * room * slots)])
    packed = np.array([packed_length(min(int(own), KEPT_ROWS)) for own in room], np.int64)
    row = np.concatenate([[0], np.cumsum(count * packed)])
    room, vertex, place, row = (part.astype(np.int64) for part in (room, vertex, place, row))
    no_base = np.zeros(0)
    no_base.flags.writeable = False
    runs = np.array([has_runs(tables, t) for t in range(len(slots))], np.bool_)
    return Layout(start, room, vertex, place, row, runs, no_base, np.zeros(0))


def has_runs(tables: Tables, t: int) -> bool:
    """Whether group ``t`` has categorical slots only, with coordinates that follow each other.

    That is how variables are numbered; evidence leaves it so.

    Example:
        >>> from assent.kernels.problem import DENSE, make_tables
        >>> lits = np.array([[0, 1, 2, 5, 6], [5, 6, 7, 0, 2]], np.int32)
        >>> has_runs(make_tables([(DENSE, (3, 2), (0, 0), lits)]), 0)
        False
    """
    own = slice(tables.slot[t], tables.slot[t + 1])
    if tables.kind[t] >= STRUCTURE or tables.first[own].any():
        return False
    sizes = tables.states[own]
    lits = tables.lits[tables.link[t] : tables.link[t + 1]].reshape(-1, sizes.sum())
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return bool((lits == lits[:, begin] + np.arange(len(begin)) - begin).all())


@remembered
def layout_of(problem: Problem) -> Layout:
    """The layout of a problem's tables without the structures, made at the first call."""
    return make_layout(problem.written)


def make_supports(tables: Tables, layout: Layout) -> Support:
    """Empty supports of all factors, in flat arrays."""
    return Support(
        np.zeros(tables.factor[-1], np.int32),
        np.zeros(layout.place[-1], np.int32),
        np.zeros(layout.vertex[-1]),
        np.zeros(layout.vertex[-1]),
        np.zeros(tables.factor[-1], np.int32),
        np.zeros(layout.row[-1]),
    )


def make_flat_work(tables: Tables, layout: Layout) -> Work:
    """Scratch for the largest group."""
    most, room = 1, 1
    for states in layout.start:
        most = max(most, states)
    for vertices in layout.room:
        room = max(room, vertices)
    return Work(
        np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(room), np.zeros(room),
        np.zeros(room), np.zeros(packed_length(room)),
    )  # fmt: skip


@jit_inline
def group_slots(tables, layout, t):
    """The slots of group ``t``."""
    first, last = tables.slot[t], tables.slot[t + 1]
    start = layout.start[first + t : last + t + 1]
    return Slots(
        start,
        tables.first[first:last],
        0,
        start[:0],
        layout.no_base,
        layout.no_scratch,
        layout.runs[t],
    )


@jit_inline
def group_work(work, states, room):
    """Scratch for one group, zero where it has no coordinates."""
    a, residual = work.a[:states], work.residual[:states]
    a[:] = 0.0
    residual[:] = 0.0
    return Work(
        a, work.q[:states], residual, work.score[:room], work.target[:room], work.right[:room],
        work.rows,
    )  # fmt: skip


@jit_inline
def group_support(tables, layout, supports, t):
    """The supports of group ``t``."""
    first, last = tables.factor[t], tables.factor[t + 1]
    begin, end = layout.vertex[t], layout.vertex[t + 1]
    states = supports.states[layout.place[t] : layout.place[t + 1]]
    rows = supports.rows[layout.row[t] : layout.row[t + 1]]
    room = layout.room[t]
    slots = tables.slot[t + 1] - tables.slot[t]
    return Support(
        supports.size[first:last],
        states.reshape(last - first, room, slots),
        supports.weight[begin:end].reshape(last - first, room),
        supports.inner[begin:end].reshape(last - first, room),
        supports.kept[first:last],
        rows.reshape(last - first, len(rows) // (last - first)),
    )


@jit_inline
def group_rows(values, offsets, t, factors):
    """Rows ``[m, width]`` of group ``t``, one per factor."""
    own = values[offsets[t] : offsets[t + 1]]
    return own.reshape(factors, len(own) // factors)


@jit_no_allocation
def step_tables(tables, layout, scores, sweep, w, inactive, consensus, supports, work):
    """Steps 1 and 2 of AD3 for all tables; see ``active_set_steps.step_structures``."""
    squares = 0.0
    for t in range(len(tables.kind)):
        first, last = tables.factor[t], tables.factor[t + 1]
        slots = group_slots(tables, layout, t)
        squares += step_structures(
            tables.kind[t], slots,
            group_rows(tables.lits, tables.link, t, last - first),
            group_rows(scores, tables.entry, t, last - first),
            sweep,
            group_rows(w, tables.link, t, last - first),
            inactive[first:last], consensus,
            group_support(tables, layout, supports, t),
            group_work(work, slots.start[-1], layout.room[t]),
        )  # fmt: skip
    return squares


@jit_no_allocation
def bound_tables(tables, layout, scores, dual, residual, states, work):
    """Best values of all tables at a ``bound_sweep.DualState``.

    Takes the link scores off ``residual[n]``; ``states`` (int32, as many as there are slots) and
    ``work`` are scratch.
    """
    best = 0.0
    carry = 0.0
    for t in range(len(tables.kind)):
        count = tables.factor[t + 1] - tables.factor[t]
        slots = group_slots(tables, layout, t)
        lits = group_rows(tables.lits, tables.link, t, count)
        entries = group_rows(scores, tables.entry, t, count)
        links = group_rows(dual.table, tables.link, t, count)
        own = group_work(work, slots.start[-1], layout.room[t])
        for begin in range(0, count, CHUNK):
            end = min(begin + CHUNK, count)
            part = structure_chunk(
                tables.kind[t], slots, lits[begin:end], entries[begin:end], dual,
                links[begin:end], residual, states[: len(slots.first)], own,
            )  # fmt: skip
            best, carry = add_compensated(best, carry, part)
    return best + carry


@jit_no_allocation
def rescore_tables(tables, layout, scores, supports):
    """Give the supports the inner scores of new tables; see ``vertices.rescore``."""
    for t in range(len(tables.kind)):
        count = tables.factor[t + 1] - tables.factor[t]
        rescore(
            tables.kind[t], group_slots(tables, layout, t),
            group_rows(scores, tables.entry, t, count),
            group_support(tables, layout, supports, t),
        )  # fmt: skip


@jit_no_allocation
def inner_value(tables, layout, supports):
    """Score of all inner parts: every vertex in use by its weight."""
    total = 0.0
    carry = 0.0
    for t in range(len(tables.kind)):
        support = group_support(tables, layout, supports, t)
        for f in range(len(support.size)):
            part = 0.0
            for i in range(support.size[f]):
                part += support.weight[f, i] * support.inner[f, i]
            total, carry = add_compensated(total, carry, part)
    return total + carry


@jit_no_allocation
def inner_marginals(tables, layout, supports, out):
    """Weight of every table entry, into ``out[entries]``; a Potts entry is the equal label's."""
    out[:] = 0.0
    for t in range(len(tables.kind)):
        count = tables.factor[t + 1] - tables.factor[t]
        slots = group_slots(tables, layout, t)
        support = group_support(tables, layout, supports, t)
        rows = group_rows(out, tables.entry, t, count)
        for f in range(count):
            for i in range(support.size[f]):
                states = support.states[f, i]
                if tables.kind[t] == POTTS:
                    if states[0] == states[1]:
                        rows[f, states[0]] += support.weight[f, i]
                    continue
                place = 0
                for slot in range(len(states)):
                    place = place * (slots.start[slot + 1] - slots.start[slot]) + states[slot]
                rows[f, place] += support.weight[f, i]
