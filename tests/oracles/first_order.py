"""First-order formulas by truth table, and what a grounded graph says, by trying all values.

Formulas are nested tuples here; `build` writes them with the library, `truth` evaluates them on
all assignments at once in the plainest way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

import assent as at
from assent import logic
from assent.factors import Logic, Pair, Scored
from tests.oracles.enumeration import binary_points

COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
}
COUNTS = {
    "at_most": lambda n, k: n <= k,
    "at_least": lambda n, k: n >= k,
    "exactly": lambda n, k: n == k,
}


@dataclass
class World:
    """A graph with a few predicates, and the truth of every atom on all assignments."""

    graph: at.FactorGraph
    size: int
    predicates: dict[str, Any]
    base: int  # variables that were there before any rule
    points: np.ndarray  # [assignments, base]
    codes: dict[str, dict[tuple[int, ...], Any]]  # literal of an atom, or True or False
    names: dict[str, logic.Variable] = field(default_factory=dict)

    def variable(self, name: str) -> logic.Variable:
        return self.names.setdefault(name, logic.Variable(name))

    def atom(self, name: str, values: tuple[int, ...]) -> np.ndarray:
        code = self.codes[name].get(values, False)
        if isinstance(code, bool):
            return np.full(len(self.points), code)
        return (self.points[:, max(code, ~code)] == 1) ^ (code < 0)


def random_world(rng: np.random.Generator) -> World:
    """Unknown p(x) and q(x, y), q on some pairs only and partly observed; data e(x, y)."""
    size = int(rng.integers(2, 4))
    graph = at.FactorGraph()
    domain = logic.Domain("d", size)
    p = graph.binary(size, scores=rng.normal(size=size).round(2), name="p")
    pairs = [ij for ij in product(range(size), repeat=2) if rng.random() < 0.6] or [(0, 0)]
    q = graph.binary(len(pairs), scores=rng.normal(size=len(pairs)).round(2), name="q")
    turned = q.negate(where=rng.random(len(pairs)) < 0.3)
    edges = [ij for ij in product(range(size), repeat=2) if rng.random() < 0.4]
    predicates = {
        "p": logic.predicate(p, domain),
        "q": logic.predicate(turned, domain, domain, name="q", at=pairs),
        "e": logic.relation("e", edges, domain, domain),
    }
    codes: dict[str, dict[tuple[int, ...], Any]] = {
        "p": {(i,): int(p.codes[i]) for i in range(size)},
        "q": {ij: int(c) for ij, c in zip(pairs, turned.codes, strict=True)},
        "e": dict.fromkeys(edges, True),
    }
    points = binary_points(graph.size)
    if rng.random() < 0.4:
        seen = pairs[int(rng.integers(len(pairs)))]
        value = bool(rng.integers(2))
        predicates["q"].observe([seen], value)
        code = codes["q"][seen]
        points = points[(points[:, max(code, ~code)] == 1) == (value ^ (code < 0))]
    return World(graph, size, predicates, graph.size, points, codes)


# ---------------------------------------------------------------- random formulas


def random_formula(rng: np.random.Generator, depth: int, scope: tuple[str, ...]) -> tuple:
    if depth == 0 or (rng.random() < 0.15 and scope):
        return _random_leaf(rng, scope)
    op = str(rng.choice(["not", "and", "or", "implies", "iff", "one_of", "forall", "exists",
                         "exists_one", "at_most", "at_least", "exactly"]))  # fmt: skip
    if op == "not":
        return (op, random_formula(rng, depth - 1, scope))
    if op in ("implies", "iff"):
        return (op, random_formula(rng, depth - 1, scope), random_formula(rng, depth - 1, scope))
    if op in ("and", "or", "one_of"):
        count = int(rng.integers(2, 4))
        return (op, *(random_formula(rng, depth - 1, scope) for _ in range(count)))
    name = f"v{len(scope)}" if rng.random() < 0.9 or not scope else str(rng.choice(scope))
    inner = (*(s for s in scope if s != name), name)
    where = _random_condition(rng, inner) if rng.random() < 0.4 else None
    body = random_formula(rng, depth - 1, inner)
    return (op, int(rng.integers(0, 3)), name, where, body)


def _random_leaf(rng: np.random.Generator, scope: tuple[str, ...]) -> tuple:
    if rng.random() < 0.12 and scope:
        return _random_condition(rng, scope)
    name, arity = [("p", 1), ("q", 2), ("q", 2), ("e", 2)][int(rng.integers(4))]
    args = tuple(
        str(rng.choice(scope)) if scope and rng.random() < 0.85 else int(rng.integers(0, 2))
        for _ in range(arity)
    )
    return ("atom", name, args)


def _random_condition(rng: np.random.Generator, scope: tuple[str, ...]) -> tuple:
    left = str(rng.choice(scope))
    right = str(rng.choice(scope)) if rng.random() < 0.6 else int(rng.integers(0, 2))
    return ("compare", str(rng.choice(list(COMPARE))), left, right)


def build(world: World, node: tuple) -> Any:
    """The formula as the library writes it."""
    op = node[0]
    if op == "atom":
        return world.predicates[node[1]](*(_argument(world, a) for a in node[2]))
    if op == "compare":
        left, right = _argument(world, node[2]), _argument(world, node[3])
        return COMPARE[node[1]](left, right)
    if op == "not":
        return ~build(world, node[1])
    if op in ("implies", "iff"):
        a, b = build(world, node[1]), build(world, node[2])
        return a >> b if op == "implies" else a == b
    if op in ("and", "or", "one_of"):
        join = {"and": logic.all_of, "or": logic.any_of, "one_of": logic.one_of}[op]
        return join(*(build(world, part) for part in node[1:]))
    _, k, name, where, body = node
    condition = None if where is None else build(world, where)
    parts = (world.variable(name), build(world, body))
    if op in COUNTS:
        return getattr(logic, op)(k, *parts, where=condition)
    return getattr(logic, op)(*parts, where=condition)


def _argument(world: World, value: Any) -> Any:
    return world.variable(value) if isinstance(value, str) else value


def truth(world: World, node: tuple, env: dict[str, int]) -> np.ndarray:
    """Truth on all assignments, ``[assignments]``."""
    op = node[0]
    everywhere = np.ones(len(world.points), bool)
    if op == "atom":
        return world.atom(node[1], tuple(env.get(a, a) for a in node[2]))
    if op == "compare":
        return everywhere & COMPARE[node[1]](env.get(node[2], node[2]), env.get(node[3], node[3]))
    if op == "not":
        return ~truth(world, node[1], env)
    if op == "implies":
        return ~truth(world, node[1], env) | truth(world, node[2], env)
    if op == "iff":
        return truth(world, node[1], env) == truth(world, node[2], env)
    if op in ("and", "or", "one_of"):
        count = np.sum([truth(world, part, env) for part in node[1:]], axis=0)
        return {"and": count == len(node) - 1, "or": count > 0, "one_of": count == 1}[op]
    _, k, name, where, body = node
    values = [
        truth(world, body, {**env, name: i})
        for i in range(world.size)
        if where is None or truth(world, where, {**env, name: i}).all()
    ]
    count = np.sum([np.zeros(len(world.points), int), *values], axis=0)
    if op in COUNTS:
        return COUNTS[op](count, k)
    return {"forall": count == len(values), "exists": count > 0, "exists_one": count == 1}[op]


# ---------------------------------------------------------------- what a graph says


def completed(graph: at.FactorGraph, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All variables for given first ones ``[s, base]``: the others follow, or the test fails.

    Returns the completed points ``[s, size]`` and which of them break no constraint.
    """
    count, base = points.shape
    full = np.zeros((count, graph.size), np.int8)
    full[:, :base] = points
    open_ = set(range(base, graph.size))
    rows = [
        (handle.factor, row)
        for handle in graph.handles
        if isinstance(handle.factor, Logic)
        for row in range(len(handle.factor))
    ]
    while open_:
        allowed: dict[int, np.ndarray] = {}
        for factor, row in rows:
            codes = factor.codes[row]
            mine = {int(max(c, ~c)) for c in codes} & open_
            if len(mine) == 1:
                target = mine.pop()
                both = allowed.setdefault(target, np.ones((2, count), bool))
                for value in (0, 1):
                    full[:, target] = value
                    both[value] &= row_holds(factor, row, full)
        settled = {v: both for v, both in allowed.items() if not both.all(axis=0).any()}
        assert settled, f"variables {sorted(open_)} do not follow from the others"
        for target, both in settled.items():
            full[:, target] = both[1]
        open_ -= set(settled)
    holds = [row_holds(factor, row, full) for factor, row in rows]
    return full, np.logical_and.reduce(holds) if holds else np.ones(count, bool)


