"""All chains at once: the same sums and answers as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from assent.learn import Examples, LabelCosts, WeightedHamming
from assent.models import ChainModel
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
