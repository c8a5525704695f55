"""Table factors against their tables, looked at entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

from assent.kernels.kinds.table_scores import (
    marginals_dense,
    max_marginals_dense,
    max_marginals_potts,
    maximize_dense,
    maximize_potts,
    potts_table,
)
from tests.oracles.sweep import sweep_seeds

SCALES = (1e-6, 1.0, 1e8)


def offsets(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def random_values(rng, size, scale):
    """Normal, or small integers (ties)."""
    if rng.random() < 0.5:
        return rng.normal(size=size) * scale
    return rng.integers(-2, 3, size) * scale


def random_dense(rng):
    """Counts, state scores and a table with some entries forbidden, at least one allowed."""
    counts = [int(k) for k in rng.integers(1, 5, rng.integers(1, 5))]
    scale = rng.choice(SCALES)
    table = random_values(rng, int(np.prod(counts)), scale)
    forbidden = rng.random(len(table)) < rng.choice([0.0, 0.4])
    forbidden[rng.integers(len(table))] = False
    table[forbidden] = -np.inf
    return counts, random_values(rng, sum(counts), scale), table


def joint_scores(counts, scores, table, scale):
    """The score of every joint state, as an array with an axis per slot."""
    joint = scale * table.reshape(counts)
    start = offsets(counts)
    for slot, count in enumerate(counts):
        shape = np.ones(len(counts), int)
        shape[slot] = count
        joint = joint + scores[start[slot] : start[slot + 1]].reshape(shape)
    return joint


def other_axes(joint, slot):
    return tuple(axis for axis in range(joint.ndim) if axis != slot)


def size_of(joint):
    return np.abs(joint[np.isfinite(joint)]).max() + 1e-300


def check_marginals(counts, scores, table, scale, temperature):
    joint = joint_scores(counts, scores, table, scale)
    out = np.empty(sum(counts))
    log_sum = marginals_dense(offsets(counts), scores, table, scale, temperature, out)
    weight = np.exp((joint - joint.max()) / temperature)
    expected = [weight.sum(other_axes(joint, slot)) / weight.sum() for slot in range(joint.ndim)]
    # Differences of scores are known to rounding only, which low temperatures magnify.
    blur = 1e-15 * size_of(joint) / temperature
    np.testing.assert_allclose(out, np.concatenate(expected), rtol=0, atol=1e-12 + 10 * blur)
    value = joint.max() + temperature * np.log(weight.sum())
    assert log_sum == pytest.approx(value, rel=1e-12, abs=1e-12 * size_of(joint))


@sweep_seeds()
def test_dense(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        counts, scores, table = random_dense(rng)
        scale = float(rng.choice([1.0, 0.3]))
        joint = joint_scores(counts, scores, table, scale)
        tolerance = 1e-13 * size_of(joint)
        states = np.empty(len(counts), np.int32)
        value, entry = maximize_dense(offsets(counts), scores, table, scale, states)
        assert value == pytest.approx(joint.max(), abs=tolerance)
        assert joint[tuple(states)] == pytest.approx(value, abs=tolerance)
        assert entry == table.reshape(counts)[tuple(states)]
        out = np.empty(sum(counts))
        value = max_marginals_dense(offsets(counts), scores, table, scale, out)
        expected = [joint.max(other_axes(joint, slot)) for slot in range(len(counts))]
        np.testing.assert_allclose(out, np.concatenate(expected), rtol=0, atol=tolerance)
        assert value == pytest.approx(joint.max(), abs=tolerance)
        temperature = float(rng.choice([1e-9, 0.1, 1.0, 1e3])) * size_of(joint)
        check_marginals(counts, scores, table, scale, temperature)


@sweep_seeds()
def test_potts_is_its_table(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 7))
        magnitude = rng.choice(SCALES)
        scores = random_values(rng, 2 * count, magnitude)
        diagonal = random_values(rng, count, magnitude)
        if count > 1:
            diagonal[rng.random(count) < 0.2] = -np.inf
        counts, scale = [count, count], float(rng.choice([1.0, 0.3]))
        joint = joint_scores(counts, scores, potts_table(diagonal), scale)
        tolerance = 1e-13 * size_of(joint)
        start, states = offsets(counts), np.empty(2, np.int32)
        value, reward = maximize_potts(start, scores, diagonal, scale, states)
        assert value == pytest.approx(joint.max(), abs=tolerance)
        assert joint[tuple(states)] == pytest.approx(value, abs=tolerance)
        assert reward == (diagonal[states[0]] if states[0] == states[1] else 0.0)
        out = np.empty(2 * count)
        value = max_marginals_potts(start, scores, diagonal, scale, out)
        np.testing.assert_allclose(
            out, np.concatenate([joint.max(1), joint.max(0)]), rtol=0, atol=tolerance
        )
        assert value == pytest.approx(joint.max(), abs=tolerance)


def test_ties_at_low_temperature_share():
    out = np.empty(4)
    table = np.array([1.0, -np.inf, -np.inf, 1.0])
    value = marginals_dense(offsets([2, 2]), np.zeros(4), table, 1.0, 1e-12, out)
    np.testing.assert_allclose(out, 0.5)
    assert value == pytest.approx(1.0)


@pytest.mark.parametrize("counts", [[3], [2, 2], [2, 1, 2]])
def test_nothing_allowed(counts):
    table = np.full(int(np.prod(counts)), -np.inf)
    states = np.empty(len(counts), np.int32)
    value, entry = maximize_dense(offsets(counts), np.zeros(sum(counts)), table, 1.0, states)
    assert value == -np.inf
    assert entry == -np.inf


def test_one_label_potts_that_forbids_it():
    states = np.empty(2, np.int32)
    value, reward = maximize_potts(offsets([1, 1]), np.zeros(2), np.array([-np.inf]), 1.0, states)
    assert value == -np.inf
    assert reward == -np.inf
