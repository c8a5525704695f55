"""AD3's ``.fg`` models as factor graphs, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.factors.all_true import All
from assent.factors.at_least_one import AtLeastOne
from assent.factors.at_most import AtMost
from assent.factors.at_most_one import AtMostOne
from assent.factors.base import Factor, Logic
from assent.factors.exactly_one import ExactlyOne
from assent.factors.implies import Implies
from assent.factors.pair import Pair
from assent.graph import FactorGraph
from assent.io.fg import TYPES, FgModel
from assent.problem import ANYOF, CAP
from assent.variables import Categorical, Literals

Triple = tuple[str, Sequence[int], float]

# How each type reads literals[m, n] and numbers[m]; outputs and conclusions come last.
_READ_AS: dict[str, Callable[[Literals, Any], Factor]] = {
    "PAIR": lambda lits, score: Pair(lits[:, 0], lits[:, 1], scores=score),
    "XOR": lambda lits, _: ExactlyOne(lits, axis=1),
    "XOROUT": lambda lits, _: AtMostOne(lits[:, :-1], axis=1, output=lits[:, -1]),
    "ATMOSTONE": lambda lits, _: AtMostOne(lits, axis=1),
    "OR": lambda lits, _: AtLeastOne(lits, axis=1),
    "OROUT": lambda lits, _: AtLeastOne(lits[:, :-1], axis=1, output=lits[:, -1]),
    "ANDOUT": lambda lits, _: All(lits[:, :-1], axis=1, output=lits[:, -1]),
    "IMPLY": lambda lits, _: Implies(reduce(and_, lits.T[:-1]), lits[:, -1]),
    "BUDGET": lambda lits, limit: AtMost(limit.astype(np.int64), lits, axis=1),
}


def fg_to_graph(models: FgModel | Sequence[FgModel]) -> FactorGraph:
    """One graph with the variables ``graph["x"]``, or ``"x1"``, ``"x2"``, … of several models.

    Several models share nothing: their best answers are found side by side.

    Example:
        >>> from assent.io import FgModel
        >>> fg_to_graph(FgModel.from_factors([1.0, 2.0], [("XOR", [0, 1], 0.0)]))
        FactorGraph: 1 variable arrays (2 indicators), 1 factors
          x: 2 binary
          XOR: ExactlyOne(x[0], x[1])
    """
    if isinstance(models, FgModel):
        models = [models]
    graph = FactorGraph()
    for number, model in enumerate(models, start=1):
        name = "x" if len(models) == 1 else f"x{number}"
        _add_model(graph, model, name)
    return graph


def fg_from_graph(graph: FactorGraph) -> FgModel:
    """A graph in terms of the types of AD3's format; evidence becomes one-literal ``XOR`` factors.

    Categorical variables become one binary variable per state. The format has no place for a
    constant: the scores of all assignments shift by ``graph.constant`` and by what negated
    literals of pairs leave behind.
    """
    scores = np.concatenate([np.zeros(0), *(variable.scores for variable in graph.variables)])
    factors: list[Triple] = []
    for handle in graph.handles:
        factor = handle.factor
        if isinstance(factor, Pair):
            factors += _pair_triples(factor, scores)
        elif isinstance(factor, Logic):
            factors += _logic_triples(factor)
    for variable in graph.variables:
        if isinstance(variable.symbol, Categorical) and variable.scores.size:
            states = variable.symbol.codes.reshape(-1, len(variable.symbol.states))
            factors += [("XOR", row, 0.0) for row in states.tolist()]
    factors += [("XOR", [code], 0.0) for code in graph.evidence().tolist()]
    return FgModel.from_factors(scores, factors)


def _add_model(graph: FactorGraph, model: FgModel, name: str) -> None:
    x = graph.binary(model.n_variables, scores=model.scores, name=name)
    sizes = np.diff(model.start)
    # One batch per type and size: a few calls, however many factors there are.
    batches = np.unique(np.column_stack([model.types, sizes]), axis=0)
    for code, size in batches.tolist():
        chosen = np.flatnonzero((model.types == code) & (sizes == size))
        places = model.start[chosen][:, None] + np.arange(size)
        codes = model.literals[places]
        lits = x[np.where(codes < 0, ~codes, codes)].negate(where=codes < 0)
        graph.add(_READ_AS[TYPES[code]](lits, model.numbers[chosen]), name=TYPES[code])


def _pair_triples(factor: Pair, scores: NDArray[np.float64]) -> Iterator[Triple]:
    """Pairs of plain variables; what negations leave on single variables goes into ``scores``."""
    negated = factor.codes < 0
    variables = np.where(negated, ~factor.codes, factor.codes)
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
            yield "ATMOSTONE", codes[row], 0.0
        else:
            yield "PAIR", variables[row].tolist(), score


def _logic_triples(factor: Logic) -> Iterator[Triple]:
    normal = factor.normal_form()
    size = factor.size
    rows = zip(normal.literals(factor.codes).tolist(), normal.k.tolist(), strict=True)
    for literals, k in rows:
        opposite = [~code for code in literals]
        if normal.form == ANYOF:
            yield "OROUT", literals, 0.0
        elif normal.form == CAP and k == 1:
            yield "ATMOSTONE", literals, 0.0
        elif normal.form == CAP and k == size - 1:  # not all of them: one opposite holds
            yield "OR", opposite, 0.0
        elif normal.form == CAP:
            yield "BUDGET", literals, k
        elif k == 1:
            yield "XOR", literals, 0.0
        else:  # exactly k: at most k, and at most n − k of the opposites
            yield "BUDGET", literals, k
            yield "BUDGET", opposite, size - k
