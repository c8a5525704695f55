"""Proofs of all kinds, and ways to spoil them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

import assent as at
from assent.kernels.problem import DualPoint
from assent.proof.proof_tree import Conditioned, IndependentParts, LinkScores, Refuted, nodes
from tests.solvers.search.test_branch_and_bound import PLAIN, TIGHTENED, frustrated, tangled

HUGE = 10**6


def proven(rng) -> Iterator[at.Certificate]:
    """Certificates of small graphs whose proofs are trees."""
    for g in (frustrated(rng), tangled(rng), quarrel(rng), apart(rng)):
        for solver in (PLAIN, TIGHTENED, at.Tightened(), at.BranchAndCut()):
            yield at.decode(g, solver).certificate
        yield at.decode(g, exact=True).certificate
        yield at.presolve(g).decode(PLAIN).certificate
    claim = at.decode(g, at.AD3()).certificate
    parts = tuple((np.arange(4) + begin, LinkScores(claim.flat_dual)) for begin in (0, 4))
    yield replace(claim, proof=IndependentParts(claim.assignment, parts))
    nothing = at.decode(overfull(), at.LinearProgram()).certificate
    yield replace(nothing, proof=nothing.shown_by)
    yield at.decode(thin(rng), at.Elimination()).certificate
    yield at.decode(quarrel(rng), at.DepthFirst()).certificate
    for result in at.k_best(frustrated(rng), 3, solver=PLAIN):
        yield result.certificate


def quarrel(rng) -> at.FactorGraph:
    """Labels round a few cycles: merged, dominated, persistent and of degree one."""
    g = at.FactorGraph()
    t = g.categorical(4, states=3, scores=rng.normal(size=(4, 3)))
    x = g.binary(5, scores=rng.normal(size=5))
    g.add(at.Dense(t[[0, 1, 2, 3, 3]], t[[1, 2, 0, 0, 0]], scores=rng.normal(size=(5, 3, 3))))
    g.add(at.Pair(x[[0, 1, 2, 3]], x[[1, 2, 0, 4]], scores=2.0 * rng.normal(size=4)))
    return g


def apart(rng) -> at.FactorGraph:
    """Two quarrels that have nothing to do with each other."""
    g = at.FactorGraph()
    x = g.binary((2, 4), scores=0.3 * rng.normal(size=(2, 4)))
    i, j = np.triu_indices(4, 1)
    g.add(at.Pair(x[:, i], x[:, j], scores=rng.normal(size=(2, len(i)))))
    g.add(at.AtMost(2, x, axis=1))
    return g


def overfull() -> at.FactorGraph:
    """Four that want a place of their own, and three places."""
    g = at.FactorGraph()
    x = g.binary((4, 3), scores=1.0)
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.AtMostOne(x, axis=0))
    return g


def thin(rng) -> at.FactorGraph:
    g = at.FactorGraph()
    x = g.binary(6, scores=rng.normal(size=6))
    t = g.categorical(1, states=3, scores=rng.normal(size=(1, 3)))
    g.add(at.Pair(x[:-1], x[1:], scores=rng.normal(size=5)))
    g.add(at.Dense(t[0], x[2], scores=rng.normal(size=(3, 2))))
    return g


def spoiled(rng, proof: Any) -> Any:
    """The proof with one field of one node changed, at random."""
    out = copy.deepcopy(proof)
    holders = [node for node in _holders(out) if fields(node)]
    if not holders:
        return None
    node = holders[rng.integers(len(holders))]
    name = rng.choice([field.name for field in fields(node)])
    object.__setattr__(node, name, _changed(rng, getattr(node, name), out, node))
    return out


def _holders(proof: Any) -> Iterator[Any]:
    """Nodes, steps and dual points."""
    for node in nodes(proof):
        if is_dataclass(node):
            yield node
            values = [getattr(node, field.name) for field in fields(node)]
            for value in [*values, *getattr(node, "steps", ())]:
                if isinstance(value, DualPoint) or hasattr(value, "apply"):
                    yield value
                if isinstance(getattr(value, "dual", None), DualPoint):
                    yield value.dual


def _changed(rng, value: Any, root: Any, node: Any) -> Any:
    """Something else in the place of a field."""
    strange = [None, "x", -1, np.nan, (), [], np.zeros(0), np.arange(3.0), Refuted(), root, node]
    if rng.random() < 0.2:
        return strange[rng.integers(len(strange))]
    if isinstance(value, np.ndarray):
        return _changed_array(rng, value)
    if isinstance(value, tuple):
        return _changed_tuple(rng, value, root, node)
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (int, np.integer)):
        return (value + 1, ~value, HUGE, -HUGE, float(value), 0.5)[rng.integers(6)]
    if isinstance(value, (float, np.floating)):
        return (np.nan, np.inf, -np.inf, -value, value - 1.0)[rng.integers(5)]
    given = np.zeros(rng.integers(1, 20), np.int8)
    return (root, node, Conditioned(given, value), LinkScores(value), value)[rng.integers(5)]


def _changed_tuple(rng, value: tuple[Any, ...], root: Any, node: Any) -> Any:
    if not value:
        return (0, root)[: rng.integers(1, 3)]
    at_place = int(rng.integers(len(value)))
    own = _changed(rng, value[at_place], root, node)
    return (
        value[:-1],
        value + value[:1],
        value[::-1],
        (*value[:at_place], *value[at_place + 1 :]),
        list(value),
        (*value[:at_place], own, *value[at_place + 1 :]),
        (*value[:at_place], own, *value[at_place + 1 :]),
    )[rng.integers(7)]


def _changed_array(rng, value: np.ndarray) -> Any:
    ways: list[Any] = [
        value[:-1],
        np.concatenate([value, value[:1]]),
        value[::-1],
        value[None],
        value.ravel()[:0],
        value.T,
        value.astype(object),
        value.astype(str),
        value.tolist(),
        value.astype(complex),
        value.astype(np.int8),
        value.astype(np.uint16),
        value + 1,
        ~value if value.dtype.kind == "i" else -value,
        value.astype(float),
        value.astype(bool),
    ]
    if rng.random() < 0.6 and value.size:
        out = value.copy()
        if out.dtype.kind == "f":
            strange = [np.nan, np.inf, -np.inf, 1e300, 0.0, -2.0 * out.flat[0]]
        else:
            strange = [100, -100, 7, 0, -1, 1]
            if out.dtype.itemsize > 2:
                strange += [HUGE, -HUGE]
        out.flat[rng.integers(out.size)] = strange[rng.integers(len(strange))]
        return out
    return ways[rng.integers(len(ways))]
