"""Random factors and graphs through the public face, and what they mean by enumeration.

The meaning of every kind is spelled out here once more, in the plainest terms, so that the
library is compared with something that shares no code with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import assent as at
from assent.factors import Table
from assent.model.variables import Categorical, Literals
from tests.oracles.enumeration import binary_points
from tests.oracles.hulls import knapsack_vertices

SCALES = (1e-6, 1.0, 1e3, 1e8)  # scores far below and far above one


class Load(NamedTuple):
    """What stands in the place of k for a knapsack."""

    weights: np.ndarray  # [size], or [m, size]
    capacity: Any  # a number, or [m]

    def carries(self, x: np.ndarray) -> np.ndarray:
        """Whether ``x[..., size]``, integral or not, is within the capacity."""
        return (x * self.weights).sum(-1) <= self.capacity + 1e-9 * (1.0 + self.capacity)


def one(rng, size: int) -> int:
    """The k of kinds that have none."""
    return 1


def any_count(rng, size: int) -> int:
    return int(rng.integers(0, size + 1))


def any_load(rng, size: int) -> Load:
    """Small whole numbers (ties, zeros, brims) or any; from nothing fits to all does."""
    whole = rng.random() < 0.5
    weights = rng.integers(0, 4, size).astype(float) if whole else 3.0 * rng.random(size)
    capacity = rng.uniform(0.0, 1.2) * weights.sum()
    return Load(weights, float(np.floor(capacity) if whole else capacity))


@dataclass(frozen=True)
class Case:
    """One way to write a kind: ``build(literals, k)`` and its truth table ``holds(truth, k)``.

    ``truth[..., size]`` has the output, if any, as last column; ``random_k(rng, size)`` draws k.
    """

    kind: type
    label: str
    build: Callable[[Any, int], Any]
    holds: Callable[[np.ndarray, int], np.ndarray]
    smallest: int = 1
    largest: int = 6
    random_k: Callable[[Any, int], Any] = one

    def random_size(self, rng, most: int) -> int:
        return int(rng.integers(self.smallest, min(self.largest, most) + 1))

    def vertices(self, size: int, k: Any) -> np.ndarray:
        """Corners ``[corners, size]`` of the set, in truths of literals."""
        if self.kind is at.Knapsack:
            return knapsack_vertices(*k)
        points = binary_points(size)
        return points[self.holds(points == 1, k)]

    def contains(self, point: np.ndarray, k: Any) -> bool:
        """Whether a corner is allowed: by the truth table, or with one item cut."""
        if self.kind is at.Knapsack:
            return bool(k.carries(point)) and point.min() >= 0.0 and point.max() <= 1.0
        return bool(self.holds(point == 1, k))

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
    Case(at.AtMost, "k", lambda x, k: at.AtMost(k, x), lambda t, k: t.sum(-1) <= k,
         random_k=any_count),
    Case(at.AtLeast, "k", lambda x, k: at.AtLeast(k, x), lambda t, k: t.sum(-1) >= k,
         random_k=any_count),
    Case(at.Exactly, "k", lambda x, k: at.Exactly(k, x), lambda t, k: t.sum(-1) == k,
         random_k=any_count),
    Case(at.Parity, "even", lambda x, k: at.Parity(x), lambda t, k: t.sum(-1) % 2 == 0),
    Case(at.Parity, "odd", lambda x, k: at.Parity(x, odd=True), lambda t, k: t.sum(-1) % 2 == 1),
    Case(at.Knapsack, "load", lambda x, k: at.Knapsack(x, weights=k.weights, capacity=k.capacity),
         lambda t, k: k.carries(t), random_k=any_load),
    Case(at.Agree, "plain", lambda x, k: at.Agree(x[0], x[1]),
         lambda t, k: t[..., 0] == t[..., 1], 2, 2),
)  # fmt: skip

LOGIC_CASES = tuple(case for case in CASES if case.kind is not at.Pair)


def meaning(factor, truth: np.ndarray) -> np.ndarray:
    """Which rows ``truth[..., m, size]`` of a written factor are satisfied, ``[..., m]``."""
    ways = [case for case in CASES if case.kind is type(factor)]
    special = factor.has_output or getattr(factor, "odd", False)
    case = ways[1] if special else ways[0]
    if isinstance(factor, at.Knapsack):
        return case.holds(truth, Load(factor.weights, factor.capacity))
    return case.holds(truth, getattr(factor, "k", 1))


def table_scores(factor, points: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Score ``[points]`` of a batch of tables, entry by entry as a person would look it up."""
    total = np.zeros(len(points))
    for row, codes in enumerate(factor.codes):
        rest, states = codes, []
        for count, is_literal in zip(factor.states, factor.first, strict=True):
            width = 1 if is_literal else count
            truth = literal_truth(rest[:width], points)
            states.append(truth[:, 0].astype(int) if is_literal else truth.argmax(axis=1))
            rest = rest[width:]
        if isinstance(factor, at.Potts):
            total += np.where(states[0] == states[1], scores[row][states[0]], 0.0)
        else:
            total += scores[row].reshape(factor.states)[tuple(states)]
    return total


