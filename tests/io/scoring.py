"""Scores of graphs and models at given assignments, straight from their descriptions."""

from __future__ import annotations

from itertools import product

import numpy as np

from assent.factors import Pair, Table
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
    for variable in graph.variables:
        if variable.states is not None and (values[variable.symbol.codes].sum(axis=-1) != 1).any():
            return -np.inf
    theta = np.concatenate([np.zeros(0), *(v.scores.ravel() for v in graph.variables)])
    score = graph.constant + theta[values].sum()
    for handle in graph.handles:
        factor = handle.factor
        if isinstance(factor, Pair):
            score += factor.scores[truth(factor.codes).all(axis=1)].sum()
        elif isinstance(factor, Table):
            score += factor.value_at(truth(factor.codes), factor.scores).sum()
        elif not factor.holds(truth(factor.codes)).all():
            return -np.inf
    return score


def state_values(graph, states):
    """Coordinates of a graph whose variables, array after array, are in ``states``."""
    values, states = [], list(states)
    for variable in graph.variables:
        k = 1 if variable.states is None else len(variable.states)
        own = [states.pop(0) for _ in range(variable.scores.size // k)]
        wanted = np.ones(1, int) if variable.states is None else np.arange(k)
        values += [state == wanted for state in own]
    return np.concatenate([np.zeros(0, bool), *values])


def fg_score(model: FgModel, values):
    """Score of one assignment of an ``.fg`` model, by the meaning of each type's name."""
    score = model.scores[values].sum()
    for factor, code in enumerate(model.types):
        codes = model.literals[model.start[factor] : model.start[factor + 1]]
        numbers = model.numbers[model.number_start[factor] : model.number_start[factor + 1]]
        truth = np.array([bool(values[~c]) ^ True if c < 0 else bool(values[c]) for c in codes])
        if TYPES[code] == "PAIR":
            score += numbers[0] if truth.all() else 0.0
        elif TYPES[code] == "DENSE":
            score += dense_score(truth, numbers)
        elif not fg_holds(TYPES[code], truth.tolist(), numbers):
            return -np.inf
    return score


def dense_score(truth, numbers):
    """Score of the joint state, -inf if some variable is not in exactly one state."""
    count = int(numbers[0])
    shape = numbers[1 : 1 + count].astype(int)
    slots = np.split(truth, np.cumsum(shape)[:-1])
    if any(slot.sum() != 1 for slot in slots):
        return -np.inf
    return numbers[1 + count :].reshape(shape)[tuple(int(slot.argmax()) for slot in slots)]


def fg_holds(name, truth, numbers):
    *inputs, last = truth
    return {
        "XOR": lambda: sum(truth) == 1,
        "XOROUT": lambda: sum(inputs) == last,
        "ATMOSTONE": lambda: sum(truth) <= 1,
        "OR": lambda: any(truth),
        "OROUT": lambda: any(inputs) == last,
        "ANDOUT": lambda: all(inputs) == last,
        "IMPLY": lambda: last or not all(inputs),
        "BUDGET": lambda: sum(truth) <= numbers[0],
        "KNAPSACK": lambda: numbers[:-1] @ np.array(truth) <= numbers[-1],
    }[name]()
