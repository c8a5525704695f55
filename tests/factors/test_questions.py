"""Max-marginals and marginals of every kind against enumeration, negations included."""

import itertools

import numpy as np
import pytest

import assent as at
from assent.factors import KINDS, Structure
from tests.factors.test_tables import every_table, joint_scores, joint_states, one_table
from tests.oracles.sweep import sweep_seeds


def literals(rng, size):
    g = at.FactorGraph()
    return g, g.binary(size, name="x").negate(where=rng.random(size) < 0.5)


LOGIC = {
    "ExactlyOne": lambda x, rng: at.ExactlyOne(x),
    "AtMostOne": lambda x, rng: at.AtMostOne(x),
    "AtMostOne-output": lambda x, rng: at.AtMostOne(x[:-1], output=x[-1]),
    "AtLeastOne": lambda x, rng: at.AtLeastOne(x),
    "AtLeastOne-output": lambda x, rng: at.AtLeastOne(x[:-1], output=x[-1]),
    "All-output": lambda x, rng: at.All(x[:-1], output=x[-1]),
    "All": lambda x, rng: at.All(x),
    "Implies": lambda x, rng: at.Implies(x[0] & x[1], x[2]),
    "AtMost": lambda x, rng: at.AtMost(int(rng.integers(len(x) + 1)), x),
    "AtLeast": lambda x, rng: at.AtLeast(int(rng.integers(len(x) + 1)), x),
    "Exactly": lambda x, rng: at.Exactly(int(rng.integers(len(x) + 1)), x),
    "Agree": lambda x, rng: at.Agree(x[0], x[1]),
    "Parity": lambda x, rng: at.Parity(x, odd=bool(rng.integers(2))),
}


def brute(points, values, temperature):
    """Best value per coordinate and value; log-partition and means, all by listing."""
    best = np.full((points.shape[1], 2), -np.inf)
    for point, value in zip(points, values, strict=True):
        for j, b in enumerate(point.astype(int)):
            best[j, b] = max(best[j, b], value)
    weight = np.exp((values - values.max()) / temperature)
    mean = weight @ points / weight.sum()
    return best, values.max() + temperature * np.log(weight.sum()), mean


@pytest.mark.parametrize("name", LOGIC)
@sweep_seeds()
def test_constraints(name, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        _, x = literals(rng, int(rng.integers(3, 7)))
        factor = LOGIC[name](x, rng)
        corners = np.array(list(itertools.product([False, True], repeat=factor.size)))
        points = corners[np.array([factor.holds(c[None])[0] for c in corners])]
        scores = rng.normal(size=(1, factor.size)) * 10.0 ** rng.integers(-2, 3)
        temperature = 10.0 ** rng.uniform(-2, 1)
        best, value, mean = brute(points, points @ scores[0], temperature)
        assert np.allclose(factor.max_marginals(scores)[0], best, rtol=1e-9, atol=1e-9)
        log_partition, probabilities = factor.marginals(scores, temperature)
        assert np.isclose(log_partition[0], value, rtol=1e-9)
        assert np.allclose(probabilities[0], mean, atol=1e-9)


@sweep_seeds()
def test_pairs(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        _, x = literals(rng, 2)
        factor = at.Pair(x[0], x[1])
        points = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
        scores, c = rng.normal(size=(1, 2)), rng.normal(size=1) * 3
        temperature = 10.0 ** rng.uniform(-2, 1)
        values = points @ scores[0] + c[0] * points.prod(axis=1)
        best, value, mean = brute(points, values, temperature)
        assert np.allclose(factor.max_marginals(scores, c)[0], best)
        log_partition, probabilities = factor.marginals(scores, c, temperature)
        assert np.isclose(log_partition[0], value)
        assert np.allclose(probabilities[0, :2], mean)


@sweep_seeds()
@every_table
def test_tables(draw, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        factor = one_table(rng, draw, most=36)
        links = rng.normal(size=(1, factor.codes.shape[1]))
        temperature = 10.0 ** rng.uniform(-1, 1)
        joint, truths = joint_states(factor)
        total = truths @ links[0] + joint_scores(factor, factor.scores[0])
        weight = np.exp((total - total.max()) / temperature)
        best = factor.max_marginals(links, factor.scores)
        log_partition, probabilities = factor.marginals(links, factor.scores, temperature)
        assert np.isclose(log_partition[0], total.max() + temperature * np.log(weight.sum()))
        for slot, states in enumerate(factor.states):
            for state in range(states):
                here = joint[:, slot] == state
                assert np.isclose(best[slot][0, state], total[here].max())
                share = weight[here].sum() / weight.sum()
                assert np.isclose(probabilities[slot][0, state], share, atol=1e-12)


def test_every_kind_answers_what_it_declares():
    others = [kind for kind in KINDS if not issubclass(kind, Structure)]
    assert [kind.__name__ for kind in others if "marginals" not in kind.abilities] == ["Knapsack"]
    named = {name.split("-")[0] for name in LOGIC} | {"Pair", "Dense", "Potts", "Knapsack"}
    assert named == {kind.__name__ for kind in others}  # structures: test_structures.py


def test_what_is_absent_is_said():
    _, x = literals(np.random.default_rng(0), 3)
    sack = at.Knapsack(x, weights=1.0, capacity=2.0)
    with pytest.raises(TypeError, match="Knapsack cannot answer marginals; it answers maximize"):
        sack.marginals(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="a temperature is a positive number, got 0"):
        at.ExactlyOne(x).marginals(np.zeros((1, 3)), 0.0)
