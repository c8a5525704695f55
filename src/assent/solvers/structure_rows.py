"""Structures as rows of a linear program.

    trees, chains   a column per state of every slot and per pair of states of every edge (their
                    local polytope is the hull); limits and scores per count make the hull larger,
                    and one whole column per number of visits makes the rows right at whole points
    Cardinality     for integer programs, one whole column per number of true literals
    all others      a column per vertex, generated while solving; see ``column_generation``

An integer program cannot generate its columns, and so has none of the others.
"""

from __future__ import annotations

import numpy as np

from assent.errors import ModelError
from assent.factors.cardinality import Cardinality
from assent.factors.forest import Forest
from assent.problem import Float, Int64, Model, Problem
from assent.solvers.relaxation_rows import Priced, RowBuilder, State


def add_structures(
    builder: RowBuilder, problem: Problem, scores: Float, first_link: int, integer: bool
) -> None:
    """Rows of all structures; those to be priced are listed in ``builder.priced``."""
    tables = problem.tables
    written = len(tables.kind) - len(problem.models)
    for number, model in enumerate(problem.models):
        t = written + number
        m = int(tables.factor[t + 1] - tables.factor[t])
        links = first_link + np.arange(tables.link[t], tables.link[t + 1]).reshape(m, -1)
        inner = scores[tables.entry[t] : tables.entry[t + 1]].reshape(m, -1)
        structure = model.structure
        if isinstance(structure, Forest) and (integer or max(structure.counted) < 0):
            _add_forest(builder, model, links, inner)
        elif isinstance(structure, Cardinality) and integer:
            _add_cardinality(builder, model, links, inner)
        elif integer:
            raise ModelError(
                f"IntegerProgram has no rows for {structure.kind}; LinearProgram() and AD3() "
                "take it as it is"
            )
        else:
            rows = builder.rows(np.zeros(links.shape), lower=0.0)
            builder.put(rows, State(links), -1.0)
            builder.priced.append(Priced(t, rows, builder.rows(np.ones(m), lower=1.0)))


def _add_forest(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    structure, m = model.structure, len(links)
    start = structure.start
    columns = np.full((m, int(start[-1])), -1)
    tables = _tables(structure, inner)
    for slot, (table, parent) in enumerate(zip(tables, structure.parents, strict=True)):
        places = np.flatnonzero(np.isfinite(model.base[start[slot] : start[slot + 1]]))
        own = table[:, places, 0] if parent < 0 else np.zeros((m, len(places)))
        columns[:, start[slot] + places] = _states(builder, own)
    linked = columns[:, model.place]
    rows = builder.rows(np.zeros(links.shape), lower=0.0)
    builder.put(rows, State(links), -1.0)
    builder.put_column(rows, linked, 1.0)
    for slot, (table, parent) in enumerate(zip(tables, structure.parents, strict=True)):
        if parent >= 0:
            above = columns[:, start[parent] : start[parent + 1]]
            _add_edge(builder, columns[:, start[slot] : start[slot + 1]], above, table)
    if max(structure.counted) >= 0:
        seen = [start[i] + state for i, state in enumerate(structure.counted) if state >= 0]
        visits = columns[:, [place for place in seen if np.isfinite(model.base[place])]]
        rows = _add_counts(builder, inner[:, -len(structure._counts) :], 0)
        builder.put_column(rows[:, None], visits, 1.0)


def _tables(structure: Forest, inner: Float) -> list[Float]:
    """One ``[m, K, K of the parent]`` per slot."""
    tables, at = [], 0
    for k, top in structure._table_shapes():
        tables.append(inner[:, at : at + k * top].reshape(len(inner), k, top))
        at += k * top
    return tables


def _states(builder: RowBuilder, scores: Float) -> Int64:
    """Columns ``[m, K]`` of a slot's states, exactly one of them 1; ``-inf`` rules one out."""
    columns = builder.columns(np.where(np.isfinite(scores), -scores, 0.0))
    builder.put_column(builder.rows(np.ones(len(scores)), lower=1.0)[:, None], columns, 1.0)
    out = columns[~np.isfinite(scores)]
    builder.put_column(builder.rows(np.zeros(len(out))), out, 1.0)
    return columns


def _add_edge(builder: RowBuilder, below: Int64, above: Int64, table: Float) -> None:
    """A column per allowed pair of states; they sum to the states on either side."""
    allowed = np.isfinite(table) & (below >= 0)[:, :, None] & (above >= 0)[:, None, :]
    factor, k, j = np.nonzero(allowed)
    pairs = builder.columns(-table[allowed])
    for columns, own in ((below, k), (above, j)):
        rows = np.full(columns.shape, -1)
        known = columns >= 0
        rows[known] = builder.rows(np.zeros(int(known.sum())), lower=0.0)
        builder.put_column(rows[known], columns[known], -1.0)
        builder.put_column(rows[factor, own], pairs, 1.0)


def _add_counts(builder: RowBuilder, scores: Float, already: int) -> Int64:
    """One whole column per number; returns the rows ``[m]`` that what is counted goes into.

    ``already`` is how many are counted before any.
    """
    m, numbers = scores.shape
    allowed = np.isfinite(scores)
    columns = builder.columns(np.where(allowed, -scores, 0.0), whole=True)
    builder.put_column(builder.rows(np.ones(m), lower=1.0)[:, None], columns, 1.0)
    builder.put_column(builder.rows(np.zeros(int((~allowed).sum()))), columns[~allowed], 1.0)
    rows = builder.rows(np.full(m, -float(already)), lower=-float(already))
    builder.put_column(rows[:, None], columns, -np.arange(numbers, dtype=float))
    return rows


def _add_cardinality(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    true = np.arange(1, len(model.base), 2)
    forced = ~np.isin(true, model.place) & np.isinf(model.base[true - 1])
    rows = _add_counts(builder, inner, int(forced.sum()))
    builder.put(rows[:, None], State(links), 1.0)
