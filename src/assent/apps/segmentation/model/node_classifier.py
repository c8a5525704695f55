"""Nodes on their own: logistic regression, and its scores of nodes it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assent.apps.segmentation.data.label_set import UNKNOWN
from assent.apps.segmentation.extras import needed
from assent.apps.segmentation.features.scene import Scene
from assent.errors import ModelError
from assent.kernels.problem import Float, Int64

# Inverse strengths of regularisation that are tried.
STRENGTHS = (0.001, 0.01, 0.1, 1.0)
# Labelled nodes of all scenes, drawn by chance, that train a classifier at the most: hundreds for
# each of tens of features, in a fraction of a second.
MOST_NODES = 20_000


class NodeClassifier(NamedTuple):
    """Scores of labels, linear in standardised features."""

    mean: Float  # [D]
    scale: Float  # [D] standard deviations
    weights: Float  # [D + 1, K], those of the constant last

    def scores(self, nodes: Float) -> Float:
        """Scores ``[n, K]`` of nodes ``[n, D]``."""
        return ((nodes - self.mean) / self.scale) @ self.weights[:-1] + self.weights[-1]


def standardisation(scenes: Sequence[Scene]) -> tuple[Float, Float]:
    """Mean and standard deviation ``[D]`` of the nodes' features; 1 where one is constant."""
    count = sum(len(scene.nodes) for scene in scenes)
    mean = sum(scene.nodes.sum(axis=0) for scene in scenes) / count
    scale = np.sqrt(sum(((scene.nodes - mean) ** 2).sum(axis=0) for scene in scenes) / count)
    return mean, np.where(scale > 0.0, scale, 1.0)


def fit_classifier(
    scenes: Sequence[Scene], labels: int, strength: float, seed: int = 0
) -> NodeClassifier:
    """Logistic regression on all nodes of known label (a sample of them where there are many).

    Each of the ``labels`` must occur; ``strength`` is C, the inverse of the regularisation.
    """
    return _draw(scenes, labels, seed).fit(labels, strength)


class _Sample(NamedTuple):
    """Nodes that a classifier is trained on: features ``[n, D]`` as they are, and labels."""

    mean: Float
    scale: Float
    nodes: Float
    gold: Int64

    def fit(self, labels: int, strength: float) -> NodeClassifier:
        """Logistic regression."""
        regression = needed("sklearn.linear_model").LogisticRegression(C=strength, max_iter=1000)
        regression.fit((self.nodes - self.mean) / self.scale, self.gold)
        weights = np.vstack([regression.coef_.T, regression.intercept_])
        if labels == 2:  # the score of the second label over the first
            weights = np.hstack([np.zeros_like(weights), weights])
        return NodeClassifier(self.mean, self.scale, weights)


def _draw(scenes: Sequence[Scene], labels: int, seed: int) -> _Sample:
    """All nodes of known label, or a sample of them; mean and scale are of all nodes."""
    mean, scale = standardisation(scenes)
    nodes = np.concatenate([scene.nodes[known(scene)] for scene in scenes])
    gold = np.concatenate([gold_labels(scene)[known(scene)] for scene in scenes])
    if len(np.unique(gold)) < labels:
        raise ModelError(
            f"of {labels} labels only {len(np.unique(gold))} occur in a part of the training data; "
            "more scenes are needed, or fewer labels"
        )
    if len(gold) > MOST_NODES:
        chosen = np.random.default_rng(seed).choice(len(gold), MOST_NODES, replace=False)
        nodes, gold = nodes[chosen], gold[chosen]
    return _Sample(mean, scale, nodes, gold)


def known(scene: Scene) -> Int64:
    """Nodes whose label is known."""
    return np.flatnonzero(gold_labels(scene) != UNKNOWN)


def gold_labels(scene: Scene) -> Int64:
    """The labels of a scene to learn from."""
    if scene.labels is None:
        raise ModelError("a scene without labels cannot be learnt from")
    return scene.labels


def fold_of(count: int, folds: int, seed: int) -> Int64:
    """A part ``[count]`` for each scene, by chance, of sizes as equal as can be.

    Example:
        >>> np.bincount(fold_of(7, 3, 0)).tolist()
        [3, 2, 2]
    """
    return np.random.default_rng(seed).permutation(np.arange(count) % folds)


def mean_error(scenes: Sequence[Scene], predicted: Sequence[Int64]) -> float:
    """The share of known nodes with another label, averaged over scenes."""
    errors = [
        float(np.mean(own[known(scene)] != gold_labels(scene)[known(scene)]))
        for scene, own in zip(scenes, predicted, strict=True)
    ]
    return float(np.mean(errors))


class ChosenScores(NamedTuple):
    """The strength chosen, and scores ``[n, K]`` of each scene by a classifier of others."""

    strength: float
    scores: list[Float]


def choose_strength(scenes: Sequence[Scene], labels: int, folds: int, seed: int) -> ChosenScores:
    """The strength of least error on scenes that a classifier has not seen.

    Scores of nodes a classifier was trained on are too good to learn from how far to trust them.
    """
    if len(scenes) < 2:
        raise ModelError("at least two labelled scenes are needed: one to learn from at a time")
    fold = fold_of(len(scenes), min(folds, len(scenes)), seed)
    tried = [ChosenScores(strength, [np.zeros(0)] * len(scenes)) for strength in STRENGTHS]
    for part in range(int(fold.max()) + 1):
        others = [scene for scene, own in zip(scenes, fold, strict=True) if own != part]
        sample = _draw(others, labels, seed)
        for strength, scores in tried:
            classifier = sample.fit(labels, strength)
            for i in np.flatnonzero(fold == part).tolist():
                scores[i] = classifier.scores(scenes[i].nodes)
    return min(
        tried,
        key=lambda chosen: mean_error(scenes, [s.argmax(axis=1) for s in chosen.scores]),
    )
