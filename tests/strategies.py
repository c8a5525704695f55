"""Random factors and graphs through the public face, and what they mean by enumeration.

The meaning of every kind is written out here once more, in the plainest terms, so that the
library is compared with something that shares no code with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import assent as at
from assent.variables import Categorical, Literals

SCALES = (1e-6, 1.0, 1e3, 1e8)  # scores far below and far above one


@dataclass(frozen=True)
class Case:
    """One way to write a kind: ``build(literals, k)`` and its truth table ``holds(truth, k)``.

    ``truth[..., size]`` has the output, if any, as last column.
    """

    kind: type
    label: str
    build: Callable[[Any, int], Any]
    holds: Callable[[np.ndarray, int], np.ndarray]
    smallest: int = 1
    largest: int = 6
    counts: bool = False  # whether it takes a k from 0 to the number of literals

    def random_size(self, rng, most: int) -> int:
        return int(rng.integers(self.smallest, min(self.largest, most) + 1))

    def random_k(self, rng, size: int) -> int:
        return int(rng.integers(0, size + 1)) if self.counts else 1

    def __repr__(self) -> str:
        return f"{self.kind.__name__}-{self.label}"


def implies(literals, k):
    premises = literals[0]
    for literal in list(literals)[1:-1]:
        premises = premises & literal
    return at.Implies(premises, literals[-1])


CASES = (
    Case(at.Pair, "plain", lambda x, k: at.Pair(x[0], x[1], scores=0.0),
         lambda t, k: np.ones(t.shape[:-1], bool), 2, 2),
    Case(at.ExactlyOne, "plain", lambda x, k: at.ExactlyOne(x), lambda t, k: t.sum(-1) == 1),
    Case(at.AtMostOne, "plain", lambda x, k: at.AtMostOne(x), lambda t, k: t.sum(-1) <= 1),
    Case(at.AtMostOne, "output", lambda x, k: at.AtMostOne(x[:-1], output=x[-1]),
         lambda t, k: t[..., :-1].sum(-1) == t[..., -1].astype(int), 2),
    Case(at.AtLeastOne, "plain", lambda x, k: at.AtLeastOne(x), lambda t, k: t.sum(-1) >= 1),
    Case(at.AtLeastOne, "output", lambda x, k: at.AtLeastOne(x[:-1], output=x[-1]),
         lambda t, k: (t[..., :-1].sum(-1) > 0) == t[..., -1], 2),
    Case(at.All, "plain", lambda x, k: at.All(x), lambda t, k: t.sum(-1) == t.shape[-1]),
    Case(at.All, "output", lambda x, k: at.All(x[:-1], output=x[-1]),
         lambda t, k: (t[..., :-1].sum(-1) == t.shape[-1] - 1) == t[..., -1], 2),
    Case(at.Implies, "plain", implies,
         lambda t, k: (t[..., :-1].sum(-1) < t.shape[-1] - 1) | t[..., -1], 2),
    Case(at.AtMost, "k", lambda x, k: at.AtMost(k, x), lambda t, k: t.sum(-1) <= k, counts=True),
    Case(at.AtLeast, "k", lambda x, k: at.AtLeast(k, x), lambda t, k: t.sum(-1) >= k, counts=True),
    Case(at.Exactly, "k", lambda x, k: at.Exactly(k, x), lambda t, k: t.sum(-1) == k, counts=True),
    Case(at.Agree, "plain", lambda x, k: at.Agree(x[0], x[1]),
         lambda t, k: t[..., 0] == t[..., 1], 2, 2),
)  # fmt: skip

LOGIC_CASES = tuple(case for case in CASES if case.kind is not at.Pair)


def meaning(factor, truth: np.ndarray) -> np.ndarray:
    """Which rows ``truth[..., m, size]`` of a written factor are satisfied, ``[..., m]``."""
    label = "output" if factor.has_output else None
    case = next(
        c for c in CASES if c.kind is type(factor) and (label is None) == (c.label != "output")
    )
    k = getattr(factor, "k", None)
    return case.holds(truth, 1 if k is None else k)


def literal_truth(codes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Truth ``[points, *codes.shape]`` of literals under every row of 0/1 ``points``."""
    coordinate = np.where(codes < 0, -codes - 1, codes)
    return (points[:, coordinate] == 1) ^ (codes < 0)


