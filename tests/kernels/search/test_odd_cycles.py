"""Odd cycles: found where one is cheap enough, and cycles indeed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from assent.kernels.search.odd_cycles import STEP, network_of, odd_cycles


def cheapest(n: int, ends: np.ndarray, d: np.ndarray, once: bool) -> float:
    """Least cost of an odd simple cycle of three edges or more, by listing all of them."""
    number = {frozenset(e): i for i, e in enumerate(ends.tolist())}
    best = np.inf
    for size in range(3, n + 1):
        for nodes in combinations(range(n), size):
            for rest in permutations(nodes[1:]):
                round_trip = [nodes[0], *rest, nodes[0]]
                steps = [frozenset(s) for s in pairwise(round_trip)]
                if all(step in number for step in steps):
                    own = d[[number[step] for step in steps]]
                    best = min(best, _least(own, once))
    return best


def _least(own: np.ndarray, once: bool) -> float:
    choices = (np.array(f) for f in product((0, 1), repeat=len(own)))
    fit = (f for f in choices if (f.sum() == 1 if once else f.sum() % 2 == 1))
    return min(float(np.where(f, 1.0 - own, own).sum()) for f in fit)


@pytest.mark.parametrize("once", (False, True))
def test_against_all_cycles(once):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(3, 6))
        every = np.array(list(combinations(range(n), 2)))
        ends = every[rng.random(len(every)) < 0.8]
        d = np.where(rng.random(len(ends)) < 0.5, rng.random(len(ends)), rng.integers(0, 2))
        start, codes = np.zeros(n + 1, np.int64), np.zeros(100, np.int64)
        network = network_of(n, ends)
        count = odd_cycles(network, d, np.arange(n), once, 1.0 - 1e-5, start, codes)
        best = cheapest(n, ends, d, once)
        costs = []
        for c in range(count):
            part = codes[start[c] : start[c + 1]]
            edge, chosen = part >> 1, part & 1
            assert chosen.sum() == 1 if once else chosen.sum() % 2 == 1
            assert len(set(edge.tolist())) == len(edge) >= 3
            assert set(Counter(ends[edge].ravel().tolist()).values()) == {2}
            costs.append(np.where(chosen, 1.0 - d[edge], d[edge]).sum())
        if best < 1.0 - 1e-4:
            assert min(costs) == pytest.approx(best, abs=2 * n * STEP)
        else:
            assert all(cost < 1.0 for cost in costs)


def test_ends_where_there_is_no_room():
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    start, codes = np.zeros(4, np.int64), np.zeros(4, np.int64)
    network = network_of(3, ends)
    assert odd_cycles(network, np.ones(3), np.arange(3), False, 0.9, start, codes) == 1
