"""Scores of graphs and models at given assignments, straight from their descriptions."""

from __future__ import annotations

from itertools import product

import numpy as np

from assent.factors import Pair
from assent.io.fg import TYPES, FgModel


def assignments(n):
    """All 0/1 assignments of ``n`` variables."""
    return [np.array(bits, bool) for bits in product((0, 1), repeat=n)]


def graph_score(graph, values):
    """Score of one assignment of all coordinates; −inf if it breaks evidence or a constraint."""

    def truth(codes):
        return values[np.where(codes < 0, ~codes, codes)] ^ (codes < 0)

    if not truth(graph.evidence()).all():
        return -np.inf
    theta = np.concatenate([variable.scores for variable in graph.variables])
    score = graph.constant + theta[values].sum()
    for handle in graph.handles:
        factor = handle.factor
        if isinstance(factor, Pair):
            score += factor.scores[truth(factor.codes).all(axis=1)].sum()
        elif not factor.holds(truth(factor.codes)).all():
            return -np.inf
    return score


def fg_score(model: FgModel, values):
    """Score of one assignment of an ``.fg`` model, by the meaning of each type's name."""
    score = model.scores[values].sum()
    for factor, code in enumerate(model.types):
        codes = model.literals[model.start[factor] : model.start[factor + 1]]
        truth = [bool(values[~c]) ^ True if c < 0 else bool(values[c]) for c in codes]
        if TYPES[code] == "PAIR":
            score += model.numbers[factor] if all(truth) else 0.0
        elif not fg_holds(TYPES[code], truth, model.numbers[factor]):
            return -np.inf
    return score


def fg_holds(name, truth, number):
    *inputs, last = truth
    return {
        "XOR": sum(truth) == 1,
        "XOROUT": sum(inputs) == last,
        "ATMOSTONE": sum(truth) <= 1,
        "OR": any(truth),
        "OROUT": any(inputs) == last,
        "ANDOUT": all(inputs) == last,
        "IMPLY": last or not all(inputs),
        "BUDGET": sum(truth) <= number,
    }[name]
