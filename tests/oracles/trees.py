"""Tree-shaped models by listing every joint state, and random ones to list."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from assent.kernels.kinds.sequences.tree_recursion import tree_data


@dataclass(frozen=True)
class Forest:
    """A forest as its kernels take it, beside the terms it was made of."""

    states: list[int]
    parents: list[int]
    counted: list[int]  # per slot, -1 for none
    tables: list[np.ndarray]  # [K_v, K_parent], or [K_v, 1] for a root
    counts: np.ndarray
    scores: np.ndarray

    @property
    def start(self) -> np.ndarray:
        return read_only(np.concatenate([[0], np.cumsum(self.states)]).astype(np.int32))

    @property
    def data(self) -> np.ndarray:
        return read_only(tree_data(self.states, self.parents, self.counted, len(self.counts)))

    @property
    def inner(self) -> np.ndarray:
        return read_only(np.concatenate([*(t.ravel() for t in self.tables), self.counts]))


def read_only(array: np.ndarray) -> np.ndarray:
    """As structures hand it to kernels: those that are compiled for them serve here too."""
    array.flags.writeable = False
    return array


def random_forest(rng, most: int = 5, chain: bool = False, forbid: float = 0.1) -> Forest:
    """Up to ``most`` slots of one to three states, any parents, with or without counting."""
    n = int(rng.integers(1, most + 1))
    states = rng.integers(1, 4, n).tolist()
    parents = [*range(1, n), -1] if chain else random_parents(rng, n)
    tops = [1 if p < 0 else states[p] for p in parents]
    tables = [random_scores(rng, (k, top), forbid) for k, top in zip(states, tops, strict=True)]
    counted, counts = [-1] * n, np.zeros(1)
    if rng.random() < 0.5:
        counted = [int(rng.integers(-1, k)) for k in states]
        counts = random_scores(rng, int(rng.integers(1, n + 3)), forbid)
    return Forest(states, parents, counted, tables, counts,
                  random_scores(rng, sum(states), forbid))  # fmt: skip


def random_parents(rng, n: int) -> list[int]:
    """A forest on ``n`` nodes in any order: some trees, some paths, some stars."""
    place = rng.permutation(n)
    parents = [-1] * n
    for i in range(1, n):
        if rng.random() < 0.85:
            parents[place[i]] = int(place[rng.integers(0, i)])
    return parents


def random_scores(rng, shape, forbid: float) -> np.ndarray:
    """Normal scores or small integers (ties), some forbidden."""
    scores = rng.normal(size=shape) if rng.random() < 0.7 else rng.integers(-1, 2, shape) * 1.0
    return np.where(rng.random(shape) < forbid, -np.inf, scores)


def list_vertices(forest: Forest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint states ``[vertices, n]``, and what their places and inner parts are worth."""
    joint = np.array(list(product(*map(range, forest.states))))
    visits = (joint == np.array(forest.counted)).sum(axis=1)
    joint, visits = joint[visits < len(forest.counts)], visits[visits < len(forest.counts)]
    outer = forest.scores[forest.start[:-1] + joint].sum(axis=1)
    inner = forest.counts[visits]
    for v, (table, parent) in enumerate(zip(forest.tables, forest.parents, strict=True)):
        inner = inner + table[joint[:, v], joint[:, parent] if parent >= 0 else 0]
    return joint, outer, inner


def used_parts(forest: Forest, joint: np.ndarray) -> np.ndarray:
    """Which inner parts each vertex uses, ``[vertices, parts]``."""
    used = np.zeros((len(joint), len(forest.inner)))
    for row, states in zip(used, joint, strict=True):
        begin = 0
        for v, (table, parent) in enumerate(zip(forest.tables, forest.parents, strict=True)):
            above = states[parent] if parent >= 0 else 0
            row[begin + states[v] * table.shape[1] + above] = 1.0
            begin += table.size
        row[begin + (states == np.array(forest.counted)).sum()] = 1.0
    return used


def used_places(forest: Forest, joint: np.ndarray) -> np.ndarray:
    """Which places each vertex chooses, ``[vertices, places]``."""
    used = np.zeros((len(joint), len(forest.scores)))
    np.put_along_axis(used, forest.start[:-1] + joint, 1.0, axis=1)
    return used
