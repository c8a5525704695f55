"""Rows of matchings, cuts, automata and soft agreement."""

from __future__ import annotations

import numpy as np

from assent.factors.soft import table_of_penalties
from assent.kernels.problem import Float, Int64, Model
from assent.solvers.programs.place_rows import add_edge, add_places, put_known, true_places
from assent.solvers.programs.row_builder import RowBuilder


def add_matching(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """Sums of rows and of columns; their corners are integral."""
    n, m, fill_rows, fill_columns = model.structure.data[:4].tolist()
    capacities = np.split(model.structure.data[4:].astype(float), [n])
    pairs = true_places(model, add_places(builder, model, links)).reshape(-1, n, m)
    for axis, filled, capacity in ((2, fill_rows, capacities[0]), (1, fill_columns, capacities[1])):
        upper = np.tile(capacity, (len(links), 1))
        rows = builder.rows(upper, lower=upper if filled else -np.inf)
        put_known(builder, np.expand_dims(rows, axis), pairs, 1.0)


def add_cut(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """Pairs of states of every edge; or, with edges as literals, that they differ implies one.

    The pairs' local polytope has the right maxima, because neighbours attract each other.
    """
    structure = model.structure
    columns = add_places(builder, model, links)
    ends = structure._ends
    if structure._shared:
        true = true_places(model, columns)
        edges = true[:, int(structure.data[0]) :]
        for first, second in (ends.T, ends.T[::-1]):
            rows = builder.rows(np.zeros(edges.shape))
            put_known(builder, rows, true[:, first], 1.0)
            put_known(builder, rows, true[:, second], -1.0)
            put_known(builder, rows, edges, -1.0)
        return
    states = columns.reshape(len(links), -1, 2)
    tables = inner.reshape(len(links), -1, 2, 2)
    for edge, (first, second) in enumerate(ends):
        add_edge(builder, states[:, first], states[:, second], tables[:, edge])


def add_regular(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """A unit of flow through the automaton, unrolled over time; arcs are tied to what they read."""
    automaton, length = model.structure.automaton, len(model.structure.states)
    columns = add_places(builder, model, links)
    places = model.structure.data[-length * len(automaton.origin) :].reshape(length, -1)
    own = inner.reshape(len(links), *places.shape)
    possible = np.isfinite(own) & (places >= 0) & np.isfinite(model.base)[places]
    factor, time, arc = np.nonzero(possible)
    flow = builder.columns(-own[possible])
    # What is in a state before one step was led there by the step before, or began there.
    begins = np.zeros((len(links), length, len(automaton.states)))
    begins[:, 0, 0] = 1.0
    rows = builder.rows(begins, lower=begins)
    builder.put_column(rows[factor, time, automaton.origin[arc]], flow, 1.0)
    on = time + 1 < length
    target = automaton.target[arc]
    builder.put_column(rows[factor[on], time[on] + 1, target[on]], flow[on], -1.0)
    wrong = ~on & ~automaton.accepting[target]
    builder.put_column(builder.rows(np.zeros(int(wrong.sum()))), flow[wrong], 1.0)
    chosen = builder.rows(np.zeros(columns.shape), lower=0.0)
    put_known(builder, chosen, columns, -1.0)
    builder.put_column(chosen[factor, places[time, arc]], flow, 1.0)


def add_agreement(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """A state of the first that is not the second's is paid for."""
    first, second = _sides(model, add_places(builder, model, links))
    rows = builder.rows(np.zeros(first.shape))
    put_known(builder, rows, first, 1.0)
    put_known(builder, rows, second, -1.0)
    builder.put_column(rows, builder.columns(-inner), -1.0)


def add_matrix(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """Pairs of states, each with what it pays."""
    first, second = _sides(model, add_places(builder, model, links))
    k, j = first.shape[1], second.shape[1]
    add_edge(builder, first, second, table_of_penalties(-inner.reshape(-1, k, j)))


def _sides(model: Model, columns: Int64) -> tuple[Int64, Int64]:
    half = int(model.structure.start[1])
    return columns[:, :half], columns[:, half:]


def add_soft_output(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """The output differs from "any of the others" only where that is paid for."""
    true = true_places(model, add_places(builder, model, links))
    inputs, output = true[:, :-1], true[:, -1:]
    paid = builder.columns(-inner)
    implied = builder.rows(np.zeros(inputs.shape))
    put_known(builder, implied, inputs, 1.0)
    put_known(builder, implied, output, -1.0)
    builder.put_column(implied, paid, -1.0)
    implies = builder.rows(np.zeros(output.shape))
    put_known(builder, implies, output, 1.0)
    put_known(builder, implies, inputs, -1.0)
    builder.put_column(implies, paid, -1.0)
