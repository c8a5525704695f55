"""AD3's ``.fg`` models as factor graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from assent.factors.all_true import All
from assent.factors.at_least_one import AtLeastOne
from assent.factors.at_most import AtMost
from assent.factors.at_most_one import AtMostOne
from assent.factors.base import Factor
from assent.factors.dense import Dense
from assent.factors.exactly_one import ExactlyOne
from assent.factors.implies import Implies
from assent.factors.knapsack import Knapsack
from assent.factors.pair import Pair
from assent.io.fg import CODES, TYPES, FgModel
from assent.model.graph import FactorGraph
from assent.model.variables import Categorical, Literals, coordinates_of

# How each type reads literals[m, n] and numbers[m, …]; outputs and conclusions come last.
_READ_AS: dict[str, Callable[[Literals, NDArray[np.float64]], Factor]] = {
    "PAIR": lambda lits, score: Pair(lits[:, 0], lits[:, 1], scores=score[:, 0]),
    "XOR": lambda lits, _: ExactlyOne(lits, axis=1),
    "XOROUT": lambda lits, _: AtMostOne(lits[:, :-1], axis=1, output=lits[:, -1]),
    "ATMOSTONE": lambda lits, _: AtMostOne(lits, axis=1),
    "OR": lambda lits, _: AtLeastOne(lits, axis=1),
    "OROUT": lambda lits, _: AtLeastOne(lits[:, :-1], axis=1, output=lits[:, -1]),
    "ANDOUT": lambda lits, _: All(lits[:, :-1], axis=1, output=lits[:, -1]),
    "IMPLY": lambda lits, _: Implies(reduce(and_, lits.T[:-1]), lits[:, -1]),
    "BUDGET": lambda lits, limit: AtMost(limit[:, 0].astype(np.int64), lits, axis=1),
    "KNAPSACK": lambda lits, numbers: Knapsack(
        lits, axis=1, weights=numbers[:, :-1], capacity=numbers[:, -1]
    ),
}


def fg_to_graph(model: FgModel) -> FactorGraph:
    """The model as a graph whose variables ``graph["x"]`` are the file's, in its order.

    Example:
        >>> from assent.io import FgModel
        >>> fg_to_graph(FgModel.from_factors([1.0, 2.0], [("XOR", [0, 1], [])]))
        FactorGraph: 1 variable arrays (2 indicators), 1 factors
          x: 2 binary
          XOR: ExactlyOne(x[0], x[1])
    """
    graph = FactorGraph()
    x = graph.binary(model.n_variables, scores=model.scores, name="x")
    for code, factors in _batches(model):
        size = int(model.start[factors[0] + 1] - model.start[factors[0]])
        codes = model.literals[model.start[factors][:, None] + np.arange(size)]
        width = int(model.number_start[factors[0] + 1] - model.number_start[factors[0]])
        numbers = model.numbers[model.number_start[factors][:, None] + np.arange(width)]
        lits = x[coordinates_of(codes)].negate(where=codes < 0)
        if TYPES[code] == "DENSE":
            graph.add(_dense(lits, numbers), name="DENSE")
        else:
            graph.add(_READ_AS[TYPES[code]](lits, numbers), name=TYPES[code])
    _add_simplices(graph, x, model)
    return graph


def _batches(model: FgModel) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Factors grouped by type, size and (of tables) shape, so that each group is one batch."""
    sizes, widths = np.diff(model.start), np.diff(model.number_start)
    keys = np.column_stack([model.types, sizes, widths]).astype(np.int64)
    for key in np.unique(keys, axis=0):
        factors = np.flatnonzero((keys == key).all(axis=1))
        if key[0] != CODES["DENSE"]:
            yield int(key[0]), factors
            continue
        by_shape: dict[tuple[int, ...], list[int]] = {}
        for factor in factors.tolist():
            by_shape.setdefault(_shape(model, factor), []).append(factor)
        for same in by_shape.values():
            yield int(key[0]), np.array(same)


def _shape(model: FgModel, factor: int) -> tuple[int, ...]:
    """Numbers of states of the variables of a DENSE."""
    first = int(model.number_start[factor])
    count = int(model.numbers[first])
    return tuple(model.numbers[first + 1 : first + 1 + count].astype(int).tolist())


def _dense(lits: Literals, numbers: NDArray[np.float64]) -> Dense:
    """Tables of one shape whose variables' states are literals."""
    count = int(numbers[0, 0])
    shape = numbers[0, 1 : 1 + count].astype(int).tolist()
    ends = np.cumsum(shape)
    slots = [
        Categorical(
            lits.graph,
            lits.codes[:, end - k : end],
            tuple(range(k)),
            {state: state for state in range(k)},
        )
        for k, end in zip(shape, ends.tolist(), strict=True)
    ]
    return Dense(*slots, scores=numbers[:, 1 + count :].reshape(-1, *shape))


def _add_simplices(graph: FactorGraph, x: Literals, model: FgModel) -> None:
    """A DENSE implies that each of its variables has one state: add this once, if no XOR does."""
    given = {
        tuple(sorted(model.literals[model.start[f] : model.start[f + 1]].tolist()))
        for f in np.flatnonzero(model.types == CODES["XOR"])
    }
    missing: dict[int, dict[tuple[int, ...], None]] = {}
    for f in np.flatnonzero(model.types == CODES["DENSE"]).tolist():
        place = int(model.start[f])
        for k in _shape(model, f):
            states = tuple(sorted(model.literals[place : place + k].tolist()))
            place += k
            if states not in given:
                missing.setdefault(k, {})[states] = None
    for rows in missing.values():
        graph.add(ExactlyOne(x[np.array(list(rows))], axis=1), name="states")
