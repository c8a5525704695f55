"""UAI models as factor graphs.

Variables of one cardinality make one array: binary ones (those of a single state among them,
fixed at 0) and, for every larger number of states, categorical ones. TableGroup over one variable
become its scores, over two binary variables scores, pairs and constraints, two variables whose
table is constant off its diagonal a Potts factor; all others are dense tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.dense import Dense
from assent.factors.potts import Potts
from assent.io import binary_tables
from assent.io.text import starts
from assent.io.uai import UaiModel
from assent.model.graph import FactorGraph
from assent.model.scores import LARGEST_SCORE
from assent.model.variables import Categorical, Literals, as_literals

Arrays = dict[int, Literals | Categorical]  # the variables by number of states, 2 for binary ones


class TableGroup(NamedTuple):
    """Factors of one shape: places ``scope[m, d]`` in the variables' arrays, ``[m, *shape]``."""

    shape: tuple[int, ...]
    scope: NDArray[np.int64]
    entries: NDArray[np.float64]


def uai_to_graph(model: UaiModel) -> FactorGraph:
    """The model as a graph; variables that all have one cardinality are ``graph["x"]``.

    With several cardinalities they are ``graph["x2"]``, ``graph["x3"]``, …, each in the order of
    the file; :func:`uai_order` maps the file's variables to them.

    Example:
        >>> from assent.io import UaiModel
        >>> model = UaiModel.from_factors([2, 3], [[0, 1]], [[[0, 1, 2], [2, 0, 1]]])
        >>> uai_to_graph(model)
        FactorGraph: 2 variable arrays (4 indicators), 1 factors
          x2: 1 binary
          x3: 1 categorical over {0, 1, 2}
          tables: Dense(x2[0], x3[0])
    """
    _check_sizes(model)
    groups = list(_by_shape(model))
    graph = FactorGraph()
    possible = _declare(graph, model, groups)
    arrays: Arrays = {2 if v.states is None else len(v.states): v.symbol for v in graph.variables}
    for group in groups:
        if not group.shape:
            continue
        if group.shape in ((2,), (2, 2)):
            x = as_literals(arrays[2])
            binary_tables.add_factors(graph, x, group.scope, group.entries)
        elif len(group.shape) > 1:
            possible &= _add_tables(graph, arrays, group)
    _fix(graph, model, arrays)
    if not possible:  # contradictory evidence makes the graph infeasible
        never = graph.binary(1, name="impossible")
        graph.fix(never, 0)
        graph.fix(never, 1)
    return graph


def _check_sizes(model: UaiModel) -> None:
    """Raise where scores are so large that their sums could overflow."""
    large = np.flatnonzero(
        (np.abs(model.log_tables) > LARGEST_SCORE) & np.isfinite(model.log_tables)
    )
    if len(large):
        factor = int(np.searchsorted(model.table_start, large[0], side="right")) - 1
        raise ModelError(
            f"factor {factor} has the score {model.log_tables[large[0]]}; scores are finite (at "
            f"most {LARGEST_SCORE:g} in size), or -inf to forbid"
        )


def uai_order(model: UaiModel) -> NDArray[np.int64]:
    """``[n]`` place of every variable of the file among all values of the graph's variables.

    Example:
        >>> from assent.io import UaiModel
        >>> uai_order(UaiModel.from_factors([3, 2, 3], [], [])).tolist()
        [1, 0, 2]
    """
    kind = _array_of(model)
    order = np.empty(model.n_variables, np.int64)
    order[np.argsort(kind, kind="stable")] = np.arange(model.n_variables)
    return order


def _array_of(model: UaiModel) -> NDArray[np.int64]:
    """The number of states of each variable's array: one of a single state counts as binary."""
    return np.maximum(model.cardinalities, 2)