def enumerate_graph(graph, pair_scores=None, theta=None) -> tuple[np.ndarray, np.ndarray]:
    """All assignments ``[2**N, N]`` of a graph and their scores, ``-inf`` where forbidden.

    ``theta[N]`` and ``pair_scores`` (one array per batch of pairs) replace the written ones.
    """
    points = (np.arange(2**graph.size)[:, None] >> np.arange(graph.size)) & 1
    if theta is None:
        theta = np.concatenate([np.zeros(0), *(v.scores for v in graph.variables)])
    # 0 * -inf is not a number: what is not taken costs nothing.
    values = np.where(points == 1, theta, 0.0).sum(axis=1) + graph.constant
    pair_scores = iter(pair_scores or [])
    allowed = np.ones(len(points), bool)
    for handle in graph.handles:
        truth = literal_truth(handle.factor.codes, points)
        if isinstance(handle.factor, at.Pair):
            scores = next(pair_scores, handle.factor.scores)
            values = values + np.where(truth.all(-1), scores, 0.0).sum(axis=1)
        else:
            allowed &= meaning(handle.factor, truth).all(axis=1)
    for variable in graph.variables:
        if isinstance(variable.symbol, Categorical):
            blocks = points[:, variable.symbol.codes]
            allowed &= (blocks.sum(-1) == 1).reshape(len(points), -1).all(axis=1)
    allowed &= literal_truth(graph.evidence(), points).all(axis=1)
    return points, np.where(allowed, values, -np.inf)


def optimum(graph, **scores) -> float:
    """The best score by enumeration; ``-inf`` if nothing is feasible."""
    return float(enumerate_graph(graph, **scores)[1].max(initial=-np.inf))


def random_scores(rng, shape, scale: float = 1.0, forbid: float = 0.0) -> np.ndarray:
    """Normal scores or small integers (ties), some exactly zero, some ``-inf``."""
    if rng.random() < 0.5:
        scores = rng.normal(size=shape)
    else:
        scores = rng.integers(-2, 3, shape).astype(float)
    scores = np.where(rng.random(shape) < 0.1, 0.0, scores) * scale
    return np.where(rng.random(shape) < forbid, -np.inf, scores)


def pick_literals(rng, graph, size: int, complements: bool = False) -> Literals:
    """``size`` different literals of a graph, negated at random.

    With ``complements`` a literal and its negation may both be among them.
    """
    if complements:
        codes = rng.choice(np.arange(-graph.size, graph.size), size, replace=False)
    else:
        chosen = rng.choice(graph.size, size, replace=False)
        codes = np.where(rng.random(size) < 0.5, chosen, ~chosen)
    return Literals(graph, codes.astype(np.int32))


def random_graph(
    rng,
    *,
    binaries: int = 6,
    categoricals: int = 2,
    factors: int = 4,
    scale: float | None = None,
    forbid: float = 0.03,
    evidence: float = 0.3,
    complements: float = 0.1,
) -> at.FactorGraph:
    """A small graph of mixed variables and factors; it may well be infeasible."""
    g = at.FactorGraph()
    scale = float(rng.choice(SCALES)) if scale is None else scale
    n = int(rng.integers(1, binaries + 1))
    g.binary(scores=random_scores(rng, n, scale, forbid), name="x")
    for number in range(rng.integers(0, categoricals + 1)):
        states = int(rng.integers(1, 4))
        g.categorical(scores=random_scores(rng, (1, states), scale, forbid), states=states,
                      name=f"t{number}")  # fmt: skip
    for _ in range(rng.integers(0, factors + 1)):
        add_random_factor(rng, g, scale, forbid, complements)
    if rng.random() < 0.5:
        g.add_constant(float(rng.normal() * scale))
    if rng.random() < evidence:
        g.fix(pick_literals(rng, g, 1)[0], int(rng.integers(0, 2)))
    return g


def add_random_factor(rng, g, scale: float, forbid: float, complements: float) -> None:
    case = CASES[rng.integers(len(CASES))]
    if case.kind is at.Pair and g.size >= 2:
        m = int(rng.integers(1, 6))
        ends = [pick_literals(rng, g, 2) for _ in range(m)]
        a, b = [e[0] for e in ends], [e[1] for e in ends]
        g.add(at.Pair(a, b, scores=random_scores(rng, m, scale, forbid)))
        return
    size = case.random_size(rng, g.size) if g.size >= case.smallest else 0
    if size:
        literals = pick_literals(rng, g, size, rng.random() < complements)
        if not writable(case, literals):
            return
        g.add(case.build(literals, case.random_k(rng, size)))


def writable(case: Case, literals: Literals) -> bool:
    """Whether a kind may be written on these literals (a pair must not contradict itself)."""
    return case.kind is not at.Pair or literals.codes[0] != ~literals.codes[1]
