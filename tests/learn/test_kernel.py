"""Kernel forms: with a linear kernel they are the primal ones, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from assent.errors import ModelError
from assent.learn import (
    MIRA,
    AdaGradLikelihood,
    AveragedPerceptron,
    DualExtragradient,
    Entropic,
    Euclidean,
    Examples,
    Extragradient,
    FrankWolfe,
    L1Ball,
    L2Ball,
    LogLikelihood,
    ProjectedGradient,
    QuadraticProgram,
    Subgradient,
    train,
)
from assent.models import ChainModel, Gaussian, Hamming, KernelChainModel, Polynomial

LINEAR = Polynomial(1, normalized=False)
TRAINERS = [
    DualExtragradient(L2Ball(0.8), Euclidean(), max_iterations=12),
    DualExtragradient(L2Ball(0.8), Entropic(), max_iterations=12),
    DualExtragradient(L2Ball(), Entropic(), step=0.1, max_iterations=12),
    Extragradient(L2Ball(0.8), Euclidean(), averaged=False, max_iterations=12),
    ProjectedGradient(L2Ball(0.8), Entropic(), balance=None, max_iterations=12),
    FrankWolfe(C=0.3, max_iterations=12, gap_tolerance=1e-12),
    FrankWolfe(C=0.3, max_iterations=12, averaged=True, planes=2, gap_tolerance=1e-12),
    Subgradient(C=0.3, max_iterations=12, gap_tolerance=1e-12),
    # Its steps end at exact ties, which rounding breaks: short ones do not get there.
    MIRA(C=0.01, max_iterations=12),
    AveragedPerceptron(max_iterations=12),
]


def words(seed: int = 0):
    rng = np.random.default_rng(seed)
    inputs = [rng.normal(size=(int(t), 3)) for t in rng.integers(1, 5, 5)]
    inputs[1][0] = inputs[0][0]  # positions that occur twice, in different words and in one
    inputs.append(np.repeat(inputs[2][:1], 3, axis=0))
    return inputs, [rng.integers(0, 3, len(x)) for x in inputs]


@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda t: type(t).__name__)
def test_a_linear_kernel_is_the_primal_form(trainer):
    inputs, outputs = words()
    plain = ChainModel().shaped(inputs, outputs)
    kernel = KernelChainModel(LINEAR).shaped(inputs, outputs)
    one = train(Examples(plain, inputs, outputs), trainer)
    other = train(Examples(kernel, inputs, outputs), trainer)
    coefficients = kernel.named(other.weights)
    expected = plain.named(one.weights)
    np.testing.assert_allclose(
        kernel.landmarks.T @ coefficients["nodes"], expected["nodes"], atol=1e-8
    )
    for name in ("edges", "start", "stop"):
        np.testing.assert_allclose(coefficients[name], expected[name], atol=1e-8)
    for column in ("hinge", "gap", "norm"):
        np.testing.assert_allclose(
            getattr(other.trace, column), getattr(one.trace, column), rtol=1e-6, atol=1e-7
        )
    x = np.random.default_rng(9).normal(size=(6, 3))
    assert kernel.predict(x, other.weights).tolist() == plain.predict(x, one.weights).tolist()


def test_kernels_by_their_definition():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))

    def square(x):
        """The features of a quadratic kernel with a constant."""
        u, v = x.T
        r = np.sqrt(2.0)
        return np.stack([u * u, v * v, r * u * v, r * u, r * v, np.ones(len(x))], axis=1)

    np.testing.assert_allclose(Polynomial(2, 1.0, normalized=False)(a, b), square(a) @ square(b).T)
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (square(a), square(b))]
    np.testing.assert_allclose(Polynomial(2, 1.0)(a, b), unit[0] @ unit[1].T)
    expected = np.exp(-((a[:, None] - b) ** 2).sum(axis=2) / (2 * 0.7**2))
    np.testing.assert_allclose(Gaussian(0.7)(a, b), expected)
    with pytest.raises(ValueError, match="Gaussian: width is a positive number"):
        Gaussian(0.0)
    with pytest.raises(ValueError, match="Polynomial: degree is a positive number"):
        Polynomial(0)


def test_a_kernel_learns_what_lines_cannot():
    """Exclusive or of two features."""
    rng = np.random.default_rng(1)
    inputs = [rng.choice([-1.0, 1.0], (6, 2)) for _ in range(10)]
    outputs = [(x[:, 0] * x[:, 1] > 0).astype(int) for x in inputs]
    model = KernelChainModel(Polynomial(2)).shaped(inputs, outputs)
    assert len(model.landmarks) == 4
    result = train(Examples(model, inputs, outputs), FrankWolfe(C=10.0))
    for x, y in zip(inputs, outputs, strict=True):
        assert model.predict(x, result.weights).tolist() == y.tolist()


@pytest.mark.parametrize(
    "trainer",
    [LogLikelihood(), AdaGradLikelihood(), QuadraticProgram(C=1.0),
     DualExtragradient(L1Ball(1.0)), Extragradient(L2Ball(1.0, nonnegative=True))],
    ids=lambda t: type(t).__name__,
)  # fmt: skip
def test_trainers_that_need_coordinates_refuse(trainer):
    inputs, outputs = words()
    model = KernelChainModel(LINEAR).shaped(inputs, outputs)
    with pytest.raises(ModelError, match="which in kernel form are only coefficients"):
        train(Examples(model, inputs, outputs), trainer)


def test_errors_are_clear():
    inputs, outputs = words()
    with pytest.raises(ModelError, match="KernelChainModel has no shape yet"):
        KernelChainModel(LINEAR).predict(inputs[0], np.zeros(3))
    model = KernelChainModel(LINEAR).shaped(inputs, outputs)
    with pytest.raises(ModelError, match="not among the model's landmarks"):
        model.example(np.zeros((1, 3)), [0], Hamming())
    with pytest.raises(TypeError, match="in kernel form there is no matrix"):
        _ = model.example(inputs[0], outputs[0], Hamming()).matrix
