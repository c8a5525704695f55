"""Factor graphs as UAI models: a table per variable and factor, constraints as zeros and ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Factor, Logic
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.io.uai import UaiModel
from assent.model.graph import FactorGraph
from assent.model.variables import coordinates_of

# Entries of one constraint's table, which is exponential in its number of variables: 1 MB.
_MOST_ENTRIES = 2**16

ScopeTable = tuple[list[int], NDArray[np.float64]]


class Coordinates(NamedTuple):
    """The meaning of every coordinate: ``variable[size]`` is in ``state[size]``."""

    variable: NDArray[np.int64]
    state: NDArray[np.int64]
    cardinalities: NDArray[np.int64]


def uai_from_graph(graph: FactorGraph) -> UaiModel:
    """A graph as tables; its variables are counted array after array.

    Raises:
        ModelError: for a constraint over too many variables for a table, or contradictory
            evidence.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(2, states="NVD")
        >>> handle = g.add(at.Potts(tag[0], tag[1], scores=1.0))
        >>> uai_from_graph(g).cardinalities.tolist()
        [3, 3]
    """
    where = _coordinates(graph)
    n = len(where.cardinalities)
    # The constant is divided among the unary tables, so that no potential overflows.
    share = graph.constant / max(1, n)
    scopes, tables = [[v] for v in range(n)], list(_unary_tables(graph, share))
    if graph.constant and not n:
        scopes, tables = [[]], [np.array(graph.constant)]
    evidence: dict[int, int] = {}
    for code in graph.evidence().tolist():
        coordinate = ~code if code < 0 else code
        v, state = int(where.variable[coordinate]), int(where.state[coordinate])
        if code < 0 and where.cardinalities[v] > 2:  # one of several states is ruled out
            tables[v][state] = -np.inf
            continue
        value = 1 - state if code < 0 else state
        if evidence.setdefault(v, value) != value:
            raise ModelError(f"evidence asks for both values of {graph.describe_code(coordinate)}")
    for handle in graph.handles:
        for scope, table in _factor_tables(handle.factor, where):
            scopes.append(scope)
            tables.append(table)
    return UaiModel.from_factors(where.cardinalities.tolist(), scopes, tables, evidence=evidence)


def _coordinates(graph: FactorGraph) -> Coordinates:
    variable, state, cardinalities, count = [], [], [], 0
    for array in graph.variables:
        k = 1 if array.states is None else len(array.states)
        m = array.scores.size // k
        variable.append(count + np.repeat(np.arange(m), k))
        state.append(np.ones(m, np.int64) if array.states is None else np.tile(np.arange(k), m))
        cardinalities.append(np.full(m, 2 if array.states is None else k))
        count += m
    empty = np.zeros(0, np.int64)
    return Coordinates(*(np.concatenate([empty, *p]) for p in (variable, state, cardinalities)))


def _unary_tables(graph: FactorGraph, share: float) -> Iterator[NDArray[np.float64]]:
    for array in graph.variables:
        if array.states is None:
            scores = np.stack([np.zeros(array.scores.size), array.scores.ravel()], axis=1)
        else:
            scores = array.scores.reshape(-1, len(array.states))
        yield from scores + share


def _factor_tables(factor: Factor, where: Coordinates) -> Iterator[ScopeTable]:
    """Scope and log-table of each factor of a batch, by enumeration of joint states."""
    coordinates = coordinates_of(factor.codes)
    owners = where.variable[coordinates]
    scopes = [list(dict.fromkeys(row)) for row in owners.tolist()]
    shapes = [tuple(where.cardinalities[scope].tolist()) for scope in scopes]
    sizes = [math.prod(shape) for shape in shapes]
    largest = max(sizes, default=0)
    if largest > _MOST_ENTRIES:
        row = sizes.index(largest)
        raise ModelError(
            f"{factor.words(row)} has {len(scopes[row])} variables: no UAI table of {largest} "
            "entries is written for it"
        )
    stride = _strides(scopes, shapes, owners)
    values = np.empty((len(factor), largest))
    for entry in range(largest):  # beyond the end of a smaller table entries repeat, unused
        states = entry // stride % where.cardinalities[owners]
        truth = (states == where.state[coordinates]) ^ (factor.codes < 0)
        values[:, entry] = _values(factor, truth)
    for row, scope in enumerate(scopes):
        yield scope, values[row, : sizes[row]].reshape(shapes[row])


def _strides(
    scopes: list[list[int]], shapes: list[tuple[int, ...]], owners: NDArray[np.int64]
) -> NDArray[np.int64]:
    """``[m, size]`` the stride of each literal's variable in its factor's table."""
    strides = np.empty(owners.shape, np.int64)
    for row, (scope, shape) in enumerate(zip(scopes, shapes, strict=True)):
        own = {v: math.prod(shape[slot + 1 :]) for slot, v in enumerate(scope)}
        strides[row] = [own[v] for v in owners[row].tolist()]
    return strides


def _values(factor: Factor, truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Score of each factor for truth values of its literals, −inf where it forbids them."""
    if isinstance(factor, Logic):
        return np.where(factor.holds(truth), 0.0, -np.inf)
    if isinstance(factor, Pair):
        return np.where(truth.all(axis=1), factor.scores, 0.0)
    if isinstance(factor, Scored):
        return factor.value_at(truth, factor.scores)
    raise ModelError(f"{factor.words(0)}: no UAI tables are written for factors of this kind")
