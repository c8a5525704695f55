"""Columns for the places of structures: one per state that a slot can be in."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels.problem import Float, Int64, Model
from assent.solvers.programs.row_builder import LinkStates, RowBuilder

NONE = -1  # column of a place that cannot be


def add_places(
    builder: RowBuilder, model: Model, links: Int64, scores: Float | None = None
) -> Int64:
    """Columns ``[m, places]``, NONE for what cannot be; every slot is in one state.

    ``links[m, L]`` are tied to their places.  ``scores[m, places]`` are what states earn; ``-inf``
    rules one out.
    """
    start, m = model.structure.start, len(links)
    possible = np.flatnonzero(np.isfinite(model.base))
    own = np.zeros((m, len(possible))) if scores is None else scores[:, possible]
    allowed = np.isfinite(own)
    columns = np.full((m, int(start[-1])), NONE)
    columns[:, possible] = builder.columns(np.where(allowed, -own, 0.0))
    slot = np.searchsorted(start, possible, side="right") - 1
    rows = builder.rows(np.ones((m, len(start) - 1)), lower=1.0)
    builder.put_column(rows[:, slot], columns[:, possible], 1.0)
    out = columns[:, possible][~allowed]
    builder.put_column(builder.rows(np.zeros(len(out))), out, 1.0)
    rows = builder.rows(np.zeros(links.shape), lower=0.0)
    builder.put(rows, LinkStates(links), -1.0)
    builder.put_column(rows, columns[:, model.place], 1.0)
    return columns


def true_places(model: Model, columns: Int64) -> Int64:
    """Columns ``[m, slots]`` of the literals of a structure that has nothing else."""
    return columns[:, 1 + model.structure.start[:-1]]


def put_known(builder: RowBuilder, rows: Int64, columns: Int64, entry: Any) -> None:
    """Entries of the columns that exist."""
    rows, columns, entry = np.broadcast_arrays(rows, columns, entry)
    known = columns != NONE
    builder.put_column(rows[known], columns[known], entry[known])


def add_edge(builder: RowBuilder, below: Int64, above: Int64, table: Float) -> None:
    """A column per allowed pair of states; they sum to the states on either side.

    ``below[m, K]`` and ``above[m, J]`` are columns, ``table[m, K, J]`` what pairs earn.
    """
    allowed = np.isfinite(table) & (below >= 0)[:, :, None] & (above >= 0)[:, None, :]
    factor, k, j = np.nonzero(allowed)
    pairs = builder.columns(-table[allowed])
    for columns, own in ((below, k), (above, j)):
        rows = np.full(columns.shape, -1)
        known = columns >= 0
        rows[known] = builder.rows(np.zeros(int(known.sum())), lower=0.0)
        builder.put_column(rows[known], columns[known], -1.0)
        builder.put_column(rows[factor, own], pairs, 1.0)
