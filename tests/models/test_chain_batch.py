"""All chains at once: the same sums and answers as one by one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from assent.learn import (
    AdaGradLikelihood,
    AveragedPerceptron,
    Examples,
    LabelCosts,
    Subgradient,
    WeightedHamming,
    train,
)
from assent.models import ChainModel
from assent.models.chain_batch import ChainBatch
from assent.models.tree_space import chain_space
from tests.learn.problems import random_chains


def assert_same_sums(inputs, outputs, model, loss, rng):
    one = Examples(model, inputs, outputs, loss, keep=False)  # example by example
    other = Examples(model, inputs, outputs, loss)
    for question in ("violators", "best", "log_loss"):
        w = rng.normal(size=model.size)
        a, b = getattr(one, question)(w), getattr(other, question)(w)
        assert a.value == pytest.approx(b.value, rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(a.gradient, b.gradient, atol=1e-10)
    w = rng.normal(size=model.size)
    for x, predicted in zip(inputs, model.predict_many(inputs, w), strict=True):
        assert predicted.tolist() == model.predict(x, w).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_random_chains(seed):
    rng = np.random.default_rng(seed)
    examples = random_chains(rng, 7)
    assert_same_sums(examples.inputs, examples.outputs, examples.model, examples.loss, rng)


@pytest.mark.parametrize("loss", [WeightedHamming(1.0, 3.0), LabelCosts(1.0 - np.eye(5))])
def test_sums_of_longer_chains_and_sparse_features(loss):
    rng = np.random.default_rng(1)
    model = ChainModel(tuple("abcde"), 6)
    lengths = rng.integers(1, 30, 20)
    inputs = [rng.normal(size=(t, 6)) * (rng.random((t, 6)) < 0.5) for t in lengths]
    outputs = [rng.choice(list("abcde"), t) for t in lengths]
    assert_same_sums(inputs, outputs, model, loss, rng)
    assert_same_sums([sparse.csr_array(x) for x in inputs], outputs, model, loss, rng)
    assert model.predict_many([], np.zeros(model.size)) == []


def test_the_gradient_is_that_of_the_value():
    rng = np.random.default_rng(2)
    examples = random_chains(rng, 5)
    w = rng.normal(size=examples.size)
    gradient = examples.log_loss(w).gradient
    for j in range(examples.size):
        step = 1e-5 * np.eye(examples.size)[j]
        slope = (examples.log_loss(w + step).value - examples.log_loss(w - step).value) / 2e-5
        assert gradient[j] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("size", [1.0, 30.0, 300.0, 3000.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_marginals_however_far_scores_are_apart(size, forbidden):
    rng = np.random.default_rng(int(size))
    batch = ChainBatch(ChainModel(tuple("abcde"), 1).layout, np.zeros((40, 1)), [1, 2, 7, 30])
    table = size * rng.normal(size=25)
    table[(rng.random(25) < forbidden) & (np.eye(5).ravel() == 0)] = -np.inf
    nodes = size * rng.normal(size=(40, 5))
    nodes[(rng.random(nodes.shape) < forbidden / 4) & (np.arange(5) > 0)] = -np.inf
    total, out, edges = batch.marginals(nodes, table)
    value, expected = 0.0, np.zeros(25)
    for begin, end in itertools.pairwise(batch.ends):
        own = nodes[begin:end]
        space = chain_space(len(own), 5)
        one, z = space.marginals(np.concatenate([own.ravel(), np.tile(table, len(own) - 1)]))
        value += one
        np.testing.assert_allclose(out[begin:end], z[: own.size].reshape(-1, 5), atol=1e-9)
        expected += z[own.size :].reshape(-1, 25).sum(axis=0)
    assert total == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(edges, expected, atol=1e-9)


@pytest.mark.parametrize(
    "trainer", [AveragedPerceptron(), Subgradient(C=0.2), AdaGradLikelihood(C=0.3)]
)
@pytest.mark.parametrize("loss", [None, WeightedHamming(1.0, 3.0)])
def test_compiled_passes_take_the_steps_of_single_visits(trainer, loss):
    rng = np.random.default_rng(3)
    model = ChainModel(tuple("abc"), 6)
    lengths = rng.integers(1, 9, 25)
    inputs = [rng.normal(size=(t, 6)) * (rng.random((t, 6)) < 0.5) for t in lengths]
    outputs = [rng.choice(list("abc"), t) for t in lengths]
    trainer = replace(trainer, max_iterations=4)
    for X in (inputs, [sparse.csr_array(x) for x in inputs]):
        one = train(Examples(model, X, outputs, loss, keep=False), trainer)
        other = train(Examples(model, X, outputs, loss), trainer)
        assert np.abs(one.weights).max() > 0.1
        np.testing.assert_allclose(other.weights, one.weights, atol=1e-10)
        np.testing.assert_allclose(other.trace.objective, one.trace.objective, rtol=1e-10)
        np.testing.assert_allclose(other.trace.gap, one.trace.gap, rtol=1e-9)
