"""Matchings of which only a part is known: targets and losses against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from assent.errors import ModelError
from assent.models import Hamming, LabelCosts, MatchingModel, PartialMatching, WeightedHamming
from tests.learn.problems import all_matchings

LOSSES = [Hamming(), WeightedHamming(1.0, 3.0), LabelCosts([[0.0, 0.5], [2.0, 0.0]])]


def draw(seed):
    """Features, sure and possible pairs; the sure ones often do not fit into one matching."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 4, 2)
    sure = rng.random((n, m)) < 0.4
    return rng, rng.normal(size=(n, m, 2)), PartialMatching(sure, rng.random((n, m)) < 0.5)


def right_matchings(y):
    """Matchings with as many sure pairs as fit, any possible ones and no others."""
    every = all_matchings(*y.sure.shape)
    sure, allowed = y.sure.ravel(), (y.sure | y.possible).ravel()
    inside = every[(every[:, ~allowed] == 0).all(axis=1)]
    count = inside[:, sure].sum(axis=1)
    return inside[count == count.max()]


@pytest.mark.parametrize("seed", range(30))
def test_the_target_is_the_best_of_the_right_matchings(seed):
    rng, x, y = draw(seed)
    example = MatchingModel(features=2).example(x, y, Hamming())
    right = right_matchings(y)
    for w in rng.normal(size=(5, 2)) * 10.0 ** rng.integers(-3, 4, (5, 1)):
        scores = example.scores(w)
        target = example.target(scores)
        assert (right == target).all(axis=1).any()
        assert scores @ target == pytest.approx((right @ scores).max())
    assert (right == example.gold).all(axis=1).any()
    assert not example.gold[(y.possible & ~y.sure).ravel()].any()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("seed", range(10))
def test_right_matchings_cost_nothing_and_possible_pairs_are_free(seed, loss):
    _, x, y = draw(seed)
    example = MatchingModel(features=2).example(x, y, loss)
    for z in right_matchings(y):
        assert example.loss(z) == pytest.approx(0.0)
    false_positive, false_negative = (
        loss.literals(np.array([gold]))[0][0] * sign for gold, sign in ((0.0, 1), (1.0, -1))
    )
    fit = right_matchings(y)[0] @ y.sure.ravel()
    for z in all_matchings(*y.sure.shape):
        missed = fit - z @ y.sure.ravel()
        wrong = z @ ~(y.sure | y.possible).ravel()
        assert example.loss(z) == pytest.approx(false_positive * wrong + false_negative * missed)


@pytest.mark.parametrize("seed", range(10))
def test_the_violator_by_enumeration(seed):
    rng, x, y = draw(seed)
    example = MatchingModel(features=2).example(x, y, WeightedHamming(1.0, 2.0))
    w = rng.normal(size=2)
    scores, every = example.scores(w), all_matchings(*y.sure.shape)
    best = (every @ (scores + example.costs)).max() + example.constant
    hinge = best - (right_matchings(y) @ scores).max()
    assert example.violator(w)[1] == pytest.approx(hinge)
    assert hinge >= -1e-12


def test_agreement_leaves_possible_pairs_out():
    model = MatchingModel(features=1)
    y = PartialMatching(np.array([[1, 0], [0, 0]]), np.array([[0, 1], [0, 0]]))
    assert model.agreement(y, np.array([[1, 1], [0, 1]])) == (3, 4)


def test_tables_are_checked():
    model, x = MatchingModel(features=1), np.ones((2, 2, 1))
    with pytest.raises(ModelError, match=r"a matching is a table \(2, 2\) of zeros and ones"):
        model.example(x, PartialMatching(np.eye(2), np.eye(3)), Hamming())
