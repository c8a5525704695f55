"""Random small problems with mixed groups, negations, ties and awkward scales."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import (
    ANYOF,
    CAP,
    DENSE,
    KNAPSACK,
    PARITY,
    POTTS,
    SUM,
    Problem,
    Scores,
    make_problem,
    make_tables,
)

SCALES = (1e-6, 1.0, 1e8)  # scores far below, at and far above one

COUNTED = (CAP, SUM, ANYOF)
LOGIC = (CAP, SUM, ANYOF, PARITY, KNAPSACK)


def random_literals(rng, n: int, size: int, complements: bool = False) -> np.ndarray:
    """Distinct literals; ``x`` together with ``~x`` only when complements are asked for."""
    if complements:
        return rng.choice(np.arange(-n, n), size, replace=False).astype(np.int32)
    coordinates = rng.choice(n, size, replace=False)
    return np.where(rng.random(size) < 0.4, ~coordinates, coordinates).astype(np.int32)


def random_weights(rng, size: int) -> tuple[np.ndarray, float]:
    """Weights of a knapsack, some zero, and a capacity: tight, roomy, or an exact fit."""
    weights = rng.integers(1, 6, size) / 10 if rng.random() < 0.5 else rng.random(size)
    weights[rng.random(size) < 0.15] = 0.0
    if rng.random() < 0.4:
        return weights, float(weights[rng.random(size) < 0.5].sum())
    return weights, float(rng.random() * 1.2 * weights.sum())


def random_groups(rng, n, factors, max_size, complements, any_k, kinds):
    """Random logic factors as ``(groups, weights, capacities)`` for :func:`make_problem`."""
    by_shape: dict[tuple[int, int], list[tuple[np.ndarray, int]]] = {}
    for _ in range(rng.integers(factors + 1)):
        kind = int(rng.choice(kinds))
        size = int(rng.integers(2, min(max_size, n) + 1))
        low, high = (0, size + 1) if any_k else (1, size)
        k = int(rng.integers(low, high)) if kind in (CAP, SUM) else 1
        by_shape.setdefault((kind, size), []).append(
            (random_literals(rng, n, size, complements), k)
        )
    groups = [
        (kind, np.array([lits for lits, _ in members]), np.array([k for _, k in members], np.int32))
        for (kind, _), members in by_shape.items()
    ]
    loads = [
        [random_weights(rng, lits.shape[1]) for _ in lits]
        for kind, lits, _ in groups
        if kind == KNAPSACK
    ]
    weights = [np.array([w for w, _ in group]) for group in loads]
    capacity = [np.array([c for _, c in group]) for group in loads]
    return groups, weights, capacity


def random_problem(
    rng,
    n: int = 7,
    pairs: int = 6,
    factors: int = 4,
    max_size: int = 5,
    complements: bool = False,
    any_k: bool = False,
    kinds: tuple[int, ...] = COUNTED,
    tables: int = 0,
) -> Problem:
    """A problem with up to ``factors`` random logic factors; it may well be infeasible.

    ``any_k`` allows the k = 0 and k = size that compilation would remove.  With ``tables``, about
    two thirds of the coordinates are states of categorical variables.
    """
    pair_var = np.array([rng.choice(n, 2, replace=False) for _ in range(pairs)], np.int32).reshape(
        -1, 2
    )
    groups, weights, capacity = random_groups(rng, n, factors, max_size, complements, any_k, kinds)
    blocks = random_blocks(rng, n) if tables else []
    for block in blocks:
        groups.append((SUM, block[None], np.ones(1, np.int32)))
    made = make_tables(random_tables(rng, n, blocks, tables)) if tables else None
    return make_problem(n, pair_var, merged(groups), made, weights, capacity)


def merged(groups):
    """Groups of the same kind and size as one; KNAPSACK groups already are."""
    shapes = dict.fromkeys((kind, lits.shape[1]) for kind, lits, _ in groups)
    return [
        (
            shape[0],
            np.concatenate([g[1] for g in groups if (g[0], g[1].shape[1]) == shape]),
            np.concatenate([g[2] for g in groups if (g[0], g[1].shape[1]) == shape]),
        )
        for shape in shapes
    ]


def random_blocks(rng, n: int) -> list[np.ndarray]:
    """Coordinates of categorical variables with two to four states."""
    blocks, first = [], 0
    while first + 4 <= n and first < 2 * n / 3:
        size = int(rng.integers(2, 5))
        blocks.append(np.arange(first, first + size, dtype=np.int32))
        first += size
    return blocks


def random_tables(rng, n: int, blocks: list[np.ndarray], count: int):
    """Groups for :func:`make_tables` over blocks and binary literals, one to three slots each."""
    lone = np.arange(sum(map(len, blocks)), n)
    by_shape: dict[tuple, list[np.ndarray]] = {}
    for _ in range(count):
        slots = [("state", b) for b in blocks] + [("literal", v) for v in lone]
        chosen = [slots[i] for i in rng.permutation(len(slots))[: rng.integers(1, 4)]]
        states, first, row = [], [], []
        for kind, what in chosen:
            states.append(len(what) if kind == "state" else 2)
            first.append(0 if kind == "state" else 1)
            row.append(what if kind == "state" else [what if rng.random() < 0.6 else ~what])
        potts = len(states) == 2 and states[0] == states[1] and rng.random() < 0.7
        shape = (POTTS if potts else DENSE, tuple(states), tuple(first))
        by_shape.setdefault(shape, []).append(np.concatenate(row).astype(np.int32))
    return [(*shape, np.array(rows)) for shape, rows in by_shape.items()]


def random_scores(
    rng, problem: Problem, scale: float | None = None, forbidden: float = 0.0
) -> Scores:
    """Finite scores: normal, or small integers (ties), with some exact zeros.

    ``forbidden`` is the share of table entries that are -inf.
    """
    if scale is None:
        scale = float(rng.choice(SCALES))
    entries = int(problem.tables.entry[-1])
    if rng.random() < 0.5:
        theta, pair = rng.normal(size=problem.n), rng.normal(size=problem.n_pairs)
        table = rng.normal(size=entries)
    else:
        theta = rng.integers(-2, 3, problem.n).astype(float)
        pair = rng.integers(-2, 3, problem.n_pairs).astype(float)
        table = rng.integers(-2, 3, entries).astype(float)
    theta[rng.random(problem.n) < 0.1] = 0.0
    pair[rng.random(problem.n_pairs) < 0.1] = 0.0
    table[rng.random(entries) < forbidden] = -np.inf
    return Scores(theta * scale, pair * scale, float(rng.normal() * scale), table * scale)
