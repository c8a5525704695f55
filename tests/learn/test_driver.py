"""The loop of all trainers: reports, ends, checkpoints that resume bit for bit, clear errors."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from dataclasses import fields

import numpy as np
import pytest

import assent as at
from assent.errors import ModelError
from assent.learn import (
    MIRA,
    AdaGradLikelihood,
    AveragedPerceptron,
    DualExtragradient,
    Entropic,
    Examples,
    Extragradient,
    FrankWolfe,
    L2Ball,
    LogLikelihood,
    ProjectedGradient,
    Subgradient,
    train,
)
from assent.models import ChainModel, LinearExample, Space, TreeSpace
from tests.learn.damage import broken_bytes, other_content
from tests.learn.problems import FAMILIES

TRAINERS = [
    AveragedPerceptron(max_iterations=6),
    MIRA(max_iterations=6),
    Subgradient(max_iterations=6),
    FrankWolfe(max_iterations=6, planes=2, gap_sampling=True, gap_tolerance=1e-9),
    DualExtragradient(L2Ball(1.0), Entropic(), step=0.1, max_iterations=6),
    DualExtragradient(L2Ball(1.0), max_iterations=6),
    DualExtragradient(L2Ball(1.0), adaptive=True, max_iterations=6),
    Extragradient(L2Ball(1.0), step=0.1, max_iterations=6),
    ProjectedGradient(L2Ball(1.0), step=0.1, max_iterations=6),
    LogLikelihood(max_iterations=6, tolerance=1e-12),
    AdaGradLikelihood(max_iterations=6),
]


def data(seed: int = 0) -> Examples:
    return FAMILIES["chain"](np.random.default_rng(seed), 4)


def same_state(one, other) -> bool:
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.random.Generator):
            a, b = a.bit_generator.state, b.bit_generator.state
            if a != b:
                return False
        elif isinstance(a, list):
            if not all(np.array_equal(p, q) for p, q in zip(a, b, strict=True)):
                return False
        elif not np.array_equal(a, b):
            return False
    return True


@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda t: type(t).__name__)
def test_training_resumes_bit_for_bit(trainer, tmp_path):
    uninterrupted = train(data(), trainer)
    path = tmp_path / "half.npz"
    half = train(data(), trainer, checkpoint=path, callback=lambda step: step.iteration == 3)
    assert half.reason == "the callback ended it"
    rest = train(data(), trainer, resume=path)
    assert same_state(uninterrupted.state, rest.state)
    np.testing.assert_array_equal(uninterrupted.weights, rest.weights)
    for _ in range(2):  # going on from a training leaves it as it was
        again = train(data(), trainer, resume=half)
        np.testing.assert_array_equal(uninterrupted.weights, again.weights)
    for resumed in (rest, again):
        assert resumed.trace.iteration.tolist() == uninterrupted.trace.iteration.tolist()
        np.testing.assert_array_equal(resumed.trace.hinge, uninterrupted.trace.hinge)
        assert (np.diff(resumed.trace.seconds) >= 0.0).all()


@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda t: type(t).__name__)
def test_every_pass_is_reported(trainer):
    result = train(data(), trainer)
    trace = result.trace
    assert trace.iteration.tolist() == list(range(1, 7))
    assert (np.diff(trace.seconds) >= 0).all() and (np.diff(trace.calls) >= 0).all()
    assert trace.calls[-1] > 0
    np.testing.assert_allclose(trace.norm[-1], np.linalg.norm(result.weights))
    assert "pass" in repr(trace) and "6 passes" in repr(result)
    with pytest.raises(AttributeError, match="no column 'colour'"):
        _ = trace.colour


FINISHED = {
    "tolerance": (FrankWolfe(C=0.1, max_iterations=200, gap_tolerance=0.3), {}),
    "gradient": (LogLikelihood(max_iterations=200, tolerance=0.1), {}),
    "passes": (MIRA(max_iterations=3), {}),
    "patience": (
        MIRA(max_iterations=50),
        {"validation": lambda weights: -float(np.abs(weights).sum()), "patience": 2},
    ),
}


@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_training_stays_as_it_is(name, tmp_path):
    trainer, settings = FINISHED[name]
    path = tmp_path / "end.npz"
    whole = train(data(), trainer, checkpoint=path, **settings)
    assert whole.state.iteration < 50
    for resume in (path, whole):
        again = train(data(), trainer, resume=resume, **settings)
        np.testing.assert_array_equal(again.weights, whole.weights)
        assert same_state(again.state, whole.state)
        assert (again.reason, len(again.trace)) == (whole.reason, len(whole.trace))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (MIRA(max_iterations=3), MIRA(max_iterations=6)),
        (
            FrankWolfe(C=0.1, max_iterations=9, gap_tolerance=0.3),
            FrankWolfe(C=0.1, max_iterations=9, gap_tolerance=1e-12),
        ),
        (LogLikelihood(max_iterations=6, tolerance=0.1), LogLikelihood(max_iterations=8)),
    ],
)
def test_more_passes_or_a_smaller_tolerance_go_on(short, long, tmp_path):
    path = tmp_path / "end.npz"
    first = train(data(), short, checkpoint=path)
    whole = train(data(), long)
    assert first.state.iteration < whole.state.iteration
    for resume in (path, first):
        rest = train(data(), long, resume=resume)
        np.testing.assert_array_equal(rest.weights, whole.weights)
        assert same_state(rest.state, whole.state)


def test_damaged_checkpoints_are_told(tmp_path):
    path = tmp_path / "c.npz"
    trainer = MIRA(max_iterations=2)
    train(data(), trainer, checkpoint=path)
    end = train(data(), trainer, resume=path)
    for content in [*other_content(path)]:
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"c\.npz (is|was|belongs)"):
            train(data(), trainer, resume=path)
    train(data(), trainer, checkpoint=path)
    for content in [*broken_bytes(np.random.default_rng(0), path, 60)]:
        path.write_bytes(content)
        try:  # a flipped bit in a date, say, does no harm
            again = train(data(), trainer, resume=path)
        except ModelError as error:
            assert "c.npz" in str(error)
        else:
            assert same_state(again.state, end.state)
    with pytest.raises(FileNotFoundError):
        train(data(), trainer, resume=tmp_path / "nothing.npz")


def test_checkpoints_of_others_are_refused(tmp_path):
    path = tmp_path / "c.npz"
    train(data(), MIRA(max_iterations=1), checkpoint=path)
    with pytest.raises(ModelError, match=r"was written by MIRA\(C=1.0, max_iterations=1, seed=0\)"):
        train(data(), MIRA(C=2.0), resume=path)
    bigger = Examples(ChainModel((0, 1), 9), [np.zeros((1, 9))], [[0]])
    with pytest.raises(ModelError, match="belongs to other data"):
        train(bigger, MIRA(max_iterations=1), resume=path)
    np.savez(path, x=np.zeros(1))
    with pytest.raises(ModelError, match="is no checkpoint"):
        train(data(), MIRA(), resume=path)


def test_an_interrupt_ends_after_the_pass_and_can_be_resumed():
    trainer = MIRA(max_iterations=6)
    uninterrupted = train(data(), trainer)

    class Pressed(MIRA):
        def visit(self, example, state, n):
            super().visit(example, state, n)
            if state.steps == 5:
                os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    stopped = train(data(), Pressed(max_iterations=6), measure_every=100)
    assert stopped.reason == "an interrupt ended it"
    assert stopped.state.iteration == 2
    assert len(stopped.trace) == 1
    assert signal.getsignal(signal.SIGINT) is before
    rest = train(data(), trainer, resume=stopped)
    np.testing.assert_array_equal(rest.weights, uninterrupted.weights)


def test_a_time_limit_ends_it():
    result = train(data(), MIRA(max_iterations=10**6), time_limit=0.05)
    assert result.reason == "the time limit ended it"


def test_the_best_weights_on_validation_data_are_kept():
    seen = []

    def score(weights):
        seen.append(weights.copy())
        return -abs(len(seen) - 3)  # the third is best

    result = train(data(), MIRA(max_iterations=50), validation=score, patience=4)
    assert result.reason == "no better validation score for 4 measurements"
    assert len(seen) == 7
    np.testing.assert_array_equal(result.weights, seen[2])
    assert result.trace.validation.tolist() == [-2, -1, 0, -1, -2, -3, -4]


def test_the_best_weights_and_the_patience_survive_a_break(tmp_path):
    def score(weights):
        return -abs(float(np.abs(weights).sum()) - 1.5)

    settings = {"validation": score, "patience": 5}
    trainer, path = MIRA(C=0.1, max_iterations=40), tmp_path / "half.npz"
    uninterrupted = train(data(), trainer, **settings)
    best = int(uninterrupted.trace.validation.argmax())
    assert 0 < best < len(uninterrupted.trace) - 1
    half = train(
        data(), trainer, checkpoint=path, callback=lambda s: s.iteration == best + 3, **settings
    )
    for resume in (path, half):
        rest = train(data(), trainer, resume=resume, **settings)
        np.testing.assert_array_equal(rest.weights, uninterrupted.weights)
        assert (rest.reason, len(rest.trace)) == (uninterrupted.reason, len(uninterrupted.trace))


def test_examples_need_not_be_kept():
    rng = np.random.default_rng(3)
    model = ChainModel((0, 1), 2)
    inputs, outputs = [rng.normal(size=(3, 2)) for _ in range(5)], [[0, 1, 1]] * 5
    kept = train(Examples(model, inputs, outputs), MIRA(max_iterations=3))
    lazy = Examples(model, inputs, outputs, keep=False)
    np.testing.assert_array_equal(train(lazy, MIRA(max_iterations=3)).weights, kept.weights)
    assert len(lazy[1:3]) == 2
    with pytest.raises(IndexError, match="there are 5 examples, none has index 5"):
        lazy[5]


class Bare(Space):
    """A space that can do nothing but maximise."""

    abilities = ("maximize",)
    size = 2

    def maximize(self, scores):
        return np.eye(2)[scores.argmax()]


class Own:
    """A model of one's own, of ready-made examples."""

    size = 2

    def __init__(self, space):
        self.space = space

    def example(self, x, y, loss, outside=False):
        return LinearExample(np.eye(2) * x, self.space, y, [1.0, 1.0], outside=outside)


