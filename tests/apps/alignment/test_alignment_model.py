"""Alignments with several links per word: decoding and targets against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import assent as at
from assent.apps.alignment.model.alignment_model import AlignmentInput, AlignmentModel
from assent.apps.alignment.model.alignment_space import AlignmentSpace, PartScores
from assent.learn import MIRA, Examples, FrankWolfe, train
from assent.models import PartialMatching, WeightedHamming


def all_tables(n, m, fertility):
    """All tables of links in which words have at most ``fertility``."""
    for cells in itertools.product((0, 1), repeat=n * m):
        table = np.array(cells).reshape(n, m)
        if max(table.sum(axis=0).max(), table.sum(axis=1).max()) <= fertility:
            yield table


def value(table, parts):
    """The score of an alignment, by its definition."""
    total = float((table * parts.links).sum())
    for axis, beyond in ((1, parts.source), (0, parts.target)):
        total += float(np.maximum(table.sum(axis=axis) - 1, 0) @ beyond)
    if parts.adjacent.size:
        total += float((table[:-1, :-1] * table[1:, 1:] * parts.adjacent).sum())
    return total


def draw_parts(rng, n, m, adjacent):
    return PartScores(
        rng.normal(size=(n, m)), rng.normal(-0.5, 0.5, n), rng.normal(-0.5, 0.5, m),
        rng.normal(0.2, 0.5, (n - 1, m - 1)) if adjacent else np.zeros((0, 0)),
    )  # fmt: skip


def draw_input(rng, n, m, adjacent):
    return AlignmentInput(
        rng.normal(size=(n, m, 3)), rng.normal(size=(n, 2)), rng.normal(size=(m, 2)),
        rng.normal(size=(n - 1, m - 1, 2 * adjacent)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_the_best_alignment_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 4, 2)
    adjacent = bool(seed % 2) and min(n, m) > 1
    fertility = 1 + seed % 3
    space = AlignmentSpace(np.ones((n, m), bool), fertility, adjacent)
    parts = draw_parts(rng, n, m, adjacent)
    result = at.decode(space.graph, exact=True, scores=space.scores(parts))
    best = max(value(table, parts) for table in all_tables(n, m, fertility))
    assert result.status.name == "OPTIMAL"
    assert value(result[space.links], parts) == pytest.approx(best)
    assert result.value == pytest.approx(best)


@pytest.mark.parametrize("seed", range(12))
def test_the_target_by_enumeration(seed):
    """As many sure links as fit; among the rest, the best."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 4, 2)
    x = draw_input(rng, n, m, seed % 2)
    model = AlignmentModel(2).shaped([x], [])
    sure = rng.random((n, m)) < 0.4
    possible = (rng.random((n, m)) < 0.4) & ~sure
    example = model.example(x, PartialMatching(sure, possible), WeightedHamming(1.0, 2.0))
    w = rng.normal(size=model.size)
    scores = example.scores(w)
    target = example.target(scores)
    parts = example.space.parts(scores)
    right = [t for t in all_tables(n, m, 2) if not t[~(sure | possible)].any()]
    most = max(t[sure].sum() for t in right)
    table = target[: n * m].reshape(n, m)
    assert table[sure].sum() == pytest.approx(most)
    assert scores @ target == pytest.approx(value(table, parts))
    if sure.sum() == most:  # where not all fit, they are chosen first, by their own scores
        best = max(value(t, parts) for t in right if t[sure].sum() == most)
        assert scores @ target == pytest.approx(best)
    assert example.loss(target) == pytest.approx(0.0)


@pytest.mark.parametrize("adjacent", [0, 1])
def test_features_are_linear(adjacent):
    rng = np.random.default_rng(3)
    x = draw_input(rng, 3, 2, adjacent)
    model = AlignmentModel(2).shaped([x], [])
    example = model.example(x, PartialMatching(np.eye(3, 2), np.zeros((3, 2))), WeightedHamming())
    w = rng.normal(size=model.size)
    z = example.space.maximize(example.scores(w))
    assert example.scores(w) @ z == pytest.approx(w @ example.features(z))
    assert example.matrix @ w == pytest.approx(example.scores(w))
    assert list(model.named(w)) == ["links", "source", "target", "adjacent"]


def test_a_relaxed_answer_is_consistent():
    """Where the relaxation is loose, its point scores at least as high as any alignment."""
    rng = np.random.default_rng(0)
    loose = 0
    for _ in range(40):
        space = AlignmentSpace(np.ones((3, 3), bool), 2, adjacent=True)
        scores = rng.normal(size=space.size)
        z = space.maximize(scores)
        parts = space.parts(scores)
        best = max(value(table, parts) for table in all_tables(3, 3, 2))
        assert scores @ z >= best - 1e-3
        loose += bool(np.abs(z - np.rint(z)).max() > 1e-3)
    assert loose > 0


@pytest.mark.parametrize("trainer", [MIRA(max_iterations=8), FrankWolfe(C=1.0, max_iterations=8)])
def test_a_word_with_two_links_is_learnt(trainer):
    rng = np.random.default_rng(1)
    inputs, outputs = [], []
    for _ in range(10):
        table = np.array([[1, 1, 0], [0, 0, 1]])
        strong = table + 0.2 * rng.normal(size=(2, 3))
        links = np.stack([strong, np.ones((2, 3))], axis=-1)
        inputs.append(AlignmentInput(links, np.ones((2, 1)), np.ones((3, 1)), np.zeros((1, 2, 0))))
        outputs.append(PartialMatching(table, np.zeros((2, 3))))
    model = AlignmentModel(2).shaped(inputs, outputs)
    examples = Examples(model, inputs, outputs, WeightedHamming())
    weights = train(examples, trainer, measure_every=8).weights
    right = [np.array_equal(model.predict(x, weights), y.sure)
             for x, y in zip(inputs, outputs, strict=True)]  # fmt: skip
    assert np.mean(right) > 0.8