def row_holds(factor: Any, row: int, full: np.ndarray) -> np.ndarray:
    """Whether one factor of a batch holds at many points."""
    codes = factor.codes[row]
    truths = (full[:, np.maximum(codes, ~codes)] == 1) ^ (codes < 0)
    total = truths.sum(axis=1)
    name = factor.kind + ("→" if factor.has_output else "")
    inputs = truths[:, :-1].sum(axis=1)
    if name == "AtLeastOne→":
        return (inputs > 0) == truths[:, -1]
    if name == "AtMostOne→":
        return inputs == truths[:, -1]
    if name == "Knapsack":
        return (truths * factor.weights[row]).sum(axis=1) <= factor.capacity[row]
    return {
        "All": total == len(codes),
        "AtLeastOne": total >= 1,
        "AtMostOne": total <= 1,
        "ExactlyOne": total == 1,
        "Agree": total != 1,
        "Parity": total % 2 == 1,
        "AtMost": total <= getattr(factor, "k", [0] * (row + 1))[row],
        "AtLeast": total >= getattr(factor, "k", [0] * (row + 1))[row],
        "Exactly": total == getattr(factor, "k", [0] * (row + 1))[row],
    }[name]


def values(graph: at.FactorGraph, full: np.ndarray) -> np.ndarray:
    """Score of complete points."""
    theta = np.concatenate([np.zeros(0), *(v.scores for v in graph.variables)])
    total = graph.constant + full @ theta
    for handle in graph.handles:
        factor = handle.factor
        if isinstance(factor, (Pair, Scored)):
            codes = factor.codes
            truths = (full[:, np.maximum(codes, ~codes)] == 1) ^ (codes < 0)
            if isinstance(factor, Pair):
                total = total + truths.all(axis=2) @ factor.scores
            else:
                earned = [factor.value_at(own, factor.scores).sum() for own in truths]
                total = total + np.array(earned)
    return total