def test_missing_abilities_are_named_before_any_work():
    examples = Examples(Own(Bare()), [1.0], [[1, 0]])
    message = "Bare does not answer project, which Euclidean steps need; try Entropic"
    for trainer in (DualExtragradient(), Extragradient(), ProjectedGradient()):
        with pytest.raises(ModelError, match=message):
            train(examples, trainer)
    with pytest.raises(ModelError, match="does not answer marginals, which Entropic steps need"):
        train(examples, DualExtragradient(outputs=Entropic()))


def test_gold_outputs_outside_are_refused_or_counted():
    space = TreeSpace([2], [-1])
    with pytest.raises(ModelError, match="example 1: the gold output is not among"):
        Examples(Own(space), [1.0, 1.0], [[1, 0], [1, 1]])
    examples = Examples(Own(space), [1.0, 1.0], [[1, 0], [1, 1]], outside=True)
    result = train(examples, FrankWolfe(max_iterations=3))
    assert result.outside == 1
    assert "1 gold outputs outside" in repr(result)


def test_bad_data_and_settings_are_named():
    model = ChainModel((0, 1), 1)
    with pytest.raises(ModelError, match="2 inputs but 1 outputs"):
        Examples(model, [np.zeros((1, 1))] * 2, [[0]])
    with pytest.raises(ModelError, match="no examples"):
        Examples(model, [], [])
    with pytest.raises(ModelError, match="example 1: an input: features must be finite"):
        Examples(model, [np.zeros((1, 1)), np.full((1, 1), np.nan)], [[0], [0]])
    with pytest.raises(ModelError, match="all features are zero"):
        train(Examples(Own(TreeSpace([2], [-1])), [0.0], [[1, 0]]), DualExtragradient())
    for trainer, name in ((FrankWolfe, "C"), (MIRA, "C"), (Subgradient, "C")):
        with pytest.raises(ValueError, match=f"{trainer.__name__}: {name} is a positive number"):
            trainer(**{name: 0.0})
    with pytest.raises(ValueError, match="max_iterations is a positive number, got 'many'"):
        AveragedPerceptron(max_iterations="many")
    with pytest.raises(ValueError, match="planes is a number >= 0"):
        FrankWolfe(planes=-1)
    with pytest.raises(ValueError, match="DualExtragradient: step is a positive number"):
        DualExtragradient(step=-1.0)


def test_a_live_line_on_a_terminal(monkeypatch):
    from assent.learn import training_loop

    shown = []

    class Line(nullcontext):
        def show(self, step):
            shown.append(training_loop.learning_line(step))

    monkeypatch.setattr("assent.progress.live_display", lambda describe: Line())
    train(data(), MIRA(max_iterations=2), progress=True, validation=lambda w: 0.5)
    assert shown[0].startswith("pass 1  hinge") and "validation 0.5" in shown[1]


def test_the_packages_are_part_of_the_library():
    assert at.learn.FrankWolfe is FrankWolfe
    assert at.models.ChainModel is ChainModel
