"""Several labels with prices of neighbours that differ: expansion moves and learning."""

from itertools import product

import numpy as np
import pytest

from assent.errors import ModelError
from assent.learn import Examples, Subgradient, train
from assent.models import CutInput, CutLabels, Hamming, PottsModel, PottsSpace


def network(seed, n=6, labels=3):
    rng = np.random.default_rng(seed)
    pairs = np.array([(j, k) for j in range(n) for k in range(j + 1, n)])
    edges = pairs[rng.random(len(pairs)) < 0.5]
    return rng.normal(size=(n, labels)), edges, rng.exponential(0.4, len(edges))


@pytest.mark.parametrize("seed", range(12))
def test_expansion_moves_are_near_the_best(seed):
    """The bound of Boykov et al.: at most twice the best in costs, which are >= 0; often equal."""
    scores, edges, prices = network(seed)
    space = PottsSpace(6, 3, edges)
    found = space.value(space.best_labels(scores, prices), scores, prices)
    best = max(space.value(np.array(y), scores, prices) for y in product(range(3), repeat=6))
    most = scores.max(axis=1).sum()
    assert best + 1e-9 >= found
    assert most - found <= 2.0 * (most - best) + 1e-9


def test_expansion_moves_find_the_best_most_of_the_time():
    exact = 0
    for seed in range(30):
        scores, edges, prices = network(seed)
        space = PottsSpace(6, 3, edges)
        found = space.value(space.best_labels(scores, prices), scores, prices)
        best = max(space.value(np.array(y), scores, prices) for y in product(range(3), repeat=6))
        exact += found >= best - 1e-9
    assert exact >= 27


def test_no_single_expansion_gains():
    scores, edges, prices = network(3, n=7, labels=4)
    space = PottsSpace(7, 4, edges)
    labels = space.best_labels(scores, prices)
    value = space.value(labels, scores, prices)
    for label, change in product(range(4), product((False, True), repeat=7)):
        moved = np.where(change, label, labels)
        assert space.value(moved, scores, prices) <= value + 1e-9


def example(seed=0):
    scores, edges, features = network(seed)
    x = CutInput(scores, edges, features[:, None])
    gold, weights = np.array([0, 1, 2, 1, 0, 2]), np.array([1.0, 0.0, 2.0, 1.0, 0.5, 0.0])
    model = PottsModel(3, 3, 1)
    return model, x, gold, weights, model.example(x, CutLabels(gold, weights), Hamming())


def test_examples_are_linear_in_the_weights():
    _, _, _, _, made = example()
    rng = np.random.default_rng(0)
    w, z = rng.normal(size=10), rng.random(made.space.size)
    assert made.scores(w) == pytest.approx(made.matrix @ w)
    assert made.features(z) == pytest.approx(made.matrix.T @ z)


def test_losses_are_weighted_and_zero_for_gold():
    _, _, gold, weights, made = example()
    assert made.loss(made.gold) == 0.0
    other = (gold + 1) % 3
    assert made.loss(made.space.indicators(other)) == pytest.approx(weights.sum())


def test_learning_fits_labels_that_neighbours_tell():
    """Nodes of a line in runs of three labels, seen through noise."""
    rng = np.random.default_rng(0)
    inputs, outputs = [], []
    for _ in range(6):
        gold = np.repeat(rng.permutation([0, 1, 2, 0, 1, 2]), 10)
        nodes = np.eye(3)[gold] + rng.normal(0.0, 0.6, (60, 3))
        edges = np.stack([np.arange(59), np.arange(1, 60)], axis=1)
        inputs.append(CutInput(nodes, edges))
        outputs.append(gold)
    model = PottsModel().shaped(inputs, outputs)
    weights = train(Examples(model, inputs[:3], outputs[:3]), Subgradient(C=0.1)).weights
    wrong = [np.mean(model.predict(x, weights) != y)
             for x, y in zip(inputs[3:], outputs[3:], strict=True)]  # fmt: skip
    alone = [np.mean(x.nodes.argmax(axis=1) != y)
             for x, y in zip(inputs[3:], outputs[3:], strict=True)]  # fmt: skip
    assert model.named(weights)["edges"][0] > 0.0
    assert np.mean(wrong) < 0.5 * np.mean(alone)


def test_outputs_are_checked():
    model, x, _, _, _ = example()
    with pytest.raises(ModelError, match="6 indices of labels, 0 to 2"):
        model.example(x, [0, 1, 2, 3, 0, 0], Hamming())
