"""Random small problems with categorical blocks, tables, parities and knapsacks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from assent.kernels.problem import (
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
from tests.oracles.random_problems import random_literals


def random_tables_problem(rng, infeasible: bool = False) -> Problem:
    """Two to four blocks of states, some free coordinates, tables and logic over all of them."""
    sizes = rng.integers(2, 4, size=rng.integers(2, 5))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    free = int(rng.integers(0, 4))
    n = int(starts[-1]) + free
    groups = [
        (SUM, np.arange(a, b, dtype=np.int32)[None], np.ones(1, np.int32))
        for a, b in pairwise(starts)
    ]
    tables = [_random_dense(rng, sizes, starts, n, free) for _ in range(rng.integers(0, 3))]
    alike = [(i, j) for i in range(len(sizes)) for j in range(i) if sizes[i] == sizes[j]]
    for _ in range(rng.integers(0, 3)):
        if alike:
            i, j = alike[rng.integers(len(alike))]
            lits = np.concatenate([starts[b] + np.arange(sizes[b]) for b in (i, j)])
            states = (int(sizes[i]),) * 2
            tables.append((POTTS, states, (0, 0), lits.astype(np.int32)[None]))
    weights, capacity = [], []
    for _ in range(rng.integers(0, 3)):
        size = int(rng.integers(1, min(6, n) + 1))
        lits = random_literals(rng, n, size)[None]
        if rng.random() < 0.5:
            groups.append((PARITY, lits, np.ones(1, np.int32)))
            continue
        groups.append((KNAPSACK, lits, np.ones(1, np.int32)))
        weights.append(rng.integers(0, 4, size=(1, size)) * 0.5)
        low = -0.5 if infeasible else 0.0
        capacity.append(rng.uniform(low, 1.0, 1) * weights[-1].sum())
    if rng.random() < 0.5:
        groups.append((CAP, random_literals(rng, n, 2)[None], np.ones(1, np.int32)))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(2)], np.int32)
    return make_problem(n, pairs, groups, make_tables(tables), weights, capacity)


def _random_dense(rng, sizes, starts, n: int, free: int):
    """A table over one to three slots, blocks or literals of free coordinates."""
    slots = rng.permutation(len(sizes) + free)[: rng.integers(1, 4)]
    states, first, lits = [], [], []
    for slot in slots.tolist():
        binary = slot >= len(sizes)
        states.append(2 if binary else int(sizes[slot]))
        first.append(int(binary))
        if binary:
            coordinate = n - 1 - (slot - len(sizes))
            lits.append([~coordinate if rng.random() < 0.4 else coordinate])
        else:
            lits.append(range(starts[slot], starts[slot + 1]))
    joined = np.concatenate([np.array(part, np.int32) for part in lits])
    return DENSE, tuple(states), tuple(first), joined[None]


def random_table_scores(rng, problem: Problem, forbidden: float = 0.0) -> Scores:
    """Small whole numbers or normal ones, zeros among them; a share of entries forbidden."""
    scale = float(rng.choice([1e-6, 1.0, 1e6]))

    def draw(size):
        values = rng.normal(size=size) if whole else rng.integers(-2, 3, size).astype(float)
        return np.where(rng.random(size) < 0.1, 0.0, values * scale)

    whole = rng.random() < 0.5
    entries = int(problem.tables.entry[-1])
    table = draw(entries)
    table[rng.random(entries) < forbidden] = -np.inf
    return Scores(draw(problem.n), draw(problem.n_pairs), float(rng.normal() * scale), table)
