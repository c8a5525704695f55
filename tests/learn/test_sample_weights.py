"""Weights of examples: an example of weight two counts as two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import assent as at
from assent.learn import (
    AdaGradLikelihood,
    AveragedPerceptron,
    Examples,
    FrankWolfe,
    LogLikelihood,
    QuadraticProgram,
    StructuredPredictor,
    Subgradient,
    WeightedHamming,
    train,
)
from assent.models import ChainModel, Gaussian, KernelChainModel


def sentences(n=10, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(1, 6)), 3)) for _ in range(n)]
    y = [np.where(x[:, 0] + 0.5 * rng.normal(size=len(x)) > 0, "up", "down") for x in X]
    return X, y, rng.integers(0, 4, n)


def repeated(items, counts):
    return [item for item, count in zip(items, counts, strict=True) for _ in range(count)]


@pytest.mark.parametrize(
    "trainer",
    [
        LogLikelihood(C=0.5, tolerance=1e-8),
        FrankWolfe(C=0.2, gap_tolerance=1e-6, max_iterations=1000),
        QuadraticProgram(C=0.2),
    ],
)
@pytest.mark.parametrize("keep", [True, False])
def test_weights_are_repetitions(trainer, keep):
    X, y, counts = sentences()
    predictor = StructuredPredictor(ChainModel(), trainer, keep=keep, measure_every=100)
    weighted = predictor.fit(X, y, counts).training_
    plain = predictor.fit(repeated(X, counts), repeated(y, counts)).training_
    # Objectives are 1-strongly convex: weights are within √(2 gap) of the best ones.
    reach = sum(np.sqrt(2.0 * abs(found.trace.gap[-1])) for found in (weighted, plain))
    assert reach < 0.15
    assert np.linalg.norm(weighted.weights - plain.weights) < reach + 1e-4
    assert np.linalg.norm(predictor.fit(X, y).weights_ - plain.weights) > 0.2


@pytest.mark.parametrize("question", ["violators", "best", "log_loss"])
@pytest.mark.parametrize("keep", [True, False])
def test_sums_are_those_of_repetitions(question, keep):
    X, y, counts = sentences()
    counts += 1
    model, loss = ChainModel().shaped(X, y), WeightedHamming(1.0, 3.0)
    w = np.random.default_rng(1).normal(size=model.size)
    one = Examples(model, X, y, loss, keep=keep, counts=counts)
    other = Examples(model, repeated(X, counts), repeated(y, counts), loss)
    found, expected = getattr(one, question)(w), getattr(other, question)(w)
    assert found.value == pytest.approx(expected.value)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-10)


@pytest.mark.parametrize(
    "trainer", [AveragedPerceptron(), Subgradient(C=0.2), AdaGradLikelihood(C=0.3)]
)
def test_compiled_passes_weigh_as_single_visits_do(trainer):
    X, y, _ = sentences()
    counts = np.random.default_rng(2).uniform(0.1, 3.0, len(X))
    model = ChainModel().shaped(X, y)
    trainer = replace(trainer, max_iterations=4)
    for loss in (None, WeightedHamming(1.0, 3.0)):
        one = train(Examples(model, X, y, loss, keep=False, counts=counts), trainer)
        other = train(Examples(model, X, y, loss, counts=counts), trainer)
        np.testing.assert_allclose(other.weights, one.weights, atol=1e-10)
        np.testing.assert_allclose(other.trace.objective, one.trace.objective, rtol=1e-10)
        np.testing.assert_allclose(other.trace.gap, one.trace.gap, rtol=1e-9)


def test_weights_with_a_kernel_and_in_model_selection():
    X, y, counts = sentences(30)
    kernel = StructuredPredictor(KernelChainModel(Gaussian(2.0)), FrankWolfe(max_iterations=5))
    assert kernel.fit(X, y, counts).score(X, y, counts) > 0.8
    predictor = StructuredPredictor(ChainModel(), LogLikelihood())
    scores = cross_val_score(predictor, X, y, cv=3, params={"sample_weight": counts + 1})
    assert scores.shape == (3,) and (scores > 0.5).all()


def test_scores_are_weighted():
    X, y, counts = sentences(20)
    predictor = StructuredPredictor(ChainModel(), LogLikelihood(C=0.01)).fit(X, y)
    expected = predictor.score(repeated(X, counts), repeated(y, counts))
    assert predictor.score(X, y, counts) == pytest.approx(expected)
    assert predictor.score(X, y) != pytest.approx(expected)


def test_a_part_is_held_out_to_end_training_early():
    X, y, counts = sentences(40)
    predictor = StructuredPredictor(
        ChainModel(), AveragedPerceptron(max_iterations=200), patience=3, validation_fraction=0.25
    )
    trace = predictor.fit(X, y).training_.trace
    assert len(trace) < 200 and np.isfinite(trace.validation).all()
    assert predictor.training_.reason == "no better validation score for 3 measurements"
    again = predictor.fit(X, y).weights_.copy()
    np.testing.assert_array_equal(again, predictor.fit(X, y).weights_)
    predictor.fit(X, y, counts + 1)
    assert predictor.training_.trace.calls[0] == 30
    given = predictor.fit(X[:30], y[:30], validation=(X[30:], y[30:])).training_.trace
    assert given.calls[0] == 30  # nothing more is set aside where validation data are given


def test_what_are_no_weights_is_named():
    X, y, _ = sentences(4)
    predictor = StructuredPredictor(ChainModel(), AveragedPerceptron())
    with pytest.raises(at.ModelError, match="counts are 4 numbers, one per example"):
        predictor.fit(X, y, [1.0])
    with pytest.raises(at.ModelError, match="counts are finite numbers >= 0"):
        predictor.fit(X, y, [1.0, -1.0, 1.0, 1.0])
    with pytest.raises(at.ModelError, match="every sample_weight is zero"):
        predictor.fit(X, y, np.zeros(4))
    with pytest.raises(at.ModelError, match="count a positive number of times"):
        Examples(ChainModel().shaped(X, y), X, y, counts=[1, 1, 0, 1])
    for bad in (0.0, 1.5, "half"):
        with pytest.raises(ValueError, match="validation_fraction is between 0 and 1"):
            predictor.set_params(validation_fraction=bad).fit(X, y)
    with pytest.raises(at.ModelError, match="of 4 examples leaves none"):
        predictor.set_params(validation_fraction=0.95).fit(X, y)
