"""Random models of many kinds by seed: no stored instance is among them.

Settings are chosen by looking at some seeds and reported on others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import assent as at
from benchmarks import small_instances, synthetic
from benchmarks.collection import Instance
from benchmarks.constrained import FAMILIES as CONSTRAINED

# Side, labels, and how strongly neighbours pull: one coupling per edge, or a score per label.
POTTS = ((20, 8, 1.0), (20, 8, 10.0), (30, 3, 1.0), (12, 20, 2.0))
TABLES = ((15, 4, 0.5), (15, 4, 3.0), (8, 20, 1.0))


def grid_edges(side: int) -> np.ndarray:
    """Edges ``[E, 2]`` of a square grid."""
    cell = np.arange(side * side).reshape(side, side)
    right = np.stack([cell[:, :-1].ravel(), cell[:, 1:].ravel()], axis=1)
    down = np.stack([cell[:-1].ravel(), cell[1:].ravel()], axis=1)
    return np.concatenate([right, down])


def potts_grid(side: int, labels: int, strength: float, seed: int) -> at.FactorGraph:
    """A grid of labels; equal neighbours score U[-strength, strength] per edge."""
    rng = np.random.default_rng(seed)
    i, j = grid_edges(side).T
    g = at.FactorGraph()
    x = g.categorical(states=labels, scores=rng.uniform(-1.0, 1.0, (side * side, labels)))
    g.add(at.Potts(x[i], x[j], scores=rng.uniform(-strength, strength, (len(i), 1))))
    return g


def table_grid(side: int, labels: int, strength: float, seed: int) -> at.FactorGraph:
    """A grid of labels with a normal score per joint state of neighbours."""
    rng = np.random.default_rng(seed)
    i, j = grid_edges(side).T
    g = at.FactorGraph()
    x = g.categorical(states=labels, scores=rng.normal(size=(side * side, labels)))
    tables = strength * rng.normal(size=(len(i), labels, labels))
    g.add(at.Dense(x[i], x[j], scores=tables))
    return g


def side_chains(residues: int, seed: int) -> at.FactorGraph:
    """Variables of very different numbers of states, tables between near ones, as in proteins."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    sizes = rng.choice([2, 3, 9, 18, 27, 36, 81], residues)
    x = [g.categorical(1, states=int(k), scores=3.0 * rng.exponential(size=(1, k))) for k in sizes]
    place = rng.random((residues, 3))
    far = ((place[:, None] - place[None]) ** 2).sum(axis=-1)
    near = np.sort(far, axis=1)[:, min(4, residues - 1)]
    for a in range(residues):
        for b in range(a + 1, residues):
            if far[a, b] <= min(near[a], near[b]):
                table = -2.0 * rng.exponential(size=(1, sizes[a], sizes[b]))
                g.add(at.Dense(x[a], x[b], scores=table))
    return g


def fresh_instances(seed: int, quick: bool = False) -> Iterator[Instance]:
    """One of every kind."""
    for rho in (0.5, 1.0, 2.0):
        for side in (10, 30, 100):
            make = partial(synthetic.torus, side, rho, seed)
            yield Instance(f"torus_{side}_{rho:g}_s{seed}", make)
    for kind, make_grid, sizes in (("potts", potts_grid, POTTS), ("tables", table_grid, TABLES)):
        for side, labels, strength in sizes:
            name = f"{kind}_{side}x{labels}_{strength:g}_s{seed}"
            yield Instance(name, partial(make_grid, side, labels, strength, seed))
    for residues in (12, 40, 80):
        yield Instance(f"side_chains_{residues}_s{seed}", partial(side_chains, residues, seed))
    for size in (50, 200) if quick else (50, 200, 1000, 5000):
        for family, make_one in CONSTRAINED.items():
            yield Instance(f"{family}_{size}_s{seed}", partial(make_one, size, seed))
    for make_small in (*small_instances.FAMILIES, small_instances.WEIGHTED):
        name = f"{make_small.name}_s{seed}"
        yield Instance(name, lambda m=make_small: m(np.random.default_rng((seed, 0))))
    for words in (8, 20):
        yield Instance(f"sentence_{words}_s{seed}", partial(synthetic.sentence, words, seed))
    yield Instance(f"jobs_40_s{seed}", partial(synthetic.assignment, 40, 25, seed))
