"""Rounding where pairs are all there is, against the general way and a slow twin."""

from __future__ import annotations

import numpy as np

from assent.kernels.problem import CAP, Scores, make_problem
from assent.kernels.rounding.pair_clusters import MAX_CLUSTER
from assent.kernels.rounding.pair_rounding import round_pairs
from assent.kernels.rounding.round_marginals import build_tables, round_marginals
from tests.oracles.sweep import sweep_seeds


def random_pairs(rng, steps=8):
    """Pairs, some of them parallel, and scores in ``1 / steps``: sums are exact."""
    n = int(rng.integers(2, 25))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 3 * n))])
    theta, pair = (rng.integers(-5 * steps, 5 * steps, size) / steps for size in (n, len(pairs)))
    return pairs.astype(np.int32), theta, pair


def best_cluster(pairs, theta, pair, x, first):
    """What flipping ``first`` and whoever then gains most brings, the slow way."""

    def total(x):
        return theta @ x + pair @ (x[pairs[:, 0]] * x[pairs[:, 1]])

    def flipped(x, v):
        return np.where(np.arange(len(x)) == v, 1 - x, x)

    before, members, x = total(x), [first], flipped(x, first)
    while len(members) < MAX_CLUSTER:
        tied = {int(v) for ends in pairs if set(ends) & set(members) for v in ends} - set(members)
        gains = {v: total(flipped(x, v)) - total(x) for v in tied}
        best = max(gains, key=gains.__getitem__, default=None)
        if best is None or gains[best] <= 0.0:
            break
        members.append(best)
        x = flipped(x, best)
    return total(x) - before


@sweep_seeds()
def test_the_short_way_is_the_general_one(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pairs, theta, pair = random_pairs(rng)
        n, p = len(theta), rng.integers(0, 9, len(theta)) / 8.0
        alone = make_problem(n, pairs, [])
        never_broken = (CAP, np.array([[n, n + 1]], np.int32), np.array([1], np.int32))
        beside = make_problem(n + 2, pairs, [never_broken])
        short = round_marginals(alone, Scores(theta, pair), p)
        scores = Scores(np.append(theta, [-1.0, -1.0]), pair)
        general = round_marginals(beside, scores, np.append(p, [0.0, 0.0]))
        assert short.x.tolist() == general.x[:n].tolist()
        assert short.value == general.value


@sweep_seeds()
def test_no_cluster_gains_after_a_thorough_rounding(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pairs, theta, pair = random_pairs(rng, steps=2**20)  # ties would leave a choice
        problem, p = make_problem(len(theta), pairs, []), rng.random(len(theta))
        plain = round_marginals(problem, Scores(theta, pair), p)
        thorough = round_marginals(problem, Scores(theta, pair), p, thorough=True)
        assert thorough.value >= plain.value
        for first in range(len(theta)):
            gain = best_cluster(pairs, theta, pair, thorough.x.astype(np.int64), first)
            assert gain <= 0.0, (seed, first)


@sweep_seeds()
def test_what_is_held_stays(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pairs, theta, pair = random_pairs(rng)
        p = rng.integers(0, 2, len(theta)).astype(float)
        held = np.where(rng.random(len(theta)) < 0.5, p, -1).astype(np.int8)
        ties = build_tables(make_problem(len(theta), pairs, [])).pairs
        x = round_pairs(ties, theta, pair, p, held, 20, True)
        assert (x == held)[held >= 0].all()
