"""Structures of many small problems, end to end: views of one problem's, and what it asks of them.

The arrays of ``structure_steps.Models`` and their like are those of all problems, one after the
other; ``ends`` says where each problem's begin.  Arrays of offsets count from the beginning of
their own problem and have one entry more than there are groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.ad3 import structure_steps, table_steps
from assent.kernels.ad3.state import Structures
from assent.kernels.ad3.structure_steps import (
    Models,
    read_states,
    settle_structures,
    structure_values,
    view_group,
)
from assent.kernels.ad3.table_steps import Layout, group_rows, group_support
from assent.kernels.core.bound_sweep import add_compensated
from assent.kernels.core.structure_addresses import NONE, call_blend, call_parts
from assent.kernels.jit import jit_internal, jit_internal_no_allocation
from assent.kernels.problem import Tables

# Columns of ``StructureBatch.ends``.
GROUPS, SLOTS, LINKS, DATA, LINK_PLACES, PLACES = 0, 1, 2, 3, 4, 5
COLUMNS = 6

make_supports = jit_internal(table_steps.make_supports)
make_flat_work = jit_internal(table_steps.make_flat_work)
make_groups = jit_internal(structure_steps.make_groups)


class StructureBatch(NamedTuple):
    """The structures of all problems of a batch."""

    ends: np.ndarray  # int64[B + 1, COLUMNS]
    tables: Tables
    models: Models
    layout: Layout
    order: np.ndarray  # int64, in which a problem's groups choose when its marginals are rounded
    parts: np.ndarray  # int64, addresses of the functions that list inner parts
    blend: np.ndarray  # int64


class Searched(NamedTuple):
    """The structures of one problem."""

    own: Structures
    order: np.ndarray
    parts: np.ndarray
    blend: np.ndarray


@jit_internal
def view_tables(tables, b, groups, slots, links):
    """Tables of problem ``b``, whose groups, slots and links begin and end there."""
    (g0, g1), (s0, s1) = groups, slots
    o0, o1 = g0 + b, g1 + b + 1  # arrays of offsets have one entry more than there are groups
    return Tables(
        tables.kind[g0:g1], tables.slot[o0:o1], tables.states[s0:s1], tables.first[s0:s1],
        tables.link[o0:o1], tables.entry[o0:o1], tables.factor[o0:o1],
        tables.lits[links[0] : links[1]],
    )  # fmt: skip


@jit_internal
def view_layout(layout, b, groups, slots):
    """The layout of their supports."""
    (g0, g1), (s0, s1) = groups, slots
    o0, o1 = g0 + b, g1 + b + 1
    return Layout(
        layout.start[s0 + g0 : s1 + g1], layout.room[g0:g1], layout.vertex[o0:o1],
        layout.place[o0:o1], layout.row[o0:o1], layout.runs[g0:g1], layout.no_base,
        layout.no_scratch,
    )  # fmt: skip


@jit_internal
def view_structures(batch, b, first_link, first_entry):
    """The structures of problem ``b``, with empty supports.

    ``first_link`` and ``first_entry`` are theirs among those of its tables and structures.
    """
    begin, end, models = batch.ends[b], batch.ends[b + 1], batch.models
    g0, g1 = begin[GROUPS], end[GROUPS]
    o0, o1 = g0 + b, g1 + b + 1  # of offsets
    slots = begin[SLOTS], end[SLOTS]
    own_tables = view_tables(batch.tables, b, (g0, g1), slots, (begin[LINKS], end[LINKS]))
    own_layout = view_layout(batch.layout, b, (g0, g1), slots)
    own_models = Models(
        models.address[g0:g1],
        models.data[begin[DATA] : end[DATA]], models.data_at[o0:o1],
        models.place[begin[LINK_PLACES] : end[LINK_PLACES]], models.place_at[o0:o1],
        models.base[begin[PLACES] : end[PLACES]], models.base_at[o0:o1],
        models.projection[g0:g1], models.memory_at[o0:o1],
    )  # fmt: skip
    work = make_flat_work(own_tables, own_layout)
    groups = make_groups(own_tables, own_models, own_layout, work)
    structures = Structures(
        groups, first_link, first_entry, make_supports(own_tables, own_layout),
        np.zeros(own_tables.factor[-1], np.bool_), np.zeros(own_models.memory_at[-1]),
    )  # fmt: skip
    return Searched(structures, batch.order[g0:g1], batch.parts[g0:g1], batch.blend[g0:g1])


@jit_internal_no_allocation
def has_structures(searched):
    """Whether a problem has any."""
    if searched is None:
        return False
    return searched.own.groups.tables.kind.size > 0


@jit_internal
def assess_structures(searched, table, x):
    """Inner score of all structures at an assignment ``x[n]``, and how many forbid it."""
    if searched is None:
        return 0.0, 0
    own = searched.own
    values = np.empty(own.groups.tables.factor[-1])
    structure_values(own.groups, table[own.first_entry :], x, values)
    total, carry, broken = 0.0, 0.0, 0
    for value in values:
        if value == -np.inf:
            broken += 1
        else:
            total, carry = add_compensated(total, carry, value)
    return total + carry, broken


@jit_internal
def settle(searched, inner, wish, scale):
    """Values ``int8[n]`` that structures give their coordinates, -1 for all others.

    They choose by ``wish[n]``, what being 1 is worth, and ``scale`` times their scores ``inner``.
    """
    x = np.empty(wish.size, np.int8)
    settle_structures(searched.own.groups, inner, searched.order, wish, scale, x)
    return x


@jit_internal_no_allocation
def weigh_parts(searched, out):
    """Weights of the inner parts of all structures in their own copies; NaN where unknown."""
    if searched is None:
        return
    own, groups = searched.own, searched.own.groups
    rows = out[own.first_entry :]
    rows[:] = 0.0
    for s in range(len(groups.tables.kind)):
        group = view_group(groups, rows, s)
        slots, entries = group.slots, group.entries
        support = group_support(groups.tables, groups.layout, own.supports, s)
        memory = group_rows(own.memory, groups.models.memory_at, s, len(group.lits))
        for f in range(len(group.lits)):
            if groups.models.projection[s] != NONE:
                if searched.blend[s] != NONE:
                    kept = memory[f, : slots.start[-1]]
                    call_blend(searched.blend[s], slots.start, slots.data, kept, entries[f])
            elif searched.parts[s] == NONE:
                entries[f, :] = np.nan
            else:
                for i in range(support.size[f]):
                    call_parts(
                        searched.parts[s], slots.start, slots.data, support.states[f, i],
                        support.weight[f, i], entries[f],
                    )  # fmt: skip


@jit_internal_no_allocation
def list_parts(searched, x, out):
    """Weights of the inner parts where all structures are at an assignment ``x[n]``."""
    if searched is None:
        return
    groups = searched.own.groups
    rows = out[searched.own.first_entry :]
    rows[:] = 0.0
    for s in range(len(groups.tables.kind)):
        group = view_group(groups, rows, s)
        slots, entries = group.slots, group.entries
        for f in range(len(group.lits)):
            if searched.parts[s] == NONE:
                entries[f, :] = np.nan
                continue
            group.states[:] = 0
            read_states(group, f, x)
            call_parts(searched.parts[s], slots.start, slots.data, group.states, 1.0, entries[f])
