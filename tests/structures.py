"""Small random structures of every kind, for tests that run over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import assent as at
from assent.variables import Literals


def literals(rng: np.random.Generator, graph: at.FactorGraph, size: int) -> Literals:
    """``size`` new binary variables, some negated."""
    x = graph.binary(size, scores=rng.normal(size=size))
    return x.negate(where=rng.random(size) < 0.3)


def cardinality(rng: np.random.Generator, graph: at.FactorGraph) -> at.Cardinality:
    size = int(rng.integers(1, 6))
    scores = rng.normal(size=size + 1) * 2.0
    scores[rng.random(size + 1) < 0.2] = -np.inf
    scores[rng.integers(size + 1)] = 0.0
    return at.Cardinality(literals(rng, graph, size), scores=scores)


# By kind: a function that declares variables in a graph and returns a structure over them.
STRUCTURES: dict[str, Any] = {
    "Cardinality": cardinality,
}