def _by_shape(model: UaiModel) -> Iterator[TableGroup]:
    """All factors, grouped by the shape of their tables, without variables of one state."""
    kind, order = _array_of(model), uai_order(model)
    counts = np.bincount(kind, minlength=3)
    place = order - starts(counts)[kind]
    kept = model.cardinalities[model.scope] > 1
    owner = np.repeat(np.arange(model.n_factors), np.diff(model.scope_start))
    arity = np.bincount(owner[kept], minlength=model.n_factors)
    start = starts(arity)
    scope = model.scope[kept]
    for d in np.unique(arity).tolist():
        factors = np.flatnonzero(arity == d)
        rows = scope[start[factors][:, None] + np.arange(d)]
        shapes, which = np.unique(kind[rows], axis=0, return_inverse=True)
        for s, shape in enumerate(shapes.tolist()):
            chosen = np.flatnonzero(which.ravel() == s)
            size = int(np.prod(shape, dtype=np.int64))
            entries = model.table_start[factors[chosen]][:, None] + np.arange(size)
            tables = model.log_tables[entries].reshape(-1, *shape)
            yield TableGroup(tuple(shape), place[rows[chosen]], tables)


def _declare(graph: FactorGraph, model: UaiModel, groups: list[TableGroup]) -> bool:
    """Declare all variables with their scores; False where a table forbids all states."""
    possible = True
    kinds, counts = np.unique(_array_of(model), return_counts=True)
    scores = {k: np.zeros((m, k)) for k, m in zip(kinds.tolist(), counts.tolist(), strict=True)}
    binary = np.zeros(len(scores.get(2, ())))
    for shape, scope, entries in groups:
        if not shape:
            possible &= bool(np.isfinite(entries).all())
            graph.add_constant(float(entries[np.isfinite(entries)].sum()))
        elif shape in ((2,), (2, 2)):
            graph.add_constant(binary_tables.add_scores(scope, entries, binary))
        elif len(shape) == 1:
            np.add.at(scores[shape[0]], scope[:, 0], entries)
    for k, array in scores.items():
        name = "x" if len(scores) == 1 else f"x{k}"
        if k == 2:
            graph.binary(len(array), scores=binary, name=name)
            continue
        nothing = np.isneginf(array).all(axis=1)
        possible &= not nothing.any()
        array[nothing] = 0.0
        graph.categorical(len(array), states=k, scores=array, name=name)
    if not scores:
        graph.binary(0, name="x")
    return possible


def _add_tables(graph: FactorGraph, arrays: Arrays, group: TableGroup) -> bool:
    """Add dense tables or equivalent Potts factors; False where a table forbids all states."""
    shape, scope, entries = group
    flat = entries.reshape(len(entries), -1)
    possible = np.isfinite(flat).any(axis=1)
    potts = np.zeros(len(entries), bool)
    if len(shape) == 2 and shape[0] == shape[1]:
        same = np.eye(shape[0], dtype=bool)
        off, diagonal = entries[:, ~same], entries[:, same]
        potts = np.isfinite(off[:, 0]) & (off == off[:, :1]).all(axis=1)
        potts &= np.isfinite(diagonal).any(axis=1)
        if potts.any():
            graph.add_constant(float(off[potts, 0].sum()))
            a, b = (arrays[shape[0]][scope[potts, slot]] for slot in (0, 1))
            graph.add(Potts(a, b, scores=diagonal[potts] - off[potts, :1]), name="potts")
    dense = possible & ~potts
    if dense.any():
        slots = [arrays[k][scope[dense, slot]] for slot, k in enumerate(shape)]
        graph.add(Dense(*slots, scores=entries[dense]), name="tables")
    return bool(possible.all())


def _fix(graph: FactorGraph, model: UaiModel, arrays: Arrays) -> None:
    """Evidence, and state 0 for variables of a single state."""
    kind, order = _array_of(model), uai_order(model)
    observed = dict.fromkeys(np.flatnonzero(model.cardinalities == 1).tolist(), 0) | model.evidence
    variables = np.array(sorted(observed), np.int64)
    states = np.array([observed[v] for v in variables.tolist()], np.int64)
    first = 0
    for k, symbol in arrays.items():
        chosen = kind[variables] == k
        if chosen.any():
            graph.fix(symbol[order[variables[chosen]] - first], states[chosen].tolist())
        first += int((kind == k).sum())
