"""Batches of ground factors as factors of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from assent.factors import (
    Agree,
    All,
    AtLeast,
    AtLeastOne,
    AtMost,
    AtMostOne,
    Cardinality,
    Dense,
    Exactly,
    ExactlyOne,
    Factor,
    Knapsack,
    Pair,
    Parity,
)
from assent.logic.rule_draft import GroundBatch
from assent.model.graph import FactorGraph
from assent.model.variables import Literals

MAKERS: dict[str, Callable[[Literals, Any], Factor]] = {
    "All": lambda x, _: All(x, axis=1),
    "AtLeastOne": lambda x, _: AtLeastOne(x, axis=1),
    "AtLeastOne→": lambda x, _: AtLeastOne(x[:, :-1], axis=1, output=x[:, -1]),
    "AtMostOne": lambda x, _: AtMostOne(x, axis=1),
    "AtMostOne→": lambda x, _: AtMostOne(x[:, :-1], axis=1, output=x[:, -1]),
    "ExactlyOne": lambda x, _: ExactlyOne(x, axis=1),
    "AtMost": lambda x, k: AtMost(k, x, axis=1),
    "AtLeast": lambda x, k: AtLeast(k, x, axis=1),
    "Exactly": lambda x, k: Exactly(k, x, axis=1),
    "Agree": lambda x, _: Agree(x[:, 0], x[:, 1]),
    "Parity": lambda x, _: Parity(x, axis=1, odd=True),
    "Knapsack": lambda x, load: Knapsack(x, axis=1, weights=load[:, :-1], capacity=load[:, -1]),
    "Pair": lambda x, scores: Pair(x[:, 0], x[:, 1], scores=scores),
    "Dense": lambda x, scores: Dense(
        x[:, 0], scores=np.stack([np.zeros_like(scores), scores], axis=1)
    ),
    "Table": lambda x, scores: Dense(
        *(x[:, j] for j in range(x.shape[1])), scores=scores.reshape(-1, *(2,) * x.shape[1])
    ),
    "Cardinality": lambda x, scores: Cardinality(x, axis=1, scores=scores),
}


def make_factor(graph: FactorGraph, batch: GroundBatch) -> Factor:
    """The factors of a batch."""
    return MAKERS[batch.kind](Literals(graph, batch.lits), batch.parameter)