def joint_states(factor) -> tuple[np.ndarray, np.ndarray]:
    """Joint states ``[joint, slots]`` of a table and truths ``[joint, links]`` of its literals."""
    joint = np.array(list(product(*map(range, factor.states))))
    truths = [
        [s == state for s, count, first in zip(states, factor.states, factor.first, strict=True)
         for state in range(first, count)]
        for states in joint
    ]  # fmt: skip
    return joint, np.array(truths, float)


def joint_scores(factor, scores: np.ndarray) -> np.ndarray:
    """One factor's ``scores[entries]`` for every joint state, ``[joint]``."""
    if isinstance(factor, at.Potts):
        return np.diag(scores).ravel()
    return scores


def literal_truth(codes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Truth ``[points, *codes.shape]`` of literals under every row of 0/1 ``points``."""
    coordinate = np.where(codes < 0, -codes - 1, codes)
    return (points[:, coordinate] == 1) ^ (codes < 0)


def enumerate_graph(
    graph, pair_scores=None, theta=None, tables=None
) -> tuple[np.ndarray, np.ndarray]:
    """All assignments ``[2**N, N]`` of a graph and their scores, ``-inf`` where forbidden.

    ``theta[N]``, ``pair_scores`` and ``tables`` (one array per batch) replace the written ones.
    """
    points = (np.arange(2**graph.size)[:, None] >> np.arange(graph.size)) & 1
    if theta is None:
        theta = np.concatenate([np.zeros(0), *(v.scores for v in graph.variables)])
    # 0 * -inf is not a number: what is not taken costs nothing.
    values = np.where(points == 1, theta, 0.0).sum(axis=1) + graph.constant
    pair_scores, tables = iter(pair_scores or []), iter(tables or [])
    allowed = np.ones(len(points), bool)
    for handle in graph.handles:
        truth = literal_truth(handle.factor.codes, points)
        if isinstance(handle.factor, at.Pair):
            scores = next(pair_scores, handle.factor.scores)
            values = values + np.where(truth.all(-1), scores, 0.0).sum(axis=1)
        elif isinstance(handle.factor, Table):
            scores = next(tables, handle.factor.scores)
            values = values + table_scores(handle.factor, points, scores)
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
    usual = int(rng.integers(1, 4))  # variables that a Potts can tie together
    for number in range(rng.integers(0, categoricals + 1)):
        states = usual if rng.random() < 0.6 else int(rng.integers(1, 4))
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
    number = int(rng.integers(len(CASES) + len(TABLES)))
    if number >= len(CASES):
        factor = TABLES[number - len(CASES)](rng, g, scale, forbid)
        if factor is not None:
            g.add(factor)
        return
    case = CASES[number]
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


def random_dense(rng, g, scale: float = 1.0, forbid: float = 0.0) -> at.Dense:
    """A table over up to three different variables of a graph, literals negated at random."""
    categorical = [v.symbol for v in g.variables if isinstance(v.symbol, Categorical)]
    slots: list[Any] = [t[0] for t in categorical]
    slots += [x if rng.random() < 0.5 else ~x for x in g.variables[0].symbol]
    chosen = rng.permutation(len(slots))[: rng.integers(1, 4)]
    own = [slots[i] for i in chosen]
    shape = tuple(2 if isinstance(s, Literals) else len(s.states) for s in own)
    return at.Dense(*own, scores=some_finite(random_scores(rng, shape, scale, forbid)))


def random_potts(rng, g, scale: float = 1.0, forbid: float = 0.0) -> at.Potts | None:
    """A Potts with a score per label of either sign, if two variables have the same states."""
    categorical = [v.symbol for v in g.variables if isinstance(v.symbol, Categorical)]
    couples = [
        (a, b)
        for i, a in enumerate(categorical)
        for b in categorical[:i]
        if a.states == b.states and len(a.states) > 1
    ]
    if not couples:
        return None
    a, b = couples[rng.integers(len(couples))]
    return at.Potts(a, b, scores=random_scores(rng, (1, len(a.states)), scale, forbid))


TABLES = (random_dense, random_potts)


def some_finite(scores: np.ndarray) -> np.ndarray:
    """The same scores, the first one allowed: a table that forbids everything is refused."""
    if np.isneginf(scores).all():
        scores.flat[0] = 0.0
    return scores


def writable(case: Case, literals: Literals) -> bool:
    """Whether a kind may be written on these literals (a pair must not contradict itself)."""
    return case.kind is not at.Pair or literals.codes[0] != ~literals.codes[1]
