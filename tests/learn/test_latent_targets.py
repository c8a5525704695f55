"""Trainers where several outputs are right: targets follow the weights."""

from __future__ import annotations

import numpy as np
import pytest

from assent.learn import (
    MIRA,
    AveragedPerceptron,
    DualExtragradient,
    Examples,
    Extragradient,
    FrankWolfe,
    L2Ball,
    ProjectedGradient,
    QuadraticProgram,
    Subgradient,
    WeightedHamming,
    regularization_path,
    train,
)
from assent.models import MatchingModel, PartialMatching

BALL = L2Ball(8.0)
TRAINERS = [
    AveragedPerceptron(max_iterations=20),
    MIRA(max_iterations=20),
    Subgradient(C=1.0, max_iterations=40),
    FrankWolfe(C=1.0, max_iterations=40),
    DualExtragradient(BALL, max_iterations=150),
    Extragradient(BALL, max_iterations=150),
    Extragradient(BALL, max_iterations=150, averaged=False),
    ProjectedGradient(BALL, max_iterations=150),
    QuadraticProgram(C=1.0, max_iterations=4),
]


def problem(count=12):
    """Diagonal matchings whose second half is only said to be possible, beside a false pair."""
    rng = np.random.default_rng(0)
    inputs, outputs = [], []
    for _ in range(count):
        right = np.eye(4)
        x = np.stack([right + 0.3 * rng.normal(size=(4, 4)), np.ones((4, 4))], axis=-1)
        sure, possible = right.copy(), np.zeros((4, 4))
        sure[2:] = 0.0
        possible[2, 2] = possible[3, 3] = possible[2, 3] = 1.0
        inputs.append(x)
        outputs.append(PartialMatching(sure, possible))
    model = MatchingModel(features=2)
    return Examples(model, inputs, outputs, WeightedHamming(1.0, 2.0))


@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: type(trainer).__name__)
def test_what_is_possible_is_learnt_from_what_is_sure(trainer):
    examples = problem()
    training = train(examples, trainer, measure_every=trainer.max_iterations)
    z = [examples.model.predict(x, training.weights) for x in examples.inputs]
    assert np.mean([table[:2, :2].trace() == 2 for table in z]) > 0.9
    assert np.mean([table[2, 2] + table[3, 3] == 2 for table in z]) > 0.8
    assert np.isnan(training.trace.gap).all()  # nothing is proven: the problem is not convex
    assert training.trace.hinge[-1] < examples.violators(np.zeros(2)).value


def test_frank_wolfe_keeps_the_weights_of_its_dual_points():
    examples, trainer = problem(), FrankWolfe(C=0.7)
    state = trainer.init(examples)
    for _ in range(5):
        trainer.advance(examples, state)
    weights = sum(
        0.7 * example.features(target - z)
        for example, target, z in zip(examples, state.targets, state.z, strict=True)
    )
    assert state.w == pytest.approx(weights)
    assert any((t != e.gold).any() for e, t in zip(examples, state.targets, strict=True))


def test_each_program_lowers_the_objective():
    """The concave-convex procedure never goes up."""
    pytest.importorskip("clarabel")
    values = []
    trainer = QuadraticProgram(C=0.5, max_iterations=4)
    train(problem(), trainer, callback=lambda step: values.append(step.objective))
    assert len(values) == 4
    assert (np.diff(values) <= 1e-6).all()


def test_the_path_of_radii():
    path = regularization_path(problem(), [1.0, 4.0])
    assert path[1][1] < path[0][1]
