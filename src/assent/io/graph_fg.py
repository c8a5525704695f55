"""Factor graphs as AD3's ``.fg`` models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Logic
from assent.factors.knapsack import Knapsack
from assent.factors.pair import Pair
from assent.factors.table import Table
from assent.io.fg import FgModel, Triple
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, SUM
from assent.model.graph import FactorGraph
from assent.model.variables import Categorical, coordinates_of


def fg_from_graph(graph: FactorGraph) -> FgModel:
    """A graph in terms of the types of AD3's format; evidence becomes one-literal ``XOR`` factors.

    Categorical variables become one binary variable per state. A literal in a table becomes a
    variable of two states: the format's tables know no negation, so that an opposite variable,
    tied to it by an ``XOR``, is added after the others. The format has no constant: the scores of
    all assignments shift by ``graph.constant`` and by the constants of pairs of negated literals.

    Raises:
        ModelError: naming the first factor of a kind that the format lacks.
    """
    scores = np.concatenate([np.zeros(0), *(variable.scores for variable in graph.variables)])
    factors: list[Triple] = []
    opposites = _Opposites(graph.size)
    for handle in graph.handles:
        factor = handle.factor
        if isinstance(factor, Pair):
            factors += _pair_triples(factor, scores)
        elif isinstance(factor, Logic):
            factors += _logic_triples(factor)
        elif isinstance(factor, Table):
            factors += _table_triples(factor, opposites)
        else:
            raise ModelError(f"{factor.words(0)}: AD3's format has no type for it")
    for variable in graph.variables:
        if isinstance(variable.symbol, Categorical) and variable.scores.size:
            states = variable.symbol.codes.reshape(-1, len(variable.symbol.states))
            factors += [("XOR", row, []) for row in states.tolist()]
    factors += [("XOR", [code], []) for code in graph.evidence().tolist()]
    factors += [("XOR", [v, opposite], []) for v, opposite in opposites.of.items()]
    return FgModel.from_factors(np.append(scores, np.zeros(len(opposites.of))), factors)


class _Opposites:
    """Variables that are true where another is false, created on demand."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.of: dict[int, int] = {}

    def variable(self, code: int) -> int:
        """The variable that is true where the literal is."""
        if code >= 0:
            return code
        return self.of.setdefault(~code, self.first + len(self.of))


def _pair_triples(factor: Pair, scores: NDArray[np.float64]) -> Iterator[Triple]:
    """Pairs of plain variables; the linear terms of negations are added to ``scores``."""
    negated = factor.codes < 0
    variables = coordinates_of(factor.codes)
    forbidden = np.isneginf(factor.scores)
    value = np.where(forbidden, 0.0, factor.scores)
    # s·(1−x)·y = s·y − s·x·y, and s·(1−x)·(1−y) = s − s·x − s·y + s·x·y.
    for mine, other in ((0, 1), (1, 0)):
        sign = np.where(negated[:, mine], -1.0, 1.0)
        np.add.at(scores, variables[:, mine], np.where(negated[:, other], sign * value, 0.0))
    product = np.where(negated[:, 0] ^ negated[:, 1], -value, value)
    codes = factor.codes.tolist()
    for row, score in enumerate(product.tolist()):
        if forbidden[row]:
            yield "ATMOSTONE", codes[row], []
        else:
            yield "PAIR", variables[row].tolist(), [score]


def _logic_triples(factor: Logic) -> Iterator[Triple]:
    normal = factor.normal_form()
    size = factor.size
    for row, literals in enumerate(normal.literals(factor.codes).tolist()):
        k = int(normal.k[row])
        opposite = [~code for code in literals]
        if normal.form == ANYOF:
            yield "OROUT", literals, []
        elif normal.form == KNAPSACK:
            assert isinstance(factor, Knapsack)
            yield "KNAPSACK", literals, [*factor.weights[row], factor.capacity[row]]
        elif normal.form == CAP and k == 1:
            yield "ATMOSTONE", literals, []
        elif normal.form == CAP and k == size - 1:  # not all of them: one opposite holds
            yield "OR", opposite, []
        elif normal.form == CAP:
            yield "BUDGET", literals, [k]
        elif normal.form == SUM and k == 1:
            yield "XOR", literals, []
        elif normal.form == SUM:  # exactly k: at most k, and at most n − k of the opposites
            yield "BUDGET", literals, [k]
            yield "BUDGET", opposite, [size - k]
        else:
            raise ModelError(f"{factor.words(row)}: AD3's format has no type for it")


def _table_triples(factor: Table, opposites: _Opposites) -> Iterator[Triple]:
    """Dense tables; a literal's two states are its opposite and itself."""
    tables = factor.dense(factor.scores).reshape(len(factor), -1)
    for codes, table in zip(factor.codes.tolist(), tables, strict=True):
        states: list[int] = []
        for place, binary in zip(factor.slot_links(), factor.first, strict=True):
            literals = [~codes[place.start], codes[place.start]] if binary else codes[place]
            states += [opposites.variable(literal) for literal in literals]
        yield "DENSE", states, [len(factor.states), *factor.states, *table]
